#pragma once
/// \file
/// Multiplies matrices with cuBLASLt, if the process has it and it is the faster way.

#include <gpu/array/detail/product_shape.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/libraries/cublaslt_functions.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/require_libcuda.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/system/library_table.hpp>
#include <gpu/system/made_once.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

/// The values of `cudaDataType` and `cublasComputeType_t` for an element type.
struct blas_type {
  int element, scale, compute;
  unsigned bytes;
};

/// The types that BLAS multiplies: all fractional numbers.
template <class T> inline constexpr bool is_blas_type = fractional_number<T>;

template <class T> constexpr blas_type blas_type_of() noexcept {
  constexpr int in_float = 68, in_double = 70;  // CUBLAS_COMPUTE_32F and 64F
  if constexpr (short_number<T>) {
    return {element_type_of<T>().name == "gpu::half" ? 2 : 14, 0, in_float, unsigned{sizeof(T)}};
  } else if constexpr (complex_number<T>) {
    constexpr bool wide = sizeof(T) == 16;
    return {wide ? 5 : 4, wide ? 5 : 4, wide ? in_double : in_float, unsigned{sizeof(T)}};
  } else {
    constexpr bool wide = sizeof(T) == 8;
    return {wide ? 1 : 0, wide ? 1 : 0, wide ? in_double : in_float, unsigned{sizeof(T)}};
  }
}

/// The handles of cuBLASLt, one for each device and for each table of its functions. They are never
/// destroyed: at the exit of the process the library may be gone.
class cublaslt_handles {
 public:
  /// Returns the handle for the stream's device, made on first use. Null if it would have to be
  /// made now and cannot be, for example during capture.
  void* of(const stream_ref& stream, const cublaslt_functions& functions) noexcept {
    const slot wanted{stream.device().native(), driver::entry_points_generation(), &functions};
    if (const entry* known = find(wanted)) return known->handle;
    bool captured = true;
    const result<> asked = get_captured(stream, captured, source_location{});
    if (!asked.has_value() || captured) return nullptr;
    void* made = nullptr;
    const result<> done = driver::in_context(stream.context().native(), source_location{}, [&] {
      return library_result(error_domain::cublas, functions.create(&made), "cublasLtCreate",
                            source_location{});
    });
    if (!done.has_value()) return nullptr;
    const scoped_lock held(adding_);
    const entry* known = find(wanted);
    entry* const added =
        known == nullptr ? new (std::nothrow) entry{wanted, made, first_} : nullptr;
    if (added == nullptr) {
      functions.destroy(made);
      return known != nullptr ? known->handle : nullptr;
    }
    atomic_store<memory_order::release>(first_, added);
    return made;
  }

 private:
  struct slot {
    CUdevice device;
    std::uint64_t generation;  ///< of the driver table
    const cublaslt_functions* functions;
    friend bool operator==(const slot&, const slot&) noexcept = default;
  };
  struct entry {
    slot of;
    void* handle;
    entry* next;
  };

  const entry* find(const slot& wanted) const noexcept {
    const entry* each = atomic_load<memory_order::acquire>(first_);
    while (each != nullptr && !(each->of == wanted)) each = each->next;
    return each;
  }

  entry* first_ = nullptr;
  mutex adding_{};
};

/// A descriptor of cuBLASLt, destroyed at the end of the scope. The first failure is kept.
class cublaslt_descriptor {
 public:
  using set_function = int (*)(void*, int, const void*, std::size_t);

  cublaslt_descriptor(int code, void* made, int (*destroy)(void*), set_function setter) noexcept
      : made_{code == 0 ? made : nullptr}, destroy_{destroy}, set_{setter}, code_{code} {}
  cublaslt_descriptor(const cublaslt_descriptor&) = delete;
  cublaslt_descriptor& operator=(const cublaslt_descriptor&) = delete;
  ~cublaslt_descriptor() {
    if (made_ != nullptr) destroy_(made_);
  }

  template <class Value> void set(int attribute, Value value) noexcept {
    if (code_ == 0) code_ = set_(made_, attribute, &value, sizeof value);
  }
  void* get() const noexcept { return made_; }
  bool is_good() const noexcept { return code_ == 0; }

 private:
  void* made_;
  int (*destroy_)(void*);
  set_function set_;
  int code_;
};

/// Whether a process has a cuBLASLt that works on the driver in force. (A table that a test put in
/// force works on every driver.) Opens it on first use.
inline bool has_cublaslt() noexcept {
  return works_on_driver<cublaslt_library>() &&
         library_table<cublaslt_library>().multiply != nullptr;
}

/// The layout of a matrix with `rows` and `columns` in memory.
inline cublaslt_descriptor cublaslt_layout(const cublaslt_functions& lt, int type,
                                           const blas_matrix& matrix, long long rows,
                                           long long columns) noexcept {
  void* made = nullptr;
  const int code = lt.layout_create(
      &made, type, static_cast<std::uint64_t>(matrix.transposed ? columns : rows),
      static_cast<std::uint64_t>(matrix.transposed ? rows : columns), matrix.leading);
  return {code, made, lt.layout_destroy, lt.layout_set};
}

/// Returns the largest power of two, up to 256, that divides the address.
inline std::uint32_t alignment_of(std::uintptr_t address) noexcept {
  const std::uintptr_t lowest = (address | 256) & (~(address | 256) + 1);
  return static_cast<std::uint32_t>(lowest);
}

