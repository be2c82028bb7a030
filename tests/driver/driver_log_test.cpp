#include "support/captured.hpp"
#include "support/cpu_driver.hpp"
#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/driver_log.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/testing/cpu_driver_options.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace driver_log_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

/// Has a CPU driver say something that has `line` in it: it reports code that it cannot execute.
std::string make_message(int line) {
  std::string code = ".version 8.0\n.target sm_90a\n.address_size 64\n";
  for (int i = 4; i < line; ++i) code += '\n';
  code += ".global .texref t;";
  CUmodule module = nullptr;
  CHECK(test::driver().module_load_data(&module, code.c_str()) != CUDA_SUCCESS);
  return "PTX line " + std::to_string(line) + ", ";
}

gpu::testing::cpu_driver_options quiet() {
  gpu::testing::cpu_driver_options options;
  options.report = [](std::string_view) {};
  return options;
}

/// A CPU driver whose reports go to its log alone, with a context to load code in.
struct logging_driver {
  test::cpu_driver driver{quiet()};
  gpu::driver::scoped_entry_points in_force{driver.entry_points()};
  gpu::context_scope scope{
      value_of(gpu::context_scope::enter(value_of(gpu::context::primary(test::first_device()))))};
};

struct temporary_file {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("driver_log_test." + std::to_string(::getpid()));
  ~temporary_file() { std::filesystem::remove(path); }
  std::string contents() const {
    std::ifstream file(path);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }
};

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("driver log: what was said since is read once, in order", "[driver][log][cpu]") {
  const logging_driver logging;
  const std::string before = make_message(7);
  gpu::driver_log log = value_of(gpu::driver_log::from_here());
  CHECK(value_of(log.read()).empty());
  const std::string first = make_message(11);
  const std::string second = make_message(12);
  const std::string text = value_of(log.read()).c_str();
  INFO(text);
  CHECK(lines_of(text) == 2);
  CHECK(text.back() == '\n');
  CHECK(text.find(before) == text.npos);
  CHECK(text.find(first) < text.find(second));
  CHECK(text.find(second) != text.npos);
  CHECK(value_of(log.read()).empty());
  const std::string all = value_of(gpu::driver_log::read_all()).c_str();
  CHECK(lines_of(all) == 3);
  CHECK(all.find(before) < all.find(first));
  CHECK(std::string(value_of(gpu::driver_log::read_all()).c_str()) == all);
}

TEST_CASE("driver log: it goes to a file, which it replaces", "[driver][log][cpu]") {
  const logging_driver logging;
  const temporary_file file;
  const std::string before = make_message(7);
  gpu::driver_log log = value_of(gpu::driver_log::from_here());
  const std::string first = make_message(11);
  value_of(log.write(file.path.c_str()));
  CHECK(file.contents().find(first) != std::string::npos);
  CHECK(lines_of(file.contents()) == 1);
  value_of(log.write(file.path.c_str()));
  CHECK(file.contents().empty());
  value_of(gpu::driver_log::write_all(file.path.c_str()));
  CHECK(file.contents() == value_of(gpu::driver_log::read_all()).c_str());
  CHECK(lines_of(file.contents()) == 2);
  CHECK(error_of(gpu::driver_log::write_all("/no/such/folder/log")).domain() ==
        gpu::error_domain::driver);
}

TEST_CASE("driver log: a file has to have a name", "[driver][log]") {
  const gpu::cuda_error null = error_of(gpu::driver_log::write_all(nullptr));
  CHECK(null == gpu::errc::invalid_argument);
  CHECK(says(null, "gpu::driver_log::write_all", "the path is null", "Name the file"));
  CHECK(says(error_of(gpu::driver_log::write_all("")), "the path is empty", "Name the file"));
}

TEST_CASE("driver log: where more was said than is kept, the text says so", "[driver][log][cpu]") {
  const logging_driver logging;
  gpu::driver_log log = value_of(gpu::driver_log::from_here());
  std::string last;
  for (int i = 0; i < 600; ++i) last = make_message(10 + i % 7);
  const std::string text = value_of(log.read()).c_str();
  CHECK(text.size() > 20000);
  CHECK(text.size() <= 25600 + 512);
  CHECK(text.find("omitted") < text.find('\n'));
  CHECK(text.find(last, text.size() - 200) != text.npos);
}

