#pragma once
/// \file
/// Writes the texts of scans that move chosen elements to neighboring places, and launches them.

#include <gpu/algorithm/scan/scan_kernel.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/compaction.hpp>
#include <gpu/device/embedded/scan.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_text.hpp>
#include <gpu/generated/shared_elements.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_access.hpp>
#include <gpu/generated/snippet_options.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// The elements that a compaction keeps.
enum class compaction_kind : unsigned char {
  nothing,       ///< counts the chosen elements
  chosen,        ///< the elements that fulfill a condition
  all,           ///< these, and after them the others
  first_of_run,  ///< the first of equal neighbors
  run,           ///< the last of equal neighbors, and their values combined
};

/// A compaction with the kernels that were made of it. Behind the parameters of the user's it has
/// those of `compaction_outputs`.
struct compaction_state : scan_state {
  compaction_kind kind = compaction_kind::chosen;
  bool wide = false;            ///< counts have 64 bits
  text condition;               ///< whether element `i` is chosen
  text pick;                    ///< the value of element `i` that is stored
  element_type result;          ///< the type that is stored
  element_type values;          ///< of runs: the type that is stored
  element_type run_value;       ///< of runs: the type in which values are combined
  std::uint32_t run_bytes = 0;  ///< of a `run_layout`
  text run_map;                 ///< the value of element `i` of a run
  text item_name;

  bool has_runs() const noexcept {
    return kind == compaction_kind::first_of_run || kind == compaction_kind::run;
  }
};

/// The layout of the device's `gpu_run`.
template <class Count, class Value> struct run_layout {
  Count number;
  Value value;
};

/// Writes `gpu_counts`, `gpu_is_last`: whether the neighbor of an element differs from it, and
/// `gpu_pick`, the element. Most neighbors are in the same group.
inline void write_neighbors(loop_writer& out, const snippet_parameter& keys, bool by_element) {
  const text& name = keys.name;
  const auto write_key = [&](const char* variable, const char* in_group, const char* index,
                             const char* condition) {
    out.code() << "    const gpu_key " << variable << " = ";
    if (by_element) {
      if (*condition != '\0') out.code() << condition << " ? ";
      out.code() << "group." << name << '[' << in_group << ']';
      if (*condition == '\0') return static_cast<void>(out.code() << ";\n");
      out.code() << " : gpu::loops::element_at(gpu_" << name << "_data + (" << index << "));\n";
    } else {
      out.code() << name << '[' << index << "];\n";
    }
  };
  constexpr const char* parameters = " = [&](auto& group, const int k, const long long i) {\n";
  out.code() << "  using gpu_key = " << keys.type.name << ";\n  const auto gpu_pick" << parameters;
  write_key("own", "k", "i", "");
  out.code() << "    return own;\n  };\n  const auto gpu_counts" << parameters
             << "    if (i == 0) return true;\n";
  write_key("before", "k - 1", "i - 1", "k > 0");
  out.code() << "    return !(before == gpu_pick(group, k, i));\n  };\n  const auto gpu_is_last"
             << parameters
             << "    if (i == n - 1) return true;\n"
                "    constexpr int width = gpu::loops::width_of<decltype(group)>::value;\n";
  write_key("after", "k + 1", "i + 1", "k + 1 < width");
  out.code() << "    return !(gpu_pick(group, k, i) == after);\n  };\n";
}

