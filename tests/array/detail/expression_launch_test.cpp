// Expressions without C++ types, from a text, against results of NumPy.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_launch.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/array/detail/operation_types.hpp>
#include <gpu/array/detail/run_expressions.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/shape.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace expression_launch_test { namespace {

using algorithm_test::fixture;
namespace detail = gpu::detail;
using detail::element_kind;

constexpr const char* reference =
#include "array/expression_reference.inc"
    ;
constexpr const char* promotions =
#include "array/promotion_reference.inc"
    ;

element_kind kind_named(const std::string& name) {
  static const std::map<std::string, element_kind> kinds{
      {"b1", element_kind::boolean},   {"i1", element_kind::int8},
      {"i2", element_kind::int16},     {"i4", element_kind::int32},
      {"i8", element_kind::int64},     {"u1", element_kind::uint8},
      {"u2", element_kind::uint16},    {"u4", element_kind::uint32},
      {"u8", element_kind::uint64},    {"f2", element_kind::half},
      {"f4", element_kind::float32},   {"f8", element_kind::float64},
      {"c8", element_kind::complex64}, {"c16", element_kind::complex128}};
  return kinds.at(name);
}

detail::opcode operation_named(const std::string& name) {
  for (const detail::operation_facts& each : detail::operation_table) {
    // `remainder` is also what `%` of floating-point numbers is called.
    if (each.name == name && each.what != detail::opcode::modulo) return each.what;
  }
  FAIL("no operation is called " << name);
  return detail::opcode::add;
}

std::vector<unsigned char> bytes_of(const std::string& hex) {
  std::vector<unsigned char> made;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
    made.push_back(
        static_cast<unsigned char>(std::strtoul(hex.substr(at, 2).c_str(), nullptr, 16)));
  return made;
}

std::vector<long> numbers_of(const std::string& list) {
  std::vector<long> made;
  std::istringstream in(list);
  for (std::string each; std::getline(in, each, ',');) made.push_back(std::stol(each));
  return made;
}

/// An operand or a part of an expression.
struct part {
  std::vector<detail::expression_word> words;
  detail::operand_type type;
  detail::host_number number;
};

/// An expression with the elements that it should have.
struct reference_case {
  std::string text, mark;
  element_kind kind;
  std::vector<unsigned char> expected;
  part expression;
  std::size_t operands = 0;
};

class reader {
 public:
  explicit reader(const fixture& f) : f_{f} {}

  void add_pool(const std::string& kind, const std::string& hex) {
    pools_.emplace(kind, f_.upload(bytes_of(hex)));
  }

  part read_operand(const std::string& text) const {
    if (text[0] == '#') return read_number(text.substr(1));
    const std::size_t at = text.find('@'), first = text.find(':'), second = text.rfind(':');
    const std::string kind = text.substr(0, at);
    detail::loop_operand view;
    const auto extents = numbers_of(text.substr(first + 1, second - first - 1));
    const auto strides = numbers_of(text.substr(second + 1));
    view.rank = static_cast<int>(extents.size());
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      view.extents[axis] = static_cast<std::size_t>(extents[axis]);
      view.strides[axis] = strides[axis];
    }
    part made;
    made.type = {kind_named(kind)};
    view.memory.address =
        static_cast<std::uintptr_t>(pools_.at(kind).native()) +
        std::stoul(text.substr(at + 1, first - at - 1)) * detail::facts_of(made.type.kind).bytes;
    view.memory.on_device = true;
    made.words.resize(detail::view_words + 2 * extents.size());
    detail::put_view(made.words.data(), made.type.kind, view);
    return made;
  }

  reference_case read(const std::string& line) const {
    reference_case made;
    std::istringstream in(line);
    in >> made.mark;
    std::vector<part> stack;
    std::string word;
    while (in >> word && word != "=") {
      made.text += word + ' ';
      if (word[0] == '#' || word.find('@') != word.npos) {
        stack.push_back(read_operand(word));
        ++made.operands;
      } else {
        apply(operation_named(word), stack);
      }
    }
    std::string kind, hex;
    in >> kind >> hex;
    made.kind = kind_named(kind);
    made.expected = bytes_of(hex);
    made.expression = stack.back();
    return made;
  }

 private:
  static part read_number(const std::string& text) {
    part made;
    made.number = text.find('x') == text.npos
                      ? detail::describe_number(std::stoll(text))
                      : detail::describe_number(std::strtod(text.c_str(), nullptr));
    made.type = {made.number.kind, true};
    return made;
  }

  static void apply(detail::opcode what, std::vector<part>& stack) {
    const std::size_t count = detail::facts_of(what).operands;
    const auto operands = stack.end() - static_cast<std::ptrdiff_t>(count);
    detail::operand_type given[3] = {};
    for (std::size_t k = 0; k < count; ++k)
      given[k] = operands[static_cast<std::ptrdiff_t>(k)].type;
    const detail::operation_types types = detail::resolve_types(what, given);
    REQUIRE(types.problem == detail::type_problem::none);
    part made;
    made.type = {types.result};
    for (std::size_t k = 0; k < count; ++k) {
      part& each = operands[static_cast<std::ptrdiff_t>(k)];
      if (each.type.weak) {
        each.words.resize(detail::number_words);
        detail::put_number(each.words.data(), types.operands[k], each.number);
      }
      made.words.insert(made.words.end(), each.words.begin(), each.words.end());
    }
    made.words.push_back(detail::operation_word(what, types.result));
    stack.erase(operands, stack.end());
    stack.push_back(made);
  }

  const fixture& f_;
  std::map<std::string, gpu::device_buffer<unsigned char>> pools_;
};

