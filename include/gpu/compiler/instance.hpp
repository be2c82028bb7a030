#pragma once
/// \file
/// `instance` and `overload`: names of kernels that C++ types and values make, at compile time.

#include <gpu/core/type_name.hpp>
#include <gpu/fwd.hpp>

namespace gpu::inline v0 {

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

/// Does not compile where a name has a fault; says which.
template <name_fault Fault> struct require_name {
  static_assert(Fault != name_fault::lambda,
                "gpu::instance: a lambda's type has no name in device code; write a struct with "
                "operator() instead, at namespace scope in the program's source");
  static_assert(Fault != name_fault::unnamed,
                "gpu::instance: a type without a name has none in device code either; name it");
  static_assert(
      Fault != name_fault::anonymous_namespace,
      "gpu::instance: a type in an anonymous namespace is another one in each source, and "
      "device code cannot name it; move it to a namespace with a name");
  static_assert(
      Fault != name_fault::local,
      "gpu::instance: a type that is local to a function has no name in device code; move "
      "it to a namespace, or specialise gpu::device_name");
  static_assert(Fault != name_fault::long_double,
                "gpu::instance: long double has other bytes on the device, where it is double; use "
                "double");
  static_assert(Fault != name_fault::value,
                "gpu::instance: a value of this type cannot be written in device code; use an "
                "integer, an enumerator, a float or double, or nullptr, or specialise "
                "gpu::device_name<gpu::value<V>>");
  static constexpr bool done = true;
};

/// What `Write` writes, for the device.
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

/// The name of a template's instance, put together at compile time from C++ types and values:
///
///     program.instance(gpu::instance<float, 4>("axpy"));             // axpy<float, 4>
///     module.kernel<device_span<float>>(gpu::instance<float, 4>("axpy"));
///
/// Types come first and then values, or the other way round; in another order, values are written
/// `gpu::value<4>`. All compilers make the same name of the same arguments. A type goes by its own
/// name, which device code has to know, or by what `gpu::device_name` says. A value may be an
/// integer, a character, a `bool`, an enumerator, a `float` or `double`, or `nullptr`, and keeps
/// its type. What has no name on the device (lambdas, local types, those in anonymous namespaces)
/// does not compile.
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

/// The one of several kernels of that name that takes `Parameters`; also for the instances of
/// templates that overload each other:
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

/// In device code a span has no static extent.
template <class T, std::size_t Extent> struct device_name<device_span<T, Extent>> {
  static constexpr auto value = instance<T>("gpu::device_span");
};

}  // namespace gpu::inline v0
