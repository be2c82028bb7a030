#pragma once
/// \file
/// An NVRTC and an nvJitLink that return all that they were told, at once: what they return shows
/// whether anything of it was lost on the way.

#include "support/host_memory.hpp"

#include <gpu/libraries/nvjitlink_functions.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <string>

namespace test {

/// One program of the NVRTC, or one link.
struct told_program {
  std::string told;                          ///< all that it was given, in order
  std::string ptx, cubin, lto_ir, log;       ///< what comes of it
  std::map<std::string, std::string> names;  ///< of instances
};

/// Puts it in force.
class told_nvrtc {
 public:
  /// The header that each compilation opens, or nothing.
  static std::string& header() {
    static std::string path;
    return path;
  }
  /// The header without which no compilation succeeds, or nothing.
  static std::string& wanted_header() {
    static std::string name;
    return name;
  }
  /// Whether it finds a mistake in each source.
  static bool& finds_mistakes() {
    static bool finds = false;
    return finds;
  }

 private:
  using handle = gpu::nvrtc::nvrtc_program;
  static told_program& of(handle program) { return *static_cast<told_program*>(program); }
  static int version(int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return 0;
  }
  static int count_architectures(int* count) {
    *count = 2;
    return 0;
  }
  static int architectures(int* numbers) {
    numbers[0] = 80;
    numbers[1] = 90;
    return 0;
  }
  static int create(handle* made, const char* source, const char* name, int headers,
                    const char* const* sources, const char* const* names) {
    const spared_allocations spared;
    auto* program = new told_program;
    program->told = std::string(name) + ": " + source + '\n';
    for (int i = 0; i < headers; ++i) {
      program->told += std::string("header ") + names[i] + ": " + sources[i] + '\n';
    }
    *made = program;
    return 0;
  }
  static int destroy(handle* program) {
    const spared_allocations spared;
    delete static_cast<told_program*>(*program);
    *program = nullptr;
    return 0;
  }
  static int add_name(handle program, const char* expression) {
    const spared_allocations spared;
    of(program).names[expression] = std::string("_Z") + expression;
    return 0;
  }
  static int compile(handle program, int count, const char* const* options) {
    const spared_allocations spared;
    told_program& self = of(program);
    bool real = false, lto = false, figures = false;
    for (int i = 0; i < count; ++i) {
      const std::string option = options[i];
      constexpr const char* to_file = "-Xcudafe=--error_output=";
      if (option.rfind(to_file, 0) == 0) {
        std::ofstream list(option.substr(std::strlen(to_file)));
        list << "__nv_nvrtc_builtin_header.h\n"
             << (header().empty() ? "" : header() + '\n') << "__nv_name_map\n";
        continue;
      }
      if (option.rfind("-Xcudafe=", 0) == 0) continue;
      if (option == "--ptxas-options=--verbose") {
        figures = true;
        continue;
      }
      if (option.rfind("--gpu-architecture=sm_", 0) == 0) real = true;
      if (option == "--dlink-time-opt") lto = true;
      self.told += "option " + option + '\n';
    }
    if (!header().empty()) {
      std::ifstream file(header(), std::ios::binary);
      self.told.append(std::istreambuf_iterator<char>(file), {});
    }
    if (lto) {
      self.lto_ir = "LTO-IR of " + self.told;
    } else {
      self.ptx = "// PTX of " + self.told + '\0';
      if (real) self.cubin = "machine code of " + self.told;
    }
    self.log = "program.cu(1): warning #177-D: variable \"x\" was never used\n";
    if (figures) {
      self.log +=
          "ptxas info    : Compiling entry function 'f' for 'sm_90'\n"
          "ptxas info    : Used 8 registers, used 0 barriers\n";
    }
    self.log += '\0';
    const std::string& wanted = wanted_header();
    if (!wanted.empty() && self.told.find("header " + wanted) == std::string::npos) {
      self.log = "program.cu(2): catastrophic error: could not open source file \"" + wanted +
                 "\" (no directories in search list)\n";
      return 6;
    }
    if (!finds_mistakes()) return 0;
    self.log = "program.cu(1): error: identifier \"y\" is undefined\n";
    return 6;
  }
  static int lowered(handle program, const char* expression, const char** name) {
    *name = of(program).names.find(expression)->second.c_str();
    return 0;
  }
  template <std::string told_program::* Text> static int size(handle program, std::size_t* size) {
    *size = (of(program).*Text).size();
    return 0;
  }
  template <std::string told_program::* Text> static int get(handle program, char* to) {
    std::memcpy(to, (of(program).*Text).data(), (of(program).*Text).size());
    return 0;
  }
  static gpu::nvrtc::entry_points make() {
    gpu::nvrtc::entry_points table{};
    table.version = &version;
    table.get_num_supported_archs = &count_architectures;
    table.get_supported_archs = &architectures;
    table.create_program = &create;
    table.destroy_program = &destroy;
    table.add_name_expression = &add_name;
    table.compile_program = &compile;
    table.get_lowered_name = &lowered;
    table.get_ptx_size = &size<&told_program::ptx>;
    table.get_ptx = &get<&told_program::ptx>;
    table.get_cubin_size = &size<&told_program::cubin>;
    table.get_cubin = &get<&told_program::cubin>;
    table.get_lto_ir_size = &size<&told_program::lto_ir>;
    table.get_lto_ir = &get<&told_program::lto_ir>;
    table.get_program_log_size = &size<&told_program::log>;
    table.get_program_log = &get<&told_program::log>;
    return table;
  }

