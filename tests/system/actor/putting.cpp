#include <iocomp/iocomp.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "stage.h"
#include "values.h"

namespace actor {

void Stage::fill(const Line& line) {
  if (file(line).handle == nullptr) {
    return;
  }
  const std::int64_t value = std::stoll(line.argument(2));
  const double began = now_seconds();
  const int code = iocomp_set_fill(file(line).variables.at(line.argument(1)).handle, &value);
  tell(line, code, began, {{"file", line.argument(0)}, {"variable", line.argument(1)}});
}

Stage::Block Stage::block(const Line& line, const Variable& variable, const File& file) const {
  Block block{std::vector<std::int64_t>(variable.shape.size(), 0), variable.shape};
  if (line.options.contains("start")) {
    return {numbers(line.option("start", ""), 'x'), numbers(line.option("count", ""), 'x')};
  }
  const auto by = line.option("by", "rows");
  if (by == "none") {
    block.count.assign(block.count.size(), 0);
  } else if (by != "whole" && !variable.shape.empty()) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(file.members, &rank);
    MPI_Comm_size(file.members, &size);
    const std::size_t d = by == "columns" ? variable.shape.size() - 1 : 0;
    block.start[d] = variable.shape[d] * rank / size;
    block.count[d] = variable.shape[d] * (rank + 1) / size - block.start[d];
  }
  return block;
}

void Stage::put(const Line& line) {
  File& into = file(line);
  if (into.handle == nullptr) {
    return;
  }
  const Variable& variable = into.variables.at(line.argument(1));
  const Block part = block(line, variable, into);
  const std::int64_t step = iocomp_current_step(into.handle);
  const std::int64_t halo = std::stoll(line.option("halo", "0"));
  std::vector<std::int64_t> wide = part.count;
  std::ranges::for_each(wide, [halo](auto& extent) { extent += 2 * halo; });
  const std::vector<std::int64_t> inside(wide.size(), halo);
  into.buffers.push_back(
      with_halo(values_of(variable.type, variable.shape, part.start, part.count, step),
                iocomp_type_size(variable.type), part.count, halo));
  add_to(into.buffers.back(), std::stoll(line.option("add", "0")));
  Put put{{}, step, line.argument(1)};
  const bool buffered = line.option("buffered", "no") == "yes";
  const double began = now_seconds();
  const int code = iocomp_put_from(variable.handle, part.start.data(), part.count.data(),
                                   into.buffers.back().data(), wide.data(), inside.data(),
                                   buffered ? 1 : 0, &put.ticket);
  tell(line, code, began,
       {{"file", line.argument(0)}, {"variable", put.variable}, {"step", put.step}});
  if (code == IOCOMP_OK && line.option("ticket", "kept") == "kept") {
    into.puts.push_back(std::move(put));
  }
}

// `runs` is "first:count,first:count".
void Stage::put_runs(const Line& line) {
  File& into = file(line);
  if (into.handle == nullptr) {
    return;
  }
  const Variable& variable = into.variables.at(line.argument(1));
  const std::int64_t step = iocomp_current_step(into.handle);
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> count;
  std::istringstream runs{line.option("runs", "")};
  for (std::string run; std::getline(runs, run, ',');) {
    const auto ends = numbers(run, ':');
    first.push_back(ends.at(0));
    count.push_back(ends.at(1));
  }
  Bytes values;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto part = values_of(variable.type, {first[i] + count[i]}, {first[i]}, {count[i]}, step);
    values.insert(values.end(), part.begin(), part.end());
  }
  add_to(values, std::stoll(line.option("add", "0")));
  into.buffers.push_back(std::move(values));
  Put put{{}, step, line.argument(1)};
  const double began = now_seconds();
  iocomp_decomp* decomposition = nullptr;
  int code = iocomp_decomp_runs(session_, static_cast<int>(variable.shape.size()),
                                variable.shape.data(), static_cast<std::int64_t>(first.size()),
                                first.data(), count.data(), &decomposition);
  if (code == IOCOMP_OK) {
    code = iocomp_put_decomp(variable.handle, decomposition, into.buffers.back().data(),
                             line.option("buffered", "no") == "yes" ? 1 : 0, &put.ticket);
    iocomp_decomp_free(decomposition);
  }
  tell(line, code, began,
       {{"file", line.argument(0)}, {"variable", put.variable}, {"step", put.step}});
  if (code == IOCOMP_OK) {
    into.puts.push_back(std::move(put));
  }
}

}  // namespace actor
