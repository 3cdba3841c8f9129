// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <iocomp/iocomp.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace iocomp::api {
namespace {

TEST(Calls, WithoutAnObjectAreRefusedAndNameIt) {
  iocomp_session* session = nullptr;
  iocomp_file* file = nullptr;
  iocomp_var* variable = nullptr;
  iocomp_input* input = nullptr;
  iocomp_ticket ticket{};
  iocomp_var* none[] = {nullptr};
  std::int64_t number = 0;
  int answer = 0;
  double time = 0;
  const std::vector<std::pair<std::string, std::function<int()>>> calls{
      {"init: the place for the session",
       [] { return iocomp_init(MPI_COMM_NULL, nullptr, nullptr); }},
      {"finalize: the session", [] { return iocomp_finalize(nullptr); }},
      {"should_stop: the session", [&] { return iocomp_should_stop(session, &answer); }},
      {"alloc: the session", [] { return iocomp_alloc(nullptr, 1, nullptr); }},
      {"progress: the session", [] { return iocomp_progress(nullptr); }},
      {"open: the session",
       [&] { return iocomp_open(session, "fields", IOCOMP_SERIES, nullptr, &file); }},
      {"define: the file",
       [&] { return iocomp_define(file, "u", IOCOMP_FLOAT64, 1, &number, &variable); }},
      {"define: the file", [&] { return iocomp_define_with(file, nullptr, &variable); }},
      {"set_shape: the variable", [&] { return iocomp_set_shape(variable, &number); }},
      {"set_rows: the variable",
       [&] { return iocomp_set_rows(1, none, &number, &number, &number); }},
      {"set_attribute: the file",
       [&] { return iocomp_set_attribute(file, variable, "a", IOCOMP_CHAR, -1, "b"); }},
      {"set_fill: the variable", [&] { return iocomp_set_fill(variable, &number); }},
      {"put: the variable",
       [&] { return iocomp_put(variable, &number, &number, &number, nullptr); }},
      {"put: the variable", [&] { return iocomp_put_block(variable, nullptr, nullptr); }},
      {"begin_step: the file", [&] { return iocomp_begin_step(file, 0, 0); }},
      {"end_step: the file", [&] { return iocomp_end_step(file); }},
      {"test: the ticket", [&] { return iocomp_test(nullptr, IOCOMP_WRITTEN, &answer); }},
      {"wait: the ticket", [] { return iocomp_wait(nullptr, IOCOMP_WRITTEN); }},
      {"wait: the ticket", [&] { return iocomp_wait(&ticket, IOCOMP_WRITTEN); }},
      {"wait_puts: the file", [&] { return iocomp_wait_puts(file, IOCOMP_WRITTEN); }},
      {"wait_step: the file", [&] { return iocomp_wait_step(file, 0); }},
      {"after: the file", [&] { return iocomp_after(file, "fields"); }},
      {"close: the file", [&] { return iocomp_close(file); }},
      {"close_later: the file", [&] { return iocomp_close_later(file, &ticket); }},
      {"open_input: the session",
       [&] { return iocomp_open_input(session, "fields", nullptr, &input); }},
      {"open_input: the session",
       [&] { return iocomp_latest(session, "fields", nullptr, &number, &time, &input); }},
      {"input_steps: the input", [&] { return iocomp_input_steps(input, nullptr, nullptr); }},
      {"input_time: the input", [&] { return iocomp_input_time(input, 0, &time); }},
      {"input_variable: the input",
       [&] { return iocomp_input_variable(input, "u", 0, nullptr, nullptr, nullptr); }},
      {"input_attribute: the input",
       [&] { return iocomp_input_attribute(input, nullptr, "a", nullptr, nullptr, nullptr); }},
      {"read: the input", [&] { return iocomp_read(input, "u", 0, nullptr, nullptr, nullptr); }},
      {"read: the input", [&] { return iocomp_read_block(input, "u", 0, nullptr); }},
  };
  for (const auto& [told, call] : calls) {
    EXPECT_EQ(call(), IOCOMP_INVALID_ARGUMENT) << told;
    EXPECT_EQ(std::string{iocomp_error()}, told + " is null");
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
