// The containers below have the layout that fatbinary of CUDA 13.0 writes; the header fields of one
// entry were read off its output.
#include <nogpu/ptx/fatbin.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <nogpu/ptx/parser.hpp>
#include "nogpu/ptx/fatbins.hpp"
#include "support/catch.hpp"

namespace fatbin_test {

namespace ptx = nogpu::ptx;

namespace {

using bytes = std::vector<std::byte>;

template <class T> void append(bytes& out, T value) {
  const std::size_t size = out.size();
  out.resize(size + sizeof value);
  std::memcpy(out.data() + size, &value, sizeof value);
}

void add_entry(bytes& payload, std::uint16_t kind, std::uint32_t target, std::uint64_t flags,
               const std::string& data, std::uint64_t unpacked = 0) {
  const bool packed = unpacked != 0;
  const std::uint64_t padded = (data.size() + 7) / 8 * 8;
  append<std::uint16_t>(payload, kind);
  append<std::uint16_t>(payload, 0x0101);
  append<std::uint32_t>(payload, 80);
  append<std::uint64_t>(payload, padded);
  append<std::uint32_t>(payload, packed ? static_cast<std::uint32_t>(data.size()) : 0);
  append<std::uint32_t>(payload, 0x40);
  append<std::uint32_t>(payload, 0x0009'0000);
  append<std::uint32_t>(payload, target);
  append<std::uint64_t>(payload, 0);
  append<std::uint64_t>(payload, flags);
  append<std::uint64_t>(payload, 0);
  append<std::uint64_t>(payload, unpacked);
  for (int i = 0; i < 2; ++i) append<std::uint64_t>(payload, 0x48);
  for (const char c : data) payload.push_back(static_cast<std::byte>(c));
  payload.resize(payload.size() + (padded - data.size()));
}

bytes container(const bytes& payload) {
  bytes out;
  append<std::uint32_t>(out, 0xba55ed50);
  append<std::uint16_t>(out, 1);
  append<std::uint16_t>(out, 16);
  append<std::uint64_t>(out, payload.size());
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

constexpr std::uint16_t ptx_kind = 1, elf_kind = 2;
constexpr std::uint64_t plain = 0x11, lz4 = 0x2011;

template <std::size_t N> std::string text_of(const unsigned char (&image)[N]) {
  return ptx::text_of_fatbin(std::as_bytes(std::span(image)), 90).text;
}

}  // namespace

TEST_CASE("images are told apart by their first bytes", "[ptx]") {
  CHECK(ptx::identify("\n.version 9.0") == ptx::image_kind::text);
  CHECK(ptx::identify("\x50\xed\x55\xba") == ptx::image_kind::fatbin);
  CHECK(ptx::identify("\xb1\x43\x62\x46") == ptx::image_kind::wrapper);
  CHECK(ptx::identify("\x7f"
                      "ELF") == ptx::image_kind::elf);
  CHECK_FALSE(ptx::identify("").has_value());
  CHECK_FALSE(ptx::identify("\xff").has_value());
}

TEST_CASE("the newest PTX that the device runs is taken", "[ptx]") {
  bytes payload;
  add_entry(payload, ptx_kind, 75, plain, "old");
  add_entry(payload, elf_kind, 90, plain, "machine code");
  add_entry(payload, ptx_kind, 90, plain, "right");
  add_entry(payload, ptx_kind, 100, plain, "too new");
  const bytes image = container(payload);
  CHECK(ptx::text_of_fatbin(image, 90).text == "right");
  CHECK(ptx::text_of_fatbin(image, 89).text == "old");
  CHECK(ptx::text_of_image(image.data(), 120).text == "too new");
  const ptx::image_text none = ptx::text_of_fatbin(image, 70);
  REQUIRE_FALSE(none);
  CHECK(none.error->reason == ptx::refusal::no_ptx);
}

TEST_CASE("a wrapper leads to its container", "[ptx]") {
  bytes payload;
  add_entry(payload, ptx_kind, 80, plain, "text");
  const bytes image = container(payload);
  struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* data = nullptr;
    const void* name = nullptr;
  } wrapper;
  wrapper.data = image.data();
  CHECK(ptx::text_of_image(&wrapper, 90).text == "text");
  wrapper.data = nullptr;
  CHECK_FALSE(ptx::text_of_image(&wrapper, 90));
  wrapper.data = &wrapper;
  CHECK_FALSE(ptx::text_of_image(&wrapper, 90));
}

TEST_CASE("LZ4 blocks are unpacked", "[ptx]") {
  // Start of a real entry: one newline, repeated seven times, then literals.
  std::string packed("\x13\x0a\x01\x00\x80.version", 13);
  bytes payload;
  add_entry(payload, ptx_kind, 90, lz4, packed, 16);
  CHECK(ptx::text_of_fatbin(container(payload), 90).text == "\n\n\n\n\n\n\n\n.version");
  // A length above 14 goes on in further bytes: 15 + 255 + 2 literals; a match of 4 + 15 + 1.
  std::string literals;
  for (int i = 0; i < 272; ++i) literals += static_cast<char>('a' + i % 23);
  packed = "\xff\xff\x02" + literals + std::string("\x10\x01\x01\x50hello", 9);
  bytes second;
  add_entry(second, ptx_kind, 90, lz4, packed, 272 + 20 + 5);
  CHECK(ptx::text_of_fatbin(container(second), 90).text ==
        literals + literals.substr(0, 20) + "hello");
}

TEST_CASE("damaged LZ4 blocks are refused", "[ptx]") {
  const std::string good("\x13\x0a\x01\x00\x80.version", 13);
  const auto refused = [](const std::string& packed, std::uint64_t size) {
    bytes payload;
    add_entry(payload, ptx_kind, 90, lz4, packed, size);
    const ptx::image_text text = ptx::text_of_fatbin(container(payload), 90);
    return !text && text.error->reason == ptx::refusal::invalid_image;
  };
  CHECK_FALSE(refused(good, 16));
  CHECK(refused(good, 15));
  CHECK(refused(good, 17));
  CHECK(refused(good, std::uint64_t{1} << 40));
  for (std::size_t n = 1; n < good.size(); ++n) CHECK(refused(good.substr(0, n), 16));
  std::string far = good;
  far[2] = 9;
  CHECK(refused(far, 16));
  far[2] = 0;
  CHECK(refused(far, 16));
}

TEST_CASE("what nvcc packed is unpacked to what it left plain", "[ptx]") {
  const std::string plain_text = text_of(ptx_test::plain_fatbin);
  REQUIRE(plain_text.find(".visible .entry add(") != std::string::npos);
  CHECK(text_of(ptx_test::lz4_fatbin) == plain_text);
  if (ptx::detail::system_zstandard()) {
    CHECK(text_of(ptx_test::zstandard_fatbin) == plain_text);
  } else {
    WARN("this system has no libzstd.so.1");
  }
  CHECK(ptx::parse(plain_text));
}

TEST_CASE("without libzstd the sentence says what helps", "[ptx]") {
  std::vector<ptx::fatbin_member> members;
  REQUIRE(ptx::read_fatbin(std::as_bytes(std::span(ptx_test::zstandard_fatbin)), members));
  REQUIRE(members.size() == 1);
  const auto refusal_with = [&](const ptx::detail::zstandard& (*find)()) {
    const ptx::image_text text = ptx::detail::text_of(members[0], find);
    REQUIRE_FALSE(text);
    CHECK(text.error->reason == ptx::refusal::compressed);
    return text.error->text;
  };
  const std::string missing = refusal_with([]() -> const ptx::detail::zstandard& {
    static const auto library = ptx::detail::open_zstandard("libzstd-that-is-not-there.so.1");
    return library;
  });
  CHECK(missing.find("--no-compress") != std::string::npos);
  CHECK(missing.find("install libzstd") != std::string::npos);
  // A library of that name without the functions is as good as none.
  (void)refusal_with([]() -> const ptx::detail::zstandard& {
    static const auto library = ptx::detail::open_zstandard("libc.so.6");
    return library;
  });
  members[0].packed = ptx::compression::unknown;
  const ptx::image_text unknown = ptx::text_of(members[0]);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error->reason == ptx::refusal::compressed);
}

TEST_CASE("damaged Zstandard is refused", "[ptx]") {
  if (!ptx::detail::system_zstandard()) return;
  std::vector<ptx::fatbin_member> members;
  REQUIRE(ptx::read_fatbin(std::as_bytes(std::span(ptx_test::zstandard_fatbin)), members));
  REQUIRE(members.size() == 1);
  const ptx::fatbin_member good = members[0];
  REQUIRE(ptx::text_of(good));
  const auto refused = [](const ptx::fatbin_member& member) {
    const ptx::image_text text = ptx::text_of(member);
    return !text && text.error->reason == ptx::refusal::invalid_image;
  };
  for (std::size_t n = 0; n < good.payload.size(); ++n) {
    ptx::fatbin_member cut = good;
    cut.payload = good.payload.first(n);
    CHECK(refused(cut));
  }
  // Sizes that are not true; the last would take the memory of the machine.
  for (const std::uint64_t size : {std::uint64_t{0}, good.unpacked_size - 1, good.unpacked_size + 1,
                                   std::uint64_t{1} << 28, std::uint64_t{1} << 40}) {
    ptx::fatbin_member lying = good;
    lying.unpacked_size = size;
    CHECK(refused(lying));
  }
  // A byte at a time: refused, or a text of the same length, as the format has no checksum here.
  for (std::size_t place = 0; place < good.payload.size(); ++place) {
    bytes damaged(good.payload.begin(), good.payload.end());
    damaged[place] ^= std::byte{0x55};
    ptx::fatbin_member member = good;
    member.payload = damaged;
    const ptx::image_text text = ptx::text_of(member);
    if (text) CHECK(text.text.size() < good.unpacked_size + 1);
  }
  const std::string garbage(64, '\x5a');
  ptx::fatbin_member member = good;
  member.payload = std::as_bytes(std::span(garbage));
  CHECK(refused(member));
  // A frame whose header claims the most that a header can: 2^64 - 3 bytes.
  const std::string bomb = "\x28\xb5\x2f\xfd\xe0\xfd\xff\xff\xff\xff\xff\xff\xff";
  member.payload = std::as_bytes(std::span(bomb));
  CHECK(refused(member));
  member.unpacked_size = ~std::uint64_t{2};
  CHECK(refused(member));
}

TEST_CASE("machine code is refused by what it is", "[ptx]") {
  std::string elf(64, '\0');
  std::memcpy(elf.data(), "\x7f\x45\x4c\x46", 4);
  elf[18] = static_cast<char>(190);
  const ptx::image_text cubin = ptx::text_of_image(elf.data(), 90);
  REQUIRE_FALSE(cubin);
  CHECK(cubin.error->reason == ptx::refusal::no_ptx);
  CHECK(cubin.error->text.find("cubin") != std::string::npos);
  elf[18] = 62;
  CHECK(ptx::text_of_image(elf.data(), 90).error->text.find("another machine") !=
        std::string::npos);
  CHECK_FALSE(ptx::text_of_image(nullptr, 90));
}

TEST_CASE("a container that is cut off or damaged is refused", "[ptx]") {
  bytes payload;
  add_entry(payload, ptx_kind, 80, plain, "some text");
  const bytes image = container(payload);
  std::vector<ptx::fatbin_member> members;
  CHECK(ptx::read_fatbin(image, members));
  for (std::size_t n = 0; n < image.size(); ++n) {
    members.clear();
    CHECK_FALSE(ptx::read_fatbin(std::span(image).first(n), members));
  }
  for (std::size_t place = 0; place < 96; ++place) {
    for (const unsigned value : {0u, 1u, 0x7fu, 0xffu}) {
      bytes damaged = image;
      damaged[place] = static_cast<std::byte>(value);
      members.clear();
      // Either outcome is right; the members must lie inside the container.
      if (!ptx::read_fatbin(damaged, members)) continue;
      for (const ptx::fatbin_member& member : members) {
        CHECK(member.payload.data() >= damaged.data());
        CHECK(member.payload.data() + member.payload.size() <= damaged.data() + damaged.size());
      }
    }
  }
}

}  // namespace fatbin_test
