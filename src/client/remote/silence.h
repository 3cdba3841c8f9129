// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <set>

namespace iocomp::client {

/// The servers that do not answer. If a server's end is not noticed, the servers are asked when a
/// wait gets long. A server that has not answered when that wait is given up is silent, until it
/// does. Nothing here waits.
class Silence {
 public:
  /// A wait gets long: ask the servers that do not owe an answer. @param servers  their number.
  void ask(int servers, const std::function<void(int server)>& ask);
  void answered(int server);
  /// A wait was given up.
  void conclude() { silent_ = asked_; }
  /// The numbers of the silent servers, ascending.
  [[nodiscard]] const std::set<int>& servers() const noexcept { return silent_; }

 private:
  std::set<int> asked_;
  std::set<int> silent_;
};

}  // namespace iocomp::client
