#pragma once
/// \file
/// `context_memo`: keeps what is made once for each context or device.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/system/mutex.hpp>

#include <concepts>
#include <cstddef>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

class memo_base;

/// All memos of this program or shared library, and the lock for the list.
inline constinit mutex memo_list_lock;
inline constinit memo_base* first_memo = nullptr;

/// A memo as a member of that list.
class memo_base {
 public:
  memo_base(const memo_base&) = delete;
  memo_base& operator=(const memo_base&) = delete;

 protected:
  using clear_function = void (*)(memo_base&) noexcept;

  explicit memo_base(clear_function clear) noexcept : clear_{clear} {
    const scoped_lock lock(memo_list_lock);
    next_ = first_memo;
    first_memo = this;
  }
  ~memo_base() {
    const scoped_lock lock(memo_list_lock);
    for (memo_base** at = &first_memo; *at != nullptr; at = &(*at)->next_) {
      if (*at != this) continue;
      *at = next_;
      break;
    }
  }

 private:
  friend inline void clear_all_memos() noexcept;

  clear_function clear_;
  memo_base* next_ = nullptr;
};

inline void clear_all_memos() noexcept {
  const scoped_lock lock(memo_list_lock);
  for (memo_base* at = first_memo; at != nullptr; at = at->next_) at->clear_(*at);
}

}  // namespace detail

/// Keeps values, each made on first use for a context and a key, such as the module of a kernel for
/// a block size:
///
///     static gpu::context_memo<gpu::module, int> modules;
///     gpu::module& code = *GPU_TRY(modules.get(device, 256, [&]() -> gpu::result<gpu::module> {
///       return gpu::module::load(GPU_TRY(gpu::compile(source, {.defines = {{"BLOCK", 256}}})));
///     }));
///
/// A device stands for its primary context. The values are destroyed by `clear`, by
/// `clear_context_memos` and by the destructor: clear a context before it is destroyed if its
/// values belong to it. A later context never gets an earlier one's values, even if the driver uses
/// its address again. `Key` is compared with `==`.
/// **Threads**: any, but a value must not be in use while it is cleared.
/// **Capture**: not affected, unless `make` is.
template <class Value, class Key = bool> class context_memo : detail::memo_base {
 public:
  context_memo() noexcept
      : memo_base{[](memo_base& memo) noexcept { static_cast<context_memo&>(memo).clear(); }} {}
  ~context_memo() { clear(); }

  /// Returns the value for this context and key. The first time it is made by `make()`, which
  /// returns a `result<Value>`. Two threads may make it at once; then one of the two is kept.
  /// **Errors**: those of `make`, after which nothing is kept; `errc::empty_handle`;
  /// `errc::out_of_host_memory`; those of `context::primary` for a device. (cuCtxGetId)
  template <class Make>
  result<Value*> get(context_or_device on, const Key& key, Make make,
                     source_location where = source_location::current()) {
    constexpr const char* function = "gpu::context_memo::get";
    const context_ref context = GPU_TRY(on.resolve(function, where));
    const unsigned long long id = GPU_TRY(context.id(where));
    {
      const detail::scoped_lock lock(lock_);
      if (entry* const known = find(id, key)) return &known->value;
    }
    Value value = GPU_TRY(make());
    auto* const made = new (std::nothrow) entry{nullptr, id, key, std::move(value)};
    if (made == nullptr)
      return detail::fail(detail::out_of_host_memory_error(function, sizeof(entry), where));
    entry* kept = made;
    {
      const detail::scoped_lock lock(lock_);
      entry* const other = find(id, key);
      if (other != nullptr) {
        kept = other;
      } else {
        made->next = first_;
        first_ = made;
      }
    }
    if (kept != made) delete made;
    return &kept->value;
  }

  /// Does the same for a memo of one value for each context.
  template <class Make>
    requires(std::same_as<Key, bool>)
  result<Value*> get(context_or_device on, Make make,
                     source_location where = source_location::current()) {
    return get(on, false, std::move(make), where);
  }

  /// Destroys all values.
  void clear() noexcept {
    destroy(take_if([](const entry&) { return true; }));
  }

  /// Destroys the values of one context.
  /// **Errors**: `errc::empty_handle`; those of `context::primary` for a device. (cuCtxGetId)
  result<> clear(context_or_device of, source_location where = source_location::current()) {
    const context_ref context = GPU_TRY(of.resolve("gpu::context_memo::clear", where));
    const unsigned long long id = GPU_TRY(context.id(where));
    destroy(take_if([&](const entry& each) { return each.context == id; }));
    return {};
  }

  /// Returns the number of values.
  std::size_t size() const noexcept {
    const detail::scoped_lock lock(lock_);
    std::size_t count = 0;
    for (const entry* at = first_; at != nullptr; at = at->next) ++count;
    return count;
  }

 private:
  struct entry {
    entry* next;
    unsigned long long context;
    Key key;
    Value value;
  };

  entry* find(unsigned long long context, const Key& key) const {
    for (entry* at = first_; at != nullptr; at = at->next) {
      if (at->context == context && at->key == key) return at;
    }
    return nullptr;
  }

  /// Takes entries out of the list. They are destroyed without the lock, which what they hold may
  /// want.
  template <class Predicate> entry* take_if(Predicate goes) noexcept {
    const detail::scoped_lock lock(lock_);
    entry* taken = nullptr;
    for (entry** at = &first_; *at != nullptr;) {
      entry* const each = *at;
      if (!goes(*each)) {
        at = &each->next;
        continue;
      }
      *at = each->next;
      each->next = taken;
      taken = each;
    }
    return taken;
  }
  static void destroy(entry* first) noexcept {
    while (first != nullptr) delete std::exchange(first, first->next);
  }

  mutable detail::mutex lock_;
  entry* first_ = nullptr;
};

/// Destroys the values of every `context_memo` of this program or shared library, for instance
/// before its contexts are destroyed. A value must not be in use, nor destroy a memo.
/// **Threads**: any. **Capture**: not affected, unless the destructors of the values are.
inline void clear_context_memos() noexcept { detail::clear_all_memos(); }

}}  // namespace gpu::v1