 public:
  gpu::nvrtc::entry_points table = make();

 private:
  gpu::nvrtc::scoped_entry_points in_force_{table};
};

/// Puts it in force.
class told_nvjitlink {
 public:
  /// What each link makes, in place of what it was told, unless they are empty.
  static std::string& machine_code() {
    static std::string code;
    return code;
  }
  static std::string& ptx() {
    static std::string code;
    return code;
  }

 private:
  using handle = gpu::nvjitlink::nvjitlink_handle;
  static told_program& of(handle link) { return *static_cast<told_program*>(link); }
  static int version(unsigned* major, unsigned* minor) {
    *major = 13;
    *minor = 0;
    return 0;
  }
  static int create(handle* made, std::uint32_t count, const char* const* options) {
    const spared_allocations spared;
    auto* link = new told_program;
    for (std::uint32_t i = 0; i < count; ++i) link->told += std::string(options[i]) + '\n';
    *made = link;
    return 0;
  }
  static int destroy(handle* link) {
    const spared_allocations spared;
    delete static_cast<told_program*>(*link);
    *link = nullptr;
    return 0;
  }
  static int add(handle link, int kind, const void* data, std::size_t size, const char* name) {
    const spared_allocations spared;
    of(link).told += std::to_string(kind) + ' ' + name + ": " +
                     std::string(static_cast<const char*>(data), size) + '\n';
    return 0;
  }
  static int complete(handle link) {
    const spared_allocations spared;
    of(link).cubin = machine_code().empty() ? "machine code of " + of(link).told : machine_code();
    of(link).ptx = ptx().empty() ? "// PTX of " + of(link).told : ptx();
    of(link).log = "info: linked";
    return 0;
  }
  template <std::string told_program::* Text> static int size(handle link, std::size_t* size) {
    *size = (of(link).*Text).size() + 1;
    return 0;
  }
  template <std::string told_program::* Text> static int get(handle link, char* to) {
    std::memcpy(to, (of(link).*Text).c_str(), (of(link).*Text).size() + 1);
    return 0;
  }
  static int no_size(handle, std::size_t* size) {
    *size = 0;
    return 0;
  }
  static gpu::nvjitlink::entry_points make() {
    gpu::nvjitlink::entry_points table{};
    table.version = &version;
    table.create = &create;
    table.destroy = &destroy;
    table.add_data = &add;
    table.complete = &complete;
    table.get_linked_cubin_size = &size<&told_program::cubin>;
    table.get_linked_cubin = &get<&told_program::cubin>;
    table.get_linked_ptx_size = &size<&told_program::ptx>;
    table.get_linked_ptx = &get<&told_program::ptx>;
    table.get_error_log_size = &no_size;
    table.get_error_log = &get<&told_program::log>;
    table.get_info_log_size = &size<&told_program::log>;
    table.get_info_log = &get<&told_program::log>;
    return table;
  }

 public:
  gpu::nvjitlink::entry_points table = make();

 private:
  gpu::nvjitlink::scoped_entry_points in_force_{table};
};

}  // namespace test