/// Writes the functions of a compaction: `gpu_counts` returns whether the rank rises at an element,
/// `gpu_make` and `gpu_combine` make and combine items, and `gpu_pick` returns the value to store.
inline void write_compaction_items(loop_writer& out, const compaction_state& state,
                                   bool by_element) {
  if (state.has_runs()) {
    write_neighbors(out, state.code.parameters[0], by_element);
  } else {
    out.write_function("gpu_counts", "condition", state.condition, "bool");
    out.code() << "  const auto gpu_is_last = [](auto&, int, long long) { return false; };\n";
    if (state.kind != compaction_kind::nothing) {
      out.code() << "  using gpu_result = " << state.result.name << ";\n";
      out.write_function("gpu_pick", "value", state.pick, "gpu_result");
    }
  }
  if (state.kind != compaction_kind::run) {
    out.code() << "  const auto gpu_make = [](auto&, int, long long, const unsigned counts) {\n"
                  "    return gpu_value(counts);\n  };\n"
                  "  const auto gpu_combine = [](const gpu_value a, const gpu_value b) {\n"
                  "    return gpu_value(a + b);\n  };\n";
    return;
  }
  out.code() << "  using gpu_run_value = " << state.run_value.name
             << ";\n  const auto gpu_join = [&](const gpu_run_value& a, const gpu_run_value& b) {\n"
                "    return static_cast<gpu_run_value>(\n";
  out.add_users("combine", state.combine);
  out.code() << "    );\n  };\n";
  out.write_function("gpu_map", "value", state.run_map, "gpu_run_value");
  out.code() << "  const auto gpu_make = [&](auto& group, const int k, const long long i, const "
                "unsigned counts) {\n"
                "    return gpu_value{decltype(gpu_value::number)(counts), gpu_map(group, k, i)};\n"
                "  };\n"
                "  const auto gpu_combine = [&](const gpu_value& a, const gpu_value& b) {\n"
                "    return gpu_value{a.number + b.number, b.number != 0 ? b.value : "
                "gpu_join(a.value, b.value)};\n  };\n";
}

/// Writes `gpu_store`, which stores the kept elements of a warp's groups.
inline void write_compaction_stores(loop_writer& out, const compaction_state& state) {
  const auto write_store = [&](const char* function, const char* to, const char* further,
                               const char* value) {
    out.code() << "    gpu::loops::" << function << '<' << scan_threads << ">(" << to
               << ", items, kept, found, " << further << "[&](int k) { return " << value
               << "; });\n";
  };
  out.code()
      << "  const auto gpu_store = [&](auto& group, const auto& items, const gpu_index from, "
         "const unsigned kept, const auto& found) {\n";
  switch (state.kind) {
    case compaction_kind::nothing: break;
    case compaction_kind::all:
      write_store("store_parted", "&gpu_out[0], *gpu_total", "from, gpu_index(n), ",
                  "gpu_pick(group, k, from + k)");
      break;
    case compaction_kind::run:
      write_store("store_kept", "&gpu_results[0], gpu_capacity", "", "items[k].value");
      [[fallthrough]];
    default:
      write_store("store_kept", "&gpu_out[0], gpu_capacity", "", "gpu_pick(group, k, from + k)");
  }
  out.code() << "  };\n";
}

/// Writes `gpu_keep`, which puts an element that was loaded alone into its group.
inline void write_keep(loop_writer& out, const compaction_state& state, const loop_form& form) {
  out.code() << "  const auto gpu_keep = [](auto& group, const int k, const auto& one) {\n";
  for (std::size_t p = 0; p < state.uses.size(); ++p) {
    if (!form.by_element || state.uses[p].access == element_access::memory) continue;
    const text& name = state.code.parameters[p].name;
    out.code() << "    group." << name << "[k] = one." << name << "[0];\n";
  }
  out.code() << "  };\n";
}

/// Writes the program of a form.
inline void write_compaction(const loop_state& base, const loop_form& form,
                             generated_program& program) {
  const auto& state = static_cast<const compaction_state&>(base);
  const snippet& s = state.code;
  loop_writer out(s, state.uses, form, program);
  program.headers.push_back({scan_header_name, scan_header});
  program.headers.push_back({compaction_header_name, compaction_header});
  out.write_head(&state.value);
  out.write_group_type();
  // With 64 registers two blocks run at a time: one loads while the other waits.
  const unsigned blocks = state.value.bytes <= 8 ? 2 : 1;
  out.write_signature(s.name,
                      "const gpu_value gpu_neutral, unsigned long long* const gpu_state, "
                      "const long long gpu_tiles, ",
                      scan_threads, blocks);
  out.add_users("before", s.before);
  write_compaction_items(out, state, form.by_element);
  write_compaction_stores(out, state);
  write_keep(out, state, form);
  out.write_moves(true);
  out.code() << "  gpu::loops::compact_tile<gpu_group, " << form.width << ", " << form.groups
             << ", " << scan_threads << ", "
             << (state.kind == compaction_kind::run ? "true" : "false")
             << ", gpu_value>(\n"
                "      gpu_index(n), gpu_state, gpu_tiles, gpu_count, gpu_load, gpu_keep, "
                "gpu_counts, gpu_make,\n      gpu_combine, gpu_is_last, gpu_store);\n";
  out.add_users("after", s.after);
  out.code() << "}\n";
  out.finish();
}

