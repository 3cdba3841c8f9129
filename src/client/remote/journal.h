// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace iocomp::client {

/// What a rank has to say at the end of a session.
class Journal {
 public:
  /// Something that the summary shall say.
  void note(std::string text);
  /// Which way something went, and why: for those who look into the trace. The first thousand stay.
  void explain(std::string text);

  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  [[nodiscard]] const std::vector<std::string>& choices() const noexcept { return choices_; }

 private:
  std::vector<std::string> notes_;
  std::vector<std::string> choices_;
};

}  // namespace iocomp::client
