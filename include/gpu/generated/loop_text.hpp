#pragma once
/// \file
/// `loop_writer`: writes the parts that all generated kernels share.

#include <gpu/compiler/program.hpp>
#include <gpu/compiler/source.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/boolean.hpp>
#include <gpu/device/embedded/complex_functions.hpp>
#include <gpu/device/embedded/complex_power.hpp>
#include <gpu/device/embedded/loops.hpp>
#include <gpu/device/embedded/numbers.hpp>
#include <gpu/generated/complex_calls.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_access.hpp>
#include <gpu/kernel/detail/parameter_type.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns whether a text may name what NVRTC's `--minimal` leaves out: CUDA's run-time types and
/// functions, those of textures and surfaces, and launches. Headers that it includes may, too.
inline bool may_need_runtime_types(string_ref part) noexcept {
  for (const string_ref word : {"cuda", "tex", "surf", "<<<", "#"}) {
    if (position_of(word, part) != part.size()) return true;
  }
  return false;
}

/// Writes the text of a generated kernel piece by piece. The user's texts are parts of their own,
/// so that the compiler's messages name them and their lines.
///
/// A parameter `x` with elements that are loaded beforehand is called `gpu_x_data`, and one element
/// `gpu_x`. Kernels that hold groups of elements in a `gpu_group` have functions of them:
/// `gpu_load(group, from)` and `gpu_store(group, from)` move the elements, and `NAME(group, k, i)`
/// runs a snippet for element `k`.
class loop_writer {
 public:
  loop_writer(const snippet& s, const sequence<parameter_use>& uses, const loop_form& form,
              generated_program& out)
      : s_{s}, uses_{uses}, form_{form}, out_{out} {
    out_.kernel = s_.name;
    out_.options = s_.options;
    // Macros and headers that are included first can bring in anything.
    out_.needs_runtime_types = !s_.options.defines.empty() || !s_.options.extra.empty();
    out_.headers.push_back({boolean_header_name, boolean_header});
    out_.headers.push_back({loops_header_name, loops_header});
    out_.headers.push_back({numbers_header_name, numbers_header});
  }

  /// The text that comes next.
  text_builder& code() noexcept { return code_; }

  /// Ends the library's text so far, and adds a text of the user's, which messages call
  /// `KERNEL.which`.
  void add_users(const char* which, const text& part) {
    if (part.empty()) return;
    note_runtime_types(part);
    add_generated();
    out_.source.part(required(part_name(which)), part);
  }

  /// Ends the program. If it may call functions of complex numbers, their headers come first.
  void finish() {
    add_generated();
    complex_calls calls;
    if (!s_.options.defines.empty() || !s_.options.extra.empty()) calls.note_unknown();
    for (const source_part& each : out_.source.parts()) calls.note(each.contents);
    if (!calls.functions()) return;
    out_.headers.push_back({complex_functions_header_name, complex_functions_header});
    if (calls.power()) out_.headers.push_back({complex_power_header_name, complex_power_header});
    code_ << "#include <" << numbers_header_name << ">\n#include <" << complex_functions_header_name
          << ">\n";
    if (calls.power()) code_ << "#include <" << complex_power_header_name << ">\n";
    gpu::source whole;
    whole.part(required(part_name("complex")), required(code_.finish()));
    for (const source_part& each : out_.source.parts())
      whole.part(each.name, each.first_line, each.contents);
    out_.source = std::move(whole);
  }

  /// Writes the part before the kernel: headers, types, the preamble. `value` is the type
  /// `gpu_value`, if there is one; `numbers` says that types of `gpu/device/numbers.cuh` occur
  /// beside it and the parameters.
  void write_head(const element_type* value = nullptr, bool numbers = false) {
    for (const program_header& each : out_.headers) {
      if (string_ref(each.name) != numbers_header_name) code_ << "#include <" << each.name << ">\n";
    }
    numbers = numbers || (value != nullptr && starts_with(value->name, "gpu::"));
    for (const snippet_parameter& each : s_.parameters)
      numbers = numbers || starts_with(each.type.name, "gpu::");
    if (numbers) code_ << "#include <" << numbers_header_name << ">\n";
    const std::size_t count = s_.parameters.size();
    for (std::size_t p = 0; p < count; ++p) {
      if (!is_defined_before(p, type(p))) write_definition(s_.parameters[p].type);
    }
    if (value != nullptr) {
      if (!is_defined_before(count, value->name)) write_definition(*value);
      code_ << "using gpu_value = " << value->name << ";\n";
    }
    code_ << "using gpu_index = " << (form_.wide ? "long long" : "int") << ";\n";
    if (form_.rank != 0) {
      code_ << "using gpu_layout = gpu::loops::layout<gpu_index, " << form_.rank << ", "
            << __builtin_popcount(form_.views) << ">;\n";
    }
    add_users("preamble", s_.preamble);
    for (std::size_t p = 0; p < count; ++p) {
      if (!is_defined_before(p, type(p))) write_size_check(s_.parameters[p].type);
    }
    if (value != nullptr && !is_defined_before(count, value->name)) write_size_check(*value);
  }

