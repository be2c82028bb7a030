// Fourier transforms by cuFFT: here by a stand-in that sums by the definition, as cuFFT's
// documentation has it, and on a GPU by the real one; against transforms that are known.

#include "algorithm/algorithm_fixture.hpp"
#include "interop/failing_calls.hpp"
#include "support/subprocess.hpp"

#include <gpu/array.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/cufft.hpp>
#include <gpu/libraries/cufft_functions.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/system/library_table.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

namespace cufft_test {
namespace {

using algorithm_test::fixture;
using in_force = gpu::detail::scoped_library_table<gpu::detail::cufft_library>;

struct plan {
  std::vector<long long> lengths;
  long long batch = 0;
  int type = 0;
  void* stream = nullptr;
};
std::map<int, plan> plans;
bool computes = true;

template <class T> inline constexpr bool is_real = std::is_floating_point_v<T>;
template <class T> T narrow(std::complex<double> value) {
  if constexpr (is_real<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(static_cast<typename T::value_type>(value.real()),
             static_cast<typename T::value_type>(value.imag()));
  }
}

/// Transforms by the definition: each output is a sum over all inputs. Of a real signal's spectrum
/// the missing elements are the conjugates of those with negated indices.
template <class In, class Out> int transform(int number, void* in, void* out, int sign) {
  const test::library_call call;
  if (call.fails()) return 6;
  if (!computes) return 0;
  using complex = std::complex<double>;
  const auto& driver = gpu::driver::current_entry_points();
  const plan& p = plans.at(number);
  REQUIRE(driver.stream_synchronize(static_cast<CUstream>(p.stream)) == CUDA_SUCCESS);
  const std::size_t rank = p.lengths.size();
  std::size_t whole = 1;
  for (const long long each : p.lengths) whole *= static_cast<std::size_t>(each);
  const auto last = static_cast<std::size_t>(p.lengths[rank - 1]);
  const std::size_t half = whole / last * (last / 2 + 1);
  constexpr bool from_half = is_real<Out>, to_half = is_real<In>;
  const std::size_t size_in = from_half ? half : whole, size_out = to_half ? half : whole;
  const auto batch = static_cast<std::size_t>(p.batch);
  std::vector<In> host(size_in * batch);
  std::vector<Out> result(size_out * batch);
  REQUIRE(driver.memcpy_dtoh(host.data(), reinterpret_cast<std::uintptr_t>(in),
                             host.size() * sizeof(In)) == CUDA_SUCCESS);
  const auto indices = [&](std::size_t flat, std::size_t width) {
    std::vector<long long> index(rank);
    for (std::size_t axis = rank; axis-- > 0;) {
      const std::size_t extent =
          axis == rank - 1 ? width : static_cast<std::size_t>(p.lengths[axis]);
      index[axis] = static_cast<long long>(flat % extent);
      flat /= extent;
    }
    return index;
  };
  const auto value = [&](std::size_t of, std::vector<long long> index) {
    bool conjugated = false;
    if (from_half && index[rank - 1] > static_cast<long long>(last / 2)) {
      conjugated = true;
      for (std::size_t axis = 0; axis < rank; ++axis)
        index[axis] = (p.lengths[axis] - index[axis]) % p.lengths[axis];
    }
    std::size_t flat = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::size_t extent =
          axis == rank - 1 && from_half ? last / 2 + 1 : static_cast<std::size_t>(p.lengths[axis]);
      flat = flat * extent + static_cast<std::size_t>(index[axis]);
    }
    const complex found(host[of * size_in + flat]);
    return conjugated ? std::conj(found) : found;
  };
  for (std::size_t of = 0; of < batch; ++of) {
    for (std::size_t k = 0; k < size_out; ++k) {
      const auto to = indices(k, to_half ? last / 2 + 1 : last);
      complex sum = 0;
      for (std::size_t j = 0; j < whole; ++j) {
        const auto at = indices(j, last);
        double turns = 0;
        for (std::size_t axis = 0; axis < rank; ++axis)
          turns += static_cast<double>(at[axis] * to[axis]) / static_cast<double>(p.lengths[axis]);
        sum += value(of, at) * std::polar(1.0, sign * 2 * std::numbers::pi * turns);
      }
      result[of * size_out + k] = narrow<Out>(sum);
    }
  }
  REQUIRE(driver.memcpy_htod(reinterpret_cast<std::uintptr_t>(out), result.data(),
                             result.size() * sizeof(Out)) == CUDA_SUCCESS);
  test::wait_for_copies();
  return 0;
}

gpu::detail::cufft_functions stand_in() {
  gpu::detail::cufft_functions table{};
  table.create = [](int* made) {
    const test::library_call call;
    if (call.fails()) return 2;
    static int last = 0;
    plans[*made = ++last];
    return 0;
  };
  table.destroy = [](int number) { return plans.erase(number) == 1 ? 0 : 1; };
  table.set_stream = [](int number, void* stream) {
    const test::library_call call;
    if (call.fails()) return 1;
    plans.at(number).stream = stream;
    return 0;
  };
  table.make_plan = [](int number, int rank, long long* lengths, long long* in_embed, long long,
                       long long, long long*, long long, long long, int type, long long batch,
                       std::size_t*) {
    const test::library_call call;
    if (call.fails()) return 8;
    CHECK(in_embed == nullptr);
    plans.at(number) = {{lengths, lengths + rank}, batch, type, nullptr};
    return 0;
  };
  using single = std::complex<float>;
  using twice = std::complex<double>;
  table.complex_float = [](int number, void* in, void* out, int direction) {
    CHECK(plans.at(number).type == 0x29);
    return transform<single, single>(number, in, out, direction);
  };
  table.complex_double = [](int number, void* in, void* out, int direction) {
    CHECK(plans.at(number).type == 0x69);
    return transform<twice, twice>(number, in, out, direction);
  };
  table.real_float = [](int number, void* in, void* out) {
    CHECK(plans.at(number).type == 0x2a);
    return transform<float, single>(number, in, out, -1);
  };
  table.to_real_float = [](int number, void* in, void* out) {
    CHECK(plans.at(number).type == 0x2c);
    return transform<single, float>(number, in, out, 1);
  };
  table.real_double = [](int number, void* in, void* out) {
    CHECK(plans.at(number).type == 0x6a);
    return transform<double, twice>(number, in, out, -1);
  };
  table.to_real_double = [](int number, void* in, void* out) {
    CHECK(plans.at(number).type == 0x6c);
    return transform<twice, double>(number, in, out, 1);
  };
  return table;
}

/// A wave along both axes has one element in its spectrum, and its mirror image.
template <class Real> void check_waves(const fixture& f, double bound) {
  using complex = std::complex<Real>;
  constexpr std::size_t rows = 6, columns = 5, batch = 2;
  std::vector<Real> real;
  std::vector<complex> spiral;
  for (std::size_t i = 0; i < batch * rows * columns; ++i) {
    const std::size_t row = i / columns % rows, column = i % columns;
    const double angle =
        2 * std::numbers::pi *
        (2.0 * static_cast<double>(row) / rows + static_cast<double>(column) / columns);
    real.push_back(static_cast<Real>(3 * std::cos(angle)));
    spiral.push_back(complex(std::polar(Real(2), static_cast<Real>(angle))));
  }
  const auto near = [&](complex found, double expected) {
    return std::abs(std::complex<double>(found) - expected) <= bound;
  };
  const auto signal =
      test::value_of(gpu::array<Real, 3>::from(f.stream, real, {batch, rows, columns}));
  auto spectrum = test::value_of(gpu::zeros<complex>(f.stream, gpu::shape{batch, rows, 3}));
  auto plan = test::value_of((gpu::cufft_plan<Real, 2>::create(f.stream, {rows, columns}, batch)));
  CHECK(plan.stream() == gpu::stream_ref(f.stream));
  test::value_of(plan.forward(signal, spectrum));
  test::value_of(f.stream.synchronize());
  const auto found = f.download(spectrum);
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i, found[i]);
    REQUIRE(near(found[i], i % 18 == 2 * 3 + 1 ? 45 : 0));  // 3 / 2 of 30 elements
  }
  auto back = test::value_of(gpu::zeros<Real>(f.stream, gpu::shape{batch, rows, columns}));
  test::value_of(plan.backward(spectrum, back));
  test::value_of(f.stream.synchronize());
  const auto again = f.download(back);
  for (std::size_t i = 0; i < again.size(); ++i)
    REQUIRE(near(again[i], 30.0 * static_cast<double>(real[i])));
  // Complex, in place, as one axis of the rows of both signals.
  auto z = test::value_of(gpu::array<complex, 2>::from(f.stream, spiral, {12, columns}));
  auto lines =
      test::value_of(gpu::cufft_plan<complex>::create(f.stream, gpu::shape{columns}, batch * rows));
  test::value_of(lines.forward(z, z));
  test::value_of(f.stream.synchronize());
  const auto turned = f.download(z);
  for (std::size_t i = 0; i < turned.size(); ++i)
    REQUIRE(std::abs(std::abs(std::complex<double>(turned[i])) - (i % columns == 1 ? 10 : 0)) <=
            bound);
  test::value_of(lines.backward(z, z));
  test::value_of(f.stream.synchronize());
  const auto whole = f.download(z);
  for (std::size_t i = 0; i < whole.size(); ++i)
    REQUIRE(std::abs(std::complex<double>(whole[i]) - 5.0 * std::complex<double>(spiral[i])) <=
            bound);
}

}  // namespace

