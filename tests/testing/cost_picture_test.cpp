// The picture of costs: XML that is well formed, whose boxes are as wide as their shares.

#include "support/catch.hpp"
#include "testing/cost_report.hpp"
#include "testing/xml_check.hpp"

#include <gpu/testing/cost_picture.hpp>
#include <gpu/testing/kernel_costs.hpp>

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace cost_picture_test {
namespace {

struct box {
  double from, width;
  std::string title, label;
};

/// The boxes by the height that they are at, the highest first, each from left to right.
std::map<double, std::vector<box>> boxes_of(const test::xml_check& picture) {
  std::map<double, std::vector<box>> found;
  const auto& all = picture.all();
  for (std::size_t i = 0; i + 2 < all.size(); ++i) {
    if (all[i].name != "g") continue;
    CHECK(all[i + 1].name == "title");
    REQUIRE(all[i + 2].name == "rect");
    const auto number = [&](const char* name) { return std::stod(all[i + 2].attributes.at(name)); };
    const bool labeled = i + 3 < all.size() && all[i + 3].name == "text";
    found[number("y")].push_back(
        {number("x"), number("width"), all[i + 1].text, labeled ? all[i + 3].text : std::string()});
  }
  return found;
}

bool near(double a, double b) { return std::abs(a - b) < 0.01; }

}  // namespace

TEST_CASE("the picture of costs has boxes as wide as their shares", "[costs]") {
  const test::xml_check picture(gpu::testing::to_svg(test::known_costs()));
  REQUIRE(picture.valid());
  CHECK(picture.all()[0].name == "svg");
  const auto rows = boxes_of(picture);
  REQUIRE(rows.size() == 4);
  for (const auto& [height, row] : rows) {
    double at = 10;
    for (const box& each : row) {
      CHECK(near(each.from, at));  // each begins where the one before it ends
      at += each.width;
    }
    CHECK(near(at, 10 + 1200));
  }
  auto row = rows.begin();
  const std::vector<box> kinds = row->second, lines = (++row)->second, kernels = (++row)->second,
                         root = (++row)->second;
  CHECK(root.size() == 1);
  CHECK(root[0].label == "all kernels: 800 instructions");
  REQUIRE(kernels.size() == 2);
  CHECK(near(kernels[0].width, 1200 * 700 / 800.0));
  CHECK(kernels[0].label == "transpose&lt;float&gt;");
  CHECK(kernels[1].label == "a &amp; &quot;b&quot;");
  REQUIRE(lines.size() == 3);
  CHECK(near(lines[0].width, 1200 * 500 / 800.0));
  CHECK(lines[0].label == "a.cu:7");
  CHECK(lines[0].title ==
        "a.cu:7\n500 instructions of warps, 62.5 %; 32.0 lanes on average\n"
        "global memory: 600 sectors, 400 needed\n400 integer, 100 global load");
  CHECK(lines[1].title.find("\nshared memory: 3200 wavefronts, 100 needed\n") != std::string::npos);
  CHECK(lines[2].title.find("\nbranches: 25 of 50 divergent\n") != std::string::npos);
  CHECK(lines[2].label == "PTX line 44: @%p br..");  // as much as fits
  REQUIRE(kinds.size() == 6);
  CHECK(kinds[0].title == "a.cu:7: 400 integer");
  CHECK(near(kinds[1].width, 1200 * 100 / 800.0));
}

TEST_CASE("the picture of costs of no kernel is a picture", "[costs]") {
  const test::xml_check picture(gpu::testing::to_svg({}));
  CHECK(picture.valid());
  CHECK(boxes_of(picture).empty());
}

TEST_CASE("whatever names have in them, the picture of costs is well formed", "[costs]") {
  const struct {
    const char* name;
    const char* shown;
  } names[] = {{"<&>\"'", "&lt;&amp;&gt;&quot;'"},
               {"a\x01"
                "b\x7f",
                "a b\x7f"},
               {"f\xc3\xbcr", "f\xc3\xbcr"},              // two bytes of UTF-8
               {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},  // four
               {"\xff\xc3(\xe2\x82",
                "?"
                "?(?"
                "?"},                                              // not UTF-8
               {"\xc0\xaf\xed\xa0\x80\xef\xbf\xbf", "????????"}};  // overlong, half of a pair, none
  for (const auto& each : names) {
    CAPTURE(each.name);
    gpu::testing::cost_report report = test::known_costs();
    report.kernels[0].name = each.name;
    const test::xml_check picture(gpu::testing::to_svg(report));
    REQUIRE(picture.valid());
    CHECK((++ ++boxes_of(picture).begin())->second[0].label == each.shown);
  }
}

}  // namespace cost_picture_test
