// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/io_timers.h"
#include "common/part.h"
#include "common/session.h"

namespace iocomp::apps {

/// A row of a few numbers that the first of the ranks has.
struct Row {
  std::string name;
  iocomp_type type;
  std::int64_t size;
};

/// The arrays and rows in each step of a file.
struct Content {
  struct Array {
    std::string name;
    const Part* part;  ///< must outlive the file
  };
  std::vector<Array> arrays{};
  std::vector<Row> rows{};
};

/// A file of a client, the output of a run or its checkpoints: in each step arrays of which every
/// rank puts its part, and rows that the first one puts.
class StepFile {
 public:
  /// @param name   in the settings.
  /// @param after  steps up to this one are kept, where the setting `existing` is "continue"; -1:
  /// none. @param verify  remember what was put. Collective over the compute ranks.
  StepFile(const Session& session, std::string name, iocomp_kind kind, std::int64_t after,
           Content content, bool verify, IoTimers& timers);

  /// Put a step. @param values  of each array, which must not change before take_back() has
  /// returned. @param rows  of each row; the first rank's are copied.
  /// Collective over the compute ranks where there are no servers.
  void put(std::int64_t step, std::span<const double* const> values,
           std::span<const void* const> rows = {});
  /// Sleep until the arrays may change; at once if nothing was put.
  void take_back();
  /// Sleep until this step is durable, if it was put by this job.
  void wait_durable(std::int64_t step);
  void close();
  /// Read back all arrays that were put, after close(). Collective over the compute ranks. Needs
  /// `verify`. @throws std::runtime_error naming the first array of this rank that differs.
  void verify() const;

  /// Steps that this job has put.
  [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }
  /// Bytes of all ranks together that this job has put; without rows.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  const Session& session_;
  std::string name_;
  Content content_;
  bool remembers_;
  bool is_first_;  ///< of the ranks
  IoTimers& timers_;
  iocomp_file* file_ = nullptr;
  std::vector<iocomp_var*> arrays_{};
  std::vector<iocomp_var*> rows_{};
  std::vector<iocomp_ticket> tickets_{};
  bool is_open_ = false;  ///< the tickets
  std::int64_t steps_ = 0;
  std::int64_t newest_ = -1;
  std::map<std::int64_t, std::vector<std::uint64_t>> put_{};  ///< hashes of this rank, by step
};

}  // namespace iocomp::apps