TEST_CASE("cuFFT: waves have the spectra that they should", "[interop][cufft]") {
  const auto table = stand_in();
  const in_force replaced(table);
  check_waves<float>(fixture(), 2e-4);
  check_waves<double>(fixture(), 1e-12);
  CHECK(plans.empty());
}

TEST_CASE("cuFFT: the real library gives the same spectra", "[interop][cufft][hardware]") {
  if (!gpu::has_cufft()) {
    WARN("skipped: there is no cuFFT");
    return;
  }
  check_waves<float>(fixture(), 2e-4);
  check_waves<double>(fixture(), 1e-12);
}

TEST_CASE("cuFFT: what does not fit is refused with a sentence", "[interop][cufft]") {
  const auto table = stand_in();
  const in_force replaced(table);
  const fixture f;
  CHECK(test::says(test::error_of((gpu::cufft_plan<float, 2>::create(f.stream, {4, 0}))),
                   "at least 1 element along each axis"));
  CHECK(test::error_of(gpu::cufft_plan<float>::create(gpu::stream_ref(), {4})) ==
        gpu::errc::empty_handle);
  auto plan = test::value_of(gpu::cufft_plan<float>::create(f.stream, {8}));
  const auto signal = test::value_of(gpu::ones<float>(f.stream, gpu::shape{8, 2}));
  auto spectrum = test::value_of(gpu::zeros<std::complex<float>>(f.stream, gpu::shape{8}));
  CHECK(test::says(test::error_of(plan.forward(signal(gpu::all(), 0), spectrum)),
                   "not in C order without gaps"));
  CHECK(test::says(test::error_of(plan.forward(gpu::ravel(signal)(gpu::slice(0, 8)), spectrum)),
                   "has 8 elements, but the plan is for 5", "n / 2 + 1"));
  CHECK(test::error_of(plan.forward(signal(9), spectrum)) == gpu::errc::index_out_of_range);
  gpu::cufft_plan<float> moved = std::move(plan);
  CHECK(plan.native() == -1);
  CHECK(test::error_of(plan.backward(spectrum, gpu::ravel(signal))) == gpu::errc::empty_handle);
  CHECK(plans.size() == 2);
}

