#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/tensor_copy/tensor_map.hpp>
#include <gpu/tensor_copy/tensor_map_options.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace tensor_map_test {

using test::error_of;
using test::says;
using test::value_of;

static_assert(std::is_trivially_copyable_v<gpu::tensor_map<float, 2>>);
static_assert(alignof(gpu::tensor_map<float, 2>) == alignof(CUtensorMap));
static_assert(gpu::kernel_argument_for<gpu::tensor_map<float, 2>&, gpu::tensor_map<float, 2>>);
static_assert(!gpu::kernel_argument_for<gpu::tensor_map<float, 2>&, gpu::tensor_map<int, 2>>);

namespace {

using floats = gpu::array_view<float, 2>;

/// The arguments of the last call that reached the driver.
struct noted_call {
  std::string text;
};
noted_call last;

/// Writes a number, and after it those of a list.
template <class Number> void note(const char* name, const Number* list, unsigned count) {
  last.text += std::string(" ") + name;
  for (unsigned n = 0; n < count; ++n) last.text += (n == 0 ? " " : ",") + std::to_string(list[n]);
}

/// The driver in force, which notes what it is asked to encode.
class noting {
 public:
  noting() : table_{prepare()}, in_force_{table_} {}

 private:
  static gpu::driver::entry_points prepare() {
    last.text.clear();
    gpu::driver::entry_points table = gpu::driver::current_entry_points();
    table.tensor_map_encode_tiled =
        [](CUtensorMap*, CUtensorMapDataType type, cuuint32_t rank, void* address,
           const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
           const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
           CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
          last.text = "type " + std::to_string(type) + " at " +
                      std::to_string(reinterpret_cast<std::uintptr_t>(address));
          note("extents", extents, rank);
          note("strides", strides, rank - 1);
          note("box", box, rank);
          note("steps", steps, rank);
          const int options[] = {interleave, swizzle, promotion, fill};
          note("options", options, 4);
          return CUDA_SUCCESS;
        };
    table.tensor_map_encode_im2col =
        [](CUtensorMap*, CUtensorMapDataType type, cuuint32_t rank, void*,
           const cuuint64_t* extents, const cuuint64_t* strides, const int* lower, const int* upper,
           cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps, CUtensorMapInterleave,
           CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
          last.text = "type " + std::to_string(type);
          note("extents", extents, rank);
          note("strides", strides, rank - 1);
          note("lower", lower, rank - 2);
          note("upper", upper, rank - 2);
          const unsigned box[] = {channels, pixels};
          note("box", box, 2);
          note("steps", steps, rank);
          return CUDA_SUCCESS;
        };
    return table;
  }
  gpu::driver::entry_points table_;
  gpu::driver::scoped_entry_points in_force_;
};

/// A view at an address that nothing is read from.
template <class T = float, std::size_t Rank>
gpu::array_view<T, int{Rank}> view_at(CUdeviceptr address, const std::size_t (&extents)[Rank],
                                      const std::ptrdiff_t (&strides)[Rank]) {
  return gpu::array_view<T, int{Rank}>::from_native(address, extents, strides);
}

gpu::cuda_error refused(const floats& view, const gpu::shape<2>& box,
                        const gpu::tensor_map_options& options = {}) {
  gpu::cuda_error error = error_of(gpu::make_tensor_map(test::first_device(), view, box, options));
  CHECK(error.domain() == gpu::error_domain::gpu);
  return error;
}

}  // namespace

