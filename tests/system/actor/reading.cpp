// `read NAME [on=group] [step=N]`: open what is committed under a name, read this rank's rows of
// everything in it, or in step N, and tell which steps there were and whether every value was
// right.
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stage.h"
#include "values.h"

namespace actor {
namespace {

struct Rows {
  int rank = 0;
  int size = 1;
};

// @return the code of the first call that fails.
int read_variable(iocomp_input* input, int index, std::int64_t step, const Rows& rows,
                  bool& is_right) {
  const char* name = nullptr;
  iocomp_type type{};
  int dimensions = 0;
  int code = iocomp_input_variable(input, index, &name, &type, &dimensions);
  std::vector<std::int64_t> shape(static_cast<std::size_t>(dimensions));
  code = code != IOCOMP_OK ? code : iocomp_input_shape(input, name, step, shape.data());
  if (code == IOCOMP_NOT_FOUND) {
    return IOCOMP_OK;  // the step has no values of it
  }
  if (code != IOCOMP_OK) {
    return code;
  }
  std::vector<std::int64_t> start(shape.size(), 0);
  std::vector<std::int64_t> count = shape;
  if (!shape.empty()) {
    start[0] = shape[0] * rows.rank / rows.size;
    count[0] = shape[0] * (rows.rank + 1) / rows.size - start[0];
  }
  Bytes values(static_cast<std::size_t>(product(count)) * iocomp_type_size(type));
  code = iocomp_read(input, name, step, start.data(), count.data(), values.data());
  is_right = is_right && values == values_of(type, shape, start, count, step);
  return code;
}

}  // namespace

void Stage::read(const Line& line) {
  const auto group = line.option("on", "");
  const MPI_Comm members = group.empty() ? iocomp_comm(session_) : groups_.at(group);
  Rows rows;
  MPI_Comm_rank(members, &rows.rank);
  MPI_Comm_size(members, &rows.size);
  const double began = now_seconds();
  iocomp_input* input = nullptr;
  int code = group.empty()
                 ? iocomp_open_input(session_, line.argument(0).c_str(), &input)
                 : iocomp_open_input_on(session_, members, line.argument(0).c_str(), &input);
  std::vector<std::int64_t> steps;
  bool is_right = true;
  if (code == IOCOMP_OK) {
    std::int64_t count = 0;
    int variables = 0;
    iocomp_input_steps(input, &count);
    iocomp_input_variables(input, &variables);
    const auto only = line.option("step", "");
    count = only.empty() ? count : 1;
    for (std::int64_t i = 0; i < count && code == IOCOMP_OK; ++i) {
      steps.push_back(only.empty() ? -1 : std::stoll(only));
      code = only.empty() ? iocomp_input_step(input, i, &steps.back()) : IOCOMP_OK;
      for (int index = 0; index < variables && code == IOCOMP_OK; ++index) {
        code = read_variable(input, index, steps.back(), rows, is_right);
      }
    }
    iocomp_close_input(input);
  }
  tell(line, code, began, {{"file", line.argument(0)}, {"steps", steps}, {"right", is_right}});
}

}  // namespace actor
