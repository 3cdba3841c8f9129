// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "iocomp/numa/results.h"
#include "iocomp/numa/trial.h"
#include "iocomp/output.h"
#include "placement/writer_policy.h"

namespace iocomp::command {

/// The trials of one operation, as lines of a table: by memory, domains and threads, a column for
/// each policy.
struct RateTable {
  struct Row {
    Trial trial{};                                ///< its policy means nothing
    std::vector<const TrialResult*> by_policy{};  ///< as `policies`; null: not possible
  };
  Operation operation{};
  std::vector<placement::WriterPolicy> policies{};
  std::vector<Row> rows{};
};

/// One for each operation that was measured. @pre results outlives them.
[[nodiscard]] std::vector<RateTable> tables_of(const NumaResults& results);

/// "write through the page cache"
[[nodiscard]] std::string in_words(Operation operation);
/// "on each" or "on one"
[[nodiscard]] std::string memory_text(const Trial& trial);

/// The output of `iocomp numa`.
[[nodiscard]] std::string text_of(const NumaResults& results);
[[nodiscard]] Json json_of(const NumaResults& results);

}  // namespace iocomp::command