TEST_CASE("tensor map: the driver gets the axes in its own order", "[tensor]") {
  const noting notes;
  const gpu::device device = test::first_device();
  value_of(gpu::make_tensor_map(device, view_at<double>(4096, {3, 5, 8}, {64, 10, 1}), {2, 4, 6},
                                {.swizzle = gpu::tensor_swizzle::bytes_64,
                                 .promotion = gpu::l2_promotion::bytes_128,
                                 .fill = gpu::tensor_fill::nans,
                                 .steps = {1, 3, 1}}));
  CHECK(last.text ==
        "type 8 at 4096 extents 8,5,3 strides 80,512 box 6,12,2 steps 1,3,1 options 0,2,2,1");
  // An axis of one element has any stride.
  value_of(gpu::make_tensor_map(device, view_at(4096, {1, 8}, {-3, 1}), {1, 8}));
  CHECK(last.text == "type 7 at 4096 extents 8,1 strides 32 box 8,1 steps 1,1 options 0,0,0,0");
  value_of(gpu::make_im2col_map(device, view_at<const short>(0, {2, 7, 9, 8}, {504, 72, 8, 1}),
                                {.lower = {-1, -2}, .upper = {1, 2}, .channels = 8, .pixels = 40},
                                {.steps = {1, 2, 3, 1}}));
  CHECK(last.text ==
        "type 1 extents 8,9,7,2 strides 16,144,1008 lower -2,-1 upper 2,1 box 8,40 steps 1,3,2,1");
}

TEST_CASE("tensor map: each type of element has a name", "[tensor]") {
  const noting notes;
  const auto type = [&]<class T>(T) {
    value_of(gpu::make_tensor_map(test::first_device(), view_at<T>(0, {64}, {1}), {16}));
    return last.text.substr(0, last.text.find(" at"));
  };
  CHECK(type(true) == "type 0");
  CHECK(type('a') == "type 0");
  CHECK(type(short{}) == "type 1");
  CHECK(type(0u) == "type 2");
  CHECK(type(0) == "type 3");
  CHECK(type(0ull) == "type 4");
  CHECK(type(0ll) == "type 5");
  CHECK(type(0.0f) == "type 7");
  CHECK(type(0.0) == "type 8");
  struct two_words {
    unsigned x, y;
  };
  CHECK(type(two_words{}) == "type 4");
  for (const auto& [floats, expected] : {std::pair{gpu::tensor_float::flushed, "type 10"},
                                         std::pair{gpu::tensor_float::tf32, "type 11"},
                                         std::pair{gpu::tensor_float::flushed_tf32, "type 12"}}) {
    value_of(gpu::make_tensor_map(test::first_device(), view_at(0, {64}, {1}), {16},
                                  {.floats = floats}));
    CHECK(last.text.substr(0, last.text.find(" at")) == expected);
  }
}

