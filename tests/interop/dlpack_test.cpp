// Tensors of DLPack: what other libraries read in them, written out by hand, and what is refused.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/sum.hpp>
#include <gpu/array.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/dlpack.hpp>
#include <gpu/interop/dlpack_tensor.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/pinned_vector.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace dlpack_test { namespace {

using algorithm_test::fixture;
namespace dl = gpu::dlpack;

// The layout of dlpack.h, which is the same in 0.6 and 1.0: a C compiler for x86-64 gives these.
static_assert(sizeof(dl::tensor) == 48 && offsetof(dl::tensor, device) == 8 &&
              offsetof(dl::tensor, rank) == 16 && offsetof(dl::tensor, type) == 20 &&
              offsetof(dl::tensor, shape) == 24 && offsetof(dl::tensor, strides) == 32 &&
              offsetof(dl::tensor, byte_offset) == 40);
static_assert(sizeof(dl::managed_tensor) == 64 && offsetof(dl::managed_tensor, manager) == 48 &&
              offsetof(dl::managed_tensor, deleter) == 56);
static_assert(sizeof(dl::managed_tensor_versioned) == 80 &&
              offsetof(dl::managed_tensor_versioned, manager) == 8 &&
              offsetof(dl::managed_tensor_versioned, deleter) == 16 &&
              offsetof(dl::managed_tensor_versioned, flags) == 24 &&
              offsetof(dl::managed_tensor_versioned, tensor) == 32);

template <class T> bool has_type(int code, int bits) {
  const dl::data_type type = gpu::detail::dlpack_type_of<T>();
  return static_cast<int>(type.code) == code && type.bits == bits && type.lanes == 1;
}

/// A tensor as another library makes it, which counts how often it is deleted.
struct foreign {
  int deleted = 0;
  std::int64_t shape[2], strides[2];
  dl::managed_tensor old{};
  dl::managed_tensor_versioned versioned{};

  foreign(const void* data, std::int64_t rows, std::int64_t columns)
      : shape{rows, columns}, strides{columns, 1} {
    old.tensor = {const_cast<void*>(data),
                  {dl::device_type::cuda, 0},
                  2,
                  {dl::type_code::real, 32, 1},
                  shape,
                  strides,
                  0};
    old.manager = versioned.manager = this;
    old.deleter = [](dl::managed_tensor* self) { ++static_cast<foreign*>(self->manager)->deleted; };
    versioned.major = 1;
    versioned.tensor = old.tensor;
    versioned.deleter = [](dl::managed_tensor_versioned* self) {
      ++static_cast<foreign*>(self->manager)->deleted;
    };
  }
  foreign(const foreign&) = delete;
  foreign& operator=(const foreign&) = delete;
};

template <class T, int Rank> gpu::cuda_error refused(const fixture& f, foreign& from) {
  auto tensor = gpu::dlpack_tensor::adopt(&from.versioned);
  const int before = from.deleted;
  auto error = test::error_of(gpu::from_dlpack<T, Rank>(f.stream, std::move(tensor)));
  CHECK(from.deleted == before);
  CHECK(static_cast<bool>(tensor));  // still the caller's
  static_cast<void>(test::value_of(tensor.release()));
  return error;
}

TEST_CASE("DLPack: element types have its codes", "[interop][dlpack]") {
  CHECK(has_type<bool>(6, 8));
  CHECK(has_type<signed char>(0, 8));
  CHECK(has_type<unsigned char>(1, 8));
  CHECK(has_type<short>(0, 16));
  CHECK(has_type<unsigned>(1, 32));
  CHECK(has_type<long>(0, 64));
  CHECK(has_type<unsigned long long>(1, 64));
  CHECK(has_type<float>(2, 32));
  CHECK(has_type<double>(2, 64));
  CHECK(has_type<__half>(2, 16));
  CHECK(has_type<__nv_bfloat16>(4, 16));
  CHECK(has_type<std::complex<float>>(5, 64));
  CHECK(has_type<std::complex<double>>(5, 128));
}