/// Returns the number that some bytes are.
long double number_at(element_kind kind, const unsigned char* at) {
  float narrow = 0;
  double wide = 0;
  if (kind == element_kind::float32) {
    std::memcpy(&narrow, at, sizeof narrow);
    return narrow;
  }
  if (kind == element_kind::float64) {
    std::memcpy(&wide, at, sizeof wide);
    return wide;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 != 0 ? -size : size;
}

/// Returns whether elements are as expected: bit for bit, but that one NaN is as good as another
/// and, where NumPy itself does not say which, one zero as good as the other; or near.
bool is_right(const reference_case& c, const unsigned char* found) {
  if (c.expected.empty()) return true;
  if (std::memcmp(found, c.expected.data(), c.expected.size()) == 0) return true;
  const element_kind kind = detail::real_kind(c.kind);
  if (!detail::is_fractional(kind)) return false;
  const std::size_t bytes = detail::facts_of(kind).bytes;
  for (std::size_t at = 0; at < c.expected.size(); at += bytes) {
    const unsigned char* const own = c.expected.data() + at;
    if (std::memcmp(found + at, own, bytes) == 0) continue;
    const long double a = number_at(kind, found + at), b = number_at(kind, own);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (c.mark == "signless" && a == b) continue;
    if (c.mark != "near") return false;
    const long double epsilon = bytes == 2 ? 0x1p-10L : bytes == 4 ? 0x1p-23L : 0x1p-52L;
    const long double least = bytes == 2 ? 0x1p-14L : bytes == 4 ? 0x1p-126L : 0x1p-1022L;
    if (!(std::abs(a - b) <= 8 * epsilon * std::max(std::abs(b), least))) return false;
  }
  return true;
}

std::size_t run(const fixture& f, const gpu::shape<8>& padded, int rank,
                const std::vector<reference_case>& cases) {
  std::size_t count = 1;
  detail::loop_operand out;
  out.rank = rank;
  for (int axis = 0; axis < rank; ++axis) {
    out.extents[axis] = padded[axis];
    count *= padded[axis];
  }
  std::ptrdiff_t dense = 1;
  for (int axis = rank; axis-- > 0;) {
    out.strides[axis] = dense;
    dense *= static_cast<std::ptrdiff_t>(padded[axis]);
  }
  std::vector<gpu::device_buffer<unsigned char>> memory;
  std::deque<detail::loop_operand> outs;
  std::vector<detail::expression_target> targets;
  for (const reference_case& each : cases) {
    memory.push_back(f.make<unsigned char>(count * detail::facts_of(each.kind).bytes));
    outs.push_back(out);
    outs.back().memory = detail::copy_end_of(memory.back());
    outs.back().memory.count = count;
    targets.push_back({{each.expression.words.data(), each.expression.words.size(),
                        each.expression.type.kind, rank},
                       &outs.back(),
                       each.kind});
  }
  const gpu::stream_ref stream = f.stream;
  test::value_of(gpu::result<>(
      detail::run_expressions({"test", stream, gpu::source_location::current()}, targets.data(),
                              targets.size(), detail::evaluation_step::run)));
  std::size_t wrong = 0;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const std::vector<unsigned char> found = f.download(memory[c]);
    REQUIRE(found.size() == cases[c].expected.size());
    INFO(cases[c].text);
    const bool right =
        cases[c].expression.type.kind == cases[c].kind && is_right(cases[c], found.data());
    CHECK(right);
    wrong += right ? 0 : 1;
  }
  return wrong;
}

TEST_CASE("expressions are NumPy's, bit for bit", "[array][expression][thorough]") {
  const fixture f;
  reader read(f);
  std::istringstream in(reference);
  std::string line;
  gpu::shape<8> shape;
  int rank = 0;
  std::vector<reference_case> batch;
  std::size_t used = 0, total = 0;
  const auto flush = [&] {
    if (!batch.empty()) run(f, shape, rank, batch);
    total += batch.size();
    batch.clear();
    used = 0;
  };
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string first, second, third;
    words >> first >> second >> third;
    if (first == "pool") {
      read.add_pool(second, third);
    } else if (first == "shape") {
      flush();
      const auto extents = numbers_of(second);
      rank = static_cast<int>(extents.size());
      for (int axis = 0; axis < rank; ++axis)
        shape[axis] = static_cast<std::size_t>(extents[static_cast<std::size_t>(axis)]);
    } else {
      reference_case made = read.read(line);
      if (used + made.operands + 1 > 31 || batch.size() == 16) flush();
      used += made.operands + 1;
      batch.push_back(std::move(made));
    }
  }
  flush();
  CHECK(total > 2000);
}

TEST_CASE("types are promoted as by NumPy", "[array][expression]") {
  std::istringstream in(promotions);
  std::string a, b, expected;
  std::size_t total = 0;
  while (in >> a >> b >> expected) {
    detail::operand_type given[2] = {{kind_named(a)}};
    if (b[0] == '#') {
      given[1] = {b == "#b"   ? element_kind::boolean
                  : b == "#i" ? element_kind::int32
                  : b == "#f" ? element_kind::float64
                              : element_kind::complex128,
                  true};
    } else {
      given[1] = {kind_named(b)};
    }
    CAPTURE(a, b);
    CHECK(detail::resolve_types(detail::opcode::add, given).result == kind_named(expected));
    ++total;
  }
  CHECK(total == 14 * 14 + 14 * 4);
}

}}  // namespace expression_launch_test
