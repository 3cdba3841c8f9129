// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/error.h"
#include "contents/catalogue.h"
#include "formats/format.h"
#include "steps/orders.h"
#include "writing/file_writer.h"

namespace iocomp::writing {

/// An order to all writers of a file to do something together.
struct Together {
  steps::Action action{};
  std::int64_t number = 0;         ///< of the physical file: its step; -1: the file of all steps
  std::int64_t settled = 0;        ///< all earlier steps are settled
  std::int64_t earlier_steps = 0;  ///< of other jobs, in front of those of this one in the file
};

/// Such an order, ready to be carried out.
struct Act {
  /// Collective over the writers of the file. Any thread may do it, while the owner of the writer
  /// leaves the physical file alone. @throws Error with the failure of this process.
  std::function<void()> work;
  /// The owner of the writer calls this afterwards, with what became of the work.
  /// @return what became of all of it, in this process.
  std::function<Outcome(const Outcome&)> end;
};

/// @param contents  that the format was told to make room for; the same at all writers.
/// @param create  makes the physical file, if that is ordered.
[[nodiscard]] Act act_of(const Together& order, FileWriter& writer,
                         const contents::Contents& contents, const contents::Catalogue& catalogue,
                         std::function<formats::Target()> create);

}  // namespace iocomp::writing