/// Multiplies with cuBLASLt. Returns false if it does not, whatever the reason: the library's own
/// kernel can do everything, and nothing was written.
inline bool multiply_with_cublaslt(const stream_ref& stream, const blas_type& type,
                                   const blas_product& p) noexcept {
  // As much as NVIDIA recommends for Hopper.
  constexpr std::uint64_t most_workspace = 32 << 20;
  enum : int { transpose_a = 3, transpose_b = 4 };                             // of the operation
  enum : int { batch_count = 5, batch_stride = 6 };                            // of a layout
  enum : int { workspace_bytes = 1, reduction_schemes = 3, a_alignment = 5 };  // of preferences
  // Parts of a sum are added in the type that they are computed in, never in one of 16 bits.
  constexpr std::uint32_t in_compute_type = 2;
  static cublaslt_handles* all = nullptr;
  cublaslt_handles* const handles =
      made_once(all, [] { return new (std::nothrow) cublaslt_handles; });
  if (handles == nullptr || p.count > 0x7fffffff) return false;
  const library_use<cublaslt_library> use;
  const cublaslt_functions& lt = library_table<cublaslt_library>();
  if (lt.multiply == nullptr) return false;  // the process is ending, or was forked
  void* const handle = handles->of(stream, lt);
  if (handle == nullptr) return false;

  void* made = nullptr;
  const int code = lt.operation_create(&made, type.compute, type.scale);
  cublaslt_descriptor operation(code, made, lt.operation_destroy, lt.operation_set);
  operation.set(transpose_a, std::int32_t{p.a.transposed});
  operation.set(transpose_b, std::int32_t{p.b.transposed});
  cublaslt_descriptor a = cublaslt_layout(lt, type.element, p.a, p.m, p.k);
  cublaslt_descriptor b = cublaslt_layout(lt, type.element, p.b, p.k, p.n);
  cublaslt_descriptor c = cublaslt_layout(lt, type.element, p.c, p.m, p.n);
  if (p.count > 1) {
    for (cublaslt_descriptor* each : {&a, &b, &c})
      each->set(batch_count, static_cast<std::int32_t>(p.count));
    a.set(batch_stride, std::int64_t{p.a.batch});
    b.set(batch_stride, std::int64_t{p.b.batch});
    c.set(batch_stride, std::int64_t{p.c.batch});
  }
  void* made_preference = nullptr;
  const int preferred = lt.preference_create(&made_preference);
  cublaslt_descriptor preference(preferred, made_preference, lt.preference_destroy,
                                 lt.preference_set);
  preference.set(workspace_bytes, most_workspace);
  preference.set(reduction_schemes, in_compute_type);
  int attribute = a_alignment;
  for (const blas_matrix* each : {&p.a, &p.b, &p.c, &p.c})
    preference.set(attribute++, alignment_of(each->address));
  for (const cublaslt_descriptor* each : {&operation, &a, &b, &c, &preference}) {
    if (!each->is_good()) return false;
  }

  cublaslt_choice choice{};
  int found = 0;
  const result<> done =
      driver::in_context(stream.context().native(), source_location{}, [&]() -> result<> {
        const auto checked = [](int status, const char* call) {
          return library_result(error_domain::cublas, status, call, source_location{});
        };
        GPU_TRY(checked(lt.choose(handle, operation.get(), a.get(), b.get(), c.get(), c.get(),
                                  preference.get(), 1, &choice, &found),
                        "cublasLtMatmulAlgoGetHeuristic"));
        constexpr int not_supported = 15;
        GPU_TRY(
            checked(found == 0 ? not_supported : choice.state, "cublasLtMatmulAlgoGetHeuristic"));
        const auto workspace =
            GPU_TRY(allocate_workspace(stream, choice.workspace_bytes, source_location{}));
        // Room for the largest of the scale types, which are complex numbers of doubles.
        const double one_double[2] = {1, 0}, zero[2] = {0, 0};
        const float one_float[2] = {1, 0};
        const bool wide = type.scale == 1 || type.scale == 5;
        return checked(
            lt.multiply(handle, operation.get(),
                        wide ? static_cast<const void*>(one_double) : one_float,
                        reinterpret_cast<const void*>(p.a.address), a.get(),
                        reinterpret_cast<const void*>(p.b.address), b.get(), zero,
                        reinterpret_cast<const void*>(p.c.address), c.get(),
                        reinterpret_cast<void*>(p.c.address), c.get(), &choice.algorithm,
                        reinterpret_cast<void*>(static_cast<std::uintptr_t>(workspace.native())),
                        choice.workspace_bytes, stream.native()),
            "cublasLtMatmul");
      });
  return done.has_value();
}

/// Multiplies with cuBLASLt if the product is large enough and the library can, and tells whether
/// it has.
inline bool try_cublaslt(const stream_ref& stream, const blas_type& type, CUdeviceptr a,
                         CUdeviceptr b, CUdeviceptr c, const product_shape& s) noexcept {
  // Below this the launch takes most of the time, with either kernel.
  constexpr double enough = 1 << 21;
  blas_product product{};
  if (!to_blas(static_cast<std::uintptr_t>(a), static_cast<std::uintptr_t>(b),
               static_cast<std::uintptr_t>(c), s, product)) {
    return false;
  }
  const double products = static_cast<double>(product.m) * static_cast<double>(product.n) *
                          static_cast<double>(product.k) * static_cast<double>(product.count);
  return products >= enough && has_cublaslt() && multiply_with_cublaslt(stream, type, product);
}

}}}  // namespace gpu::v1::detail
