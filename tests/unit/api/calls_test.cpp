// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <iocomp/iocomp.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace iocomp::api {
namespace {

TEST(Calls, WithoutAnObjectAreRefusedAndSaySo) {
  iocomp_session* session = nullptr;
  iocomp_file* file = nullptr;
  iocomp_var* variable = nullptr;
  iocomp_input* input = nullptr;
  std::int64_t number = 0;
  const std::map<std::string, std::function<int()>> calls{
      {"init", [] { return iocomp_init(MPI_COMM_NULL, nullptr, nullptr); }},
      {"finalize", [] { return iocomp_finalize(nullptr); }},
      {"alloc", [] { return iocomp_alloc(nullptr, 1, nullptr); }},
      {"progress", [] { return iocomp_progress(nullptr); }},
      {"open", [&] { return iocomp_open(session, "fields", IOCOMP_SERIES, nullptr, &file); }},
      {"define", [&] { return iocomp_define(file, "u", IOCOMP_FLOAT64, 1, &number, &variable); }},
      {"put", [&] { return iocomp_put(variable, &number, &number, &number, nullptr); }},
      {"end_step", [&] { return iocomp_end_step(file); }},
      {"wait", [] { return iocomp_wait(nullptr, IOCOMP_WRITTEN); }},
      {"close", [&] { return iocomp_close(file); }},
      {"open_input", [&] { return iocomp_open_input(session, "fields", nullptr, &input); }},
  };
  for (const auto& [name, call] : calls) {
    EXPECT_EQ(call(), IOCOMP_INVALID_ARGUMENT) << name;
    const std::string story{iocomp_error()};
    EXPECT_EQ(story.find(name + ": "), 0U) << story;
    EXPECT_NE(story.find("null"), std::string::npos) << story;
  }
}

TEST(Calls, ThatAskAnswerWithoutAnObject) {
  EXPECT_EQ(iocomp_comm(nullptr), MPI_COMM_NULL);
  EXPECT_EQ(iocomp_role(nullptr), IOCOMP_COMPUTE);
  EXPECT_STREQ(iocomp_settings(nullptr), "");
}

TEST(Calls, FreeingADecompositionThatIsNoneIsAllowed) {
  EXPECT_EQ(iocomp_decomp_free(nullptr), IOCOMP_OK);
}

TEST(TypeSize, IsZeroForNumbersThatAreNoType) {
  EXPECT_EQ(iocomp_type_size(IOCOMP_INT8), 1U);
  EXPECT_EQ(iocomp_type_size(IOCOMP_FLOAT64), 8U);
  EXPECT_EQ(iocomp_type_size(IOCOMP_COMPLEX128), 16U);
  EXPECT_EQ(iocomp_type_size(IOCOMP_BOOL), 1U);
  EXPECT_EQ(iocomp_type_size(static_cast<iocomp_type>(0)), 0U);
}

TEST(CodeName, IsThatOfTheRooms) {
  EXPECT_STREQ(iocomp_code_name(IOCOMP_OK), "ok");
  EXPECT_STREQ(iocomp_code_name(IOCOMP_TIMED_OUT), "timed out");
  EXPECT_STREQ(iocomp_code_name(1234), "unknown code");
}

}  // namespace
}  // namespace iocomp::api
