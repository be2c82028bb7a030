// The digest against the numbers of another implementation (Python's hashlib).

#include <gpu/compiler/cache/digest.hpp>
#include <gpu/core/string_ref.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace digest_test { namespace {

using gpu::detail::digest_builder;
using gpu::detail::digest_of;

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
  return bytes;
}

struct expectation {
  std::size_t size;
  const char* digest;
};

constexpr expectation expected[] = {
    {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
    {1, "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314"},
    {127, "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72"},
    {128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"},
    {129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"},
    {255, "d9ef0fc521b4266d16df662bec231bc2ec3989e7adeaf63169c295dc239dbbea"},
    {256, "582f782226018ec33076bd8d1c42413530ac7e1126260ffc0f306ba3befc3f24"},
    {257, "227e15ed64ee8e93eb7bc53828f76eed974f2c4ab1408c3d08f212b7f8d69904"},
    {1000, "b372d0608f720c8c3dd41e9c8eecb10143b41abe520b616607e754bf79c08331"},
    {100000, "916cfaa800ee55811e82095babeb88ea29c9ef8a36e8d7e20c7b772c344c9e1c"},
};

TEST_CASE("digests are BLAKE2b-256", "[compiler][cache]") {
  CHECK(std::string(digest_of("abc").hex().digits) ==
        "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  for (const expectation& e : expected) {
    INFO(e.size << " bytes");
    CHECK(std::string(digest_of(pattern(e.size)).hex().digits) == e.digest);
  }
}

TEST_CASE("a digest does not depend on the pieces that its bytes come in", "[compiler][cache]") {
  for (const expectation& e : expected) {
    if (e.size > 1000) continue;
    const std::string bytes = pattern(e.size);
    for (const std::size_t step : {1u, 3u, 127u, 128u, 129u}) {
      digest_builder builder;
      for (std::size_t at = 0; at < bytes.size(); at += step) {
        builder.append(bytes.data() + at, std::min<std::size_t>(step, bytes.size() - at));
      }
      INFO(e.size << " bytes by " << step);
      CHECK(std::string(builder.finish().hex().digits) == e.digest);
    }
  }
}

TEST_CASE("strings in a digest do not run into each other", "[compiler][cache]") {
  const auto of = [](const char* first, const char* second) {
    return (digest_builder() << gpu::string_ref(first) << gpu::string_ref(second)).finish();
  };
  CHECK_FALSE(of("ab", "c") == of("a", "bc"));
  CHECK_FALSE(of("", "abc") == of("abc", ""));
  CHECK(of("ab", "c") == of("ab", "c"));
}

}}  // namespace digest_test
