// The corpus: kernels of every instruction class, and real algorithms, whose results were recorded
// on a GPU. Whatever driver the tests run on has to give the same.
//
// GPU_CORPUS_RECORD=<folder> records instead, on a GPU: run the test cases one by one then, so that
// a fault in one family leaves the others alone.

#include <gpu/compiler.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory.hpp>
#include <gpu/testing/cpu_driver_options.hpp>

#include "nogpu/corpus/comparison.hpp"
#include "nogpu/corpus/documented_errors.hpp"
#include "nogpu/corpus/images.hpp"
#include "nogpu/corpus/inputs.hpp"
#include "nogpu/corpus/manifest.hpp"
#include "nogpu/corpus/recording.hpp"
#include "nogpu/corpus/tensors.hpp"
#include "nogpu/driver/driver_fixture.hpp"
#include "support/catch.hpp"
#include "support/cpu_driver.hpp"
#include "support/drivers.hpp"

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace corpus_test {
namespace {

using words = std::vector<std::uint32_t>;

const std::vector<std::string> families = {
    "approximate", "atomics",  "barriers", "bits",    "clusters",   "compare",
    "contraction", "control",  "convert",  "edges",   "edges_cvt",  "edges_floating",
    "edges_video", "float32",  "float64",  "graphs",  "half",       "hashing",
    "integer",     "linear",   "masks",    "matrix",  "memory",     "reductions",
    "simulation",  "sorting",  "sparse",   "special", "tensormaps", "tensors",
    "text",        "textures", "video",    "warp",    "wgmma"};

/// Products and sums stay apart, as written; what is fused says so.
gpu::result<gpu::compiled_program> compile(const corpus::family& family) {
  // Matrix instructions of warp groups, and changes of tensor maps, are for devices of this number
  // alone.
  const char variant = family.name == "wgmma" || family.name == "tensormaps" ? 'a' : '\0';
  return gpu::compile(gpu::program(family.source, family.name + ".cu")
                          .header("corpus.cuh", corpus::contents(corpus::folder() + "corpus.cuh")),
                      {.architecture = gpu::architecture::compute(90, variant),
                       .extra = {"--fmad=false", "--device-int128"}});
}

gpu::result<words> run(const gpu::module& module, const corpus::kernel_entry& entry,
                       gpu::stream& stream) {
  const auto kernel = GPU_TRY(module.kernel<const unsigned*, unsigned*, unsigned>(entry.name));
  words input = corpus::input_of(entry);
  std::optional<corpus::image_object> image;
  if (!entry.image.empty()) {
    image.emplace(test::driver(), entry);
    CHECK(image->failed() == CUDA_SUCCESS);
    input[0] = static_cast<std::uint32_t>(image->handle());
    input[1] = static_cast<std::uint32_t>(image->handle() >> 32);
  }
  words output(entry.output_words);
  auto in = GPU_TRY(gpu::device_buffer<std::uint32_t>::create(stream, input.size()));
  auto out = GPU_TRY(gpu::device_buffer<std::uint32_t>::create(stream, output.size()));
  GPU_TRY(stream.synchronize());
  if (!entry.tensor.empty()) {
    const corpus::tensor_description tensor(entry.tensor);
    const CUdeviceptr behind = in.span().native() + sizeof(CUtensorMap);
    CUtensorMap map{};
    CHECK(tensor.encode(test::driver(), tensor.in_output() ? out.span().native() : behind, map) ==
          CUDA_SUCCESS);
    std::memcpy(input.data(), &map, sizeof map);
  }
  GPU_TRY(gpu::copy(input, in));
  GPU_TRY(gpu::copy(output, out));

  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  gpu::launch_config config{.grid = entry.grid, .block = entry.block};
  config.shared_bytes = entry.shared_bytes;
  config.cluster = entry.cluster;
  config.attributes =
      gpu::launch_attributes_ref::from_native(&cooperative, entry.cooperative ? 1 : 0);
  GPU_TRY(gpu::launch(stream, config, kernel, in, out, static_cast<unsigned>(input.size())));
  GPU_TRY(stream.synchronize());
  GPU_TRY(gpu::copy(out, output));
  return output;
}

/// The version of the kernel driver, as the system tells it; empty where it does not.
std::string driver_version() {
  std::istringstream text(corpus::contents("/proc/driver/nvidia/version"));
  for (std::string word; text >> word;) {
    if (word.size() > 4 && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  }
  return "unknown";
}

std::string origin(gpu::device device) {
  int cuda = 0;
  REQUIRE(test::driver().driver_get_version(&cuda) == CUDA_SUCCESS);
  const auto nvrtc = gpu::nvrtc_version();
  REQUIRE(nvrtc.has_value());
  return std::string(device.name().value().c_str()) + ", driver " + driver_version() + ", CUDA " +
         std::to_string(cuda / 1000) + '.' + std::to_string(cuda % 1000 / 10) + ", NVRTC " +
         std::to_string(nvrtc->major) + '.' + std::to_string(nvrtc->minor);
}

template <class T> bool succeeded(const gpu::result<T>& result) {
  if (!result.has_value()) UNSCOPED_INFO(result.error().message().c_str());
  return result.has_value();
}

void check_family(const std::string& name) {
  const corpus::family family = corpus::read_family(name);
  REQUIRE(!family.kernels.empty());
  const char* const record_folder = std::getenv("GPU_CORPUS_RECORD");
  const bool records = record_folder != nullptr && test::on_hardware();
  const corpus::recording recorded = corpus::read_recording(name);
  corpus::recording made;

  const auto compiled = compile(family);
  REQUIRE(succeeded(compiled));
  const auto module = gpu::module::load(*compiled);
  REQUIRE(succeeded(module));
  const auto device = gpu::device::get(0);
  REQUIRE(succeeded(device));
  const auto context = gpu::context::primary(*device);
  REQUIRE(succeeded(context));
  const auto scope = gpu::context_scope::enter(*context);
  REQUIRE(succeeded(scope));
  auto stream = gpu::stream::create(*device);
  REQUIRE(succeeded(stream));
  if (records) made.origin = origin(*device);

  for (const corpus::kernel_entry& entry : family.kernels) {
    INFO(name << ".cu, " << entry.name);
    const auto output = run(*module, entry, *stream);
    CHECK(succeeded(output));
    if (!output.has_value()) continue;
    if (!entry.published.empty()) {
      CHECK(corpus::differences(*output, entry.published, "exact") == "");
    }
    made.results[entry.name] = *output;
    if (records) continue;
    const auto expected = recorded.results.find(entry.name);
    CHECK(expected != recorded.results.end());
    if (expected == recorded.results.end()) continue;
    CHECK(corpus::differences(*output, expected->second, entry.compare, entry.name) == "");
  }
  if (records) CHECK(corpus::write_recording(record_folder, name, made));
}

}  // namespace

TEST_CASE("corpus: approximate functions", "[corpus]") { check_family("approximate"); }
TEST_CASE("corpus: atomics", "[corpus]") { check_family("atomics"); }
TEST_CASE("corpus: barriers", "[corpus]") { check_family("barriers"); }
TEST_CASE("corpus: bits", "[corpus]") { check_family("bits"); }
TEST_CASE("corpus: clusters", "[corpus]") { check_family("clusters"); }
TEST_CASE("corpus: comparisons", "[corpus]") { check_family("compare"); }
TEST_CASE("corpus: contraction", "[corpus]") { check_family("contraction"); }
TEST_CASE("corpus: control flow", "[corpus]") { check_family("control"); }
TEST_CASE("corpus: conversions", "[corpus]") { check_family("convert"); }
TEST_CASE("corpus: edges of integers", "[corpus][thorough]") { check_family("edges"); }
TEST_CASE("corpus: edges of conversions", "[corpus][thorough]") { check_family("edges_cvt"); }
TEST_CASE("corpus: edges of floating point", "[corpus]") { check_family("edges_floating"); }
TEST_CASE("corpus: edges of video instructions", "[corpus][thorough]") {
  check_family("edges_video");
}
TEST_CASE("corpus: f32", "[corpus]") { check_family("float32"); }
TEST_CASE("corpus: f64", "[corpus]") { check_family("float64"); }
TEST_CASE("corpus: graphs", "[corpus]") { check_family("graphs"); }
TEST_CASE("corpus: f16 and bf16", "[corpus]") { check_family("half"); }
TEST_CASE("corpus: hashing", "[corpus]") { check_family("hashing"); }
TEST_CASE("corpus: integers", "[corpus]") { check_family("integer"); }
TEST_CASE("corpus: linear algebra", "[corpus]") { check_family("linear"); }
TEST_CASE("corpus: lanes outside of masks", "[corpus]") {
  // The CPU driver reports all of them, which is a test of its own.
  std::optional<test::cpu_driver> silent;
  std::optional<gpu::driver::scoped_entry_points> in_force;
  if (!test::on_hardware()) {
    gpu::testing::cpu_driver_options options = test::with_places();
    options.checks.mask_misuse = false;
    in_force.emplace(silent.emplace(options).entry_points());
  }
  check_family("masks");
}
TEST_CASE("corpus: matrices", "[corpus]") { check_family("matrix"); }
TEST_CASE("corpus: memory", "[corpus]") { check_family("memory"); }
TEST_CASE("corpus: reductions", "[corpus]") { check_family("reductions"); }
TEST_CASE("corpus: simulation", "[corpus]") { check_family("simulation"); }
TEST_CASE("corpus: sorting", "[corpus]") { check_family("sorting"); }
TEST_CASE("corpus: sparse matrices", "[corpus]") { check_family("sparse"); }
TEST_CASE("corpus: special registers", "[corpus]") { check_family("special"); }
TEST_CASE("corpus: tensor maps", "[corpus]") { check_family("tensormaps"); }
TEST_CASE("corpus: tensors", "[corpus]") { check_family("tensors"); }
TEST_CASE("corpus: text", "[corpus]") { check_family("text"); }
TEST_CASE("corpus: textures and surfaces", "[corpus]") { check_family("textures"); }
TEST_CASE("corpus: video instructions", "[corpus]") { check_family("video"); }
TEST_CASE("corpus: warps", "[corpus]") { check_family("warp"); }
TEST_CASE("corpus: warp groups", "[corpus]") { check_family("wgmma"); }

TEST_CASE("the corpus is complete, and every kernel has a recording of a GPU", "[corpus]") {
  if (std::getenv("GPU_CORPUS_RECORD") != nullptr) return;
  std::set<std::string> sources, names;
  for (const auto& file : std::filesystem::directory_iterator(corpus::folder())) {
    if (file.path().extension() == ".cu") sources.insert(file.path().stem().string());
  }
  CHECK(sources == std::set<std::string>(families.begin(), families.end()));

  for (const std::string& name : families) {
    const corpus::family family = corpus::read_family(name);
    const corpus::recording recorded = corpus::read_recording(name);
    INFO(name);
    const auto from = [&](const char* device) {
      return recorded.origin.find(device) != std::string::npos;
    };
    CHECK((from("H200") || from("H100")));
    CHECK(recorded.results.size() == family.kernels.size());
    for (const corpus::kernel_entry& entry : family.kernels) {
      INFO(entry.name);
      CHECK(names.insert(entry.name).second);
      CHECK(family.source.find("KERNEL(" + entry.name + ")") != std::string::npos);
      CHECK(entry.output_words <= 1024);  // a matrix of a warp group
      const auto found = recorded.results.find(entry.name);
      CHECK(found != recorded.results.end());
      if (found != recorded.results.end()) CHECK(found->second.size() == entry.output_words);
      const bool documented = corpus::detail::find_documented(entry.name) != nullptr;
      CHECK(entry.compare == (documented ? "documented" : "exact"));
    }
  }
  CHECK(names.size() >= 120);
  for (const corpus::documented_error& about : corpus::documented_errors) {
    INFO(about.kernel);
    CHECK(names.count(std::string(about.kernel)) == 1);
  }
}

TEST_CASE("a documented error is allowed, with two units of the last place, and no more",
          "[corpus]") {
  const auto bits = [](float v) { return words{std::bit_cast<std::uint32_t>(v)}; };
  const auto differ = [&](const char* kernel, float actual, float expected) {
    return corpus::differences(bits(actual), bits(expected), "documented", kernel) != "";
  };
  const float ulp = 0x1p-23f;  // of 1
  CHECK_FALSE(differ("function_log", 1 + 3 * ulp, 1));
  CHECK(differ("function_log", 1 + 4 * ulp, 1));
  CHECK_FALSE(differ("function_pow", 1 + 6 * ulp, 1));
  CHECK(differ("function_pow", 1 + 7 * ulp, 1));
  CHECK_FALSE(differ("function_exp", std::numeric_limits<float>::infinity(),
                     std::numeric_limits<float>::max()));
  CHECK(differ("function_exp", std::numeric_limits<float>::quiet_NaN(), 1));
  CHECK(differ("function_exp", -1, 1));
  CHECK(corpus::differences(bits(1), bits(1), "documented", "f32_add") == "no documented error");
  CHECK(corpus::differences(bits(1), bits(1 + ulp), "exact") != "");
}

}  // namespace corpus_test