/// The operands in which a compaction stores its results.
struct compaction_outputs {
  named_elements kept;
  named_elements values;                           ///< of runs; else its name is null
  named_elements count;                            ///< one integer
  std::uint64_t most_counted = ~std::uint64_t{0};  ///< the largest that `count` can hold
  CUdeviceptr total = 0;  ///< of `compaction_kind::all`: the number of chosen elements
};

/// Adds the library's parameters to those of the user's.
inline void add_output_parameters(compaction_state& state, const element_type& count) {
  const auto add = [&](parameter_kind kind, bool writable, const element_type& type,
                       const char* name) {
    state.code.parameters.push_back({kind, writable, type, required(text(name))});
    state.uses.push_back({});
  };
  if (state.kind != compaction_kind::nothing)
    add(parameter_kind::pointer, true, state.result, "gpu_out");
  if (state.kind == compaction_kind::run)
    add(parameter_kind::pointer, true, state.values, "gpu_results");
  if (state.kind == compaction_kind::all) {
    add(parameter_kind::pointer, false, element_type_of<long long>(), "gpu_total");
  }
  add(parameter_kind::number, false, element_type_of<long long>(), "gpu_capacity");
  add(parameter_kind::pointer, true, count, "gpu_count");
}

/// Fills in the scanned type, and how the parameters are used.
inline result<> finish_compaction(compaction_state& state, string_ref names, bool wide,
                                  const element_type& count, const snippet_options& options,
                                  source_location where) {
  state.wide = wide;
  state.write = &write_compaction;
  if (state.kind == compaction_kind::run) {
    text_builder name;
    name << "gpu_run<" << (wide ? "long long" : "int") << ", " << state.run_value.name << '>';
    state.item_name = required(name.finish());
    state.value = {state.item_name, {}, state.run_bytes, 8};
  } else {
    state.value = wide ? element_type_of<long long>() : element_type_of<int>();
  }
  text_builder both;
  both << state.condition << "\n;\n" << state.pick;
  GPU_TRY(describe_snippet(state.code, names, required(both.finish()), options, where));
  if (!state.has_runs())
    GPU_TRY(require_part(state.code, "the condition", state.condition, "x[i] > 0", where));
  if (state.kind == compaction_kind::chosen || state.kind == compaction_kind::all)
    GPU_TRY(require_part(state.code, "the value", state.pick, "x[i]", where));
  if (state.kind == compaction_kind::run)
    GPU_TRY(require_part(state.code, "combine", state.combine, "a + b", where));
  state.uses = find_uses(state.code);
  if (state.has_runs()) {
    for (parameter_use& each : state.uses) each.access = element_access::load;
  }
  add_output_parameters(state, count);
  return {};
}

/// Checks that the results of a compaction overlap neither operands nor each other.
inline result<> check_outputs(const loop_call& call, const compaction_outputs& to) noexcept {
  const char* const function = call.code().function;
  const named_elements* const all[] = {&to.kept, &to.values, &to.count};
  for (const named_elements* each : all) {
    if (each->name == nullptr) continue;
    GPU_TRY(require_usable(function, call.stream, *each, call.where));
    for (const named_elements* other : all) {
      if (other == each) break;
      if (other->name != nullptr) GPU_TRY(require_disjoint(function, *other, *each, call.where));
    }
    for (std::size_t p = 0; p < call.count(); ++p) {
      const loop_operand* const operand = call.operand(p);
      if (operand == nullptr || operand->memory.count == 0) continue;
      named_elements input = name_operand(call, p);
      const byte_range bytes = bytes_of(*operand, input.element_bytes);
      if (each->count() == 0 || bytes.end <= each->begin() || each->end() <= bytes.begin) continue;
      input.memory.address = each->begin();  // a view may begin elsewhere
      GPU_TRY(require_disjoint(function, input, *each, call.where));
    }
  }
  if (to.count.count() != 0) return {};
  return fail(refusal(errc::size_mismatch, function,
                      text("count has 0 elements, but 1 is needed for the number of elements that "
                           "are kept."),
                      call.where, 0, 1));
}

