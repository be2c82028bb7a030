// A module in the memory of a device: variables placed, kernels ready to launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nogpu/machine/address_space.hpp>
#include <nogpu/machine/code.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// A variable of the module that the host may name.
struct module_variable {
  address base = 0;
  std::uint64_t size = 0;
  ptx::state_space space = ptx::state_space::global;
  bool managed = false;
};

/// A loaded module. Its variables live until it is destroyed; launches of its kernels must have
/// ended by then. Movable, addresses of executables stay.
class loaded_module {
 public:
  loaded_module(loaded_module&&) noexcept = default;
  loaded_module& operator=(loaded_module&& other) noexcept {
    if (this != &other) {
      release();
      memory_ = std::exchange(other.memory_, nullptr);
      source_ = std::move(other.source_);
      executables_ = std::move(other.executables_);
      variables_ = std::move(other.variables_);
      bases_ = std::move(other.bases_);
      managed_ = std::move(other.managed_);
      max_registers_ = other.max_registers_;
    }
    return *this;
  }
  ~loaded_module() { release(); }

  /// The kernel of that (mangled) name, or null.
  const executable* find_kernel(std::string_view name) const {
    for (const auto& e : executables_)
      if (e->entry->name == name) return e.get();
    return nullptr;
  }
  /// All kernels in the order of the text.
  std::vector<const executable*> kernels() const {
    std::vector<const executable*> all;
    for (const auto& e : executables_) all.push_back(e.get());
    return all;
  }
  /// The global or constant variable of that name.
  std::optional<module_variable> find_variable(std::string_view name) const {
    const auto found = variables_.find(std::string(name));
    return found == variables_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::map<std::string, module_variable>& variables() const noexcept { return variables_; }
  /// The limit with which it was loaded.
  std::uint32_t max_registers() const noexcept { return max_registers_; }

 private:
  friend struct module_loader;
  explicit loaded_module(address_space& memory) : memory_{&memory} {}
  void release() noexcept {
    if (memory_)
      for (const address base : bases_) (void)memory_->free(base);
    bases_.clear();
  }

  address_space* memory_;
  std::shared_ptr<const ptx::module> source_;
  std::vector<std::unique_ptr<executable>> executables_;
  std::map<std::string, module_variable> variables_;
  std::vector<address> bases_;
  std::vector<std::vector<std::byte>> managed_;  // memory of managed variables, which is the host's
  std::uint32_t max_registers_ = 0;
};

/// The options with which a module is loaded.
struct load_options {
  std::uint64_t owner = 0;  // the context
  std::string name{};       // for reports
  /// The same module in another context, which lives longer and whose managed variables this one
  /// shares; or null.
  const loaded_module* managed_of = nullptr;
  /// The most registers of a thread, of kernels that say nothing about it themselves; 0: as many as
  /// a thread has.
  std::uint32_t max_registers = 0;
};

/// Either a loaded module or the reason why not.
struct load_result {
  enum class failure : std::uint8_t { none, unsupported, unresolved_symbol, out_of_memory };
  std::optional<loaded_module> module;
  failure why = failure::none;
  ptx::diagnostic diagnostic;  // with the line and the instruction

  explicit operator bool() const noexcept { return module.has_value(); }
};

/// Places the module's variables in `memory` with their initial values, and lowers every kernel
/// with all that it may call. A kernel that may reach an instruction that this machine does not
/// execute is there, and says in `executable::refused` why it cannot be launched.
/// Errors: a function or variable that is declared but not defined, more memory than a device
/// has for a kernel, or too little memory: nothing stays behind then.
load_result load(std::shared_ptr<const ptx::module> source, address_space& memory,
                 const load_options& options = {});

}}}  // namespace nogpu::v1::machine
