// SPDX-License-Identifier: BSD-3-Clause
#include <adios2.h>
#include <fcntl.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/folder_targets.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/small_files.h"
#include "contents/step_numbers.h"
#include "formats/adios2/earlier_dataset.h"
#include "formats/adios2/engine.h"
#include "formats/adios2/failure.h"
#include "formats/adios2/values.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "formats/rules.h"
#include "formats/sub_boxes.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"

namespace iocomp::formats::bp {

/// The processes that write one dataset together through ADIOS2, which does not survive a failure
/// of one of them: the others stay in a collective call of its own.
class Writers {
 public:
  /// Collective over `comm`, which outlives this.
  Writers(MPI_Comm comm, const mpi::WaitPolicy& wait);

  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  /// The way in which they wait for one another, outside of ADIOS2.
  [[nodiscard]] const mpi::WaitPolicy& wait() const noexcept { return wait_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Carry out a collective call of ADIOS2. Where it fails on some, all throw; where the others do
  /// not come back from it within a minute, or the deadline if that is shorter, the job is aborted,
  /// because they never will.
  /// @throws Error{storage_failure} "cannot ACTION PATH: ADIOS2: ...", the same on all.
  void together(const std::string& action, const std::string& path,
                const std::function<void()>& call) const;

  /// Do what makes the dataset durable from every node but that of the first writer, once all are
  /// here. Collective. @throws Error{storage_failure}, the same on all.
  void on_other_nodes(const std::function<void()>& make_durable) const;

 private:
  void agree(const Outcome& mine, double deadline_seconds) const;

  MPI_Comm comm_;
  mpi::WaitPolicy wait_;
  double patience_seconds_;
  int rank_ = 0;
  int size_ = 1;
  bool has_other_nodes_ = false;
  bool syncs_ = false;  // for its node, which is another than that of the first writer
};

namespace {

constexpr double longest_patience_seconds = 60;

Outcome attempt(const std::string& what, const std::function<void()>& call) {
  try {
    call();
    return {};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::exception& error) {
    const Error told = failure_of_adios2(what, error);
    return {told.code(), told.what()};
  }
}

}  // namespace

Writers::Writers(MPI_Comm comm, const mpi::WaitPolicy& wait)
    : comm_{comm},
      wait_{wait},
      patience_seconds_{wait.deadline_seconds > 0
                            ? std::min(wait.deadline_seconds, longest_patience_seconds)
                            : longest_patience_seconds} {
  mpi::check(MPI_Comm_rank(comm, &rank_));
  mpi::check(MPI_Comm_size(comm, &size_));
  MPI_Comm node = MPI_COMM_NULL;
  mpi::check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node));
  int rank_on_node = 0;
  mpi::check(MPI_Comm_rank(node, &rank_on_node));
  int first_on_node = rank_;
  mpi::check(MPI_Bcast(&first_on_node, 1, MPI_INT, 0, node));
  MPI_Comm_free(&node);
  syncs_ = rank_on_node == 0 && first_on_node != 0;
  std::array<std::int64_t, 1> any{syncs_ ? 1 : 0};
  mpi::maximum(comm, any, wait_, "the other writers of a dataset");
  has_other_nodes_ = any[0] != 0;
}