TEST_CASE("cuFFT: each of its calls fails in turn", "[interop][cufft]") {
  const auto table = stand_in();
  const in_force replaced(table);
  const fixture f;
  const auto signal = test::value_of(gpu::ones<double>(f.stream, gpu::shape{4}));
  auto spectrum = test::value_of(gpu::zeros<std::complex<double>>(f.stream, gpu::shape{3}));
  const int calls = test::sweep_library(
      [&]() -> gpu::result<> {
        auto plan = GPU_TRY(gpu::cufft_plan<double>::create(f.stream, {4}));
        return plan.forward(signal, spectrum);
      },
      [](const gpu::result<>& done, int number) {
        const gpu::cuda_error error = test::error_of(done);
        CHECK(error.domain() == gpu::error_domain::cufft);
        if (number == 0) CHECK(test::says(error, "cufftCreate: CUFFT_ALLOC_FAILED (2)"));
        if (number == 6) CHECK(test::says(error, "cufftExecD2Z: CUFFT_EXEC_FAILED (6)"));
        CHECK(plans.empty());
      });
  CHECK(calls == 7);
}

TEST_CASE("cuFFT: driver calls and allocations fail in turn", "[interop][cufft][cpu]") {
  const auto table = stand_in();
  const in_force replaced(table);
  computes = false;
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const auto stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
              auto plan = GPU_TRY(gpu::cufft_plan<float>::create(stream, {4}));
              const auto signal = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{4}));
              auto spectrum = GPU_TRY(gpu::zeros<std::complex<float>>(stream, gpu::shape{3}));
              return plan.forward(signal, spectrum);
            },
            {"cuCtxGetCurrent", "cuCtxPushCurrent"}) == "");
  computes = true;
  CHECK(plans.empty());
}

TEST_CASE("child: there is no cuFFT", "[.child]") {
  gpu::driver::entry_points table = gpu::driver::current_entry_points();
  table.unavailable_detail = "libcuda.so.1";  // as if it were
  const gpu::driver::scoped_entry_points real(table);
  const fixture f;
  CHECK_FALSE(gpu::has_cufft());
  const auto error = test::error_of(gpu::cufft_plan<float>::create(f.stream, {4}));
  CHECK(error == gpu::errc::no_library);
  CHECK(test::says(error, "the library cuFFT was not found", "/nowhere/libcufft.so", "GPU_CUFFT"));
}

TEST_CASE("cuFFT: without the library its calls say so", "[interop][cufft]") {
  const auto found =
      test::run_child("child: there is no cuFFT", {{"GPU_CUFFT", "/nowhere/libcufft.so"}});
  INFO(found.output);
  CHECK(found.succeeded());
}

}  // namespace cufft_test