TEST_CASE("driver log: a listener hears each message while it lives", "[driver][log][cpu]") {
  const logging_driver logging;
  const std::size_t alive = logging.driver.live_count();
  std::vector<std::string> heard, also;
  const auto kept = std::make_shared<int>(0);
  make_message(5);
  {
    auto listener = value_of(gpu::driver_log_listener::create(
        [&, kept](gpu::driver_log_level level, gpu::string_ref message) {
          heard.push_back(std::string(name_of(level)) + ": " +
                          std::string(message.data(), message.size()));
        }));
    CHECK(logging.driver.live_count() == alive + 1);
    CHECK(kept.use_count() == 2);
    const std::string first = make_message(11);
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].find("error: ") == 0);
    CHECK(heard[0].find(first) != std::string::npos);
    CHECK(heard[0].back() != '\n');

    auto moved = std::move(listener);
    CHECK(moved);
    CHECK_FALSE(listener);
    {
      const auto second = value_of(
          gpu::driver_log_listener::create([&](gpu::driver_log_level, gpu::string_ref message) {
            also.emplace_back(message.data(), message.size());
          }));
      make_message(12);
    }
    make_message(13);
    CHECK(heard.size() == 3);
    CHECK(also.size() == 1);
    // What is assigned over ends.
    moved = value_of(gpu::driver_log_listener::create(
        [&](gpu::driver_log_level, gpu::string_ref) { also.emplace_back(); }));
    CHECK(kept.use_count() == 1);
    make_message(14);
    CHECK(heard.size() == 3);
    CHECK(also.size() == 2);
  }
  make_message(15);
  CHECK(heard.size() == 3);
  CHECK(also.size() == 2);
  CHECK(logging.driver.live_count() == alive);
}

TEST_CASE("driver log: a listener hears the text alone, however the driver ends it",
          "[driver][log]") {
  static CUlogsCallback say;
  static void* whom;
  gpu::driver::entry_points table = test::driver();
  table.logs_register_callback = [](CUlogsCallback callback, void* data,
                                    CUlogsCallbackHandle* handle) {
    say = callback;
    whom = data;
    *handle = reinterpret_cast<CUlogsCallbackHandle>(data);
    return CUDA_SUCCESS;
  };
  table.logs_unregister_callback = [](CUlogsCallbackHandle) { return CUDA_SUCCESS; };
  const gpu::driver::scoped_entry_points in_force(table);
  std::string heard;
  const auto listener = value_of(
      gpu::driver_log_listener::create([&](gpu::driver_log_level level, gpu::string_ref message) {
        CHECK(level == gpu::driver_log_level::warning);
        heard += '<' + std::string(message.data(), message.size()) + '>';
      }));
  for (std::string text : {std::string("plain"), std::string("a line\n"),
                           std::string("terminated\0", 11), std::string("both\n\0", 6),
                           std::string("two\nlines\n\n"), std::string("\n"), std::string()}) {
    say(whom, CU_LOG_LEVEL_WARNING, text.data(), text.size());
  }
  CHECK(heard == "<plain><a line><terminated><both><two\nlines><><>");
}

TEST_CASE("driver log: a listener's errors go to the error reporter", "[driver][log][cpu]") {
  const logging_driver logging;
  test::reported_errors reported;
  const auto refusing = value_of(
      gpu::driver_log_listener::create([](gpu::driver_log_level, gpu::string_ref) -> gpu::result<> {
        return gpu::driver_log::write_all(nullptr);
      }));
  make_message(11);
  REQUIRE(reported.count() == 1);
  CHECK(reported.last().find("the path is null") != std::string::npos);
#if defined(__cpp_exceptions)
  const auto throwing =
      value_of(gpu::driver_log_listener::create([](gpu::driver_log_level, gpu::string_ref message) {
        throw std::runtime_error("not " + std::string(message.data(), message.size()));
      }));
  const std::string message = make_message(12);
  REQUIRE(reported.count() == 3);
  CHECK(reported.last().find("gpu::driver_log_listener: ") == 0);
  CHECK(reported.last().find(message) != std::string::npos);
  CHECK(reported.last().find("driver_log_test.cpp") != std::string::npos);
#endif
}

TEST_CASE("driver log: the driver of this machine has one, or that is said", "[driver][log]") {
  const gpu::result<gpu::driver_log> log = gpu::driver_log::from_here();
  if (test::driver().logs_current == nullptr) {
    CHECK(error_of(log) == gpu::errc::not_supported);
    return;
  }
  gpu::driver_log own = value_of(log);
  value_of(own.read());
  value_of(gpu::driver_log::read_all());
  const auto listener =
      value_of(gpu::driver_log_listener::create([](gpu::driver_log_level, gpu::string_ref) {}));
  CHECK(listener.native() != nullptr);
}

