// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace iocomp::client {

/// Texts that a rank tells at the end of a session.
class Journal {
 public:
  /// Add a text to the summary.
  void note(std::string text);
  /// The same, of something that the program or its settings can do better: told at once, too.
  void warn(std::string text);
  /// Explain which way something went, for those who look into the trace. The first thousand stay.
  void explain(std::string text);

  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  [[nodiscard]] const std::vector<std::string>& choices() const noexcept { return choices_; }

 private:
  std::vector<std::string> notes_;
  std::vector<std::string> choices_;
};

}  // namespace iocomp::client
