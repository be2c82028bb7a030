// Parts of messages: where lists end, and what becomes of control characters in names.

#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <string>

namespace message_parts_test { namespace {

std::string list_of(std::size_t count) {
  gpu::detail::text_builder out;
  gpu::detail::message_list list(out);
  for (std::size_t i = 0; i < count; ++i) {
    if (list.add()) out << i;
  }
  list.finish();
  return out.finish().c_str();
}

std::string written(const std::string& name) {
  gpu::detail::text_builder out;
  out << gpu::detail::escaped{name};
  return out.finish().c_str();
}

TEST_CASE("a list in a message ends after ten items", "[core]") {
  const std::string ten = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9";
  CHECK(list_of(0) == "");
  CHECK(list_of(1) == "0");
  CHECK(list_of(10) == ten);
  CHECK(list_of(11) == ten + ", ... and 1 more");
  CHECK(list_of(1009) == ten + ", ... and 999 more");
  CHECK(list_of(1010) == ten + ", ... and 1,000 more");
  CHECK(list_of(60000) == ten + ", ... and 59,990 more");
  CHECK(list_of(1002015) == ten + ", ... and 1,002,005 more");
}

TEST_CASE("control characters in names are escaped", "[core]") {
  CHECK(written("") == "");
  CHECK(written("a b\"c\\d") == "a b\"c\\d");
  CHECK(written("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(written(std::string("\0x\x1b[31m\x7f", 8)) == "\\x00x\\x1b[31m\\x7f");
  CHECK(written("\xc2\x9b"
                "1m") ==
        "\\xc2\\x9b"
        "1m");  // CSI, as one character
  CHECK(written("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xc2\xa0.") ==
        "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xc2\xa0.");
  CHECK(written("\xc2") == "\xc2");
  CHECK(written(std::string(500, 'x')) == std::string(500, 'x'));
  CHECK(written(std::string(300, 'x') + std::string(60000, 'y') + std::string(300, 'z')) ==
        std::string(250, 'x') + " ... " + std::string(250, 'z'));
}

TEST_CASE("no message has control characters but those of its lines", "[core]") {
  const auto details = [](const char* words) {
    return std::string(gpu::detail::refusal(gpu::errc::invalid_argument, "f", gpu::text(words),
                                            gpu::source_location{})
                           .details()
                           .c_str());
  };
  CHECK(details("a\n\tb\r\nc") == "a\n\tb\r\nc");
  CHECK(details("a\rb\x1b[2Jc\a") == "a\\rb\\x1b[2Jc\\x07");
  CHECK(details("a\r") == "a\\r");
}

}}  // namespace message_parts_test
