// SPDX-License-Identifier: BSD-3-Clause
#include "commit/xdmf/xdmf.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "contents/variable.h"
#include "formats/format.h"
#include "formats/registry.h"

namespace iocomp::commit {
namespace {

using array::ElementType;

contents::Attribute numbers(const std::vector<double>& values) {
  contents::Attribute made;
  made.type = ElementType::float64;
  made.values.resize(values.size() * sizeof(double));
  std::memcpy(made.values.data(), values.data(), made.values.size());
  return made;
}

contents::Placed placed(const std::string& name, const std::vector<std::int64_t>& shape,
                        std::int64_t offset = 0, ElementType type = ElementType::float64) {
  return {
      3, {0, name, type, array::make_shape(static_cast<int>(shape.size()), shape.data())}, offset};
}

// Keeps variables as records of HDF5 datasets, or as datasets of their own.
class Hdf5Like : public formats::Format {
 public:
  explicit Hdf5Like(std::int64_t record)
      : Format{{.rules = {.format = "like_hdf5"}, .extension = ".h5", .xdmf_can_describe = true}},
        record_{record} {}
  [[nodiscard]] formats::Whereabouts whereabouts(
      const contents::Placed& where, const formats::FormatOptions& /*options*/) const override {
    return {.dataset = '/' + where.variable.name, .record = record_};
  }

 private:
  std::int64_t record_;
};

class Xdmf : public testing::Test {
 protected:
  Xdmf() { step_.step = 3; }

  std::string grids(const formats::Format& format = formats::format("posix")) {
    return xdmf_grids(step_, 0.5, "out.bin", format, {});
  }
  bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++found;
    }
    return found;
  }

  XdmfStep step_;
};

TEST_F(Xdmf, TellsWhereTheElementsOfAPlainFileAre) {
  step_.contents = {placed("u", {2, 3, 4}, 5000000000)};
  EXPECT_EQ(grids(), R"(   <Grid Name="step 3" GridType="Collection" CollectionType="Spatial">
    <Time Value="0.5"/>
    <Grid Name="2 x 3 x 4" GridType="Uniform">
     <Topology TopologyType="3DCoRectMesh" Dimensions="2 3 4"/>
     <Geometry GeometryType="ORIGIN_DXDYDZ"><DataItem Dimensions="3" NumberType="Float" Precision="8" Format="XML">0 0 0</DataItem><DataItem Dimensions="3" NumberType="Float" Precision="8" Format="XML">1 1 1</DataItem></Geometry>
     <Attribute Name="u" AttributeType="Scalar" Center="Node"><DataItem Dimensions="2 3 4" NumberType="Float" Precision="8" Format="Binary" Seek="5000000000">out.bin</DataItem></Attribute>
    </Grid>
   </Grid>
)");
}

TEST_F(Xdmf, NamesDatasetsAndTheirRecords) {
  step_.contents = {placed("u", {2, 3})};
  EXPECT_TRUE(has(grids(Hdf5Like{-1}),
                  R"(<DataItem Dimensions="1 2 3" NumberType="Float" Precision="8" Format="HDF">)"
                  "out.bin:/u</DataItem></Attribute>"));
  EXPECT_TRUE(has(grids(Hdf5Like{7}),
                  R"(<DataItem ItemType="HyperSlab" Dimensions="1 2 3">)"
                  R"(<DataItem Dimensions="3 3" NumberType="Int" Format="XML">)"
                  "7 0 0 1 1 1 1 2 3</DataItem>"
                  R"(<DataItem Dimensions="8 2 3" NumberType="Float" Precision="8" Format="HDF">)"
                  "out.bin:/u</DataItem></DataItem>"));
}

TEST_F(Xdmf, PutsVariablesWithTheSamePointsOnOneGrid) {
  step_.contents = {placed("u", {2, 3}), placed("v", {3, 2}), placed("w", {2, 3})};
  const std::string text = grids();
  EXPECT_EQ(count(text, R"(GridType="Uniform")"), 2);
  EXPECT_LT(text.find(R"(Name="w")"), text.find(R"(Name="v")"));
}

TEST_F(Xdmf, AVariablesOwnOriginGoesBeforeThatOfTheFile) {
  step_.attributes[origin_attribute] = numbers({5, 6});
  step_.attributes[spacing_attribute] = numbers({0.25, 0.5});
  step_.of_variable["v"][origin_attribute] = numbers({-1, 1e-3});
  step_.contents = {placed("u", {2, 3}), placed("v", {2, 3}), placed("line", {4})};
  const std::string text = grids();
  EXPECT_TRUE(has(text, ">0 5 6</DataItem>"));
  EXPECT_TRUE(has(text, ">0 -1 0.001</DataItem>"));
  EXPECT_EQ(count(text, ">1 0.25 0.5</DataItem>"), 2);
  EXPECT_TRUE(has(text, R"(Dimensions="1 1 4"/>)"));  // which has another number of dimensions
  EXPECT_EQ(count(text, R"(GridType="Uniform")"), 3);
}