TEST_CASE("driver log: a driver without one", "[driver][log]") {
  gpu::driver::entry_points older = test::driver();
  older.logs_current = nullptr;
  older.logs_dump_to_memory = nullptr;
  older.logs_dump_to_file = nullptr;
  older.logs_register_callback = nullptr;
  gpu::driver::scoped_entry_points in_force(older);
  const auto kept = std::make_shared<int>(0);
  for (const gpu::cuda_error& error :
       {error_of(gpu::driver_log::from_here()), error_of(gpu::driver_log::read_all()),
        error_of(gpu::driver_log::write_all("log")),
        error_of(
            gpu::driver_log_listener::create([kept](gpu::driver_log_level, gpu::string_ref) {}))}) {
    CHECK(error == gpu::errc::not_supported);
    CHECK(says(error, "cuLogs", "came with CUDA 12.9"));
  }
  CHECK(kept.use_count() == 1);
}

TEST_CASE("driver log: a capture goes on while it is read and listened to", "[driver][log]") {
  if (test::driver().logs_current == nullptr) return;
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  const test::captured made = test::capture(stream, [] {
    gpu::driver_log log = value_of(gpu::driver_log::from_here());
    value_of(log.read());
    value_of(gpu::driver_log_listener::create([](gpu::driver_log_level, gpu::string_ref) {}));
  });
  CHECK(made.unharmed());
}

TEST_CASE("driver log: each driver call and each allocation may fail",
          "[driver][log][faults][cpu]") {
  const temporary_file file;
  const auto kept = std::make_shared<int>(0);
  const auto operation = [&]() -> gpu::result<> {
    gpu::driver_log log = GPU_TRY(gpu::driver_log::from_here());
    GPU_TRY(log.read());
    GPU_TRY(gpu::driver_log::read_all());
    GPU_TRY(log.write(file.path.c_str()));
    GPU_TRY(gpu::driver_log::write_all(file.path.c_str()));
    const auto listener = GPU_TRY(
        gpu::driver_log_listener::create([kept](gpu::driver_log_level, gpu::string_ref) {}));
    return {};
  };
  CHECK(test::sweep(operation) == "");
  CHECK(test::sweep_host_memory([&]() -> gpu::result<> {
          GPU_TRY(gpu::driver_log::read_all());
          GPU_TRY(
              gpu::driver_log_listener::create([kept](gpu::driver_log_level, gpu::string_ref) {}));
          return {};
        }) == "");
  CHECK(kept.use_count() == 1);
}

// What cuda.h says of the calls themselves.
TEST_CASE("driver log: the calls of the CPU driver refuse as cuda.h says", "[driver][log][cpu]") {
  const logging_driver logging;
  const gpu::driver::entry_points& cu = logging.driver.entry_points();
  char room[200] = {};
  std::size_t size = sizeof room;
  CHECK(cu.logs_dump_to_memory(nullptr, room, &size, 0) == CUDA_SUCCESS);
  CHECK(size == 0);
  const std::string message = make_message(21);
  size = 10;
  CUlogIterator from = 0;
  CHECK(cu.logs_dump_to_memory(&from, room, &size, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(size == 0);
  CHECK(from == 0);
  // Room for one of several: the latest, below a line about the others.
  for (int i = 0; i < 5; ++i) make_message(22);
  const std::string latest = make_message(23);
  size = sizeof room;
  CHECK(cu.logs_dump_to_memory(&from, room, &size, 0) == CUDA_SUCCESS);
  CHECK(size == std::string(room).size());
  CHECK(std::string(room).find(latest) != std::string::npos);
  CHECK(std::string(room).find(message) == std::string::npos);
  CHECK(std::string(room).find("omitted") != std::string::npos);
  CUlogIterator now = 0;
  CHECK(cu.logs_current(&now, 0) == CUDA_SUCCESS);
  CHECK(now == from);
  CHECK(cu.logs_current(&now, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.logs_current(nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.logs_dump_to_memory(nullptr, nullptr, &size, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.logs_dump_to_memory(nullptr, room, nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.logs_dump_to_file(nullptr, nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.logs_register_callback(nullptr, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.logs_unregister_callback(nullptr) == CUDA_ERROR_INVALID_VALUE);
  CUlogsCallbackHandle handle = nullptr;
  CHECK(cu.logs_register_callback([](void*, CUlogLevel, char*, std::size_t) {}, nullptr, &handle) ==
        CUDA_SUCCESS);
  CHECK(cu.logs_unregister_callback(handle) == CUDA_SUCCESS);
  CHECK(cu.logs_unregister_callback(handle) == CUDA_ERROR_INVALID_VALUE);
}

}  // namespace driver_log_test