TEST_CASE("DLPack: an array goes out and comes back without a copy", "[interop][dlpack]") {
  const fixture f;
  auto a = test::value_of(gpu::array<int, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  const CUdeviceptr address = a.native();
  gpu::dlpack_tensor tensor = test::value_of(gpu::to_dlpack(f.stream, std::move(a)));
  CHECK(a.size() == 0);
  const dl::tensor& given = *tensor.get();
  CHECK(reinterpret_cast<std::uintptr_t>(given.data) == address);
  CHECK(given.device.type == dl::device_type::cuda);
  CHECK(given.device.index == 0);
  CHECK(given.rank == 2);
  CHECK((given.shape[0] == 2 && given.shape[1] == 3));
  CHECK((given.strides[0] == 3 && given.strides[1] == 1));
  CHECK(given.byte_offset == 0);
  CHECK_FALSE(tensor.is_read_only());
  auto back = test::value_of(gpu::from_dlpack<int, 2>(f.stream, std::move(tensor)));
  CHECK_FALSE(static_cast<bool>(tensor));
  CHECK(back.view().native() == address);
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, back.view() * 2))) ==
        std::vector<int>{2, 4, 6, 8, 10, 12});
  gpu::dlpack_tensor again = back.release();
  CHECK(back.view().size() == 0);
  // Through the older form, and once more through the newer one.
  auto* const old = test::value_of(again.release_old());
  CHECK_FALSE(static_cast<bool>(again));
  CHECK(old->tensor.shape[1] == 3);
  again = gpu::dlpack_tensor::adopt(old);
  auto* const versioned = test::value_of(again.release());
  CHECK(versioned->major == 1);
  CHECK(versioned->tensor.strides[0] == 3);
  again = gpu::dlpack_tensor::adopt(versioned);
  CHECK(test::value_of(again.release()) == versioned);
  again = gpu::dlpack_tensor::adopt(versioned);
  back = test::value_of(gpu::from_dlpack<int, 2>(f.stream, std::move(again)));
  CHECK(back.view().size() == 6);
}

TEST_CASE("DLPack: a view goes out with its strides and its owner", "[interop][dlpack]") {
  const fixture f;
  auto a = std::make_shared<gpu::array<float, 2>>(
      test::value_of(gpu::ones<float>(f.stream, gpu::shape{4, 6})));
  const std::weak_ptr<gpu::array<float, 2>> watch = a;
  const gpu::array_view<const float, 2> turned =
      gpu::transpose((*a)(gpu::slice(0, gpu::to_end, 2), gpu::slice(5, gpu::before_start, -1)));
  gpu::dlpack_tensor tensor = test::value_of(gpu::to_dlpack(f.stream, turned, std::move(a)));
  CHECK_FALSE(watch.expired());
  CHECK(tensor.is_read_only());
  CHECK((tensor.get()->shape[0] == 6 && tensor.get()->shape[1] == 2));
  CHECK((tensor.get()->strides[0] == -1 && tensor.get()->strides[1] == 12));
  CHECK(test::says(test::error_of(tensor.release_old()), "DLPack before 1.0 cannot say"));
  CHECK(test::says(test::error_of(gpu::from_dlpack<float, 2>(f.stream, std::move(tensor))),
                   "must not be written", "const elements"));
  {
    const auto back = test::value_of(gpu::from_dlpack<const float, 2>(f.stream, std::move(tensor)));
    CHECK(back.view().stride(0) == -1);
    CHECK_FALSE(watch.expired());
  }
  CHECK(watch.expired());
  const auto span = test::value_of(gpu::device_buffer<double>::create(f.device, 5));
  const auto plain =
      test::value_of(gpu::to_dlpack(f.stream, gpu::array_view(span.span().subspan(2))));
  CHECK(plain.get()->shape[0] == 3);
  CHECK(reinterpret_cast<std::uintptr_t>(plain.get()->data) == span.native() + 16);
  const auto one = test::value_of(gpu::full<int>(f.stream, gpu::shape<0>(), 7));
  gpu::dlpack_tensor scalar = test::value_of(gpu::to_dlpack(f.stream, one.view()));
  CHECK(scalar.get()->rank == 0);
  CHECK(test::value_of(gpu::from_dlpack<const int, 0>(f.stream, std::move(scalar)))
            .release()
            .get()
            ->rank == 0);
  CHECK(test::error_of(gpu::to_dlpack(f.stream, gpu::array_view(span.span())(9))) ==
        gpu::errc::index_out_of_range);
}

