// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "protocol/header.h"
#include "steps/ended.h"
#include "steps/orders.h"
#include "steps/predecessors.h"

/// The bodies of the messages: plain records.
namespace iocomp::protocol {

using Bytes = std::vector<std::byte>;

/// The whole message of a record, header included.
template <typename Record>
[[nodiscard]] Bytes encode(std::uint64_t file, Kind kind, const Record& record);
/// @throws Error{internal} for what is too short or impossible.
template <typename Record>
[[nodiscard]] Record decode(std::span<const std::byte> body);

/// No step lies behind this number: a file that is continued keeps all its steps.
inline constexpr std::int64_t everything = std::numeric_limits<std::int64_t>::max();

/// open, home_open
struct Open {
  std::string name;
  std::string options{};            ///< that the program gave in the call
  std::uint8_t kind = 0;            ///< iocomp_kind
  std::int32_t opener = 0;          ///< compute rank
  std::int64_t members = 0;         ///< compute ranks of the file
  std::int64_t home_members = 0;    ///< those that belong to this home
  std::int64_t domain_bytes = 0;    ///< known_file: what borders between domains are multiples of
  std::int64_t after = everything;  ///< a file that is continued loses the steps behind this number
  contents::Beginning beginning{};  ///< known_file; else the folder alone, as the opener means it
};

/// event, home_event, known_event: `what` is storage's encoding of the event.
struct Event {
  std::int64_t sequence = 0;  ///< number of the event in its file, from 0
  std::int32_t caller = 0;    ///< compute rank
  Bytes what;
};

/// piece: elements `first` to `first + count` of the packed order of `box`, or of the list of runs
/// of that number that the sender has made known. The bytes are `inside`,
/// or follow as chunks of `chunk_elements` (the last one shorter).
struct Piece {
  std::int64_t step = 0;
  std::int32_t variable = 0;
  std::int64_t events = 0;  ///< how many events of the file the sender had issued
  std::uint64_t ticket = 0;
  std::int32_t sender = 0;  ///< compute rank
  array::Box box;
  std::uint64_t runs = 0;  ///< 0: none, the box holds
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t chunk_elements = 0;  ///< 0: the bytes are inside
  std::int32_t element_bytes = 0;
  std::span<const std::byte> inside;  ///< of the message that was decoded

  [[nodiscard]] std::size_t chunk_bytes(std::int64_t elements) const noexcept {
    return static_cast<std::size_t>(elements) * static_cast<std::size_t>(element_bytes);
  }
};

/// end_step, close: of one rank. home_step, home_close: summed over a home.
using StepCounts = steps::Ended;

/// flush: up to which step; whether durable. file_failed: from which step on, and why. want_place;
/// placed; step_settled; step_done; sync: whichever fields the kind needs.
struct StepNote {
  std::int64_t step = 0;
  std::int32_t variable = -1;  ///< want_place, placed
  std::int64_t number = 0;     ///< placed: offset; want_place: events; flush: 0 or 1; step_done:
                               ///< so many writers
  Outcome outcome;             ///< placed, step_done, step_settled
  std::int64_t events = 0;     ///< placed: the definitions that the lead knew
};

/// other, home_other
struct Other {
  std::uint64_t file = 0;  ///< its key
  steps::Standing standing;
};

/// action, action_done
using Action = steps::Action;
struct ActionNote {
  Action action{};
  std::int64_t number = 0;  ///< counts the actions of the session
  std::int64_t step = 0;
  /// create: the number that the program has given the step; writers may not have begun it
  std::int64_t named = 0;
  std::int64_t settled = 0;  ///< discard: steps before this one stay, if they are in this file
  Outcome outcome;           ///< action_done, like:
  std::int32_t writers = 1;  ///< so many
};

/// opened: by the servers, or refused.
struct Opened {
  Outcome outcome;
  std::int64_t domain_bytes = 1;    ///< as in Open, and ...
  contents::Beginning beginning{};  ///< ... this
};

/// notices: several at once. closed, file_closed: an Outcome.
struct Notice {
  enum class About : std::uint8_t {
    written = 1,     ///< a piece of ticket `number`
    durable = 2,     ///< a piece of ticket `number`
    failed = 3,      ///< a piece of ticket `number`
    settled = 4,     ///< step `number` of `file` is committed (ok) or failed
    file_failed = 5  ///< `file`, from step `number` on
  };
  About about{};
  std::uint64_t file = 0;
  std::uint64_t number = 0;
  Outcome outcome;
};

/// farewell, server_bye, all_bye: counters of the servers, summed or maximised on the way (see
/// trace/).
using Counters = std::vector<double>;

}  // namespace iocomp::protocol