  /// Writes the type of a group of elements.
  void write_group_type() {
    code_ << "template <int gpu_width> struct gpu_group {\n  using gpu_one = gpu_group<1>;\n";
    for_elements(
        [&](std::size_t p) { code_ << "  " << type(p) << ' ' << name(p) << "[gpu_width];\n"; });
    code_ << "};\n";
  }

  /// Writes the definition of a structure of the user's, if the type has one.
  void write_definition(const element_type& type) {
    if (type.definition.empty()) return;
    note_runtime_types(type.definition);
    code_ << type.definition << '\n';
  }

  /// Writes a check that a structure, which CUDA, a header or the preamble may define, has the size
  /// of the type on the host: a type of the user's may be called `float3`, too.
  void write_size_check(const element_type& type) {
    if (starts_with(type.name, "gpu::") || starts_with(type.name, "gpu_")) return;  // ours
    if (parameter_type_named(type.name).kind != passed_kind::unknown) return;
    code_ << "static_assert(sizeof(" << type.name << ") == " << type.bytes << ", \"" << type.name
          << " has another size on the device than on the host\");\n";
  }

  /// Writes the declaration of the kernel up to the brace, with further parameters at the end.
  /// `blocks` of them fit on a multiprocessor.
  void write_signature(const text& kernel, const char* further, unsigned threads = loop_threads,
                       unsigned blocks = 1) {
    code_ << "extern \"C\" __global__ void __launch_bounds__(" << threads;
    if (blocks > 1) code_ << ", " << blocks;
    code_ << ") " << kernel << "(\n    ";
    for (std::size_t p = 0; p < s_.parameters.size(); ++p) {
      const snippet_parameter& each = s_.parameters[p];
      if (each.kind == parameter_kind::number) {
        code_ << "const " << type(p) << ' ' << name(p);
      } else {
        const bool direct = !is_element(p) && !is_view(p) && !is_boolean(p);
        code_ << (each.writable ? "" : "const ") << type(p) << "* const " << (direct ? "" : "gpu_")
              << name(p) << (direct ? "" : "_data");
      }
      code_ << ", ";
    }
    if (form_.rank != 0) code_ << "const gpu_layout gpu_views, ";
    code_ << further << "const long long n) {\n";
    for_views([&](std::size_t p, int view) {
      if (is_element(p)) return;
      code_ << "  const gpu::loops::strided<" << (s_.parameters[p].writable ? "" : "const ")
            << type(p) << ", gpu_layout> " << name(p) << "{gpu_" << name(p) << "_data, gpu_views, "
            << view << "};\n";
    });
    for (std::size_t p = 0; p < s_.parameters.size(); ++p) {
      if (is_view(p) || is_element(p) || !is_boolean(p)) continue;
      code_ << "  const gpu::loops::booleans<" << (s_.parameters[p].writable ? "" : "const ")
            << "bool> " << name(p) << "{gpu_" << name(p) << "_data};\n";
    }
  }

  /// Writes `gpu_load` or `gpu_store`.
  void write_moves(bool loads) {
    code_ << "  const auto " << (loads ? "gpu_load" : "gpu_store")
          << " = [&](auto& group, const gpu_index from) {\n";
    for_elements([&](std::size_t p) {
      if (moves(p, loads)) write_move(p, loads, "group.", "", "from");
    });
    code_ << "  };\n";
  }

