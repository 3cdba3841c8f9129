#include "performer.h"

#include <iocomp/iocomp.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iocomp/iocomp.hpp>
#include <map>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "pattern.h"
#include "script.h"
#include "written_block.h"

namespace {

iocomp_type type_of(const std::string& name) {
  constexpr std::array names{"int8",    "int16",     "int32",      "int64",   "uint8",
                             "uint16",  "uint32",    "uint64",     "float16", "float32",
                             "float64", "complex64", "complex128", "char"};
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw std::runtime_error{"no element type: " + name};
  }
  return static_cast<iocomp_type>(found - names.begin() + 1);
}

iocomp_state state_of(const std::string& name) {
  static const std::map<std::string, iocomp_state> states{{"handed_over", IOCOMP_HANDED_OVER},
                                                          {"written", IOCOMP_WRITTEN},
                                                          {"durable", IOCOMP_DURABLE}};
  return states.at(name);
}

/// The program uses its memory again.
void reuse(std::vector<std::byte>& memory) {
  std::fill(memory.begin(), memory.end(), poison);
  memory = {};
}

}  // namespace

void Performer::reuse_memory(Put& put) {
  reuse(put.memory);
  if (put.allocated.data() != nullptr) {
    std::fill(put.allocated.begin(), put.allocated.end(), poison);
    iocomp::check(iocomp_free(session_.raw(), put.allocated.data()));
    put.allocated = {};
  }
}

Performer::Performer(iocomp::Session& session) : session_{session} {
  MPI_Comm_rank(session.comm(), &rank_);
  MPI_Comm_size(session.comm(), &size_);
}

void Performer::perform(Line line) {
  static const std::map<std::string, Action> actions{
      {"define", &Performer::define},       {"shape", &Performer::set_shape},
      {"attribute", &Performer::attribute}, {"text", &Performer::text},
      {"fill", &Performer::fill},           {"put", &Performer::put},
      {"irregular", &Performer::irregular}, {"wait", &Performer::wait},
      {"poll", &Performer::poll},           {"end_step", &Performer::end_step},
      {"wait_step", &Performer::wait_step}, {"close", &Performer::close}};
  const std::string verb = line.word();
  if (verb == "open") {
    open(line);
  } else if (verb == "progress") {
    session_.progress();
  } else {
    const auto file = files_.find(line.word());
    if (file == files_.end()) {
      return;  // of ranks that this one does not belong to
    }
    (this->*actions.at(verb))(line, file->second);
    if (verb == "close") {
      files_.erase(file);
    }
  }
}

void Performer::open(Line& line) {
  const std::string name = line.word();
  const auto kind = line.word() == "checkpoint" ? IOCOMP_CHECKPOINT : IOCOMP_SERIES;
  const auto group = line.integer();
  const auto groups = line.integer();
  File file;
  file.name = name;
  if (groups == 1) {
    iocomp::check(iocomp_open(session_.raw(), name.c_str(), kind, &file.handle));
    file.rank = rank_;
    file.size = size_;
  } else {
    std::vector<int> members;
    for (int rank = 0; rank < size_; ++rank) {
      if (size_ < groups ? rank == group % size_ : rank * groups / size_ == group) {
        members.push_back(rank);
      }
    }
    if (std::find(members.begin(), members.end(), rank_) == members.end()) {
      return;
    }
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group some = MPI_GROUP_NULL;
    MPI_Comm_group(session_.comm(), &all);
    MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &some);
    MPI_Comm_create_group(session_.comm(), some, static_cast<int>(group), &file.comm);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    MPI_Comm_rank(file.comm, &file.rank);
    MPI_Comm_size(file.comm, &file.size);
    iocomp::check(iocomp_open_on(session_.raw(), file.comm, name.c_str(), kind, &file.handle));
  }
  files_.insert_or_assign(name, std::move(file));
}

void Performer::define(Line& line, File& file) {
  const std::string name = line.word();
  Variable variable;
  variable.type = type_of(line.word());
  variable.seed = static_cast<std::uint64_t>(line.integer());
  const int dimensions = static_cast<int>(line.integer());
  variable.shape = line.integers(dimensions);
  iocomp::check(iocomp_define(file.handle, name.c_str(), variable.type, dimensions,
                              variable.shape.data(), &variable.handle));
  file.variables.emplace(name, std::move(variable));
}

void Performer::set_shape(Line& line, File& file) {
  Variable& variable = file.variables.at(line.word());
  variable.shape = line.integers(static_cast<int>(variable.shape.size()));
  iocomp::check(iocomp_set_shape(variable.handle, variable.shape.data()));
}

