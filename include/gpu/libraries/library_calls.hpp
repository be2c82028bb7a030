#pragma once
/// \file
/// Checked calls of a library that is opened on first use: turns its error codes into `result`s.

#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/ample_stack.hpp>
#include <gpu/system/library_table.hpp>

#include <cstddef>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

template <class Table, class Function>
typename Table::library library_with(Function Table::* member) noexcept;

/// The library whose table has that member.
template <auto Member> using library_of = decltype(library_with(Member));

/// Returns the name of the function that a member of a library's table points to.
template <auto Member> const char* library_function_name() noexcept {
  using Library = library_of<Member>;
  static constexpr typename Library::table none{};
  const auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(&(none.*Member)) -
                                               reinterpret_cast<const char*>(&none));
  return Library::functions[offset / sizeof(void (*)())].name;
}

/// Makes the error that says why the function `call` is not available.
template <class Library>
cuda_error library_error(const char* call, source_location where) noexcept {
  const typename Library::table& table = library_table<Library>();
  const char* detail = table.unavailable_detail != nullptr ? table.unavailable_detail : "unknown";
  const errc why = table.unavailable == errc{} ? errc::not_supported : table.unavailable;
  text_builder out;
  if (why == errc::process_forked) {
    out << "another thread of the parent process was using " << Library::name
        << " during fork(), so this child process cannot use it. Fork while no thread "
           "compiles, links or is in the library, or exec in the child.";
    return refusal(why, call, out.finish(), where);
  }
  if (why == errc::process_exiting) {
    out << "process exit has begun, and " << Library::name
        << " can no longer be used. Call it before main returns.";
    return refusal(why, call, out.finish(), where);
  }
  if (why == Library::absent) {
    out << "the library " << Library::name << " was not found; looked in: " << detail;
  } else if (why == Library::too_old) {
    out << "gpu needs " << Library::name << ' ' << Library::oldest << " or newer, but " << detail;
  } else {
    out << "this " << Library::name << " has no " << call;
  }
  out << ". Install " << (why == Library::absent ? "the " : "a newer ") << Library::part_of
      << ", or pip install " << Library::wheel << ", and set CUDA_PATH to its folder or "
      << Library::files.override_variable << " to the library's path.";
  return refusal(why, call, out.finish(), where, why == Library::too_old ? 12000 : 0);
}

/// Returns the error of a call's code, which is 0 for a success.
inline result<> library_result(error_domain domain, int code, const char* call,
                               source_location where) noexcept {
  if (code == 0) return {};
  return fail(record_error(cuda_error(domain, code, call, where)));
}

/// True for functions that compile or link: they need more of the stack than small threads have.
template <auto Member> inline constexpr bool needs_ample_stack = false;

inline cuda_error no_thread_error(const char* library, const char* call, int reason,
                                  source_location where) noexcept {
  text_builder out;
  out << library << " needs more stack than the " << stack_left() / 1024
      << " KiB that this thread has left, and no thread with " << ample_stack / 1024
      << " KiB could be started for it (error " << reason
      << "). Free host memory, end other threads, or call it on a thread with a stack of "
      << ample_stack / 1024 << " KiB.";
  return refusal(errc::out_of_host_memory, call, out.finish(), where, ample_stack, stack_left());
}

/// Calls one function of the table in force, as in `library_call<&nvrtc::entry_points::version>`,
/// and turns its return code into a `result`.
/// **Errors**: the library's code, with the name of the function; or the reason why the
/// function is missing, such as `errc::process_forked` and `errc::process_exiting`.
template <auto Member, class... Arguments>
result<> library_call(source_location where, Arguments... arguments) noexcept {
  using Library = library_of<Member>;
  const library_use<Library> use;
  const auto function = library_table<Library>().*Member;
  const char* name = library_function_name<Member>();
  if (function == nullptr) return fail(library_error<Library>(name, where));
  if constexpr (needs_ample_stack<Member>) {
    int code = 0;
    auto work = [&]() noexcept { code = function(arguments...); };
    const int failure = on_ample_stack(work);
    if (failure != 0) return fail(no_thread_error(Library::name, name, failure, where));
    return library_result(Library::domain, code, name, where);
  } else {
    return library_result(Library::domain, function(arguments...), name, where);
  }
}

inline cuda_error no_memory_for_output(const char* library, const char* call, std::size_t size,
                                       source_location where) noexcept {
  text_builder out;
  out << "the host had no " << size << " bytes left for the output of " << library
      << ". Free host memory.";
  return refusal(errc::out_of_host_memory, call, out.finish(), where, size);
}

/// Sets `contents` to a text or image that belongs to a handle: `Size` asks for its size, `Get`
/// copies it. If the library counts a terminator, it is part of `contents`.
/// **Errors**: those of both calls; `errc::out_of_host_memory`.
template <auto Size, auto Get, class Handle>
result<> library_text(Handle handle, text& contents, source_location where) noexcept {
  std::size_t size = 0;
  GPU_TRY(library_call<Size>(where, handle, &size));
  contents = text();
  if (size == 0) return {};
  auto* characters = new (std::nothrow) char[size];
  if (characters != nullptr) {
    result<> got = library_call<Get>(where, handle, characters);
    if (got.has_value()) contents = text(characters, size);
    delete[] characters;
    if (!contents.lost()) return got;
    contents = text();
  }
  return fail(
      no_memory_for_output(library_of<Get>::name, library_function_name<Get>(), size, where));
}

/// Destroys an object of a library, unless the library must not be called anymore.
template <auto Destroy> struct library_destroy {
  template <class Handle> void operator()(Handle handle) const noexcept {
    const library_use<library_of<Destroy>> use;
    const auto function = library_table<library_of<Destroy>>().*Destroy;
    if (function != nullptr) function(&handle);
  }
};

}}}  // namespace gpu::v1::detail
