#pragma once
/// \file
/// DLPack, by which PyTorch, CuPy, JAX and NumPy exchange tensors without a copy: `to_dlpack` gives
/// an array or a view out, `from_dlpack` takes a tensor in.

#include <gpu/array/array.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/interop/dlpack_tensor.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/ranges.hpp>

#include <cuda.h>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

/// Returns DLPack's code for an element type.
template <class T> constexpr dlpack::data_type dlpack_type_of() noexcept {
  constexpr auto bits = static_cast<std::uint8_t>(8 * sizeof(T));
  using code = dlpack::type_code;
  static_assert(number<T>,
                "gpu::to_dlpack and gpu::from_dlpack: the elements are bool, integers, float, "
                "double, __half, __nv_bfloat16, or std::complex of float or double");
  if constexpr (std::same_as<T, bool>) return {code::boolean, bits, 1};
  if constexpr (complex_number<T>) return {code::complex, bits, 1};
  if constexpr (short_number<T>)
    return {element_type_of<T>().name == "gpu::half" ? code::real : code::bfloat, bits, 1};
  if constexpr (number_kind_of<T>() == number_kind::integer)
    return {T(-1) < T(0) ? code::signed_integer : code::unsigned_integer, bits, 1};
  return {code::real, bits, 1};
}

inline void write_dlpack_type(text_builder& out, dlpack::data_type type) noexcept {
  constexpr const char* names[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  const unsigned code = static_cast<unsigned>(type.code);
  if (code < sizeof names / sizeof names[0]) {
    out << names[code];
  } else {
    out << "type code " << code << ", bits ";
  }
  if (type.code != dlpack::type_code::boolean) out << unsigned{type.bits};
  if (type.lanes != 1) out << " x " << unsigned{type.lanes};
}

inline void write_dlpack_device(text_builder& out, dlpack::device device) noexcept {
  switch (device.type) {
    case dlpack::device_type::cpu: out << "host memory"; return;
    case dlpack::device_type::cuda: out << "memory of device " << device.index; return;
    case dlpack::device_type::cuda_host: out << "page-locked memory"; return;
    case dlpack::device_type::cuda_managed: out << "managed memory"; return;
  }
  out << "memory of DLPack's device type " << static_cast<int>(device.type);
}

}  // namespace detail

/// Converts the number of a stream in Python's protocol, `__dlpack__(stream=...)`: 1 and 2 are the
/// default streams of the context, and other numbers are handles.
/// **Errors**: `errc::invalid_argument` for 0, which the protocol forbids, and below. (-1 asks for
/// no order at all: then do not call this.)
inline result<stream_ref> dlpack_stream(
    context_ref context, std::int64_t number,
    source_location where = source_location::current()) noexcept {
  if (number > 0) {
    return stream_ref::from_native(reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(number)),
                                   context);
  }
  detail::text_builder out;
  out << number
      << " is not a stream of DLPack's protocol. Pass 1 for the legacy default stream, 2 for that "
         "of the thread, or a handle.";
  return detail::fail(
      detail::refusal(errc::invalid_argument, "gpu::dlpack_stream", out.finish(), where));
}

namespace detail {

/// Makes later work of `consumer` wait for the work of `producer`.
inline result<> order_streams(const stream_ref& producer, const stream_ref& consumer,
                              source_location where) noexcept {
  if (!consumer || consumer == producer) return {};
  const event done = GPU_TRY(event::create(producer.context(), {.timing = false}, where));
  GPU_TRY(record(producer, done, where));
  return wait(consumer, done, where);
}

/// A tensor that this library gives out, with what keeps its memory alive.
template <class Owner, int Rank> struct given_tensor {
  dlpack::managed_tensor_versioned tensor;
  std::int64_t shape[std::size_t{Rank == 0 ? 1 : Rank}];
  std::int64_t strides[std::size_t{Rank == 0 ? 1 : Rank}];
  Owner owner;

  static void end(dlpack::managed_tensor_versioned* self) {
    delete static_cast<given_tensor*>(self->manager);
  }
};

template <class T, int Rank, class Owner>
result<dlpack_tensor> give_tensor(const array_view<T, Rank>& view, dlpack::device device,
                                  Owner&& owner, source_location where) noexcept {
  using given = given_tensor<std::remove_cvref_t<Owner>, Rank>;
  auto* const made = new (std::nothrow) given{{}, {}, {}, static_cast<Owner&&>(owner)};
  if (made == nullptr)
    return fail(out_of_host_memory_error("gpu::to_dlpack", sizeof(given), where));
  for (int axis = 0; axis < Rank; ++axis) {
    made->shape[axis] = static_cast<std::int64_t>(view.extent(axis));
    made->strides[axis] = view.stride(axis);
  }
  made->tensor = {1,
                  0,
                  made,
                  &given::end,
                  std::is_const_v<T> ? dlpack::read_only : 0,
                  {const_cast<std::remove_cv_t<T>*>(view.data()), device, Rank,
                   dlpack_type_of<std::remove_cv_t<T>>(), made->shape, made->strides, 0}};
  return dlpack_tensor::adopt(&made->tensor);
}

struct no_owner {};

}  // namespace detail

