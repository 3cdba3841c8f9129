// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "mpi/wait.h"

namespace iocomp::client {

/// A meeting of the ranks of synchronous files before they work together. Each rank then knows that
/// all make the same call, and nobody waits for what never comes. Files of all compute ranks share
/// one meeting, which also finds calls on different files. A file of fewer ranks has its own.
class Meeting {
 public:
  struct Call {
    const char* name = "";   ///< "end_step"
    std::uint64_t file = 0;  ///< key; 0 for the session
    std::string file_name{};
    std::int64_t step = 0;
    std::uint64_t definitions = 0;  ///< a digest of all definitions so far
    std::string last_definition{};  ///< for people
  };

  /// @param comm   of the members; between calls it is free for other collective work.
  /// @param ranks  the members' compute ranks, for messages; empty if these are the ranks in comm.
  Meeting(MPI_Comm comm, std::vector<int> ranks, const mpi::WaitPolicy& policy);

  /// Values that each rank brings to a call; all leave with the maxima.
  using Extras = std::array<std::int64_t, 2>;
  /// Meet the others in the same call. Collective.
  /// @throws Error{inconsistent_calls}, the same on all ranks, if some make another call. If these
  /// calls are on different files, nobody can know what belongs together, and the meeting is over.
  Extras meet(const Call& call, const Extras& extras = {});

  /// Nobody meets here any more. Whoever comes is told why.
  void end(const Outcome& why);
  /// `ok` as long as ranks can meet here.
  [[nodiscard]] const Outcome& ended() const noexcept { return ended_; }

 private:
  [[nodiscard]] int compute_rank(std::size_t member) const;
  [[nodiscard]] std::string differences(const Call& call);

  MPI_Comm comm_;
  std::vector<int> ranks_;
  mpi::WaitPolicy policy_;
  int rank_ = 0;  // in comm_
  Outcome ended_;
};

/// A call, for messages.
[[nodiscard]] std::string text(const Meeting::Call& call);
/// The message that compute rank `odd` made another call than compute rank `usual`.
[[nodiscard]] std::string different_calls(const std::string& file_name, int odd,
                                          const std::string& odd_call, int usual,
                                          const std::string& usual_call);
/// A digest, as it travels in reductions of signed values.
[[nodiscard]] constexpr std::int64_t positive(std::uint64_t digest) noexcept {
  return static_cast<std::int64_t>(digest >> 1U);
}
/// Go on with a digest (FNV-1a, 64 bits).
[[nodiscard]] std::uint64_t mix(std::uint64_t digest, std::uint64_t value) noexcept;
[[nodiscard]] std::uint64_t mix(std::uint64_t digest, const std::string& text) noexcept;
inline constexpr std::uint64_t empty_digest = 0xcbf29ce484222325ULL;

}  // namespace iocomp::client