TEST_CASE("tensor map: what the copy engine does not do is rejected", "[tensor]") {
  const auto good = view_at(4096, {20, 64}, {64, 1});
  value_of(gpu::make_tensor_map(test::first_device(), good, {20, 64}));
  CHECK(says(refused(view_at(4100, {20, 64}, {64, 1}), {8, 8}), "4 bytes behind a multiple of 16"));
  CHECK(says(refused(view_at(4096, {0, 64}, {64, 1}), {8, 8}), "the extent of axis 0 is 0"));
  CHECK(says(refused(view_at(4096, {20, 64}, {64, 2}), {8, 8}), "axis 1, the last", "2 elements",
             "gpu::move_axis"));
  CHECK(says(refused(view_at(4096, {20, 64}, {65, 1}), {8, 8}), "axis 0", "260 bytes apart",
             "multiple of 16"));
  CHECK(
      says(refused(view_at(1 << 20, {20, 64}, {-64, 1}), {8, 8}), "-256 bytes apart", "positive"));
  CHECK(says(refused(view_at(4096, {20, 64}, {0, 1}), {8, 8}), "0 bytes apart"));
  CHECK(says(refused(view_at(4096, {2, 64}, {std::ptrdiff_t{1} << 38, 1}), {8, 8}), "2^40"));
  CHECK(says(refused(good, {257, 8}), "the tile along axis 0 is 257", "1 to 256"));
  CHECK(says(refused(good, {0, 8}), "the tile along axis 0 is 0"));
  CHECK(says(refused(good, {100, 8}, {.steps = {3, 1}}), "axis 0 is 100", "1 to 85"));
  CHECK(says(refused(good, {229, 256}), "a tile is 234496 bytes", "more than the 233472",
             "device 0"));
  // A row of 16 bytes takes the 128 that the swizzle spans.
  const auto spread = view_at(4096, {20, 20, 64}, {1280, 64, 1});
  CHECK(says(error_of(gpu::make_tensor_map(test::first_device(), spread, {8, 229, 4},
                                           {.swizzle = gpu::tensor_swizzle::bytes_128})),
             "a tile is 234496 bytes"));
  CHECK(says(refused(good, {8, 6}), "24 bytes", "multiple of 16", "multiple of 4 elements"));
  CHECK(says(refused(good, {8, 16}, {.swizzle = gpu::tensor_swizzle::bytes_32}), "64 bytes",
             "more than the 32", "at most 8 elements"));
  CHECK(says(refused(good, {8, 64}, {.swizzle = gpu::tensor_swizzle::bytes_128}), "256 bytes"));
  CHECK(says(refused(good, {8, 8}, {.steps = {9, 1}}), "the step of axis 0 is 9", "1 to 8"));
  CHECK(says(refused(good, {8, 8}, {.steps = {1, 2}}), "the step of axis 1 is 2", "1 to 1"));
  CHECK(says(refused(good, {8, 8}, {.interleave = gpu::tensor_interleave::bytes_16}),
             "at least 3 axes", "has 2"));
  if (value_of(test::first_device().compute_capability()).major < 10)
    CHECK(says(refused(good, {8, 8}, {.swizzle = gpu::tensor_swizzle::bytes_128_atom_32}),
               "compute capability 9.x, and tensor_swizzle::bytes_128_atom_32 needs 10.0"));
  CHECK(says(refused(good, {8, 8}, {.swizzle = static_cast<gpu::tensor_swizzle>(9)}),
             "9 is not a valid gpu::tensor_swizzle"));
  const auto integers = view_at<int>(4096, {20, 64}, {64, 1});
  const gpu::device device = test::first_device();
  CHECK(says(
      error_of(gpu::make_tensor_map(device, integers, {8, 8}, {.fill = gpu::tensor_fill::nans})),
      "floating-point", "tensor_fill::zeros"));
  CHECK(says(
      error_of(gpu::make_tensor_map(device, integers, {8, 8}, {.floats = gpu::tensor_float::tf32})),
      "tensor_float::tf32", "type float"));
  const auto cube = view_at(4096, {8, 20, 64}, {1280, 64, 1});
  CHECK(says(error_of(gpu::make_tensor_map(device, cube, {8, 8, 8},
                                           {.interleave = gpu::tensor_interleave::bytes_32})),
             "bytes_32", "not with none"));
  const auto odd = view_at(4096, {8, 20, 64}, {1284, 68, 1});
  CHECK(says(error_of(gpu::make_tensor_map(device, odd, {8, 8, 8},
                                           {.swizzle = gpu::tensor_swizzle::bytes_32,
                                            .interleave = gpu::tensor_interleave::bytes_32})),
             "multiple of 32"));
  // The mistake of a faulty view.
  const auto faulty = good(30);
  CHECK(error_of(gpu::make_tensor_map(device, faulty, {8})) == gpu::errc::index_out_of_range);
}