void Writers::agree(const Outcome& mine, double deadline_seconds) const {
  const mpi::WaitPolicy policy{deadline_seconds};
  Outcome common;
  try {
    common = mpi::agree(comm_, mine, policy, "the other writers of a dataset");
  } catch (const Error&) {
    std::fprintf(stderr,
                 "iocomp: %s (on writer %d). The others are inside ADIOS2 and wait for this one "
                 "for ever: the job is aborted.\n",
                 mine.story.c_str(), rank_);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  common.throw_unless_ok();
}

void Writers::together(const std::string& action, const std::string& path,
                       const std::function<void()>& call) const {
  const Outcome mine = attempt(action + ' ' + path, call);
  agree(mine, mine.ok() ? 0 : patience_seconds_);
}

void Writers::on_other_nodes(const std::function<void()>& make_durable) const {
  if (!has_other_nodes_) {
    return;
  }
  agree({}, 0);  // all have written
  const Outcome mine = outcome_of([&] {
    if (syncs_) {
      make_durable();
    }
  });
  agree(mine, 0);
}

namespace {

bool has_no_such_files(int error) {
  return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL || error == EISDIR ||
         error == ENOENT;
}

// If no room can be set aside, compare with the room that the file system says is left.
int error_by_looking(const OpenFolder& folder, std::int64_t bytes) {
  const auto room = folder.file_system();
  if (!room) {
    return 0;  // then the write will tell
  }
  const auto left =
      static_cast<std::uint64_t>(room->f_bavail) * static_cast<std::uint64_t>(room->f_bsize);
  return left < static_cast<std::uint64_t>(bytes) ? ENOSPC : 0;
}

/// Room on the file system of `folder` that is set aside until `bytes` are written: a file without
/// a name.
class Room {
 public:
  /// Does not throw: see `error`.
  Room(const OpenFolder& folder, std::int64_t bytes) noexcept
      : file_{folder.create_nameless(O_WRONLY)} {
    if (!file_.is_open() || ::fallocate(file_.raw(), 0, 0, bytes) != 0) {
      error_ = has_no_such_files(errno) ? error_by_looking(folder, bytes) : errno;
    }
  }
  /// 0, or the errno that says why there is no such room.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  Descriptor file_;
  int error_ = 0;
};

// 0, or EFBIG if a file that gets so many bytes more may become longer than this process may make
// one (`ulimit -f`).
// @param name  of the file in the folder. Empty: the longest file in it counts.
// @throws Error{storage_failure}.
int error_of_limit(const OpenFolder& folder, const std::string& name, std::int64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return 0;
  }
  std::int64_t longest = 0;
  for (const auto& each : name.empty() ? folder.names() : std::vector{name}) {
    const auto found = folder.find(each);
    longest = std::max<std::int64_t>(longest, found ? found->st_size : 0);
  }
  return static_cast<rlim_t>(longest + bytes) > limit.rlim_cur ? EFBIG : 0;
}

}  // namespace

/// A dataset of ADIOS2. What is written of a step is remembered, not copied, and given to ADIOS2
/// when the step is whole: so a step that fails never reaches it. Steps that were given up are
/// written empty, so that a step has the same number there and here. A dataset that goes on is cut
/// behind the steps that are kept, and ADIOS2 appends to it.
class DatasetTarget : public StepTarget {
 public:
  /// Collective over `writers`.
  DatasetTarget(const Path& path, const FormatOptions& options, Kind kind, MPI_Comm writers);
  /// Leaks what ADIOS2 has open if `finish` was not called: closing it is collective.
  ~DatasetTarget() override;

  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  Compressed write_step(std::int64_t step, const Description& description) override;
  void forget_step() noexcept override { parts_.clear(); }
  void finish(const Description& description) override;

 private:
  struct Part {
    Variable variable;
    array::Box box;
    const std::byte* bytes = nullptr;
  };
  struct Scalar {
    std::array<std::byte, 16> value{};
  };
  [[nodiscard]] bool is_folder() const noexcept { return kind_ != Kind::hdf5; }
  void make_place(const Path& path);
  void hold_folder(const Path& path);
  void find_place(const Path& path, std::int64_t kept_steps);
  void open(const FormatOptions& options);
  void check_room(const Description& description) const;
  void together(const std::string& action, const std::function<void()>& call);
  void write_empty_step();
  void mark_empty_step();
  void write_parts(const Description& description);
  void bring_scalars_to_the_first(const Description& description);
  [[nodiscard]] bool is_called_otherwise(const Description& description) const;
  void put_what_is_empty(const Description& description);
  void define_attributes(const Description& description);
  [[nodiscard]] bool has_news(const Description& description) const;
  void make_durable_elsewhere() const;
  [[nodiscard]] std::string name_for_adios2() const;

