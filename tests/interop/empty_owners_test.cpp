// Every owner can be made empty, so that it can be a member of a class: using an empty one is an
// error with a sentence, ending its life is nothing, and it takes what is assigned to it.

#include <gpu/algorithm.hpp>
#include <gpu/array.hpp>
#include <gpu/gpu.hpp>
#include <gpu/sparse/conjugate_gradient.hpp>
#include <gpu/sparse/coo_matrix.hpp>
#include <gpu/sparse/csr_matrix.hpp>
#include <gpu/sparse/linear_operator.hpp>
#include <gpu/sparse/reordered_matrix.hpp>

#include "support/results.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace empty_owners_test {
namespace {

template <class... Owner> constexpr bool can_be_members() {
  static_assert((std::is_nothrow_default_constructible_v<Owner> && ...));
  static_assert((std::is_nothrow_move_assignable_v<Owner> && ...));
  return true;
}
static_assert(
    can_be_members<gpu::context, gpu::stream, gpu::event, gpu::peer_access, gpu::module, gpu::graph,
                   gpu::graph_exec, gpu::device_buffer<int>, gpu::managed_buffer<int>,
                   gpu::pitched_buffer<int>, gpu::pinned_buffer<int>, gpu::pinned_vector<int>,
                   gpu::aligned_buffer<int>, gpu::growing_buffer<int>, gpu::registered_memory<int>,
                   gpu::memory_pool, gpu::imported_memory_pool, gpu::imported_memory<int>,
                   gpu::physical_memory, gpu::address_reservation, gpu::memory_mapping,
                   gpu::caching_allocator, gpu::caching_pinned_allocator, gpu::cuda_array<float>,
                   gpu::mipmapped_array<float>, gpu::texture<float>, gpu::surface<float>,
                   gpu::array<float, 2>, gpu::csr_matrix<float>, gpu::coo_matrix<float>,
                   gpu::reordered_matrix<float>, gpu::diagonal_operator<float>,
                   gpu::async_inner_product<float>, gpu::conjugate_gradient<gpu::csr_matrix<float>>,
                   gpu::elementwise<float*>, gpu::reduction<float, const float*>,
                   gpu::compiled_program, gpu::linked_program, gpu::file_descriptor>());

/// Checks that what was done with an empty object is refused for that.
template <class T> void is_refused(const gpu::result<T>& done) {
  REQUIRE_FALSE(done.has_value());
  const gpu::cuda_error& error = done.error();
  INFO(error.message().c_str());
  CHECK(error == gpu::errc::empty_handle);
  CHECK(test::says(error, "empty", "moved from, released or never filled"));
}

}  // namespace

TEST_CASE("an empty stream, event, context, graph or module is refused by name", "[empty]") {
  const gpu::stream stream;
  const gpu::event event, other;
  const gpu::context context;
  const gpu::graph graph;
  const gpu::graph_exec executable;
  const gpu::module code;
  CHECK(stream.native() == nullptr);
  CHECK(event.native() == nullptr);
  is_refused(stream.synchronize());
  is_refused(event.synchronize());
  is_refused(gpu::record(stream, event));
  is_refused(gpu::wait(stream, event));
  is_refused(gpu::elapsed(event, other));
  is_refused(gpu::stream::create(context));
  is_refused(context.synchronize());
  is_refused(graph.nodes());
  is_refused(gpu::graph_exec::instantiate(graph));
  is_refused(gpu::launch(stream, executable));
  is_refused(code.kernel("f"));
  is_refused(gpu::launch(stream, {1, 1}, gpu::untyped_kernel()));
  const gpu::stream created = test::value_of(gpu::stream::create(test::first_device()));
  is_refused(gpu::launch(created, executable));
  is_refused(gpu::record(created, event));
}

TEST_CASE("empty memory is empty, and copies and fills say so", "[empty]") {
  const gpu::stream stream = test::value_of(gpu::stream::create(test::first_device()));
  gpu::device_buffer<int> buffer;
  gpu::managed_buffer<int> managed;
  gpu::pinned_buffer<int> pinned;
  gpu::pinned_vector<int> vector;
  gpu::aligned_buffer<int> aligned;
  gpu::growing_buffer<int> growing;
  gpu::pitched_buffer<int> pitched;
  for (const std::size_t size : {buffer.size(), managed.size(), pinned.size(), vector.size(),
                                 aligned.size(), growing.size()})
    CHECK(size == 0);
  CHECK(buffer.data() == nullptr);
  CHECK(aligned.begin() == aligned.end());
  std::vector<int> host;
  is_refused(gpu::copy(buffer, host));
  is_refused(gpu::copy(stream, vector, buffer));
  is_refused(gpu::fill(stream, buffer, 1));
  is_refused(growing.resize(3));
  is_refused(vector.push_back(1));

  buffer = test::value_of(gpu::device_buffer<int>::create(stream, 2));
  test::value_of(gpu::fill(stream, buffer, 7));
  host.resize(2);
  test::value_of(stream.synchronize());
  test::value_of(gpu::copy(buffer, host));
  CHECK(host == std::vector<int>{7, 7});
}

TEST_CASE("empty allocators, arrays and matrices are refused", "[empty]") {
  const gpu::stream stream = test::value_of(gpu::stream::create(test::first_device()));
  gpu::caching_allocator allocator;
  gpu::caching_pinned_allocator pinned;
  const gpu::memory_pool pool;
  is_refused(allocator.allocate<int>(stream, 1));
  is_refused(pinned.allocate<int>(1));
  is_refused(pool.allocate<int>(stream, 1));
  CHECK(allocator.trim() == 0);
  CHECK(allocator.statistics().used_bytes == 0);

  const gpu::cuda_array<float> image;
  is_refused(gpu::texture<float>::create(image));
  is_refused(gpu::surface<float>::create(image));

  const gpu::csr_matrix<float> matrix;
  auto x = test::value_of(gpu::device_buffer<float>::create(stream, 1));
  auto y = test::value_of(gpu::device_buffer<float>::create(stream, 1));
  const auto applied = matrix.apply(stream, x, y);
  CHECK_FALSE(applied.has_value());
  CHECK(gpu::array<float, 2>().size() == 0);
}

namespace {

/// A class that owns objects of the GPU, which it makes when it is told.
class worker {
 public:
  gpu::result<> start(gpu::device device) {
    auto stream = GPU_TRY(gpu::stream::create(device));
    values_ =
        GPU_TRY(gpu::device_buffer<int>::create(stream, 4));  // frees the old ones, in order of
    stream_ = std::move(stream);                              // the old stream
    done_ = GPU_TRY(gpu::event::create(device));
    graph_ = GPU_TRY(gpu::graph::create(device));
    return {};
  }
  gpu::result<> work() {
    GPU_TRY(gpu::fill(stream_, values_, 3));
    GPU_TRY(gpu::record(stream_, done_));
    return done_.synchronize();
  }

 private:
  gpu::stream stream_;
  gpu::event done_;
  gpu::graph graph_;
  gpu::device_buffer<int> values_;
};

}  // namespace

TEST_CASE("owners are members of a class that fills them later", "[empty]") {
  worker one;
  is_refused(one.work());
  test::value_of(one.start(test::first_device()));
  test::value_of(one.work());
  test::value_of(one.start(test::first_device()));  // what it had is given back
  test::value_of(one.work());
}

}  // namespace empty_owners_test
