// Loading: variables into device memory, initial values, relocations, then lowering.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/machine/loaded_module.hpp>
#include <nogpu/machine/lower.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

struct module_loader {
  static load_result load(std::shared_ptr<const ptx::module> source, address_space& memory,
                          const load_options& options) {
    loaded_module out(memory);
    out.source_ = std::move(source);
    out.max_registers_ = options.max_registers;
    const ptx::module& module = *out.source_;
    if (auto why = detail::refuse_constants(module)) {
      return refuse(load_result::failure::unsupported, why->line, std::move(why->text));
    }
    detail::symbol_places places;
    places.module = &module;
    places.variables.assign(module.variables.size(), 0);
    for (std::size_t v = 0; v < module.variables.size(); ++v) {
      const load_result::failure why = place(out, memory, options, v, places);
      if (why == load_result::failure::none) continue;
      return refuse(why, module.variables[v].line,
                    "variable " + module.variables[v].name +
                        (why == load_result::failure::out_of_memory
                             ? " of " + std::to_string(module.variables[v].size) +
                                   " bytes does not fit into device memory"
                             : " is declared extern but not defined"));
    }
    initialize(memory, places, options.managed_of == nullptr);
    const auto common = std::make_shared<lowered_functions>(module.functions.size());
    for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
      if (!module.functions[f].entry || !module.functions[f].defined) continue;
      load_result failed;
      auto kernel =
          detail::lower_kernel(places, f, options.max_registers, common, failed.diagnostic);
      if (!kernel) {
        failed.why = failed.diagnostic.reason == ptx::refusal::too_large
                         ? load_result::failure::unsupported
                         : load_result::failure::unresolved_symbol;
        return failed;
      }
      out.executables_.push_back(std::move(kernel));
    }
    load_result good;
    good.module.emplace(std::move(out));
    return good;
  }

 private:
  static load_result refuse(load_result::failure why, std::uint32_t line, std::string text) {
    load_result failed;
    failed.why = why;
    failed.diagnostic.line = line;
    failed.diagnostic.column = 1;
    failed.diagnostic.text = std::move(text);
    return failed;
  }

  static bool in_device_memory(const ptx::variable& v) {
    return v.space == ptx::state_space::global || v.space == ptx::state_space::constant;
  }

  static load_result::failure place(loaded_module& out, address_space& memory,
                                    const load_options& options, std::size_t index,
                                    detail::symbol_places& places) {
    const ptx::variable& v = out.source_->variables[index];
    if (!in_device_memory(v)) return load_result::failure::none;
    if (v.link == ptx::linkage::external) return load_result::failure::unresolved_symbol;
    if (v.managed) return place_managed(out, memory, options, index, places);
    const bool constant = v.space == ptx::state_space::constant;
    const std::uint64_t alignment = v.alignment > 256 ? v.alignment : 256;
    const auto base = memory.allocate(
        {.size = v.size,
         .alignment = alignment,
         .kind = memory_kind::module_variable,
         .owner = options.owner,
         .writable = !constant,
         .tracked = false,  // variables begin as zeros
         .counts = true,
         .site = (options.name.empty() ? std::string("variable ") : options.name + ": variable ") +
                 v.name});
    if (!base) return load_result::failure::out_of_memory;
    out.bases_.push_back(*base);
    places.variables[index] = *base;
    out.variables_[v.name] = {*base, v.size, v.space, v.managed};
    return load_result::failure::none;
  }

  /// A managed variable is in the host's memory, at one address for all contexts.
  static load_result::failure place_managed(loaded_module& out, address_space& memory,
                                            const load_options& options, std::size_t index,
                                            detail::symbol_places& places) {
    const ptx::variable& v = out.source_->variables[index];
    std::uint64_t base = 0;
    if (options.managed_of != nullptr) {
      base = options.managed_of->find_variable(v.name)->base;
    } else {
      const std::size_t alignment = v.alignment > 256 ? v.alignment : 256;
      std::vector<std::byte>& bytes =
          out.managed_.emplace_back(static_cast<std::size_t>(v.size) + alignment);
      const auto start = reinterpret_cast<std::uintptr_t>(bytes.data());
      void* host = bytes.data() + ((start + alignment - 1) / alignment * alignment - start);
      const bool mapped =
          memory.map_host(host, {.size = v.size,
                                 .alignment = alignment,
                                 .kind = memory_kind::managed,
                                 .tracked = false,
                                 .counts = true,
                                 .site = (options.name.empty() ? std::string("variable ")
                                                               : options.name + ": variable ") +
                                         v.name});
      if (!mapped) return load_result::failure::out_of_memory;
      base = reinterpret_cast<std::uintptr_t>(host);
      out.bases_.push_back(base);
    }
    places.variables[index] = base;
    out.variables_[v.name] = {base, v.size, v.space, v.managed};
    return load_result::failure::none;
  }

  static void initialize(address_space& memory, const detail::symbol_places& places,
                         bool managed_too) {
    const ptx::module& module = *places.module;
    for (std::size_t index = 0; index < module.variables.size(); ++index) {
      const ptx::variable& v = module.variables[index];
      if (!in_device_memory(v) || (v.managed && !managed_too)) continue;
      std::vector<std::byte> bytes = v.initial;
      for (const ptx::relocation& r : v.relocations) {
        if (bytes.size() < r.offset + r.size) bytes.resize(r.offset + r.size);
        std::uint64_t value = static_cast<std::uint64_t>(r.addend);
        if (r.target.kind == ptx::symbol_kind::global) {
          value += places.variables[r.target.index];
        } else if (r.target.kind == ptx::symbol_kind::function) {
          value += detail::code_address(module, r.target.index);
        }
        std::uint32_t size = r.size;
        if (r.mask != 0) {
          value = (value & r.mask) >> std::countr_zero(r.mask);
          size = 1;
        }
        std::memcpy(bytes.data() + r.offset, &value, size < 8 ? size : 8);
      }
      if (bytes.size() > v.size) bytes.resize(v.size);
      if (!bytes.empty()) (void)memory.write(places.variables[index], bytes.data(), bytes.size());
    }
  }
};

inline load_result load(std::shared_ptr<const ptx::module> source, address_space& memory,
                        const load_options& options) {
  return module_loader::load(std::move(source), memory, options);
}

}}}  // namespace nogpu::v1::machine