  std::string path_;
  FormatOptions options_;
  Kind kind_;
  Writers writers_;
  std::shared_ptr<const OpenFolder> folder_;  // the dataset, or the folder of its one file
  Descriptor file_;                           // that one, or the index of the dataset
  std::unique_ptr<adios2::ADIOS> adios_;
  adios2::IO io_;
  adios2::Engine engine_;
  std::vector<Part> parts_;
  std::vector<Scalar> scalars_;  // parts of the first writer are of these
  std::int64_t steps_ = 0;       // written, empty ones included
  std::map<std::pair<std::string, std::string>, Attribute> attributes_;  // variable, name
  Inventory earlier_;   // attributes of earlier jobs
  std::string broken_;  // why ADIOS2 can do nothing more
};

namespace {

// More than ADIOS2 writes around a block, an attribute and a step.
constexpr std::int64_t bytes_around_a_block = 1024;
constexpr std::int64_t bytes_around_a_step = std::int64_t{64} << 10;

template <typename Action>
void for_each_attribute(const Description& description, const Action& action) {
  for (const auto& [name, value] : description.attributes) {
    action(std::string{}, name, value);
  }
  std::set<int> seen;
  for (const auto& placed : description.contents) {
    const auto id = static_cast<std::size_t>(placed.variable.id);
    if (id >= description.of_variable.size() || !seen.insert(placed.variable.id).second) {
      continue;
    }
    for (const auto& [name, value] : description.of_variable[id]) {
      action(placed.variable.name, name, value);
    }
  }
}

}  // namespace

DatasetTarget::DatasetTarget(const Path& path, const FormatOptions& options, Kind kind,
                             MPI_Comm writers)
    : path_{path.text()}, options_{options}, kind_{kind}, writers_{writers, options.wait} {
  if (options.earlier_steps >= 0) {
    find_place(path, options.earlier_steps);
  } else {
    make_place(path);
  }
  open(options);
}

DatasetTarget::~DatasetTarget() {
  // Never closed: that is collective, and the other writers may not follow.
  (void)adios_.release();
}

// Makes the files that ADIOS2 would make next. A rank that failed in ADIOS2 would leave the others
// waiting.
void DatasetTarget::make_place(const Path& path) {
  if (!is_folder()) {
    folder_ = path.shared_folder();
    file_ = open_together(path, writers_.comm(), writers_.wait());
    return;
  }
  agree_on(outcome_of([&] {
             if (writers_.rank() == 0) {
               make_folder(path);
             }
           }),
           writers_.comm(), writers_.wait());
  agree_on(outcome_of([&] { hold_folder(path); }), writers_.comm(), writers_.wait());
  file_ = open_together({folder_, "md.idx"}, writers_.comm(), writers_.wait());
}

void DatasetTarget::hold_folder(const Path& path) {
  folder_ = std::make_shared<const OpenFolder>(path.folder().folder(path.name()));
}

// Finds the files that ADIOS2 will append to.
void DatasetTarget::find_place(const Path& path, std::int64_t kept_steps) {
  agree_on(outcome_of([&] { hold_folder(path); }), writers_.comm(), writers_.wait());
  std::optional<EarlierDataset> earlier;
  const auto go_on = [&](const std::function<void()>& call) {
    writers_.together("go on with", path_, call);
  };
  go_on([&] {
    if (writers_.rank() == 0) {
      earlier.emplace(folder_, kept_steps);
    }
  });
  go_on([&] { earlier_ = attributes_of_all_steps(name_for_adios2()); });
  go_on([&] {
    if (earlier) {
      earlier->drop_others();
    }
  });
  std::array<std::int64_t, 1> steps{earlier ? earlier->steps() : 0};
  mpi::maximum(writers_.comm(), steps, writers_.wait(), "the other writers of a dataset");
  steps_ = steps[0];
}