TEST_CASE("DLPack: page-locked memory goes out for the host", "[interop][dlpack]") {
  const fixture f;
  auto host = test::value_of(gpu::pinned_vector<int>::create(f.device, 3));
  for (int i = 0; i < 3; ++i) host[static_cast<std::size_t>(i)] = i + 1;
  const int* const data = host.data();
  gpu::dlpack_tensor tensor = test::value_of(gpu::to_dlpack(std::move(host)));
  CHECK(tensor.get()->device.type == dl::device_type::cuda_host);
  CHECK(tensor.get()->data == data);
  CHECK(static_cast<const int*>(tensor.get()->data)[2] == 3);
  const auto back = test::value_of(gpu::from_dlpack<int>(f.stream, std::move(tensor)));
  CHECK(back.view().extent(0) == 3);
}

TEST_CASE("DLPack: foreign tensors come in, and are deleted once", "[interop][dlpack]") {
  const fixture f;
  const auto buffer = f.upload(std::vector<float>{1, 2, 3, 4, 5, 6, 7});
  foreign from(reinterpret_cast<void*>(buffer.native()), 2, 3);
  from.old.tensor.strides = nullptr;  // C order
  from.old.tensor.byte_offset = 4;
  {
    auto taken =
        test::value_of(gpu::from_dlpack<float, 2>(f.stream, gpu::dlpack_tensor::adopt(&from.old)));
    CHECK(f.download(test::value_of(gpu::evaluate(f.stream, taken.view() + 0.0f))) ==
          std::vector<float>{2, 3, 4, 5, 6, 7});
    gpu::dlpack_array<float, 2> moved = std::move(taken);
    CHECK(from.deleted == 0);
  }
  CHECK(from.deleted == 1);
  {
    const auto unused = gpu::dlpack_tensor::adopt(&from.versioned);
  }
  CHECK(from.deleted == 2);
  from.versioned.deleter = nullptr;  // allowed: nothing is to be done
  {
    const auto unused = gpu::dlpack_tensor::adopt(&from.versioned);
  }
  foreign none(nullptr, 0, 3);
  CHECK(test::value_of(
            gpu::from_dlpack<float, 2>(f.stream, gpu::dlpack_tensor::adopt(&none.versioned)))
            .release()
            .get()
            ->shape[0] == 0);
}