/// Gives a view out as a tensor of DLPack, with `owner`, an object that is moved in and keeps the
/// memory alive until the tensor is deleted; without one the caller keeps it. Elements that are
/// const are marked as read-only. `consumer` is a stream that is to wait for the work of `stream`,
/// as `__dlpack__(stream=...)` asks for.
/// **Ordering**: does not wait. **Errors**: the reason of a faulty view; `errc::empty_handle`;
/// `errc::out_of_host_memory`, after which `owner` is gone; those of `gpu::wait`.
/// **Capture**: allowed without a consumer. **Threads**: `owner` is destroyed where the deleter is
/// called.
template <class T, int Rank, class Owner = detail::no_owner>
result<dlpack_tensor> to_dlpack(const stream_ref& stream, const array_view<T, Rank>& view,
                                Owner owner = {}, const stream_ref& consumer = {},
                                source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(stream, "gpu::to_dlpack", where));
  GPU_TRY(detail::require_sound("gpu::to_dlpack", "the view", view, where));
  GPU_TRY(detail::order_streams(stream, consumer, where));
  return detail::give_tensor(view, {dlpack::device_type::cuda, stream.device().native()},
                             std::move(owner), where);
}

/// Gives an array away as a tensor of DLPack. Its memory is freed when the consumer deletes the
/// tensor, in the order of the stream on which the array was made, which must still exist then.
template <class T, int Rank>
result<dlpack_tensor> to_dlpack(const stream_ref& stream, array<T, Rank>&& a,
                                const stream_ref& consumer = {},
                                source_location where = source_location::current()) noexcept {
  const array_view<T, Rank> view = a.view();
  return to_dlpack(stream, view, std::move(a), consumer, where);
}

/// Gives page-locked memory out, as a tensor that NumPy takes, too. `owner` keeps it alive: the
/// `pinned_vector` itself, moved in.
/// **Ordering**: none; work that writes the memory has to be finished.
/// **Errors**: `errc::out_of_host_memory`, after which `owner` is gone.
template <class Owner>
  requires(host_range<Owner&> && enable_pinned_range<Owner>)
result<dlpack_tensor> to_dlpack(Owner&& owner,
                                source_location where = source_location::current()) noexcept {
  using element = detail::host_element_t<Owner>;
  const std::size_t extents[] = {detail::size_of(owner)};
  const std::ptrdiff_t strides[] = {1};
  const auto view = array_view<element>::from_native(
      static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(detail::data_of(owner))), extents,
      strides);
  return detail::give_tensor(view, {dlpack::device_type::cuda_host, 0}, std::move(owner), where);
}

/// Owns a tensor that came in, as a view of its elements. Move-only; empty after a move. `T` is
/// const for elements that must not be written.
/// **Ownership**: the destructor calls the producer's deleter at once. Before that, wait for the
/// work that uses the elements, or make the producer's stream wait for it (`gpu::wait`).
template <class T, int Rank = 1> class dlpack_array {
 public:
  /// Creates an empty object, to be assigned to.
  dlpack_array() noexcept = default;

  /// Returns the elements; a function of views, a kernel or an expression takes the object itself.
  array_view<T, Rank> view() const& noexcept { return tensor_ ? view_ : array_view<T, Rank>(); }
  void view() const&& = delete;  // a view must not outlive the owner

  /// Gives the tensor away again.
  [[nodiscard]] dlpack_tensor release() noexcept { return std::move(tensor_); }

 private:
  template <class U, int R>
  friend result<dlpack_array<U, R>> from_dlpack(const stream_ref&, dlpack_tensor&&,
                                                source_location) noexcept;
  dlpack_array(dlpack_tensor&& tensor, const array_view<T, Rank>& view) noexcept
      : tensor_{std::move(tensor)}, view_{view} {}

  dlpack_tensor tensor_;
  array_view<T, Rank> view_;
};