TEST_F(Xdmf, MakesARectilinearGridOfCoordinates) {
  auto u = placed("u", {2, 3}, 100);
  u.variable.dimensions = "time y x";
  const auto x = placed("x", {3}, 200, ElementType::float32);
  const auto y = placed("y", {2}, 300);
  step_.contents = {u, x, y};
  step_.lines = {{"x", x}, {"y", y}};
  const std::string text = grids();
  EXPECT_EQ(count(text, R"(GridType="Uniform")"), 1);  // the coordinates are no grids of their own
  EXPECT_TRUE(has(text, R"("3DRectMesh" Dimensions="1 2 3")"));
  const auto first =
      text.find(R"(Dimensions="3" NumberType="Float" Precision="4" Format="Binary" Seek="200")");
  const auto second =
      text.find(R"(Dimensions="2" NumberType="Float" Precision="8" Format="Binary" Seek="300")");
  EXPECT_LT(first, second);
  EXPECT_NE(second, std::string::npos);
}

TEST_F(Xdmf, CoordinatesOfAnotherLengthAreNone) {
  auto u = placed("u", {2, 3});
  u.variable.dimensions = "y x";
  step_.contents = {u};
  step_.lines = {{"x", placed("x", {4})}, {"y", placed("y", {2})}};
  EXPECT_TRUE(has(grids(), "3DCoRectMesh"));
}

TEST_F(Xdmf, LeavesOutWhatItHasNoWordsFor) {
  step_.contents = {placed("scalar", {}),
                    placed("many", {2, 2, 2, 2}),
                    placed("none", {2, 0}),
                    placed("complex", {2}, 0, ElementType::complex64),
                    placed("half", {2}, 0, ElementType::float16),
                    placed("\xff", {2})};
  EXPECT_EQ(grids(), "");
}

TEST_F(Xdmf, HasAWordForEveryType) {
  const std::vector<std::pair<ElementType, std::string>> words{
      {ElementType::int8, R"("Char" Precision="1")"},
      {ElementType::int16, R"("Short" Precision="2")"},
      {ElementType::int32, R"("Int" Precision="4")"},
      {ElementType::int64, R"("Int" Precision="8")"},
      {ElementType::uint8, R"("UChar" Precision="1")"},
      {ElementType::uint16, R"("UShort" Precision="2")"},
      {ElementType::uint32, R"("UInt" Precision="4")"},
      {ElementType::uint64, R"("Int" Precision="8")"},
      {ElementType::float32, R"("Float" Precision="4")"},
      {ElementType::float64, R"("Float" Precision="8")"}};
  for (const auto& [type, word] : words) {
    step_.contents = {placed("u", {2}, 8, type)};
    EXPECT_TRUE(has(grids(), word + R"( Format="Binary" Seek="8")")) << word;
  }
}

TEST_F(Xdmf, EscapesNames) {
  step_.contents = {placed("a<b>&\"c\"", {2})};
  EXPECT_TRUE(has(grids(), R"(Name="a&lt;b&gt;&amp;&quot;c&quot;")"));
  EXPECT_TRUE(has(xdmf_beginning("x & y"), R"(<Grid Name="x &amp; y" )"));
}

TEST_F(Xdmf, TimeIsAnAttributeOrAScalar) {
  EXPECT_FALSE(time_said(step_));
  EXPECT_FALSE(time_put(step_));
  step_.attributes[time_attribute] = numbers({1, 2});
  EXPECT_FALSE(time_said(step_));
  step_.attributes[time_attribute] = numbers({2.5});
  EXPECT_EQ(time_said(step_), 2.5);
  step_.contents = {placed("time", {2}, 8), placed("time", {}, -1)};
  EXPECT_FALSE(time_put(step_));
  step_.contents = {placed("time", {}, 8)};
  ASSERT_TRUE(time_put(step_));
  EXPECT_EQ(time_put(step_)->offset, 8);
}

TEST_F(Xdmf, RefusesBackEndsThatItCannotDescribe) {
  EXPECT_NO_THROW(check_xdmf("out", "folder:1/out.bin", formats::format("posix")));
  for (const auto& [path, back_end, story] :
       std::initializer_list<std::tuple<std::string, std::string, std::string>>{
           {"a:b.bin", "posix", "the file name a:b.bin cannot stand in XDMF"},
           {"out.x", "example_format",
            "cannot describe files of the back-end example_format; it "
            "can those of hdf5, mpiio, netcdf and posix"}}) {
    try {
      check_xdmf("out", path, formats::format(back_end, IOCOMP_EXAMPLE_MODULES));
      ADD_FAILURE() << story;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_setting);
      EXPECT_TRUE(has(error.what(), "files.out.describe")) << error.what();
      EXPECT_TRUE(has(error.what(), story)) << error.what();
    }
  }
}

}  // namespace
}  // namespace iocomp::commit
