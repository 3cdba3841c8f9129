// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace iocomp {

/// Bugs that are planted in the simulation build alone, one at a time, to show that the simulation
/// finds them: docs/developers/simulation.md.
enum class Bug : std::uint8_t {
  none,
  data_not_synced,
  folder_not_synced,
  manifest_not_synced,
  switched_too_early,
  named_before_described,
  file_error_forgotten,
  short_write_ignored,
  write_error_lost,
  report_missed,
  incomplete_step_joins,
  dropped_step_described,
  hole_forgotten,
  hole_at_border_forgotten,
  taken_too_early,
  buffered_not_copied,
  credit_lost,
  piece_counted_twice,
  stripe_written_whole,
  failure_not_told,
  temporary_left,
  taken_before_pull,
  returned_while_read,
  put_off_is_done,
  answer_lost,
  left_piece_forgotten,
  lost_piece_is_written,
  late_server_publishes,
  opened_without_others,
  checksum_of_another,
  checksums_left_behind,
  spilled_is_written,
  dropped_steps_stay,
  earlier_steps_overwritten,
  beginning_forgotten,
  line_continues_another,
  left_line_not_synced,
  only_lead_syncs,
  unclaimed_stripe_forgotten,
  stripe_not_synced,
  predecessor_forgotten,
  memory_let_go_early,
  recalled_is_lost,
};

constexpr std::array<std::string_view, 43> bug_names{"none",
                                                     "data_not_synced",
                                                     "folder_not_synced",
                                                     "manifest_not_synced",
                                                     "switched_too_early",
                                                     "named_before_described",
                                                     "file_error_forgotten",
                                                     "short_write_ignored",
                                                     "write_error_lost",
                                                     "report_missed",
                                                     "incomplete_step_joins",
                                                     "dropped_step_described",
                                                     "hole_forgotten",
                                                     "hole_at_border_forgotten",
                                                     "taken_too_early",
                                                     "buffered_not_copied",
                                                     "credit_lost",
                                                     "piece_counted_twice",
                                                     "stripe_written_whole",
                                                     "failure_not_told",
                                                     "temporary_left",
                                                     "taken_before_pull",
                                                     "returned_while_read",
                                                     "put_off_is_done",
                                                     "answer_lost",
                                                     "left_piece_forgotten",
                                                     "lost_piece_is_written",
                                                     "late_server_publishes",
                                                     "opened_without_others",
                                                     "checksum_of_another",
                                                     "checksums_left_behind",
                                                     "spilled_is_written",
                                                     "dropped_steps_stay",
                                                     "earlier_steps_overwritten",
                                                     "beginning_forgotten",
                                                     "line_continues_another",
                                                     "left_line_not_synced",
                                                     "only_lead_syncs",
                                                     "unclaimed_stripe_forgotten",
                                                     "stripe_not_synced",
                                                     "predecessor_forgotten",
                                                     "memory_let_go_early",
                                                     "recalled_is_lost"};

static_assert(bug_names.size() == static_cast<std::size_t>(Bug::recalled_is_lost) + 1);

#ifdef IOCOMP_SIMULATION
inline Bug planted_bug = Bug::none;
[[nodiscard]] inline bool has_bug(Bug bug) noexcept { return planted_bug == bug; }
#else
[[nodiscard]] constexpr bool has_bug(Bug /*bug*/) noexcept { return false; }
#endif

}  // namespace iocomp
