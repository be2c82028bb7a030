// Macros from values of the host: the values that NVRTC reads are compared with the originals.

#include <gpu/compiler.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/version.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace macro_value_test { namespace {

enum class color : unsigned char { red = 3, blue = 200 };
enum plain { minus = -7 };

std::string written(const gpu::macro_value& value) { return value.c_str(); }

/// Compiles `check` with the macro X.
gpu::result<gpu::compiled_program> compile_with(const gpu::macro_value& x, const char* check) {
  return gpu::compile(check, {.architecture = gpu::architecture::compute(90),
                              .standard = gpu::cpp_standard::cpp20,
                              .defines = {{"X", x}}});
}

bool holds(const gpu::macro_value& x, const char* check) {
  const auto made = compile_with(x, check);
  INFO(x.c_str());
  INFO((made.has_value() ? "" : made.error().message().c_str()));
  CHECK(made.has_value());
  return made.has_value();
}

TEST_CASE("integers keep their value and fit their type", "[compiler][options]") {
  CHECK(written(256) == "256");
  CHECK(written(-5) == "-5");
  CHECK(written(std::size_t{16}) == "16");
  CHECK(written(4000000000u) == "4000000000u");
  CHECK(written(true) == "true");
  CHECK(written(color::blue) == "200");
  CHECK(written(minus) == "-7");
  CHECK(written(2147483647u) == "2147483647");
  CHECK(written(2147483648u) == "2147483648u");
  CHECK(written(4294967295u) == "4294967295u");
  CHECK(written(std::size_t{4294967296}) == "4294967296ull");
  holds(std::numeric_limits<int>::min(), "static_assert(X == (int)0x80000000 && sizeof(X) == 4);");
  holds(std::numeric_limits<int>::max(), "static_assert(X == 0x7fffffff && sizeof(X) == 4);");
  holds(std::numeric_limits<std::int64_t>::min(),
        "static_assert(X == (long long)0x8000000000000000ull && sizeof(X) == 8);");
  holds(std::numeric_limits<std::int64_t>::max(), "static_assert(X == 0x7fffffffffffffffll);");
  holds(std::numeric_limits<std::uint64_t>::max(), "static_assert(X == 0xffffffffffffffffull);");
  holds(std::int64_t{-2147483649}, "static_assert(X == -2147483649ll && sizeof(X) == 8);");
  holds(false, "#if X\n#error\n#endif\nstatic_assert(!X);");
  holds(true, "#if !X\n#error\n#endif\nstatic_assert(X);");
  holds(-5, "static_assert(10 -X == 15 && 2-X == 7);");
}

TEST_CASE("floating-point numbers arrive bit by bit", "[compiler][options]") {
  if (gpu::nvrtc_version().value() == gpu::version{12, 0}) return;  // has no __builtin_bit_cast
  const auto check_float = [](float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    const std::string check =
        "static_assert(__builtin_bit_cast(unsigned, X) == " + std::to_string(bits) +
        "u && sizeof(X) == 4);";
    holds(value, check.c_str());
  };
  const auto check_double = [](double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    const std::string check =
        "static_assert(__builtin_bit_cast(unsigned long long, X) == " + std::to_string(bits) +
        "ull && sizeof(X) == 8);";
    holds(value, check.c_str());
  };
  using f = std::numeric_limits<float>;
  for (const float value : {0.0f, -0.0f, 1.0f, 0.1f, -1.0f / 3, f::max(), f::min(), f::denorm_min(),
                            16777217.0f, 1e10f, f::infinity(), -f::infinity(), f::quiet_NaN()}) {
    check_float(value);
  }
  using d = std::numeric_limits<double>;
  for (const double value : {0.0, -0.0, 0.1, 1.0 / 3, d::max(), d::min(), d::denorm_min(), 1e22,
                             d::infinity(), d::quiet_NaN(), std::acos(-1.0)}) {
    check_double(value);
  }
}

TEST_CASE("a string is tokens, and quoted it is a literal", "[compiler][options]") {
  holds("float", "static_assert(sizeof(X) == 4 && X(1) / 2 == 0.5f);");
  holds(std::string("a + b"), "constexpr int a = 1, b = 2; static_assert(X == 3);");
  CHECK(written(gpu::quoted("a?\?=~ \x7f\x1f")) == "\"a\\077\\077=~ \\177\\037\"");
  const std::string hard =
      "say \"hi\" \\ there\n\t?\?= \x01"
      "2 \xc3\xa9";
  std::string check = "constexpr unsigned char wanted[] = {";
  for (const char c : hard) check += std::to_string(static_cast<unsigned char>(c)) + ",";
  check +=
      "0};\nstatic_assert(sizeof(X) == sizeof(wanted));\n"
      "__device__ constexpr bool same() { for (int i = 0; i < sizeof(X); ++i)\n"
      "  if ((unsigned char)X[i] != wanted[i]) return false;\n  return true; }\n"
      "static_assert(same());";
  holds(gpu::quoted(hard), check.c_str());
}

TEST_CASE("a macro may have parameters", "[compiler][options]") {
  const auto made = gpu::compile("static_assert(SQUARE(1 + 2) == 9 && FLAG == 1);",
                                 {.architecture = gpu::architecture::compute(90),
                                  .defines = {{"SQUARE(x)", "((x) * (x))"}, {"FLAG"}}});
  INFO((made.has_value() ? "" : made.error().message().c_str()));
  CHECK(made.has_value());
}

}}  // namespace macro_value_test
