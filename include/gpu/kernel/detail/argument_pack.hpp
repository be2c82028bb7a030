#pragma once
/// \file
/// Puts the arguments of a launch where the driver wants them: an array of pointers of exactly the
/// right size, and what it points at, both on the stack.

#include <gpu/kernel/detail/kernel_record.hpp>

namespace gpu::inline v0::detail {

/// 0, 1, ... as a pack; `std::index_sequence` would need `<utility>`.
template <std::size_t... Index> struct indices {};
#if defined(__clang__)
template <class, std::size_t... Index> using as_indices = indices<Index...>;
template <std::size_t Count>
using indices_up_to = __make_integer_seq<as_indices, std::size_t, Count>;
#else
template <std::size_t Count> using indices_up_to = indices<__integer_pack(Count)...>;
#endif

/// One argument, converted to the parameter that it is for.
template <std::size_t Index, class P> struct argument_slot {
  P value;
};

template <class Indices, class... P> struct argument_slots;
template <std::size_t... Index, class... P>
struct argument_slots<indices<Index...>, P...> : argument_slot<Index, P>... {};

/// The arguments of a launch as the parameters `P...`.
template <class... P> class argument_pack {
 public:
  template <class... A>
  explicit argument_pack(A&&... arguments) noexcept
      : argument_pack(indices_up_to<sizeof...(P)>{}, static_cast<A&&>(arguments)...) {}
  argument_pack(const argument_pack&) = delete;
  argument_pack& operator=(const argument_pack&) = delete;

  void** pointers() noexcept { return pointers_; }

 private:
  template <std::size_t... Index, class... A>
  explicit argument_pack(indices<Index...>, A&&... arguments) noexcept
      : slots_{{pass_as<P>(static_cast<A&&>(arguments))}...},
        pointers_{&static_cast<argument_slot<Index, P>&>(slots_).value...} {}

  argument_slots<indices_up_to<sizeof...(P)>, P...> slots_;
  void* pointers_[sizeof...(P) == 0 ? 1 : sizeof...(P)];
};

/// Where nothing is typed, an argument that stands for memory is kept both ways, as a span and as a
/// pointer; the size of the real parameter tells which is meant.
template <class A> struct untyped_argument {
  using value_type = remove_cvref_t<decltype(kernel_argument_of<A>::value(declval<A>()))>;
  value_type value;

  static constexpr std::size_t pointer_size = 0;
  explicit untyped_argument(A&& a) noexcept
      : value(kernel_argument_of<A>::value(static_cast<A&&>(a))) {}
  void* place(std::size_t) noexcept { return &value; }
};

template <class A>
  requires(has_kernel_pointer<A> && !has_kernel_value<A>)
struct untyped_argument<A> {
  using value_type = decltype(kernel_argument_of<A>::pointer(declval<A>()));
  value_type value;

  static constexpr std::size_t pointer_size = 0;
  explicit untyped_argument(A&& a) noexcept
      : value(kernel_argument_of<A>::pointer(static_cast<A&&>(a))) {}
  void* place(std::size_t) noexcept { return &value; }
};

template <class A>
  requires(has_kernel_pointer<A> && has_kernel_value<A>)
struct untyped_argument<A> {
  using value_type = remove_cvref_t<decltype(kernel_argument_of<A>::value(declval<A>()))>;
  using pointer_type = decltype(kernel_argument_of<A>::pointer(declval<A>()));
  value_type value;
  pointer_type pointer;

  static constexpr std::size_t pointer_size = sizeof(pointer_type);
  explicit untyped_argument(A&& a) noexcept
      : value(kernel_argument_of<A>::value(static_cast<A&&>(a))),
        pointer(kernel_argument_of<A>::pointer(static_cast<A&&>(a))) {}
  void* place(std::size_t size) noexcept {
    return size == sizeof(pointer_type) && size != sizeof(value_type) ? static_cast<void*>(&pointer)
                                                                      : &value;
  }
};

/// An argument that a kernel without stated parameters can be given.
template <class A>
concept untyped_kernel_argument =
    has_kernel_value<A> || (has_kernel_pointer<A> && !has_kernel_value<A>);

/// What is passed, for the comparison with what the module has.
template <class... A>
inline constexpr stated_parameters<sizeof...(A)> passed_list = {{stated_parameter{
    type_name_of<typename untyped_argument<A>::value_type>(), 0,
    sizeof(typename untyped_argument<A>::value_type), untyped_argument<A>::pointer_size,
    alignof(typename untyped_argument<A>::value_type)}...}};

}  // namespace gpu::inline v0::detail