/// Fails because a type is too small for a number of elements that may have to be stored in it.
inline result<> refuse_narrow(const char* function, const char* name, std::uint64_t most,
                              std::size_t elements, source_location where) noexcept {
  text_builder out;
  out << name << " has a type that holds numbers up to " << most << ", but there are " << elements
      << " elements to count. Use a larger integer type.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, elements, most));
}

/// Runs a compaction. `inputs` are the arguments for the user's parameters.
inline result<> run_compaction(compaction_state& state, const stream_ref& stream,
                               source_location where, const loop_argument* inputs,
                               std::size_t input_count, const compaction_outputs& to) {
  loop_argument list[most_loop_parameters + 5] = {};
  std::size_t used = 0, elements = 0;
  while (used < input_count) {
    if (inputs[used].operand != nullptr) elements = inputs[used].operand->memory.count;
    list[used] = inputs[used];
    ++used;
  }
  CUdeviceptr kept = to.kept.memory.device_address(), values = to.values.memory.device_address();
  CUdeviceptr count = to.count.memory.device_address(), total = to.total;
  auto capacity = static_cast<long long>(to.kept.count());
  if (state.kind != compaction_kind::nothing) list[used++] = {nullptr, &kept};
  if (state.kind == compaction_kind::run) list[used++] = {nullptr, &values};
  if (state.kind == compaction_kind::all) list[used++] = {nullptr, &total};
  list[used++] = {nullptr, &capacity};
  list[used++] = {nullptr, &count};
  const loop_call call{state, stream, where, list};
  GPU_TRY(require(stream, call.code().function, where));
  GPU_TRY(check_outputs(call, to));
  if (to.values.name != nullptr)
    GPU_TRY(require_same_count(call.code().function, to.kept, to.values, where));
  if (elements > to.most_counted)
    return refuse_narrow(call.code().function, "count", to.most_counted, elements, where);
  GPU_TRY(run_scan(call));
  if (elements != 0) return {};
  copy_end bytes = to.count.memory;
  bytes.count = to.count.element_bytes;
  return fill_on(stream, bytes, 0, 1, where);
}

/// Counts the chosen elements, then moves all. `inputs` are the elements and the flags.
inline result<> run_partition(compaction_state& counting, compaction_state& moving,
                              const stream_ref& stream, source_location where,
                              const loop_argument* inputs, const compaction_outputs& to) {
  GPU_TRY(
      require_same_count("gpu::partition", {"x", inputs[0].operand->memory, 1}, to.kept, where));
  const device_buffer<unsigned char> memory =
      GPU_TRY(allocate_workspace(stream, sizeof(long long), where));
  auto total = device_span<long long>::from_native(memory.span().native(), 1);
  compaction_outputs moved = to;
  moved.total = total.native();
  GPU_TRY(run_compaction(counting, stream, where, inputs + 1, 1,
                         {{}, {}, name_elements("count", total)}));
  return run_compaction(moving, stream, where, inputs, 2, moved);
}