void DatasetTarget::open(const FormatOptions& options) {
  const adios2::Params chosen = parameters(kind_, options, writers_.size());
  together("open", [&] {
    have_home();
    adios_ = std::make_unique<adios2::ADIOS>(writers_.comm());
    io_ = adios_->DeclareIO("iocomp");
    io_.SetEngine(name(kind_));
    io_.SetParameters(chosen);
    if (is_folder()) {
      const bool is_there = options.earlier_steps >= 0;
      engine_ = io_.Open(name_for_adios2(), is_there ? adios2::Mode::Append : adios2::Mode::Write);
    } else {  // by MPI-IO
      const OwnName name{file_};
      engine_ = io_.Open(name_of(name), adios2::Mode::Write);
    }
  });
}

// A name that stays when the dataset gets another: ADIOS2 opens files in it as late as in Close.
std::string DatasetTarget::name_for_adios2() const { return name_of(folder_->descriptor()); }

void DatasetTarget::together(const std::string& action, const std::function<void()>& call) {
  if (!broken_.empty()) {
    throw Error{ErrorCode::storage_failure, broken_};
  }
  try {
    writers_.together(action, path_, call);
  } catch (const Error& error) {
    broken_ = error.what();
    throw;
  }
}

void DatasetTarget::write(const Placed& where, const Selection& selection,
                          std::span<const std::byte> bytes) {
  const std::byte* next = bytes.data();
  for (const auto& part : sub_boxes(selection.box, selection.first, selection.count)) {
    parts_.push_back({where.variable, part, next});
    next +=
        static_cast<std::size_t>(array::elements(part)) * array::size_bytes(where.variable.type);
  }
}

// A full disk must show before ADIOS2 writes.
void DatasetTarget::check_room(const Description& description) const {
  std::int64_t bytes = bytes_around_a_step;
  for (const auto& part : parts_) {
    const auto element = static_cast<std::int64_t>(array::size_bytes(part.variable.type));
    bytes += array::elements(part.box) * element + bytes_around_a_block;
  }
  for_each_attribute(description, [&](const auto& /*variable*/, const auto& name,
                                      const auto& value) {
    bytes += static_cast<std::int64_t>(name.size() + value.values.size()) + bytes_around_a_block;
  });
  const Room room{*folder_, bytes};
  agree_on(outcome_of([&] {
             // ADIOS2 may put what all writers have into one file.
             const int error =
                 room.error() != 0
                     ? room.error()
                     : error_of_limit(*folder_, is_folder() ? "" : name_in_folder(path_),
                                      bytes * writers_.size());
             if (error != 0) {
               throw failure("make room for a step in", path_, error);
             }
           }),
           writers_.comm(), writers_.wait());
}

Compressed DatasetTarget::write_step(std::int64_t step, const Description& description) {
  check_room(description);
  together("write to", [&] {
    while (steps_ < step) {
      write_empty_step();
    }
    write_parts(description);
  });
  parts_.clear();
  make_durable_elsewhere();
  return {};
}

void DatasetTarget::write_empty_step() {
  if (!is_folder()) {
    io_.RemoveAllVariables();
  }
  engine_.BeginStep();
  mark_empty_step();
  engine_.EndStep();
  ++steps_;
}

// BP4 cannot read a step in which nobody has put anything.
void DatasetTarget::mark_empty_step() {
  if (kind_ != Kind::bp4 || writers_.rank() != 0) {
    return;
  }
  auto variable = io_.InquireVariable<std::int64_t>(empty_step);
  if (!variable) {
    variable = io_.DefineVariable<std::int64_t>(empty_step);
  }
  engine_.Put(variable, steps_, adios2::Mode::Sync);
}

