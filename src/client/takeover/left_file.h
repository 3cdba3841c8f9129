// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "client/remote/post_book.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "contents/catalogue.h"
#include "protocol/notes.h"

namespace iocomp::client {

/// True if a server has left this note on a step.
using HasNote = std::function<bool(protocol::Note, std::int64_t step)>;

/// Find the state in which servers that were given up have left a file. Nothing on disk changes
/// meanwhile: servers do nothing more, and nobody publishes before all members have looked.
/// @throws Error{storage_failure} if the file is gone.
[[nodiscard]] commit::Left find_left_file(const commit::Publication& names, bool file_per_step,
                                          const Posted& posted, const HasNote& has_note,
                                          const contents::Catalogue& catalogue);

/// True if a step is committed, of a file that nobody finishes. The disk does not change meanwhile.
/// @throws Error{storage_failure} if that cannot be made durable.
[[nodiscard]] bool is_committed(const commit::Publication& names, std::int64_t step,
                                int steps_in_flight, const HasNote& has_note);

/// Remove the temporaries that nobody publishes any more.
void remove_temporaries(const commit::Publication& names, bool file_per_step, const Posted& posted);

}  // namespace iocomp::client