void Performer::attribute(Line& line, File& file) {
  const std::string variable = line.word();
  const std::string name = line.word();
  const iocomp_type type = type_of(line.word());
  const auto values = line.bytes();
  const auto count = static_cast<std::int64_t>(values.size() / iocomp_type_size(type));
  iocomp::check(variable == "-"
                    ? iocomp_set_attribute(file.handle, name.c_str(), type, count, values.data())
                    : iocomp_set_var_attribute(file.variables.at(variable).handle, name.c_str(),
                                               type, count, values.data()));
}

void Performer::text(Line& line, File& file) {
  const std::string variable = line.word();
  const std::string name = line.word();
  std::string value;
  for (const std::byte character : line.bytes()) {
    value += static_cast<char>(character);
  }
  iocomp::check(variable == "-"
                    ? iocomp_set_attribute_text(file.handle, name.c_str(), value.c_str())
                    : iocomp_set_var_attribute_text(file.variables.at(variable).handle,
                                                    name.c_str(), value.c_str()));
}

void Performer::fill(Line& line, File& file) {
  const Variable& variable = file.variables.at(line.word());
  iocomp::check(iocomp_set_fill(variable.handle, line.bytes().data()));
}

void Performer::put(Line& line, File& file) {
  const std::string name = line.word();
  const Variable& variable = file.variables.at(name);
  const bool is_mine = line.integer() % file.size == file.rank;
  const bool buffered = line.word() == "buffered";
  const int dimensions = static_cast<int>(variable.shape.size());
  Block block;
  block.global_shape = variable.shape;
  block.global_start = line.integers(dimensions);
  block.count = line.integers(dimensions);
  const bool has_memory_box = !line.is_over();
  block.memory_shape = has_memory_box ? line.integers(dimensions) : block.count;
  block.memory_start =
      has_memory_box ? line.integers(dimensions) : std::vector<std::int64_t>(block.count.size(), 0);

  const WrittenBlock written{name, variable.type, variable.seed, iocomp_current_step(file.handle),
                             block};
  if (!written.is_empty()) {  // of a variable of which only such are put the step has nothing
    file.written.push_back(written);
  }
  if (!is_mine) {
    return;
  }
  Put put;
  put.memory = written.local_array();
  if (!buffered && file.puts.size() % 4 == 1) {
    put.allocated = allocated_copy(put.memory);
  }
  const void* const values =
      put.allocated.data() != nullptr ? put.allocated.data() : put.memory.data();
  if (has_memory_box) {
    iocomp::check(iocomp_put_from(variable.handle, block.global_start.data(), block.count.data(),
                                  values, block.memory_shape.data(), block.memory_start.data(),
                                  buffered ? 1 : 0, &put.ticket));
  } else if (buffered) {
    iocomp::check(iocomp_put_buffered(variable.handle, block.global_start.data(),
                                      block.count.data(), values, &put.ticket));
  } else {
    iocomp::check(iocomp_put(variable.handle, block.global_start.data(), block.count.data(), values,
                             &put.ticket));
  }
  if (buffered) {
    reuse(put.memory);
  }
  file.puts.push_back(std::move(put));
}

iocomp_decomp* Performer::decomposition(const std::vector<std::int64_t>& shape,
                                        const std::string& form,
                                        const std::vector<std::int64_t>& indices) {
  iocomp_decomp*& made = decompositions_[{shape, form, indices}];
  if (made != nullptr) {
    return made;
  }
  const int dimensions = static_cast<int>(shape.size());
  const auto size = static_cast<std::int64_t>(indices.size());
  if (form == "map") {
    iocomp::check(
        iocomp_decomp_map(session_.raw(), dimensions, shape.data(), size, indices.data(), &made));
    return made;
  }
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> count;
  for (const std::int64_t index : indices) {
    const bool follows = !first.empty() && first.back() + count.back() == index;
    if (follows) {
      ++count.back();
    } else {
      first.push_back(index);
      count.push_back(1);
    }
  }
  iocomp::check(iocomp_decomp_runs(session_.raw(), dimensions, shape.data(),
                                   static_cast<std::int64_t>(first.size()), first.data(),
                                   count.data(), &made));
  return made;
}