void DatasetTarget::write_parts(const Description& description) {
  if (!is_folder()) {
    io_.RemoveAllVariables();  // this engine writes all that the IO knows
  }
  for (const auto& placed : description.contents) {
    if (kind_ != Kind::hdf5 || array::elements(placed.variable.shape) > 0) {
      bp::define(io_, placed.variable, options_.storage_of(placed.variable.name));
    }
  }
  if (is_folder()) {
    define_attributes(description);  // the other keeps the first value that it sees
  }
  if (is_called_otherwise(description)) {
    bp::define(io_, contents::step_numbers_variable());
  }
  engine_.BeginStep();
  bring_scalars_to_the_first(description);
  for (const auto& part : parts_) {
    bp::put(io_, engine_, part.variable, part.box, part.bytes);
  }
  put_what_is_empty(description);
  if (std::ranges::all_of(description.contents, [](const Placed& placed) {
        return array::elements(placed.variable.shape) == 0;
      })) {
    mark_empty_step();
  }
  engine_.EndStep();
  ++steps_;
}

// ADIOS2 counts the steps. One that has another number tells it.
bool DatasetTarget::is_called_otherwise(const Description& description) const {
  return !options_.one_step && !description.contents.empty() &&
         description.contents.front().number_of_step() != steps_;
}

// A variable is in a step when somebody puts it, be it a block without elements. BP4 cannot read
// other steps of such a variable then. HDF5 keeps it only where there are several writers, so that
// it is not even defined there: a file must not depend on how many write it.
void DatasetTarget::put_what_is_empty(const Description& description) {
  if (kind_ != Kind::bp5) {
    return;
  }
  static constexpr std::byte nothing{};
  for (const auto& placed : description.contents) {
    const array::Shape& shape = placed.variable.shape;
    if (writers_.rank() == 0 && array::elements(shape) == 0) {
      const array::Box all{.dimensions = shape.dimensions, .start = {}, .count = shape.extent};
      bp::put(io_, engine_, placed.variable, all, &nothing);
    }
  }
}

// Readers of BP5 look for single values with the first writer.
void DatasetTarget::bring_scalars_to_the_first(const Description& description) {
  std::map<int, Scalar> mine;
  std::erase_if(parts_, [&mine](const Part& part) {
    const bool is_scalar = part.box.dimensions == 0;
    if (is_scalar) {
      std::memcpy(mine[part.variable.id].value.data(), part.bytes,
                  array::size_bytes(part.variable.type));
    }
    return is_scalar;
  });
  scalars_.clear();
  std::vector<const Variable*> variables;
  for (const auto& placed : description.contents) {
    if (placed.variable.shape.dimensions == 0) {
      const auto found = mine.find(placed.variable.id);
      variables.push_back(&placed.variable);
      scalars_.push_back(found == mine.end() ? Scalar{} : found->second);
    }
  }
  const bool is_first = writers_.rank() == 0;
  const Variable number = contents::step_numbers_variable();
  if (is_called_otherwise(description)) {
    const std::int64_t value = is_first ? description.contents.front().number_of_step() : 0;
    variables.push_back(&number);
    std::memcpy(scalars_.emplace_back().value.data(), &value, sizeof value);
  }
  if (scalars_.empty()) {
    return;
  }
  // Nobody but its owner has other than zeros.
  const auto bytes = static_cast<int>(scalars_.size() * sizeof(Scalar));
  mpi::check(MPI_Reduce(is_first ? MPI_IN_PLACE : scalars_.data(), scalars_.data(), bytes, MPI_BYTE,
                        MPI_BOR, 0, writers_.comm()));
  for (std::size_t i = 0; i < variables.size() && is_first; ++i) {
    parts_.push_back({*variables[i], {}, scalars_[i].value.data()});
  }
}

void DatasetTarget::define_attributes(const Description& description) {
  // They may be of a step that is dropped.
  const auto repeat = [this](const std::string& variable, const Attributes& attributes) {
    for (const auto& [name, value] : attributes) {
      attributes_.emplace(std::pair{variable, name}, value);
      bp::define(io_, variable, name, value);
    }
  };
  repeat({}, std::exchange(earlier_.attributes, {}));
  for (const auto& [variable, attributes] : std::exchange(earlier_.of_variable, {})) {
    repeat(variable, attributes);
  }
  for_each_attribute(
      description, [this](const auto& variable, const auto& name, const auto& value) {
        const auto [known, is_new] = attributes_.try_emplace({variable, name}, value);
        if (is_new || known->second != value) {
          known->second = value;
          bp::define(io_, variable, name, value);
        }
      });
}

