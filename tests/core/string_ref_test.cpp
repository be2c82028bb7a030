// Strings and bytes in whatever type the caller has them; names of types; versions.

#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/version.hpp>

#include "support/catch.hpp"
#include "support/drivers.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace string_ref_test {
namespace {

std::size_t size_of(gpu::string_ref s) { return s.size(); }
std::size_t bytes_in(gpu::bytes_ref b) { return b.size(); }

TEST_CASE("string_ref takes every kind of string", "[core][string_ref]") {
  CHECK(size_of("four") == 4);
  CHECK(size_of(std::string("a\0b", 3)) == 3);
  CHECK(size_of(std::string_view("abc").substr(1)) == 2);
  CHECK(size_of(gpu::text("hello")) == 5);
  CHECK(size_of(nullptr) == 0);
  CHECK(size_of(gpu::string_ref()) == 0);
  CHECK(gpu::string_ref("abc") == gpu::string_ref(std::string("abc")));
  CHECK_FALSE(gpu::string_ref("abc") == gpu::string_ref("abd"));
  CHECK(gpu::string_ref("abcdef").substring(2, 3) == gpu::string_ref("cde"));
  CHECK(gpu::string_ref(std::string_view("abcdef").substr(0, 3)).to_text() == "abc");
  static_assert(gpu::string_ref("abc").size() == 3);
  static_assert(!std::is_convertible_v<std::vector<int>, gpu::string_ref>);
  static_assert(!std::is_convertible_v<int, gpu::string_ref>);
}

TEST_CASE("bytes_ref takes every range of bytes", "[core][string_ref]") {
  CHECK(bytes_in(std::vector<std::byte>(7)) == 7);
  CHECK(bytes_in(std::vector<unsigned char>(8)) == 8);
  CHECK(bytes_in(std::array<char, 9>{}) == 9);
  CHECK(bytes_in(std::string(10, '\0')) == 10);
  CHECK(bytes_in(gpu::text("abc")) == 3);
  CHECK(bytes_in("abc") == 3);
  static_assert(!std::is_convertible_v<std::vector<int>, gpu::bytes_ref>);
}

struct named {};

}  // namespace

template <class T> struct keeper {
  struct kept {};
};
template <char C> struct quoter {
  struct kept {};
};

namespace {

TEST_CASE("type names are those of C++, whatever the compiler prints", "[core][type_name]") {
  const auto name = []<class T>(T*) {
    constexpr gpu::string_ref s = gpu::detail::type_name_of<T>();
    return std::string(s.data(), s.size());
  };
  CHECK(name((float*)nullptr) == "float");
  CHECK(name((unsigned*)nullptr) == "unsigned int");
  CHECK(name((unsigned long long**)nullptr) == "unsigned long long*");
  CHECK(name((const short*)nullptr) == "const short");
  CHECK(name((named*)nullptr).find("named") != std::string::npos);
  CHECK(name((std::vector<int>*)nullptr).find("std::vector<int") == 0);
  CHECK(name((keeper<keeper<unsigned>>::kept*)nullptr) ==
        "string_ref_test::keeper<string_ref_test::keeper<unsigned int>>::kept");
  CHECK(name((quoter<'\''>::kept*)nullptr) == "string_ref_test::quoter<'\\''>::kept");
  // Standard libraries have their types in namespaces that do not show.
  CHECK(name((std::string*)nullptr).find("std::basic_string<char") == 0);
}

TEST_CASE("versions compare, and are read from CUDA's numbers", "[core][version]") {
  CHECK(gpu::version::from_cuda(12040) == gpu::version{12, 4, 0});
  CHECK(gpu::version{12, 4} < gpu::version{13, 0});
  CHECK(gpu::version{13, 0, 1} > gpu::version{13, 0});
  const gpu::version ascending[] = {{0, 9, 9}, {1, 0, 0}, {1, 0, 2}, {1, 3, 0}, {2, 0, 0}};
  for (std::size_t i = 0; i < std::size(ascending); ++i) {
    for (std::size_t j = 0; j < std::size(ascending); ++j) {
      const gpu::version a = ascending[i], b = ascending[j];
      CHECK((a < b) == (i < j));
      CHECK((a > b) == (i > j));
      CHECK((a <= b) == (i <= j));
      CHECK((a >= b) == (i >= j));
      CHECK((a == b) == (i == j));
    }
  }
  CHECK(gpu::headers_version == gpu::version{CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10});
  CHECK(gpu::library_version >= gpu::version{0, 1, 0});
  int number = 0;
  REQUIRE(test::driver().driver_get_version(&number) == CUDA_SUCCESS);
  CHECK(gpu::driver_version().value() == gpu::version{number / 1000, number % 1000 / 10});
  CHECK(gpu::nvrtc_version().value() >= gpu::version{12, 0});
}

}  // namespace
}  // namespace string_ref_test