TEST_CASE("tensor map: boxes of pixels have limits that depend on the rank", "[tensor]") {
  const gpu::device device = test::first_device();
  const auto lines = view_at(0, {4, 30, 8}, {240, 8, 1});
  const auto images = view_at(0, {4, 30, 20, 8}, {4800, 160, 8, 1});
  const auto volumes = view_at(0, {4, 30, 20, 10, 8}, {48000, 1600, 80, 8, 1});
  const auto box = [](auto rank, int lower, int upper, std::size_t channels = 8,
                      std::size_t pixels = 16) {
    gpu::im2col_box<decltype(rank)::value> made{.channels = channels, .pixels = pixels};
    for (int& each : made.lower) each = lower;
    for (int& each : made.upper) each = upper;
    return made;
  };
  constexpr std::integral_constant<int, 3> three;
  constexpr std::integral_constant<int, 4> four;
  constexpr std::integral_constant<int, 5> five;
  value_of(gpu::make_im2col_map(device, lines, box(three, -32768, 32767)));
  value_of(gpu::make_im2col_map(device, images, box(four, -128, 127)));
  value_of(gpu::make_im2col_map(device, volumes, box(five, -16, 15)));
  CHECK(says(error_of(gpu::make_im2col_map(device, lines, box(three, -32769, 0))), "-32769",
             "axis 1", "-32768 to 32767"));
  CHECK(says(error_of(gpu::make_im2col_map(device, images, box(four, 0, 128))), "128",
             "-128 to 127", "2 axes"));
  CHECK(says(error_of(gpu::make_im2col_map(device, volumes, box(five, -17, 0))), "-17", "-16 to 15",
             "3 axes"));
  CHECK(says(error_of(gpu::make_im2col_map(device, lines, box(three, 0, -30))), "30 pixels",
             "corner -30", "0 pixels"));
  CHECK(says(error_of(gpu::make_im2col_map(device, lines, box(three, 0, 0, 257))),
             "the number of channels is 257", "1 to 256"));
  CHECK(says(error_of(gpu::make_im2col_map(device, lines, box(three, 0, 0, 8, 1025))),
             "the number of pixels is 1025", "1 to 1024"));
  CHECK(says(error_of(gpu::make_im2col_map(device, lines, box(three, 0, 0, 64, 913))),
             "233728 bytes, more than the 233472"));
  CHECK(says(error_of(gpu::make_im2col_map(device, lines, box(three, 0, 0, 3))), "12 bytes",
             "multiple of 16"));
}

TEST_CASE("tensor map: a device without tensor maps is named", "[tensor]") {
  gpu::driver::entry_points table = gpu::driver::current_entry_points();
  static decltype(table.device_get_attribute) attribute;
  attribute = table.device_get_attribute;
  table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice on) {
    const CUresult code = attribute(value, which, on);
    if (which == CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED) *value = 0;
    return code;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const auto error =
      error_of(gpu::make_tensor_map(test::first_device(), view_at(0, {64}, {1}), {16}));
  CHECK(error == gpu::errc::not_supported);
  CHECK(says(error, "device 0 cannot use tensor maps", "compute capability 9.0"));
}

TEST_CASE("tensor map: it moves to other memory", "[tensor]") {
  const gpu::device device = test::first_device();
  auto map = value_of(gpu::make_tensor_map(device, view_at(4096, {20, 64}, {64, 1}), {8, 8}));
  const auto there =
      value_of(gpu::make_tensor_map(device, view_at(65536, {20, 64}, {64, 1}), {8, 8}));
  value_of(map.replace_address(device, reinterpret_cast<float*>(65536)));
  CHECK(std::memcmp(&map, &there, sizeof map) == 0);
  CHECK(says(error_of(map.replace_address(device, reinterpret_cast<float*>(65544))),
             "8 bytes behind a multiple of 16"));
  CHECK(std::memcmp(&map, &there, sizeof map) == 0);
}

