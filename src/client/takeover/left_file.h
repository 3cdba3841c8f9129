// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/error.h"
#include "client/takeover/remains.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "contents/catalogue.h"
#include "protocol/notes.h"

namespace iocomp::client {

/// What servers that were given up have left of a file on disk.
struct LeftFile {
  commit::Earlier earlier;
  std::int64_t settled = 0;                  ///< steps; what becomes of the others is open
  std::map<std::int64_t, Outcome> failed{};  ///< of these

  [[nodiscard]] std::int64_t committed() const {
    return settled - static_cast<std::int64_t>(failed.size());
  }
};

/// Whether a server has noted something of a step.
using HasNote = std::function<bool(protocol::Note, std::int64_t step)>;

/// Find that out. Nothing on disk changes meanwhile: servers do nothing more, and nobody publishes
/// before all members have looked.
/// @throws Error{storage_failure} where the file is not there any more.
[[nodiscard]] LeftFile find_left_file(const commit::Publication& names, bool file_per_step,
                                      const Remains& remains, const HasNote& has_note,
                                      const contents::Catalogue& catalogue);

/// Whether a step is committed, of a file that nobody finishes; the same holds on disk meanwhile.
/// @throws Error{storage_failure} where that cannot be made durable.
[[nodiscard]] bool is_committed(const commit::Publication& names, std::int64_t step,
                                int steps_in_flight, const HasNote& has_note);

/// Remove the temporaries that nobody publishes any more.
void remove_temporaries(const commit::Publication& names, bool file_per_step,
                        const Remains& remains);

}  // namespace iocomp::client
