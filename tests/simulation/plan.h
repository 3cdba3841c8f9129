// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "contents/variable.h"
#include "disk.h"
#include "random.h"
#include "system.h"
#include "world.h"

namespace simulation {

/// A rank waits for this state after a put or a step.
enum class Await : std::uint8_t { nothing, handed_over, written, durable };

/// One put of one rank: a box of a variable.
struct Put {
  int rank = 0;
  std::vector<std::int64_t> start{};
  std::vector<std::int64_t> count{};
  bool is_buffered = false;
  bool is_strided = false;    ///< in memory, part of a larger array
  bool is_scattered = false;  ///< by a decomposition: its last element comes first
  bool is_allocated = false;  ///< in memory of the library, which servers may read in place
  bool is_aligned = false;    ///< in memory as in the file, so that it may go O_DIRECT
  bool is_polled = false;     ///< asked again and again, instead of waited for
  Await await = Await::nothing;
};

struct Variable {
  std::string name;
  iocomp::array::ElementType type = iocomp::array::ElementType::float64;
  int fill = 0;  ///< every byte of the fill value; 0: none is set
};

/// The plan for one variable in a step; without puts it is not in the step.
struct StepOfVariable {
  std::vector<std::int64_t> shape{};
  std::vector<Put> puts{};
};

struct Step {
  std::vector<StepOfVariable> variables{};  ///< one for each of the file
  /// By rank: the step that it waits for after it has ended this one.
  std::vector<std::optional<std::int64_t>> waits_for{};
  bool sets_attributes = false;  ///< when it has ended, to values of another version
  bool asks_tickets = false;     ///< then: which bytes are durable?
  std::int64_t computes = 0;     ///< then, in microseconds, about
  bool is_skipped = false;       ///< nobody makes it: the number of the next one is higher
};

/// A mistake of one rank, which does otherwise than the others: it is told, and nobody hangs.
enum class Mistake : std::uint8_t { none, other_shape, step_less, overlap };

struct PlannedFile {
  std::string name;
  std::string backend = "posix";
  bool is_checkpoint = false;
  bool replaces = false;
  bool exists_before = false;  ///< with other values
  bool goes_on = false;        ///< existing = "continue"
  int generation = 0;          ///< of its values
  bool leaves_close_to_finalize = false;
  bool closes_later = false;    ///< without waiting: that is done before finalize
  bool is_synchronous = false;  ///< whatever the job is
  bool has_file_per_step = false;
  bool grows_along_time = false;  ///< its layout, of hdf5
  bool is_compressed = false;
  bool has_attributes = false;
  iocomp::array::ElementType attribute_type = iocomp::array::ElementType::int32;
  bool has_times = false;     ///< each step begins with its time
  bool defines_time = false;  ///< as a variable that nobody puts; else the library does both
  bool has_sums = false;      ///< also of a series: those of a checkpoint are usual
  bool may_overlap = false;
  bool fails_when_full = false;
  bool spills = false;      ///< when_full = "spill", to the same disk
  bool is_limited = false;  ///< has a bandwidth
  bool is_guarded = false;  ///< written synchronously where that turns out to be faster
  int keeps = 0;
  std::int64_t alignment_bytes = 4096;
  int steps_in_flight = 8;
  std::vector<int> members{};  ///< compute ranks, as its communicator orders them; empty: all
  std::string comes_after{};   ///< another file, whose steps are committed first
  std::vector<Variable> variables{};
  std::vector<Step> steps{};
  bool has_rows = false;  ///< its members say how many rows they have, in each step
  Mistake mistake = Mistake::none;
  int mistaken_rank = 0;
};

enum class Mode : std::uint8_t { synchronous, kernel, servers };

/// The faults outside of the program.
struct PlannedFaults {
  Disk::Faults disk{};
  std::int64_t disk_slowness = 1;
  std::optional<std::int64_t> folder_goes{};    ///< after so many calls that name something in it
  std::int64_t folder_is_gone_for = INT64_MAX;  ///< ... so many
  int power_losses = 0;                         ///< looks at what would be there after one
  std::optional<int> stopped_process{};         ///< for a while
  Nanoseconds stopped_at = 0;
  std::optional<std::int64_t>
      stopped_at_call{};  ///< then: in its call of the system of this number
  Nanoseconds stopped_for = 0;
  std::optional<Nanoseconds> killed_at{};  ///< all processes
  bool spares_servers = false;  ///< then: SIGTERM ends the compute ranks, and servers hear of it
  std::optional<int> killed_server{};  ///< it alone
  /// Not by the clock: while the fsync with this number is done, of the server that is killed, or
  /// of all processes.
  std::optional<std::int64_t> killed_at_sync{};
  /// Since all ranks are connected, or since another one was stopped in a call.
  Nanoseconds server_killed_after = 0;
  /// Another job opens the first file then, if all its members have it open.
  std::optional<Nanoseconds> second_job_at{};
};

/// A job that goes on with the files of the job before it, in the same programs.
struct NextJob {
  Mode mode = Mode::kernel;
  int servers = 0;
  bool shares_memory = false;
  int nodes = 1;
  bool follows_power_loss = false;  ///< it finds what is there after one
  std::int64_t goes_back = 0;       ///< of each file it drops so many of the steps that it finds
  PlannedFaults faults{};
};

/// One history, before it is run.
struct Plan {
  std::uint64_t seed = 0;
  int ranks = 1;  ///< compute ranks
  int servers = 0;
  Mode mode = Mode::kernel;
  std::int64_t staging_bytes = 1 << 20;
  std::int64_t buffer_bytes = 1 << 20;
  std::int64_t stripe_bytes = 1 << 16;
  std::int64_t inline_bytes = 256;
  std::int64_t chunk_bytes = 4096;
  std::int64_t credits = 4;
  std::int64_t kernel_from_bytes = 8 << 20;
  int writing_threads = 1;     ///< that compress, of each process
  bool shares_memory = false;  ///< between ranks of a node; else all is sent by MPI
  int nodes = 1;               ///< each with as many ranks, and with a server
  std::string way = "auto";    ///< test.way
  System system{};
  bool are_files_in_turn = false;  ///< all are open at once, and each makes a step in turn
  std::vector<PlannedFile> files{};
  PlannedFaults faults{};  ///< of the first job
  std::vector<NextJob> next{};
  int damages = 0;  ///< looks at what is there in the end, each with other bytes changed or cut off
  bool finds_damage = false;  ///< of a job that goes on with such a file: its calls may fail
};

/// The subject of a seed.
enum class Focus : std::uint8_t { any, crash, disk, network };

[[nodiscard]] inline bool has_file_per_step(const PlannedFile& file) {
  return file.is_checkpoint || file.has_file_per_step;
}
/// So many committed steps are kept; 0: all, as those of a series always are.
[[nodiscard]] inline int count_kept(const PlannedFile& file) {
  return file.is_checkpoint ? file.keeps : 0;
}
/// Has more elements than can be looked at: one dimension, with gaps between its puts.
[[nodiscard]] inline bool is_vast(const StepOfVariable& part) {
  constexpr std::int64_t vast = std::int64_t{1} << 24;
  return part.shape.size() == 1 && part.shape.front() >= vast;
}
/// The time that a program gives its step.
[[nodiscard]] inline double time_of(std::int64_t step) { return 0.5 * static_cast<double>(step); }
/// The file that is there before, if there is one.
[[nodiscard]] inline PlannedFile old_of(PlannedFile file) {
  file.generation = 1;
  return file;
}
[[nodiscard]] inline bool has_puts(const Step& step) {
  return std::ranges::any_of(step.variables, [](const auto& part) { return !part.puts.empty(); });
}
/// The plan of one of the jobs, from 0: it makes the steps up to some number, and has values of its
/// own.
[[nodiscard]] Plan job_of(const Plan& plan, std::size_t number);
/// True if all members write it together, in the same calls.
[[nodiscard]] bool is_written_together(const Plan& plan, const PlannedFile& file);
/// True if its program does something that fails the step.
[[nodiscard]] bool has_mistake(const PlannedFile& file);
/// True if a compute rank opens the file.
[[nodiscard]] bool is_member(const PlannedFile& file, int rank);
[[nodiscard]] int count_members(const Plan& plan, const PlannedFile& file);

/// The attributes of a file and its first variable have this name, if there are any: at
/// first version 0, and from the end of a step that sets them on the version behind its number.
constexpr const char* attribute_name = "about";
[[nodiscard]] iocomp::contents::Attribute attribute_of(const PlannedFile& file, int version);

[[nodiscard]] Plan make_plan(std::uint64_t seed, Focus focus);
/// Choose how much memory there is for the data of the plan, and the sizes that they are cut into.
void choose_sizes(Random& random, Plan& plan);
/// Choose what the system has, and how processes reach one another, for its mode and servers.
void choose_system(Random random, Plan& plan);

/// The number of bytes that a put of a variable writes.
[[nodiscard]] std::size_t bytes_of(const PlannedFile& file, std::size_t variable, const Put& put);

/// Bytes of the elements that a put of a variable writes; the same in every mode.
[[nodiscard]] std::vector<std::byte> values_of(const PlannedFile& file, std::size_t variable,
                                               std::int64_t step,
                                               const std::vector<std::int64_t>& start,
                                               const std::vector<std::int64_t>& count);
/// The values of a whole variable in a step: those that were put, and the fill value elsewhere.
[[nodiscard]] std::vector<std::byte> expected_values(const PlannedFile& file, std::size_t variable,
                                                     std::int64_t step);

}  // namespace simulation