  /// Writes what a thread does with `groups` groups of `width` elements, the first of which is
  /// element `first`: it loads them, calls `function` for each element, and stores them. A group
  /// begins at a multiple of its width, so that `|` shows the compiler that `i / 4` is the same in
  /// four elements, which then share one block of random numbers.
  void write_groups(const char* function, const char* first, unsigned groups, unsigned width) {
    const bool several = groups > 1;
    const char* const group = several ? "[gpu_g]" : "";
    const char* const from = several ? "gpu_at" : first;
    const char* const k = width > 1 ? "gpu_k" : "0";
    const auto write_for_each_group = [&](auto write) {
      if (several) {
        code_ << "#pragma unroll\n    for (int gpu_g = 0; gpu_g < " << groups
              << "; ++gpu_g) {\n    const gpu_index gpu_at = " << first << " + gpu_g * "
              << loop_threads * width << ";\n";
      }
      write();
      if (several) code_ << "    }\n";
    };
    const auto write_group_moves = [&](bool loads) {
      bool any = false;
      for_elements([&](std::size_t p) { any = any || moves(p, loads); });
      if (!any) return;
      write_for_each_group([&] {
        for_elements([&](std::size_t p) {
          if (moves(p, loads)) write_move(p, loads, "", group, from);
        });
      });
    };
    for_elements([&](std::size_t p) {
      code_ << "    " << type(p) << ' ' << name(p);
      if (several) code_ << '[' << groups << ']';
      code_ << '[' << width << "];\n";
    });
    write_group_moves(true);
    write_for_each_group([&] {
      if (width > 1) {
        code_ << "#pragma unroll\n    for (int gpu_k = 0; gpu_k < " << width << "; ++gpu_k)\n  ";
      }
      code_ << "    " << function << '(' << from << (width > 1 ? " | gpu_k" : "");
      for_elements([&](std::size_t p) { code_ << ", " << name(p) << group << '[' << k << ']'; });
      code_ << ");\n";
    });
    write_group_moves(false);
  }

  /// Writes `gpu_load_columns`, which loads elements of neighboring segments at one position.
  void write_column_moves() {
    const int axes = form_.segment_axes;
    code_ << "  const auto gpu_load_columns = [&](auto& group, const gpu_index segment, "
             "const gpu_index position) {\n";
    for_elements([&](std::size_t p) {
      const int view = view_of(p);
      code_ << "    gpu_views.template load_along<" << form_.aligned << ", " << axes - 1
            << ">(group." << name(p) << ", gpu_" << name(p)
            << "_data + gpu_views.template offset_along<0, " << axes << ">(segment, " << view
            << ")\n        + gpu_views.template offset_along<" << axes << ", " << form_.rank
            << ">(position, " << view << "), " << view << ");\n";
    });
    code_ << "  };\n";
  }

  /// Writes `gpu_load_patch` or `gpu_store_patch`, which move the groups of a patch: each row of it
  /// at once, or each column of the views that are turned.
  void write_patch_moves(bool loads) {
    const unsigned width = form_.width;
    code_ << "  const auto " << (loads ? "gpu_load_patch" : "gpu_store_patch")
          << " = [&](auto& groups, const auto& at) {\n";
    for_elements([&](std::size_t p) {
      if (!moves(p, loads)) return;
      const int view = view_of(p);
      const bool turned = (form_.turned >> p & 1u) != 0;
      const int axis = turned ? form_.rank - 1 : form_.patch_axis - 1;
      code_ << "#pragma unroll\n    for (int s = 0; s < " << width << "; ++s) {\n      "
            << (s_.parameters[p].writable ? "" : "const ") << type(p) << "* const gpu_at = gpu_"
            << name(p) << "_data + gpu_views.offset_of(at, " << view << ") + s * gpu_views.stride["
            << view << "][" << axis << "];\n";
      if (turned) {
        write_column(p, loads);
      } else if (loads) {
        code_ << "      gpu_views.template load_along<" << form_.aligned << ", " << form_.rank - 1
              << ">(groups[s]." << name(p) << ", gpu_at, " << view << ");\n";
      } else {
        code_ << "      gpu_views.template store_along<" << form_.aligned << ", " << form_.rank - 1
              << ">(gpu_at, groups[s]." << name(p) << ", " << view << ");\n";
      }
      code_ << "    }\n";
    });
    code_ << "  };\n";
  }

  /// Writes the function `function(i, elements...)`, which runs a text of the user's for an
  /// element. It returns `result`, which the text's value is converted to, or nothing if that is
  /// null. With `further`, a type and a name, it has one more parameter, behind `i`.
  void write_element_function(const char* function, const char* which, const text& body,
                              const char* result, const char* further_type = "",
                              const char* further_name = "") {
    code_ << "  const auto " << function << " = [&](const long long i";
    const bool has_further = *further_name != '\0';
    if (has_further) code_ << ", " << further_type << ' ' << further_name;
    for_elements([&](std::size_t p) {
      const bool is_set = uses_[p].access != element_access::load;
      code_ << (is_set ? ", " : ", const ") << type(p) << "& gpu_" << name(p);
    });
    code_ << ") {\n";
    for_elements([&](std::size_t p) {
      code_ << "    [[maybe_unused]] gpu::loops::hidden " << name(p) << ";\n";
    });
    if (result != nullptr) code_ << "    return static_cast<" << result << ">(\n";
    text_builder replaced;
    if (form_.by_element) {
      write_with_elements(replaced, body, s_, uses_);
    } else {
      replaced << body;
    }
    add_users(which, required(replaced.finish()));
    // `return;` is of another type, so it does not compile: elements would be stored all the same.
    const bool finishes = result == nullptr && form_.by_element;
    code_ << (result != nullptr ? "    );\n  };\n"
              : finishes        ? "    ;\n    return gpu::loops::finished();\n  };\n"
                                : "    ;\n  };\n");
  }

