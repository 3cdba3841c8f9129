// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "protocol/messages.h"

namespace iocomp::server {

/// Carries out the collective actions that the lead orders (MPI files), one after another, in its
/// order. All servers first meet at a nonblocking barrier, while the loop goes on receiving. Only
/// then comes the collective call, which waits for nobody.
class Actions {
 public:
  using Perform = std::function<void(std::uint64_t file, const protocol::ActionNote&)>;
  Actions(MPI_Comm servers, Perform perform) : servers_{servers}, perform_{std::move(perform)} {}

  void queue(std::uint64_t file, protocol::ActionNote note) {
    queue_.emplace_back(file, std::move(note));
  }

  [[nodiscard]] bool is_empty() const noexcept { return queue_.empty(); }
  /// Go on with the first action. @return true if one was carried out.
  bool advance();

 private:
  MPI_Comm servers_;
  Perform perform_;
  std::deque<std::pair<std::uint64_t, protocol::ActionNote>> queue_;
  MPI_Request gate_ = MPI_REQUEST_NULL;
};

}  // namespace iocomp::server
