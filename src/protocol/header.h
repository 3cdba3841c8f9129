// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace iocomp::protocol {

/// The meaning of a message. The arrow shows its direction.
enum class Kind : std::uint16_t {
  // compute rank -> server
  open = 1,         ///< -> home: opens a file
  event = 2,        ///< -> home: define, set_shape, attribute
  piece = 3,        ///< -> owner: a piece of a block; its bytes follow, or are inside
  end_step = 4,     ///< -> home: this rank has put all it has for a step
  flush = 5,        ///< -> owner: make my pieces so far durable
  close = 6,        ///< -> home: this rank closes the file (and ends its open step)
  bye = 7,          ///< -> home: this rank finalizes
  own_written = 8,  ///< -> home: blocks of a step that this rank has written itself are durable
  run_list = 9,     ///< -> owner: runs that later pieces refer to by a number
  forget_run_list = 10,  ///< -> owner: no later piece does
  give_up = 11,          ///< -> home: what this rank has not handed over will not come
  ask = 12,              ///< -> any: answer that you are here
  other = 13,            ///< -> home: how far a file has come that this one comes after
  // server -> compute rank
  opened = 20,    ///< how the open went
  notices = 21,   ///< states and failures of tickets, steps and files
  closed = 22,    ///< the file is closed by all
  farewell = 23,  ///< home's answer to bye: what it counted
  here = 24,      ///< the answer to ask
  // server -> the one above it, for the lead server; from member to member, where members write
  // themselves
  home_open = 40,    ///< the first open of a file at this home
  home_event = 41,   ///< the first sight of an event at this home
  want_place = 42,   ///< pieces of a variable have come: where do they go?
  home_step = 43,    ///< all members of this home have ended a step
  step_done = 44,    ///< this server's pieces of a step are durable, or failed
  home_close = 45,   ///< all members of this home have closed
  action_done = 46,  ///< an ordered action was carried out here
  put_report = 48,   ///< what this server got of variables that are not covered exactly
  server_bye = 47,   ///< all compute ranks of this home have said bye
  home_failed = 49,  ///< what members say does not fit: steps of this file have failed, from one on
  home_other = 50,   ///< how far a file has come that this one comes after
  // lead server -> servers, in bundles down the tree
  orders = 59,        ///< a bundle (steps/council.h)
  known_event = 60,   ///< an event that all shall apply
  action = 61,        ///< an ordered action: create, place, finish
  placed = 62,        ///< where a variable lies in a step
  expect = 63,        ///< how many pieces of a step will come to this server
  step_settled = 64,  ///< a step is committed, or failed
  file_failed = 65,   ///< steps of this file have failed, from one on
  file_closed = 66,   ///< the file is finished and published, or failed
  all_bye = 67,       ///< the session ends
  known_file = 68,    ///< a file that all shall know
  fill = 69,          ///< what nobody has put of a variable, to be filled
  sync = 70,          ///< a step is written as a whole: make it durable
};

/// First bytes of every control message.
struct Header {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  Kind kind{};
  std::uint64_t body_bytes = 0;
  std::uint64_t file = 0;  ///< key of the file, or 0
};
static_assert(sizeof(Header) == 24);

inline constexpr std::uint32_t magic = 0x494f4332;  // "IOC2"
inline constexpr std::uint16_t version = 6;

/// A whole message: header and body in one piece of memory.
[[nodiscard]] std::vector<std::byte> message(Kind kind, std::uint64_t file,
                                             std::span<const std::byte> body);

/// The header of a message that arrived.
/// @throws Error{internal} naming the sender when magic, version or length is wrong.
[[nodiscard]] Header check_header(std::span<const std::byte> message, int sender);
/// The body of a message whose header was checked.
[[nodiscard]] std::span<const std::byte> body(std::span<const std::byte> message) noexcept;

}  // namespace iocomp::protocol
