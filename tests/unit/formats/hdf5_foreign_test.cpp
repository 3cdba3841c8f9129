// SPDX-License-Identifier: BSD-3-Clause
// Types and attributes as other programs have written them.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "contents/variable.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/types.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {
namespace {

using array::ElementType;

TEST(ForeignTypes, AreKnownInEitherByteOrder) {
  for (int value = 1; array::element_type(value); ++value) {
    const auto type = *array::element_type(value);
    EXPECT_EQ(element_type_of(element_type(type).raw()), type) << array::name(type);
  }
  const std::vector<std::pair<hid_t, ElementType>> foreign{
      {H5T_STD_I8BE, ElementType::int8},      {H5T_STD_I16BE, ElementType::int16},
      {H5T_STD_I32BE, ElementType::int32},    {H5T_STD_I64BE, ElementType::int64},
      {H5T_STD_U8BE, ElementType::uint8},     {H5T_STD_U16BE, ElementType::uint16},
      {H5T_STD_U32BE, ElementType::uint32},   {H5T_STD_U64BE, ElementType::uint64},
      {H5T_IEEE_F32BE, ElementType::float32}, {H5T_IEEE_F64BE, ElementType::float64},
      {H5T_STD_I32LE, ElementType::int32},    {H5T_IEEE_F64LE, ElementType::float64},
      {H5T_NATIVE_LLONG, ElementType::int64}, {H5T_NATIVE_UCHAR, ElementType::uint8},
  };
  for (const auto& [stored, type] : foreign) {
    EXPECT_EQ(element_type_of(stored), type) << array::name(type);
  }
  EXPECT_FALSE(element_type_of(H5T_STD_REF_OBJ));
  EXPECT_FALSE(element_type_of(fixed_text_type(3).raw()));
}

class ForeignAttributes : public testing::Test {
 protected:
  ForeignAttributes() {
    const Properties access{H5Pcreate(H5P_FILE_ACCESS)};
    H5Pset_fapl_core(access.raw(), 1 << 16, 0);  // in memory
    file_ = File{H5Fcreate("attributes", H5F_ACC_TRUNC, H5P_DEFAULT, access.raw())};
  }
  void write(const char* name, hid_t type, const void* value, hsize_t count = 1) const {
    const Space space{count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr)};
    const Attribute made{
        H5Acreate2(file_.raw(), name, type, space.raw(), H5P_DEFAULT, H5P_DEFAULT)};
    ASSERT_GE(H5Awrite(made.raw(), type, value), 0);
  }

  File file_{-1};
};

TEST_F(ForeignAttributes, TextsAndNumbersAreReadHoweverTheyAreStored) {
  write("fixed", fixed_text_type(8).raw(), "kelvin\0");
  const Type ascii{H5Tcopy(H5T_C_S1)};
  H5Tset_size(ascii.raw(), H5T_VARIABLE);
  const char* const text = "metres";
  write("variable", ascii.raw(), static_cast<const void*>(&text));
  const char* const nothing = nullptr;
  write("nothing", text_type().raw(), static_cast<const void*>(&nothing));
  const std::array<std::int32_t, 2> numbers{1, 1 << 16};
  write("numbers", H5T_NATIVE_INT32, numbers.data(), 2);
  const std::array<unsigned char, 4> big{0, 0, 1, 2};
  write("big", H5T_STD_I32BE, big.data());
  write("texts", fixed_text_type(2).raw(), "abc\0", 2);
  const std::array<const char*, 2> any{"a", nullptr};
  write("any texts", text_type().raw(), static_cast<const void*>(any.data()), 2);

  const auto read = read_attributes(file_.raw(), "attributes");
  EXPECT_EQ(read.size(), 7U);
  EXPECT_EQ(texts_of(read.at("texts")), (std::vector<std::string>{"ab", "c"}));
  EXPECT_EQ(texts_of(read.at("any texts")), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(read.at("fixed"), contents::text_attribute("kelvin"));
  EXPECT_EQ(read.at("variable"), contents::text_attribute("metres"));
  EXPECT_EQ(read.at("nothing"), contents::text_attribute(""));
  EXPECT_EQ(read.at("numbers").type, ElementType::int32);
  ASSERT_EQ(read.at("numbers").values.size(), sizeof(numbers));
  EXPECT_EQ(std::memcmp(read.at("numbers").values.data(), numbers.data(), sizeof(numbers)), 0);
  EXPECT_EQ(read.at("big").type, ElementType::int32);
  const std::int32_t expected = 258;
  ASSERT_EQ(read.at("big").values.size(), sizeof(expected));
  EXPECT_EQ(std::memcmp(read.at("big").values.data(), &expected, sizeof(expected)), 0);
}

}  // namespace
}  // namespace iocomp::formats::h5