/// Returns whether counts of elements need 64 bits.
constexpr bool needs_wide_counts(std::size_t elements) noexcept { return elements > 0x7fff'ffff; }

/// The names of a shared compaction, and what combines its values.
struct shared_compaction {
  const char* function;
  const char* kernel;      ///< its name
  const char* parameters;  ///< their names
  string_ref combine{};
};

/// Returns the compaction of a family, whose parameters have the types `Parameters`. On the first
/// call, `describe(state, wide)` fills in its texts and what it stores.
template <class Family, class Count, class... Parameters, class Describe>
result<compaction_state*> find_compaction(const shared_compaction& of, std::size_t elements,
                                          source_location where, Describe describe) {
  const bool wide = needs_wide_counts(elements);
  return find_shared<Family, compaction_state>(
      of.function, {of.combine, wide}, where, [&](compaction_state& made) {
        made.code.function = of.function;
        made.code.parameters = {describe_parameter<Parameters>()...};
        made.neutral = zero_value<long long>::bytes;
        describe(made, wide);
        return finish_compaction(made, of.parameters, wide, element_type_of<Count>(),
                                 {.name = of.kernel}, where);
      });
}

template <class T, class Flag, class Count, compaction_kind Kind> struct flagged_family;

/// Returns the compaction of elements of `x` by `flags`.
template <class T, class Flag, class Count, compaction_kind Kind>
result<compaction_state*> find_flagged(const char* function, const char* kernel,
                                       std::size_t elements, source_location where) {
  return find_compaction<flagged_family<T, Flag, Count, Kind>, Count, const T*, const Flag*>(
      {function, kernel, "x, flags"}, elements, where, [](compaction_state& made, bool) {
        made.kind = Kind;
        made.condition = required(text("flags[i]"));
        made.pick = required(text("x[i]"));
        made.result = element_type_of<T>();
      });
}

/// A place in device memory for a count that the host waits for.
class returned_count {
 public:
  using value_type = unsigned long long;

  static result<returned_count> create(const stream_ref& stream, const char* function,
                                       source_location where) {
    GPU_TRY(require_no_capture(
        stream, function, "Pass a count in device memory, so that nothing has to wait.", where));
    return returned_count(GPU_TRY(allocate_workspace(stream, 2 * sizeof(value_type), where)));
  }

  device_span<value_type> range() const noexcept { return part(0); }
  /// A second count, which only the device needs.
  device_span<value_type> further() const noexcept { return part(1); }

  /// Waits for the count.
  /// **Errors**: `errc::size_mismatch` if `kept` has fewer elements.
  result<std::size_t> wait(const stream_ref& stream, const char* function,
                           const named_elements& kept, source_location where) const {
    value_type found = 0;
    GPU_TRY(copy_to_host(stream, memory_.span().native(), &found, sizeof found, where));
    const auto count = static_cast<std::size_t>(found);
    if (count <= kept.count()) return count;
    text_builder out;
    out << kept.name << " has " << kept.count() << " elements, but " << count
        << " are to be stored; only the first " << kept.count() << " were. Pass a range of "
        << count << " elements.";
    return fail(refusal(errc::size_mismatch, function, out.finish(), where, kept.count(), count));
  }

 private:
  explicit returned_count(device_buffer<unsigned char> memory) noexcept
      : memory_{std::move(memory)} {}

  device_span<value_type> part(std::size_t index) const noexcept {
    const CUdeviceptr begin = memory_.span().native();
    return device_span<value_type>::from_native(begin + index * sizeof(value_type), 1);
  }

  device_buffer<unsigned char> memory_;
};

/// Returns the largest number of an integer type.
template <class T> constexpr std::uint64_t most_of() noexcept {
  return ~std::uint64_t{0} >> (64 - 8 * sizeof(T) + (std::is_signed_v<T> ? 1 : 0));
}

/// Describes the argument for a count.
template <class Count> named_elements name_count(Count& count) noexcept {
  using type = element_t<Count>;
  static_assert(word_integer<type> && !std::is_const_v<type> && !std::same_as<type, bool>,
                "the count is an integer in device memory");
  return name_elements("count", count);
}

/// Describes the results of a compaction that stores elements and their number.
template <class Out, class Count> compaction_outputs outputs_to(Out& out, Count& count) noexcept {
  return {name_elements("out", out), {}, name_count(count), most_of<element_t<Count>>()};
}

}}}  // namespace gpu::v1::detail
