#include "contents/catalogue.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contents/variable.h"
#include "formats/registry.h"

namespace iocomp::contents {
namespace {

Event attribute(std::int64_t step, const std::string& name, std::byte value) {
  Event event;
  event.what = Event::What::attribute;
  event.step = step;
  event.name = name;
  event.attribute.values = {value};
  return event;
}

TEST(Catalogue, TellsAttributesAsTheyWereInAStep) {
  Catalogue catalogue{formats::format("posix"), 1, false};
  catalogue.apply(attribute(0, "title", std::byte{7}));
  catalogue.apply(attribute(1, "time", std::byte{1}));
  catalogue.apply(attribute(3, "time", std::byte{3}));
  catalogue.apply(attribute(3, "time", std::byte{4}));
  EXPECT_FALSE(catalogue.attributes(0).contains("time"));
  EXPECT_EQ(catalogue.attributes(2).at("time").values, std::vector{std::byte{1}});
  EXPECT_EQ(catalogue.attributes(3).at("time").values, std::vector{std::byte{4}});
  EXPECT_EQ(catalogue.attributes(3).at("title").values, std::vector{std::byte{7}});
}

}  // namespace
}  // namespace iocomp::contents