// On a device, this holds the driver against the limits of this library: what is accepted here is
// accepted there, and what is just beyond is refused by both.
TEST_CASE("tensor map: the driver has the same limits", "[tensor]") {
  const gpu::context_ref context = value_of(gpu::context::primary(test::first_device()));
  const auto scope = value_of(gpu::context_scope::enter(context));
  const auto encoded = [&](std::uintptr_t address, cuuint64_t extent, cuuint64_t stride,
                           cuuint32_t inner, cuuint32_t rows, cuuint32_t step,
                           CUtensorMapSwizzle swizzle, CUtensorMapDataType type,
                           CUtensorMapFloatOOBfill fill) {
    CUtensorMap made;
    const cuuint64_t extents[] = {64, extent}, strides[] = {stride};
    const cuuint32_t box[] = {inner, rows}, steps[] = {1, step};
    return test::driver().tensor_map_encode_tiled(
               &made, type, 2, reinterpret_cast<void*>(address), extents, strides, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               fill) == CUDA_SUCCESS;
  };
  constexpr auto none = CU_TENSOR_MAP_SWIZZLE_NONE;
  constexpr auto type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  constexpr auto zeros = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  constexpr auto nans = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  CHECK(encoded(4096, 20, 256, 8, 8, 1, none, type, zeros));
  CHECK_FALSE(encoded(4104, 20, 256, 8, 8, 1, none, type, zeros));
  CHECK(encoded(4096, cuuint64_t{1} << 32, 256, 8, 8, 1, none, type, zeros));
  CHECK_FALSE(encoded(4096, (cuuint64_t{1} << 32) + 1, 256, 8, 8, 1, none, type, zeros));
  CHECK_FALSE(encoded(4096, 0, 256, 8, 8, 1, none, type, zeros));
  CHECK_FALSE(encoded(4096, 20, 264, 8, 8, 1, none, type, zeros));
  CHECK(encoded(4096, 20, (cuuint64_t{1} << 40) - 16, 8, 8, 1, none, type, zeros));
  CHECK_FALSE(encoded(4096, 20, cuuint64_t{1} << 40, 8, 8, 1, none, type, zeros));
  CHECK(encoded(4096, 20, 256, 256, 228, 1, none, type, zeros));  // 228 KiB of shared memory
  CHECK_FALSE(encoded(4096, 20, 256, 256, 229, 1, none, type, zeros));
  CHECK_FALSE(encoded(4096, 20, 256, 8, 257, 1, none, type, zeros));
  CHECK_FALSE(encoded(4096, 20, 256, 6, 8, 1, none, type, zeros));
  CHECK(encoded(4096, 20, 256, 8, 8, 8, none, type, zeros));
  CHECK_FALSE(encoded(4096, 20, 256, 8, 8, 9, none, type, zeros));
  CHECK_FALSE(encoded(4096, 20, 256, 8, 8, 0, none, type, zeros));
  CHECK(encoded(4096, 20, 256, 8, 8, 1, CU_TENSOR_MAP_SWIZZLE_32B, type, zeros));
  CHECK_FALSE(encoded(4096, 20, 256, 12, 8, 1, CU_TENSOR_MAP_SWIZZLE_32B, type, zeros));
  CHECK(encoded(4096, 20, 256, 32, 8, 1, CU_TENSOR_MAP_SWIZZLE_128B, type, zeros));
  CHECK_FALSE(encoded(4096, 20, 256, 36, 8, 1, CU_TENSOR_MAP_SWIZZLE_128B, type, zeros));
  CHECK(encoded(4096, 20, 256, 8, 8, 1, none, type, nans));
  CHECK_FALSE(encoded(4096, 20, 256, 8, 8, 1, none, CU_TENSOR_MAP_DATA_TYPE_INT32, nans));
}

TEST_CASE("tensor map: a map fails with each of its calls", "[tensor][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          GPU_TRY(gpu::make_tensor_map(device, view_at(4096, {20, 64}, {64, 1}), {8, 8}));
          return {};
        }) == "");
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          GPU_TRY(gpu::make_im2col_map(device, view_at(0, {4, 30, 8}, {240, 8, 1}),
                                       {.lower = {-1}, .upper = {-1}, .channels = 8, .pixels = 4}));
          return {};
        }) == "");
  const auto map =
      value_of(gpu::make_tensor_map(test::first_device(), view_at(0, {64}, {1}), {16}));
  CHECK(test::sweep([&map]() -> gpu::result<> {
          auto moved = map;
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          return moved.replace_address(device, reinterpret_cast<float*>(4096));
        }) == "");
}

}  // namespace tensor_map_test
