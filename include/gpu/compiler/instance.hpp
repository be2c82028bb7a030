#pragma once
/// \file
/// `instance` and `overload`: the names of instances and overloads of kernels, made at compile time
/// from C++ types and values.

#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/fwd.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// A name that is known at compile time, for `program::instance`, `compiled_program::lowered_name`,
/// `module::kernel` and `module::global`. It converts to a `string_ref`.
template <std::size_t Size> class name_expression {
 public:
  consteval explicit name_expression(const char* characters) noexcept {
    for (std::size_t i = 0; i < Size; ++i) characters_[i] = characters[i];
  }
  constexpr const char* data() const noexcept { return characters_; }
  constexpr const char* c_str() const noexcept { return characters_; }
  constexpr std::size_t size() const noexcept { return Size; }

 private:
  char characters_[Size + 1] = {};
};

namespace detail {

template <class... A> constexpr void write_instance_arguments(name_writer& out) noexcept {
  write_arguments<A...>(out);
}
template <class... P> constexpr void write_overload_cast(name_writer& out) noexcept {
  out.put("static_cast<void(*)(");
  write_list<P...>(out);
  out.put(")>(");
}

/// Fails to compile if a name has a fault, and says which.
template <name_fault Fault> struct require_name {
  static_assert(Fault != name_fault::lambda,
                "gpu::instance: a lambda's type has no name in device code; write a struct with "
                "operator() instead, at namespace scope in the program's source");
  static_assert(Fault != name_fault::unnamed,
                "gpu::instance: an unnamed type has no name in device code; name it");
  static_assert(
      Fault != name_fault::anonymous_namespace,
      "gpu::instance: a type in an anonymous namespace is a different one in each source, and "
      "device code cannot name it; move it to a named namespace");
  static_assert(
      Fault != name_fault::local,
      "gpu::instance: a type that is local to a function has no name in device code; move "
      "it to a namespace, or specialize gpu::device_name");
  static_assert(Fault != name_fault::long_double,
                "gpu::instance: long double is double on the device; use double");
  static_assert(Fault != name_fault::value,
                "gpu::instance: a value of this type cannot be written in device code; use an "
                "integer, an enumerator, a float or double, or nullptr, or specialize "
                "gpu::device_name<gpu::value<V>>");
  static constexpr bool done = true;
};

/// The text that `Write` writes, with the names that the device uses.
template <auto Write> struct device_text {
  static constexpr name_writer measured = measure_name(Write, true);
  static_assert(require_name<measured.fault>::done);
  static constexpr fixed_name<measured.size> text = make_name<measured.size>(Write, true);
  static constexpr std::size_t size = measured.size;
};

template <std::size_t Size> struct joined_name {
  char characters[Size + 1] = {};
  std::size_t size = 0;
  consteval joined_name& add(const char* part, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) characters[size++] = part[i];
    return *this;
  }
};

/// `name<A, B>`.
template <std::size_t Length, class... A> consteval auto instance_of(const char* name) noexcept {
  using arguments = device_text<write_instance_arguments<A...>>;
  joined_name<Length + arguments::size> joined;
  joined.add(name, Length).add(arguments::text.characters, arguments::size);
  return name_expression<Length + arguments::size>(joined.characters);
}

/// `static_cast<void(*)(A, B)>(name)`.
template <std::size_t Length, class... P> consteval auto overload_of(const char* name) noexcept {
  using cast = device_text<write_overload_cast<P...>>;
  joined_name<cast::size + Length + 1> joined;
  joined.add(cast::text.characters, cast::size).add(name, Length).add(")", 1);
  return name_expression<cast::size + Length + 1>(joined.characters);
}

}  // namespace detail

/// Returns the name of an instance of a template, made at compile time from C++ types and values:
///
///     program.instance(gpu::instance<float, 4>("axpy"));             // axpy<float, 4>
///     module.kernel<device_span<float>>(gpu::instance<float, 4>("axpy"));
///
/// Types come first and then values, or the other way round; in any other order, write a value as
/// `gpu::value<4>`. All compilers make the same name from the same arguments. A type is written
/// with its own name, which has to be declared in the device code, or with its `gpu::device_name`.
/// A value may be an integer, a character, a `bool`, an enumerator, a `float` or `double`, or
/// `nullptr`, and keeps its type. Lambdas, local types and types in anonymous namespaces have no
/// name on the device, and do not compile.
template <class... T, std::size_t Length>
consteval auto instance(const char (&name)[Length]) noexcept {
  return detail::instance_of<Length - 1, T...>(name);
}
template <auto V, auto... W, std::size_t Length>
consteval auto instance(const char (&name)[Length]) noexcept {
  return detail::instance_of<Length - 1, value<V>, value<W>...>(name);
}
template <class A, auto V, auto... W, std::size_t Length>
consteval auto instance(const char (&name)[Length]) noexcept {
  return detail::instance_of<Length - 1, A, value<V>, value<W>...>(name);
}
template <class A, class B, auto V, auto... W, std::size_t Length>
consteval auto instance(const char (&name)[Length]) noexcept {
  return detail::instance_of<Length - 1, A, B, value<V>, value<W>...>(name);
}
template <class A, class B, class C, auto V, auto... W, std::size_t Length>
consteval auto instance(const char (&name)[Length]) noexcept {
  return detail::instance_of<Length - 1, A, B, C, value<V>, value<W>...>(name);
}
template <class A, class B, class C, class D, auto V, auto... W, std::size_t Length>
consteval auto instance(const char (&name)[Length]) noexcept {
  return detail::instance_of<Length - 1, A, B, C, D, value<V>, value<W>...>(name);
}
template <auto V, class A, class... B, std::size_t Length>
consteval auto instance(const char (&name)[Length]) noexcept {
  return detail::instance_of<Length - 1, value<V>, A, B...>(name);
}
template <auto V, auto W, class A, class... B, std::size_t Length>
consteval auto instance(const char (&name)[Length]) noexcept {
  return detail::instance_of<Length - 1, value<V>, value<W>, A, B...>(name);
}

/// Returns the name of the overload that takes `Parameters`, also among overloaded templates:
///
///     program.instance(gpu::overload<int*, float>("scale"));
///     program.instance(gpu::overload<float*>(gpu::instance<float>("fill")));
template <class... Parameters, std::size_t Length>
consteval auto overload(const char (&name)[Length]) noexcept {
  return detail::overload_of<Length - 1, Parameters...>(name);
}
template <class... Parameters, std::size_t Size>
consteval auto overload(const name_expression<Size>& name) noexcept {
  return detail::overload_of<Size, Parameters...>(name.data());
}

/// In device code a span does not have a static extent.
template <class T, std::size_t Extent> struct device_name<device_span<T, Extent>> {
  static constexpr auto value = instance<T>("gpu::device_span");
};

}}  // namespace gpu::v1