namespace detail {

inline unexpected<cuda_error> refuse_tensor(errc code, text_builder& sentence,
                                            source_location where) noexcept {
  return fail(refusal(code, "gpu::from_dlpack", sentence.finish(), where));
}

/// Checks all that a tensor says of itself.
inline result<> require_tensor(const stream_ref& stream, const dlpack_tensor& tensor,
                               dlpack::data_type type, std::size_t alignment, int rank, bool writes,
                               source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::from_dlpack", where));
  GPU_TRY(tensor.require_version("gpu::from_dlpack", where));
  const dlpack::tensor& given = *tensor.get();
  text_builder out;
  if (given.type != type) {
    out << "the tensor has elements of type ";
    write_dlpack_type(out, given.type);
    out << ", not ";
    write_dlpack_type(out, type);
    out << ". Pass the type that the tensor has as the template argument, or convert it before.";
    return refuse_tensor(errc::argument_mismatch, out, where);
  }
  if (given.rank != rank) {
    out << "the tensor has " << given.rank << (given.rank == 1 ? " axis" : " axes") << ", not "
        << rank << ". Pass that number as the template argument.";
    return refuse_tensor(errc::argument_mismatch, out, where);
  }
  if (writes && tensor.is_read_only()) {
    out << "the elements of the tensor must not be written. Take it in with const elements.";
    return refuse_tensor(errc::argument_mismatch, out, where);
  }
  const bool reaches_all = given.device.type == dlpack::device_type::cuda_host ||
                           given.device.type == dlpack::device_type::cuda_managed;
  if (!reaches_all && (given.device.type != dlpack::device_type::cuda ||
                       given.device.index != stream.device().native())) {
    out << "the tensor is in ";
    write_dlpack_device(out, given.device);
    out << ", and the stream is of device " << stream.device().native()
        << (given.device.type == dlpack::device_type::cuda
                ? ". Pass a stream of the tensor's device, or move the tensor there."
                : ". Copy the elements to the device with gpu::array::from, or have the producer "
                  "do it.");
    return refuse_tensor(errc::wrong_context, out, where);
  }
  if (rank > 0 && given.shape == nullptr) {
    out << "the tensor has " << rank << (rank == 1 ? " axis" : " axes")
        << ", but its list of extents is null. The producer is at fault.";
    return refuse_tensor(errc::invalid_argument, out, where);
  }
  std::size_t bytes = type.bits / 8;
  for (int axis = 0; axis < rank; ++axis) {
    bytes = saturated_product(bytes, static_cast<std::size_t>(given.shape[axis]));
    if (given.shape[axis] >= 0) continue;
    out << "axis " << axis << " of the tensor has " << given.shape[axis]
        << " elements, which is not possible. The producer is at fault.";
    return refuse_tensor(errc::invalid_argument, out, where);
  }
  if (bytes > most_memory_bytes) {
    out << "the extents of the tensor are ";
    for (int axis = 0; axis < rank; ++axis) out << (axis == 0 ? "" : ", ") << given.shape[axis];
    out << ", which is more elements than memory can have. The producer is at fault.";
    return refuse_tensor(errc::invalid_argument, out, where);
  }
  std::uintptr_t address = 0;
  if (__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(given.data), given.byte_offset,
                             &address)) {
    out << "the elements begin " << given.byte_offset << " bytes after address "
        << reinterpret_cast<std::uintptr_t>(given.data)
        << ", which is beyond the last address. The producer is at fault.";
    return refuse_tensor(errc::invalid_argument, out, where);
  }
  if (bytes != 0 && (given.data == nullptr || address % alignment != 0)) {
    out << "the elements begin at address " << address << ", which is null or not a multiple of "
        << alignment << " bytes. Copy the tensor.";
    return refuse_tensor(errc::invalid_argument, out, where);
  }
  return {};
}

}  // namespace detail

/// Takes a tensor in, without a copy, as a view with `Rank` axes of elements of type `T`:
///
///     auto x = GPU_TRY((gpu::from_dlpack<float, 2>(stream, gpu::dlpack_tensor::adopt(pointer))));
///     const float total = GPU_TRY(gpu::sum(stream, x));
///
/// The memory is that of the stream's device, managed, or page-locked. The producer must have made
/// `stream` wait for its work: in Python, pass its handle to `__dlpack__(stream=...)`.
/// **Ordering**: none; asks and queues nothing. **Ownership**: after an error `tensor` is
/// unchanged. **Errors**: `errc::argument_mismatch` for another type of elements, another number of
/// axes, or read-only elements and a `T` that is not const; `errc::wrong_context` for memory of
/// another device, or of the host; `errc::not_supported` for other major versions of DLPack;
/// `errc::invalid_argument` for extents, strides and addresses that memory cannot have;
/// `errc::empty_handle`. **Capture**: allowed.
template <class T, int Rank = 1>
result<dlpack_array<T, Rank>> from_dlpack(
    const stream_ref& stream, dlpack_tensor&& tensor,
    source_location where = source_location::current()) noexcept {
  using element = std::remove_cv_t<T>;
  GPU_TRY(detail::require_tensor(stream, tensor, detail::dlpack_type_of<element>(), alignof(T),
                                 Rank, !std::is_const_v<T>, where));
  const dlpack::tensor& given = *tensor.get();
  const auto address =
      static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(given.data) + given.byte_offset);
  if constexpr (Rank == 0) {
    const auto view = array_view<T, 0>::from_native(address);
    GPU_TRY(detail::require_sound("gpu::from_dlpack", "the tensor", view, where));
    return dlpack_array<T, 0>(std::move(tensor), view);
  } else {
    std::size_t extents[std::size_t{Rank}];
    std::ptrdiff_t strides[std::size_t{Rank}];
    for (int axis = 0; axis < Rank; ++axis) {
      extents[axis] = static_cast<std::size_t>(given.shape[axis]);
      if (given.strides != nullptr) strides[axis] = std::ptrdiff_t{given.strides[axis]};
    }
    if (given.strides == nullptr) detail::set_dense_strides(extents, strides, Rank);
    const auto view = array_view<T, Rank>::from_native(address, extents, strides);
    GPU_TRY(detail::require_sound("gpu::from_dlpack", "the tensor", view, where));
    return dlpack_array<T, Rank>(std::move(tensor), view);
  }
}

}}  // namespace gpu::v1