TEST_CASE("DLPack: what does not fit is refused with a sentence", "[interop][dlpack]") {
  const fixture f;
  const auto buffer = f.upload(std::vector<float>(6));
  foreign from(reinterpret_cast<void*>(buffer.native()), 2, 3);
  dl::tensor& tensor = from.versioned.tensor;
  CHECK(test::says(refused<double, 2>(f, from), "elements of type float32, not float64"));
  CHECK(test::says(refused<float, 3>(f, from), "has 2 axes, not 3"));
  tensor.type = {dl::type_code::boolean, 8, 1};
  CHECK(test::says(refused<float, 2>(f, from), "elements of type bool, not float32"));
  tensor.type = {dl::type_code::real, 32, 4};
  CHECK(test::says(refused<float, 2>(f, from), "float32 x 4, not float32"));
  tensor.type = {static_cast<dl::type_code>(9), 8, 1};
  CHECK(test::says(refused<float, 2>(f, from), "type code 9, bits 8"));
  tensor.type = {dl::type_code::real, 32, 1};
  tensor.device = {dl::device_type::cpu, 0};
  CHECK(refused<float, 2>(f, from) == gpu::errc::wrong_context);
  CHECK(test::says(refused<float, 2>(f, from), "in host memory", "gpu::array::from"));
  tensor.device = {dl::device_type::cuda, 5};
  CHECK(test::says(refused<float, 2>(f, from), "memory of device 5", "stream is of device 0"));
  tensor.device = {static_cast<dl::device_type>(10), 0};
  CHECK(test::says(refused<float, 2>(f, from), "DLPack's device type 10"));
  tensor.device = {dl::device_type::cuda, 0};
  tensor.byte_offset = 2;
  CHECK(test::says(refused<float, 2>(f, from), "not a multiple of 4 bytes"));
  tensor.byte_offset = 0;
  from.shape[1] = -3;
  CHECK(test::says(refused<float, 2>(f, from), "axis 1 of the tensor has -3 elements"));
  from.shape[0] = from.shape[1] = std::int64_t{1} << 40;
  tensor.strides = nullptr;
  CHECK(test::says(refused<float, 2>(f, from), "1099511627776, 1099511627776", "memory can have"));
  from.shape[0] = from.shape[1] = std::int64_t{1} << 32;
  tensor.strides = from.strides;
  from.strides[0] = from.strides[1] = 0;
  CHECK(test::says(refused<float, 2>(f, from), "4294967296, 4294967296", "memory can have"));
  from.shape[0] = from.shape[1] = 2;
  from.strides[0] = std::int64_t{1} << 62;
  CHECK(test::says(refused<float, 2>(f, from), "the tensor", "beyond the last address"));
  from.strides[0] = std::numeric_limits<std::int64_t>::min();
  CHECK(test::says(refused<float, 2>(f, from), "the tensor", "beyond the last address"));
  from.strides[0] = -(std::int64_t{1} << 60);
  CHECK(test::says(refused<float, 2>(f, from), "the tensor", "beyond the last address"));
  from.strides[0] = 1;
  tensor.byte_offset = ~std::uint64_t{0} - 3;
  CHECK(test::says(refused<float, 2>(f, from), "18446744073709551612 bytes after", "producer"));
  tensor.byte_offset = 0;
  void* const data = tensor.data;
  tensor.data = nullptr;
  CHECK(test::says(refused<float, 2>(f, from), "address 0, which is null"));
  tensor.data = reinterpret_cast<void*>(0xAAF0000000001230);
  CHECK(
      test::says(refused<float, 2>(f, from), "the tensor", "0xaaf0000000001230 is not an address"));
  tensor.data = data;
  tensor.shape = nullptr;
  CHECK(test::says(refused<float, 2>(f, from), "2 axes", "extents is null", "producer"));
  tensor.shape = from.shape;
  from.versioned.major = 2;
  CHECK(refused<float, 2>(f, from) == gpu::errc::not_supported);
  CHECK(test::says(refused<float, 2>(f, from), "of DLPack 2.0", "max_version=(1, 0)"));
  CHECK(test::error_of(gpu::from_dlpack<float>(f.stream, gpu::dlpack_tensor())) ==
        gpu::errc::empty_handle);
  CHECK(test::error_of(gpu::dlpack_tensor().release()) == gpu::errc::empty_handle);
  CHECK(test::error_of(gpu::dlpack_tensor().release_old()) == gpu::errc::empty_handle);
}

TEST_CASE("DLPack: streams of Python's protocol", "[interop][dlpack]") {
  const fixture f;
  const gpu::context_ref context = f.stream.context();
  CHECK(test::value_of(gpu::dlpack_stream(context, 1)) == gpu::stream_ref::legacy_default(context));
  CHECK(test::value_of(gpu::dlpack_stream(context, 2)) ==
        gpu::stream_ref::per_thread_default(context));
  const auto number = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(f.stream.native()));
  CHECK(test::value_of(gpu::dlpack_stream(context, number)) == gpu::stream_ref(f.stream));
  CHECK(test::says(test::error_of(gpu::dlpack_stream(context, 0)), "0 is not a stream"));
  // The consumer's stream waits for the producer's.
  const auto consumer = test::value_of(gpu::stream::create(f.device));
  auto a = test::value_of(gpu::full<int>(f.stream, gpu::shape{1000}, 3));
  auto tensor = test::value_of(gpu::to_dlpack(f.stream, std::move(a), consumer));
  auto taken = test::value_of(gpu::from_dlpack<int>(consumer, std::move(tensor)));
  CHECK(test::value_of(gpu::sum(consumer, taken.view())) == 3000);
}

TEST_CASE("DLPack: driver calls and allocations fail in turn", "[interop][dlpack][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const auto device = GPU_TRY(gpu::device::get(0));
          const auto stream = GPU_TRY(gpu::stream::create(device));
          const auto consumer = GPU_TRY(gpu::stream::create(device));
          auto a = GPU_TRY(gpu::empty<int>(stream, gpu::shape{4}));
          auto tensor = GPU_TRY(gpu::to_dlpack(stream, std::move(a), consumer));
          auto again = gpu::dlpack_tensor::adopt(GPU_TRY(tensor.release_old()));
          again = gpu::dlpack_tensor::adopt(GPU_TRY(again.release()));
          GPU_TRY(gpu::from_dlpack<int>(consumer, std::move(again)));
          return stream.synchronize();
        }) == "");
}

}}  // namespace dlpack_test
