// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace iocomp::server {

/// Tells once what is likely if no compute rank calls iocomp after iocomp_init: a library of the
/// program waits for the servers, in a communicator that has them.
class Unheard {
 public:
  /// @param deadline_seconds  of waits; 0: none. A tenth of it passes before the message, but at
  /// most a minute.
  Unheard(bool tells, double deadline_seconds);

  /// A message has come from a compute rank.
  void heard() noexcept { is_over_ = true; }
  /// Print the message if it is due. Call it now and then.
  void look();

 private:
  bool is_over_;
  double patience_seconds_;
  double began_;
};

}  // namespace iocomp::server