  /// Writes the function `function(group, k, i)`, which does that for element `k` of a group.
  void write_function(const char* function, const char* which, const text& body, const char* result,
                      const char* further_type = "", const char* further_name = "") {
    text_builder of_element;
    of_element << function << "_text";
    write_element_function(required(of_element.finish()).c_str(), which, body, result, further_type,
                           further_name);
    const bool has_further = *further_name != '\0';
    code_ << "  const auto " << function << " = [&](auto& group, const int k, const long long i";
    if (has_further) code_ << ", " << further_type << ' ' << further_name;
    code_ << ") {\n    return " << function << "_text(i";
    if (has_further) code_ << ", " << further_name;
    for_elements([&](std::size_t p) { code_ << ", group." << name(p) << "[k]"; });
    code_ << ");\n  };\n";
  }

 private:
  void note_runtime_types(string_ref part) noexcept {
    if (may_need_runtime_types(part)) out_.needs_runtime_types = true;
  }
  const text& name(std::size_t p) const noexcept { return s_.parameters[p].name; }
  string_ref type(std::size_t p) const noexcept { return s_.parameters[p].type.name; }
  bool is_view(std::size_t p) const noexcept { return (form_.views >> p & 1u) != 0; }
  bool is_boolean(std::size_t p) const noexcept {
    return s_.parameters[p].kind != parameter_kind::number && type(p) == "bool";
  }
  bool is_element(std::size_t p) const noexcept {
    return form_.by_element && uses_[p].access != element_access::memory;
  }
  template <class Visit> void for_elements(Visit visit) {
    for (std::size_t p = 0; p < s_.parameters.size(); ++p) {
      if (is_element(p)) visit(p);
    }
  }
  template <class Visit> void for_views(Visit visit) {
    int view = 0;
    for (std::size_t p = 0; p < s_.parameters.size(); ++p) {
      if (is_view(p)) visit(p, view++);
    }
  }
  int view_of(std::size_t p) const noexcept {
    return __builtin_popcount(form_.views & ((1u << p) - 1));
  }

  /// Returns whether the elements of a parameter are loaded, or stored.
  bool moves(std::size_t p, bool loads) const noexcept {
    return uses_[p].access != (loads ? element_access::store : element_access::load);
  }

  /// Writes the call that loads or stores the elements `BEFORE x AFTER`, the first of them with the
  /// index `from`.
  void write_move(std::size_t p, bool loads, const char* before, const char* after,
                  const char* from) {
    code_ << "    " << (is_view(p) ? "gpu_views.template " : "gpu::loops::")
          << (loads ? "load<" : "store<") << form_.aligned << ">(";
    if (loads) code_ << before << name(p) << after << ", ";
    code_ << "gpu_" << name(p) << "_data";
    if (!is_view(p)) code_ << " + " << from;
    if (!loads) code_ << ", " << before << name(p) << after;
    if (is_view(p)) code_ << ", " << from << ", " << view_of(p);
    code_ << ");\n";
  }

  /// Writes how one column of a patch is moved.
  void write_column(std::size_t p, bool loads) {
    const char* const each = "#pragma unroll\n      for (int r = 0; r < ";
    code_ << "      " << type(p) << " column[" << form_.width << "];\n";
    if (loads) {
      code_ << "      gpu::loops::load<" << form_.aligned << ">(column, gpu_at);\n"
            << each << form_.width << "; ++r) groups[r]." << name(p) << "[s] = column[r];\n";
    } else {
      code_ << each << form_.width << "; ++r) column[r] = groups[r]." << name(p) << "[s];\n"
            << "      gpu::loops::store<" << form_.aligned << ">(gpu_at, column);\n";
    }
  }

  void add_generated() {
    const text part = required(code_.finish());
    out_.source.part(required(part_name("cu")), line_, part);
    for (const char c : part) line_ += c == '\n' ? 1u : 0u;
  }
  text part_name(const char* which) const {
    text_builder out;
    out << s_.name << '.' << which;
    return out.finish();
  }
  bool is_defined_before(std::size_t end, string_ref type_name) const noexcept {
    for (std::size_t p = 0; p < end; ++p) {
      if (type(p) == type_name) return true;
    }
    return false;
  }

  const snippet& s_;
  const sequence<parameter_use>& uses_;
  const loop_form& form_;
  generated_program& out_;
  text_builder code_;
  std::size_t line_ = 1;
};

}}}  // namespace gpu::v1::detail