void Performer::irregular(Line& line, File& file) {
  const Variable& variable = file.variables.at(line.word());
  if (line.integer() % file.size != file.rank) {
    return;
  }
  const bool buffered = line.word() == "buffered";
  const std::string form = line.word();
  const int size = static_cast<int>(line.integer());
  const auto indices = line.integers(size);
  const std::size_t element = iocomp_type_size(variable.type);
  Put put;
  put.memory.assign(indices.size() * element, poison);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= 0) {
      pattern::fill(variable.type, variable.seed, iocomp_current_step(file.handle), indices[i],
                    std::span{put.memory}.subspan(i * element, element));
    }
  }
  if (!buffered && file.puts.size() % 4 == 1 && !put.memory.empty()) {
    put.allocated = allocated_copy(put.memory);
  }
  const void* const values =
      put.allocated.data() != nullptr ? put.allocated.data() : put.memory.data();
  iocomp_decomp* const part = decomposition(variable.shape, form, indices);
  iocomp::check(iocomp_put_decomp(variable.handle, part, values, buffered ? 1 : 0, &put.ticket));
  if (buffered) {
    reuse(put.memory);
  }
  if (file.puts.size() % 5 == 3) {  // what is on its way is not concerned
    iocomp::check(iocomp_decomp_free(part));
    std::erase_if(decompositions_, [part](const auto& one) { return one.second == part; });
  }
  file.puts.push_back(std::move(put));
}

std::span<std::byte> Performer::allocated_copy(const std::vector<std::byte>& values) {
  void* memory = nullptr;
  iocomp::check(iocomp_alloc(session_.raw(), values.size(), &memory));
  std::copy(values.begin(), values.end(), static_cast<std::byte*>(memory));
  return {static_cast<std::byte*>(memory), values.size()};
}

std::vector<std::size_t> Performer::unsettled(File& file, iocomp_state state,
                                              const std::string& order) const {
  std::size_t& begin = file.waited[state];
  std::vector<std::size_t> which(file.puts.size() - begin);
  std::iota(which.begin(), which.end(), begin);
  begin = file.puts.size();
  if (order == "backward") {
    std::reverse(which.begin(), which.end());
  } else if (order == "odd_first") {
    std::stable_partition(which.begin(), which.end(), [](std::size_t put) { return put % 2 == 1; });
  }
  return which;
}

void Performer::wait(Line& line, File& file) {
  const iocomp_state state = state_of(line.word());
  for (const std::size_t which : unsettled(file, state, line.word())) {
    Put& put = file.puts[which];
    iocomp::check(iocomp_wait(&put.ticket, state));
    reuse_memory(put);
  }
}

void Performer::poll(Line& line, File& file) {
  constexpr std::chrono::seconds longest{60};
  const auto deadline = std::chrono::steady_clock::now() + longest;
  const iocomp_state state = state_of(line.word());
  for (const std::size_t which : unsettled(file, state, line.word())) {
    Put& put = file.puts[which];
    for (int reached = 0; reached == 0;) {
      session_.progress();
      iocomp::check(iocomp_test(&put.ticket, state, &reached));
      if (std::chrono::steady_clock::now() > deadline) {
        throw std::runtime_error{"put " + std::to_string(which) + " does not come to its state"};
      }
    }
    reuse_memory(put);
  }
}

void Performer::end_step(Line& /*line*/, File& file) {
  iocomp::check(iocomp_end_step(file.handle));
}

void Performer::wait_step(Line& line, File& file) {
  iocomp::check(iocomp_wait_step(file.handle, line.integer()));
}

void Performer::close(Line& /*line*/, File& file) {
  iocomp::check(iocomp_close(file.handle));
  for (auto& put : file.puts) {
    reuse_memory(put);
    iocomp::check(iocomp_wait(&put.ticket, IOCOMP_DURABLE));  // can be asked until finalize
  }
  read_back(file);
  if (file.comm != MPI_COMM_NULL) {
    MPI_Comm_free(&file.comm);
  }
}

// What was put must be read again, here by ranks that did not put it. Steps that are not committed
// any more (checkpoints beyond those that are kept) are left out; scripts that leave steps out on
// purpose are for others to check.
void Performer::read_back(const File& file) {
  if (file.written.empty()) {
    return;  // where no step was ended either there is no checkpoint at all
  }
  const iocomp::Input input = file.comm == MPI_COMM_NULL
                                  ? session_.open_input(file.name)
                                  : session_.open_input_on(file.comm, file.name);
  const auto steps = input.steps();
  const auto blocks = static_cast<std::int64_t>(file.written.size());
  for (std::int64_t i = file.rank; i < blocks; i += file.size) {
    const auto& written = file.written[static_cast<std::size_t>((i + 1) % blocks)];
    if (std::binary_search(steps.begin(), steps.end(), written.step)) {
      written.expect_in(input);
    }
  }
}
