// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "array/run_list.h"
#include "base/error.h"
#include "protocol/messages.h"
#include "steps/coverage.h"
#include "steps/put_log.h"

/// The bodies of messages that tell which elements of variables are put (see messages.h).
namespace iocomp::protocol {

/// run_list: a list of runs that pieces of this sender will refer to by its number.
[[nodiscard]] Bytes encode(std::uint64_t number, const array::RunList& runs);
/// @return number and list. @throws Error{internal} for runs that do not ascend.
[[nodiscard]] std::pair<std::uint64_t, array::RunList> decode_run_list(
    std::span<const std::byte> body);
/// forget_run_list: no later piece will refer to it.
[[nodiscard]] Bytes encode_forget_run_list(std::uint64_t number);
[[nodiscard]] std::uint64_t decode_forget_run_list(std::span<const std::byte> body);

/// put_report: those of some variables of a step that came to a server.
struct PutReport {
  std::int64_t step = 0;
  std::vector<steps::PutRecord> puts;
};
[[nodiscard]] Bytes encode(std::uint64_t file, const PutReport& report);
[[nodiscard]] PutReport decode_put_report(std::span<const std::byte> body);

/// own_written: blocks of a step that the sender has written itself.
struct OwnWritten {
  std::int64_t step = 0;
  Outcome outcome;
  std::vector<steps::PutRecord> puts;
};
[[nodiscard]] Bytes encode(std::uint64_t file, const OwnWritten& own);
[[nodiscard]] OwnWritten decode_own_written(std::span<const std::byte> body);

/// expect: what will have come to a server of a step.
struct Expectation {
  std::int64_t step = 0;
  std::int64_t pieces = 0;
  std::vector<std::int32_t> report;  ///< variables whose puts the lead wants to know
  bool ends_stripes = true;          ///< no more elements come to stripes of the step
};
[[nodiscard]] Bytes encode(std::uint64_t file, const Expectation& expectation);
[[nodiscard]] Expectation decode_expectation(std::span<const std::byte> body);

/// fill: elements that nobody has put, to be filled by this server, by variable. Without any it is
/// answered all the same.
struct FillOrder {
  std::int64_t step = 0;
  steps::Holes holes;
};
[[nodiscard]] Bytes encode(std::uint64_t file, const FillOrder& order);
[[nodiscard]] FillOrder decode_fill_order(std::span<const std::byte> body);

}  // namespace iocomp::protocol
