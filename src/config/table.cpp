// SPDX-License-Identifier: BSD-3-Clause
#include "config/table.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/parse.h"
#include "config/settings.h"

namespace iocomp::config {
namespace {

bool is_servers(std::string_view text) { return parse_servers(text).has_value(); }
bool are_signals(std::string_view text) { return parse_signals(text).has_value(); }
bool is_stop(std::string_view text) { return parse_stop(text).has_value(); }
bool is_compression(std::string_view text) { return parse_compression(text).has_value(); }
bool is_rounding(std::string_view text) { return parse_rounding(text).has_value(); }
bool is_aggregators(std::string_view text) { return parse_aggregators(text).has_value(); }

}  // namespace

// One row per setting reads better than one line per field of it.
// NOLINTBEGIN(modernize-use-designated-initializers, readability-function-size)
const std::vector<Key>& all_keys() {
  using enum ValueType;
  static const std::vector<Key> keys{
      {"mode", choice, "async", "async|sync",
       "async: output goes on while the program computes; sync: the ranks write in their calls"},
      {"log", choice, "warning", "silent|error|warning|info|debug",
       "what is printed to stderr as it happens"},

      {"placement.servers", form, "",
       "none, \"2 per node\", \"1 per 8\" (compute ranks), or ranks such as [3] or [3, 7]",
       "who writes beside compute ranks; none: nobody, the kernel writes from their "
       "memory; unset: the same, unless policy, node_size, transport.kind or a mapping with "
       "servers is set; in a variable `2-per-node`, `[3]`, `3,7`",
       false, false, is_servers},
      {"placement.policy", choice, "auto", "auto|halves|spread|packed|tail",
       "which ranks become servers; auto: by where ranks are bound, and halves if they are not "
       "bound"},
      {"placement.node_size", integer, "0", "0..1000000",
       "ranks per node (halves: per group); 0 asks MPI which ranks share a node"},
      {"placement.mapping", choice, "any",
       "any|sequential|consecutive|hyperthread|oversubscribe|l3|numa|node|nodes",
       "where servers shall sit beside their compute ranks; compared with where they do sit"},
      {"placement.strict", boolean, "false", "",
       "ranks that do not sit as placement.mapping says are an error, not a warning"},
      {"placement.report", path, "", "", "file that gets the place of every rank, as a table"},

      {"transport.kind", choice, "auto", "auto|shared|message",
       "how data get to servers: through memory of the node, or in messages; auto: shared on the "
       "node where it can be set up, else message"},

      {"staging.memory", bytes, "1 GiB", "1 B..", "per node, shared out among its servers"},
      {"staging.spill", path, "", "",
       "folder on a disk of the node for files with when_full spill; unset: that of the variable "
       "TMPDIR, TMP or TEMP, else /tmp"},
      {"staging.spill_limit", bytes, "16 GiB", "",
       "how much each server, and each compute rank that writes itself, may spill at once"},
      {"client.buffer_memory", bytes, "1 GiB", "",
       "copies of what is put: buffered puts, strided blocks, short runs, arrays that the program "
       "waits for; per compute rank"},

      {"wait.deadline", real, "1800", "0..",
       "seconds without progress after which a wait fails; warned of from a tenth of it on; 0: "
       "none"},

      {"stop.signals", form, "", "HUP, INT, QUIT, USR1, USR2, TERM, XCPU, URG, CONT, also with SIG",
       "on these iocomp_should_stop says yes; they do not end the process", false, false,
       are_signals},
      {"stop.at", form, "",
       "`end`, `end - 10 min`, local time `2026-11-23T18:00`, or seconds since 1970",
       "from when on iocomp_should_stop says yes; end: SLURM_JOB_END_TIME", false, false, is_stop},
      {"stop.grace", duration, "60 s", "",
       "how long servers go on after SIGTERM, when the compute ranks have ended"},

      {"disk.engine", choice, "auto", "auto|uring|threads",
       "who writes; auto: io_uring where it is allowed, else threads"},
      {"disk.direct", choice, "auto", "auto|on|off", "O_DIRECT: where it pays, always or never"},

      {"writing.threads", integer, "1", "1..256",
       "threads of each server, and of each rank that writes or reads itself, among which large "
       "requests are divided: copies, byte order, compression, reads; 1: its own"},
      {"writing.policy", choice, "auto", "auto|local|pull",
       "on several NUMA domains, which writer threads take a request: those where its memory lies, "
       "or those elsewhere; auto: local where it lies on all domains with threads, else pull; "
       "`iocomp numa --apply` sets it"},
      {"writing.bind", choice, "domain", "domain|l3|shared|none",
       "what writer threads are bound to: hardware threads of a NUMA domain or of an L3 cache that "
       "no compute rank is bound to; shared: all of a NUMA domain; none: they run where the "
       "process may"},

      {"server.end", choice, "exit", "exit|status|return",
       "exit: servers leave through MPI_Finalize and exit; status: so too, with 1 after a failure "
       "that nobody was told of; return: iocomp_init returns on them"},
      {"server.nice", integer, "0", "0..19",
       "how far servers stand back, as of nice(1), for whoever computes on their hardware threads"},
      {"storage.modules", path, "", "",
       "folder that is searched first for back-ends; as they are code, only the variable sets it",
       true},
      {"trace.lines", choice, "both", "both|start|summary|none",
       "on stderr, a line at the start: who computes, who writes, and where the first file goes; "
       "and a summary at finalize; with servers and the start line also what is likely if no rank "
       "calls iocomp for a minute"},
      {"trace.json", path, "", "",
       "file that gets the summary, with all its timers, as JSON; a second session adds `-2`, one "
       "without rank 0 `-rank4`"},
      {"trace.timeline", path, "", "",
       "folder that gets what every process did when, for `iocomp trace`"},

      {"files.*.backend", text, "posix", "", "the format; `iocomp info` lists those installed"},
      {"files.*.path", path, "", "",
       "where the file goes; unset: `<name><extension>` in the working directory; folders must "
       "exist"},
      {"files.*.mode", choice, "inherit", "inherit|async|sync",
       "the mode of this file; inherit takes `mode`"},
      {"files.*.kind", choice, "program", "program|series|file_per_step|checkpoint",
       "series: all steps in one file; file_per_step: a file for each; checkpoint: so too, and "
       "keep holds; program: as the program asks"},
      {"files.*.when_full", choice, "wait", "wait|error|spill",
       "what happens to blocks when memory for copies is full: puts wait; they fail; or what has "
       "come goes to the folder staging.spill, and into the file later"},
      {"files.*.bandwidth", rate, "0", "",
       "how much its writers together write in a second, each an equal share of it, as in 500 "
       "MiB/s; 0: no limit"},
      {"files.*.overlap", choice, "error", "error|any",
       "what happens when two puts of a step cover the same element: the step fails, or one of the "
       "values is kept"},
      {"files.*.steps_in_flight", integer, "8", "1..1000000",
       "steps that may be on their way before the first put of the next waits"},
      {"files.*.guard", boolean, "true", "",
       "write synchronously, rank by rank, where asynchronous output turns out to be slower"},
      {"files.*.existing", choice, "refuse", "refuse|replace|continue",
       "what the program finds of an earlier job under the name: refuse to write; replace it, with "
       "the first commit; or go on behind its last step"},
      {"files.*.keep", integer, "0", "0..1000000",
       "committed steps of a checkpoint that are kept; 0: all"},
      {"files.*.after", names, "", "",
       "files whose steps come first: a step of this file is committed only when the steps are "
       "that had been ended of those"},
      {"files.*.time_units", text, "", "",
       "of netcdf, pnetcdf and zarr: the unit of the times that the program says, as CF has it, "
       "and their calendar if it is not the standard one: \"days since 1850-01-01, noleap\""},
      {"files.*.checksum", choice, "auto", "auto|none|xxh3",
       "xxh3: each block that is put gets a checksum, which the manifest keeps; auto: so for "
       "checkpoints (but not with overlap any, nor of blocks put by decomposition); a read "
       "compares the blocks that lie in its box with theirs, unless this is none"},
      {"files.*.layout", choice, "steps", "steps|time|flat",
       "of back-end hdf5: a group with datasets for each step; of a series, one dataset for each "
       "variable, which grows along its first dimension; of a file with one step, the datasets at "
       "the root"},
      {"files.*.chunk", bytes, "4 MiB", "4 KiB..1 GiB",
       "of netcdf, zarr, and hdf5 with layout time: the largest chunk of a dataset; a chunk is a "
       "step, or a part of one",
       false, true},
      {"files.*.compression", form, "none",
       "none, deflate or zstd, also as in \"zstd:4 unshuffled\"; or a filter of HDF5, as in "
       "\"32013\"",
       "of netcdf, zarr, and hdf5 with layout time; behind it a level, from 1 (fast) to 9 of "
       "deflate and 19 of zstd, else 4; bytes of elements are sorted before, "
       "unless it says unshuffled (gzip of zarr never does); zstd is faster; behind a filter its "
       "values",
       false, true, is_compression},
      {"files.*.type", choice, "program", "program|float16|float32|float64",
       "of a series: what its floating-point numbers are in the file, whatever the program puts; "
       "the parts of complex ones likewise; scalars and coordinates stay as they are, unless "
       "named; a checkpoint keeps what is put",
       false, true},
      {"files.*.round", form, "none", "none, \"10 bits\", or a relative error up to 0.25",
       "of floating-point numbers, in every format: so many bits are kept behind the leading one; "
       "or as few as keep within the error, as in 0.001",
       false, true, is_rounding},
      {"files.*.alignment", bytes, "4 KiB", "1 B..1 GiB",
       "of the first byte of a variable in the file, and of borders between domains; these are "
       "whole stripes (Lustre) or blocks (GPFS) at least"},
      {"files.*.aggregators", form, "0", "a number, also as in \"2 packed\"",
       "ranks on each node that write for others, in synchronous mode and in adios2; 0: all write; "
       "every k-th rank of a node, or (packed) the lowest",
       false, false, is_aggregators},
      {"files.*.engine", choice, "BP5", "BP5|BP4|HDF5", "of back-end adios2"},
      {"files.*.operator", text, "", "",
       "of back-end adios2, engines BP4 and BP5: an operator that the installed ADIOS2 has, as in "
       "`blosc`, and its parameters, as in `zfp accuracy=0.01;backend=omp`; of lossy ones only "
       "float32 and float64 pass",
       false, true},
      {"files.*.hints", text, "", "",
       "for the library that a back-end writes with: `key=value;key=value`; of mpiio hints of "
       "MPI-IO, over those that iocomp sets; of adios2 parameters of its engine; of pnetcdf "
       "`nc_header_align_size`, the least room for its header"},
  };
  return keys;
}
const std::vector<Key>& test_keys() {
  using enum ValueType;
  static const std::vector<Key> keys{
      {"test.chunk", bytes, "16 MiB", "1 B..1 GiB", "largest message of data"},
      {"test.inline", bytes, "4 KiB", "0 B..1 MiB",
       "blocks up to this size travel inside their header"},
      {"test.credits", integer, "32", "2..1000000",
       "headers that a compute rank may have on their way to one server"},
      {"test.segment", choice, "auto", "auto|memfd|shm",
       "what the memory of a node is made of; auto: memfd, else a file in /dev/shm"},
      {"test.way", choice, "auto", "auto|in-place|pull|staged",
       "shared: servers read in place, out of the rank's memory, or copies; auto: the cheapest, in "
       "place only where shared memory has huge pages"},
      {"test.kernel_from", bytes, "8 MiB", "",
       "transport.kind auto, with servers: contiguous, aligned blocks of this size and more of a "
       "posix series are written by the rank's kernel"},
      {"test.stripe", bytes, "8 MiB", "",
       "short runs are put together in memory to writes of this size; 0 B: never"},
      {"test.touch", bytes, "256 MiB", "",
       "how much of staging.memory a server touches before it is needed, while there is nothing "
       "else to do; on the hardware thread of compute ranks nothing"},
      {"test.spin", integer, "5", "0..1000",
       "microseconds that a rank looks before it sleeps, where others wake it (shared)"},
      {"test.direct_from", bytes, "1 MiB", "", "smallest write that goes O_DIRECT"},
      {"test.request", bytes, "64 MiB", "4 KiB..",
       "largest single write to the file system; at most 16 MiB from arrays of ranks without "
       "servers"},
      {"test.disk_threads", integer, "1", "1..1024",
       "writer threads of each process that writes, where threads do (disk.engine)"},
      {"test.timeline_events", integer, "65536", "1024..16777216",
       "how many events of each process a timeline keeps, the newest; 192 B each"},
  };
  return keys;
}
// NOLINTEND(modernize-use-designated-initializers, readability-function-size)

std::span<const GoneKey> gone_keys() {
  constexpr std::string_view one_value = "one value of it is right for all";
  static constexpr std::array gone{
      GoneKey{"placement.ratio", "say placement.servers = \"1 per 4\" for 4 compute ranks each"},
      GoneKey{"placement.servers_per_node", "say placement.servers = \"2 per node\""},
      GoneKey{"transport.kind=kernel",
              "say placement.servers = \"none\", or nothing, as it is the default"},
      GoneKey{"transport.way", one_value},
      GoneKey{"transport.kernel_from", "transport.kind = \"shared\" sends all blocks to servers"},
      GoneKey{"transport.chunk", one_value},
      GoneKey{"transport.inline", one_value},
      GoneKey{"transport.credits", one_value},
      GoneKey{"transport.segment", one_value},
      GoneKey{"staging.stripe", one_value},
      GoneKey{"staging.touch", one_value},
      GoneKey{"wait.spin", one_value},
      GoneKey{"stop.before", "say stop.at = \"end - 10 min\""},
      GoneKey{"disk.threads", one_value},
      GoneKey{"disk.direct_from", one_value},
      GoneKey{"disk.request", one_value},
      GoneKey{"writing.auto_busy", "say writing.policy"},
      GoneKey{"writing.auto_idle", "say writing.policy"},
      GoneKey{"writing.share_cpus", "say writing.bind = \"shared\""},
      GoneKey{"server.returns", "say server.end = \"return\""},
      GoneKey{"server.exit_status", "say server.end = \"status\""},
      GoneKey{"trace.start", "say trace.lines = \"summary\" (no line at the start) or \"none\""},
      GoneKey{"trace.summary", "say trace.lines = \"start\" (no summary) or \"none\""},
      GoneKey{"trace.timeline_events", one_value},
      GoneKey{"expert.chunk", one_value},
      GoneKey{"expert.inline", one_value},
      GoneKey{"expert.credits", one_value},
      GoneKey{"expert.segment", one_value},
      GoneKey{"expert.touch", one_value},
      GoneKey{"expert.spin", one_value},
      GoneKey{"expert.direct_from", one_value},
      GoneKey{"expert.request", one_value},
      GoneKey{"files.*.file_per_step", "say kind = \"file_per_step\""},
      GoneKey{"files.*.compression_level", "say compression = \"zstd:4\""},
      GoneKey{"files.*.shuffle", "say compression = \"zstd unshuffled\", or not"},
      GoneKey{"files.*.keep_bits", "say round = \"10 bits\""},
      GoneKey{"files.*.relative_error", "say round = 0.001"},
      GoneKey{"files.*.aggregator_order", "say aggregators = \"2 packed\""},
      GoneKey{"files.*.engine_parameters", "say hints"},
      GoneKey{"files.*.operator_parameters", "say operator = \"zfp accuracy=0.01\""},
      GoneKey{"files.*.verify", "say checksum = \"none\" to read what is damaged"},
      GoneKey{"files.*.calendar", "say time_units = \"days since 1850-01-01, noleap\""},
      GoneKey{"files.*.describe", "the command `iocomp describe` makes a file that ParaView opens"},
  };
  return gone;
}

FileKey parts_of(std::string_view key) noexcept {
  constexpr std::string_view files = "files.";
  constexpr std::string_view variables = ".variables.";
  const auto dot = key.rfind('.');
  if (!key.starts_with(files) || dot < files.size()) {
    return {.file = {}, .variable = {}, .key = key};
  }
  const auto last = key.substr(dot + 1);
  const auto between = key.find(variables, files.size());
  if (between != std::string_view::npos && between + variables.size() < dot) {
    const auto first = between + variables.size();
    return {.file = key.substr(files.size(), between - files.size()),
            .variable = key.substr(first, dot - first),
            .key = last};
  }
  return {.file = key.substr(files.size(), dot - files.size()), .variable = {}, .key = last};
}

std::string variable_keys() {
  std::string keys;
  for (const auto& row : all_keys()) {
    if (row.of_variable) {
      keys += (keys.empty() ? "" : ", ") + std::string{name_in_file(row)};
    }
  }
  return keys;
}

namespace {

/// The rows of the table by name: keys of files, or all others. Each open asks for all of them.
class Rows {
 public:
  explicit Rows(bool are_of_files) {
    add(all_keys(), are_of_files);
    add(test_keys(), are_of_files);
  }
  [[nodiscard]] const Key* find(std::string_view name) const {
    const auto found = rows_.find(name);
    return found == rows_.end() ? nullptr : found->second;
  }

 private:
  void add(const std::vector<Key>& keys, bool are_of_files) {
    for (const auto& row : keys) {
      if (is_file_key(row) == are_of_files) {
        rows_.emplace(are_of_files ? name_in_file(row) : row.name, &row);
      }
    }
  }

  std::unordered_map<std::string_view, const Key*> rows_;
};

}  // namespace

const Key* find_key(std::string_view name) noexcept {
  static const Rows rows{false};
  return rows.find(name);
}

const Key* find_file_key(std::string_view name) noexcept {
  static const Rows rows{true};
  return rows.find(name);
}

}  // namespace iocomp::config