bool DatasetTarget::has_news(const Description& description) const {
  bool any = false;
  for_each_attribute(description, [&](const auto& variable, const auto& name, const auto& value) {
    const auto known = attributes_.find({variable, name});
    any = any || known == attributes_.end() || known->second != value;
  });
  return any;
}

void DatasetTarget::make_durable_elsewhere() const {
  writers_.on_other_nodes([this] {
    if (is_folder()) {
      make_durable(*folder_);
    } else {
      make_durable(file_, path_);
    }
  });
}

void DatasetTarget::finish(const Description& description) {
  parts_.clear();
  if (!broken_.empty()) {
    throw Error{ErrorCode::storage_failure, broken_};
  }
  check_room(description);
  together("close", [&] {
    for (const auto& placed : is_folder() ? std::vector<Placed>{} : description.contents) {
      bp::define(io_, placed.variable);  // ADIOS2 wants to know what the attributes are of
    }
    const bool has_earlier = !earlier_.attributes.empty() || !earlier_.of_variable.empty();
    const bool writes = has_earlier || has_news(description);
    define_attributes(description);
    if (writes && is_folder()) {
      write_empty_step();  // BP keeps attributes in steps
    }
    engine_.Close();
    adios_.reset();
  });
  make_durable_elsewhere();
}

}  // namespace iocomp::formats::bp

namespace iocomp::formats {
namespace {

const contents::Rules& rules_of(bp::Kind kind) {
  return kind == bp::Kind::bp4   ? rules::adios2_bp4
         : kind == bp::Kind::bp5 ? rules::adios2_bp5
                                 : rules::adios2_hdf5;
}

Format format_of(bp::Kind kind) {
  return Format{{.rules = rules_of(kind),
                 .extension = kind == bp::Kind::hdf5 ? ".h5" : ".bp",
                 .kind = Kind::step,
                 .readable_while_open = kind != bp::Kind::hdf5,
                 .goes_on = kind == bp::Kind::bp4,  // docs/developers/decisions/going_on.md
                 .folder_mark = kind == bp::Kind::hdf5 ? "" : "md.idx"},
                [kind](const auto& path, const auto& options, const auto& writers) {
                  return std::make_unique<bp::DatasetTarget>(path, options, kind, writers.raw);
                }};
}

const Format& adios2_format(const FormatOptions& options) {
  static const std::array all{format_of(bp::Kind::bp4), format_of(bp::Kind::bp5),
                              format_of(bp::Kind::hdf5)};
  for (const bp::Kind kind : {bp::Kind::bp4, bp::Kind::bp5, bp::Kind::hdf5}) {
    if (options.engine != bp::name(kind)) {
      continue;
    }
#ifndef ADIOS2_HAVE_HDF5
    if (kind == bp::Kind::hdf5) {
      throw Error{ErrorCode::unsupported,
                  "the engine HDF5 of adios2 is not there: this ADIOS2 was built without HDF5"};
    }
#endif
    (void)bp::parameters(kind, options, 1);  // refuses some
    bp::check_operators(kind, options);
    return all.at(static_cast<std::size_t>(kind));
  }
  throw Error{ErrorCode::invalid_setting,
              "unknown engine \"" + options.engine + "\" of adios2; allowed are BP4, BP5 and HDF5"};
}

std::string version() {
#ifdef ADIOS2_HAVE_HDF5
  return "ADIOS2 " ADIOS2_VERSION_STR ", engines BP4, BP5 and HDF5";
#else
  return "ADIOS2 " ADIOS2_VERSION_STR ", engines BP4 and BP5";
#endif
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::version, &iocomp::formats::adios2_format};
