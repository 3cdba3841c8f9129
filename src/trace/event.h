// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace iocomp::trace {

/// The kind of an event of a timeline. See docs/metrics.md for each.
enum class What : std::uint16_t {
  call,       ///< the program is inside a call of iocomp; the text names it
  wait,       ///< inside a call: asleep until something has come; the text says what
  checksum,   ///< inside put: a block is summed
  hand_over,  ///< of a put: from its begin until this rank knows that the memory is free
  take,       ///< a server takes a piece that lies where it can read it
  pull,       ///< a server fetches a piece, or a part of one
  full,       ///< pieces wait for staging memory
  write,      ///< bytes are written
  sync,       ///< an fsync
  commit,     ///< a manifest, a rename, what they need
  spill,      ///< what found no room is written to a disk of the node, or read back
  count_      // number of them
};

/// "call", "waiting", ...
[[nodiscard]] std::string_view name(What what) noexcept;

/// The subject of an event, as far as it is known. Texts may be cut to fit.
struct Subject {
  std::string_view file{};   ///< as the program names it
  std::int64_t step = -1;    ///< from 0 in each file; -1: none
  std::int64_t bytes = 0;    ///< that are moved
  int rank = -1;             ///< session rank that put the bytes; -1: this one, or many
  std::uint64_t ticket = 0;  ///< of that put; 0: none
  std::string_view text{};
};

/// One event of one process, as it lies in memory and in files. Times are in seconds of the
/// process's own clock.
struct Event {
  std::uint64_t number = 0;  ///< counts the events of the process
  double begin = 0;
  double end = 0;  ///< less than `begin`: it has not ended
  std::int64_t step = -1;
  std::int64_t bytes = 0;
  std::uint64_t ticket = 0;
  std::int32_t rank = -1;
  What what = What::call;
  std::uint16_t unused = 0;
  std::array<char, 24> file{};   ///< ends with a zero
  std::array<char, 108> text{};  ///< likewise
  std::uint32_t check = 0;       ///< of all before it

  [[nodiscard]] std::string_view file_name() const noexcept;
  [[nodiscard]] std::string_view words() const noexcept;
};
static_assert(sizeof(Event) == 192 && std::is_trivially_copyable_v<Event>);

/// Take over the members that are known; others stay as they were.
void describe(Event& event, const Subject& subject) noexcept;

/// The check word that belongs to an event. None of them belongs to zeros.
[[nodiscard]] std::uint32_t check_of(const Event& event) noexcept;

}  // namespace iocomp::trace
