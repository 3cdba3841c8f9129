// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "steps/ended.h"

namespace iocomp::steps {

/// Members that do not make the same calls, seen from the file: steps before `from_step` are none
/// the worse for it.
struct Difference {
  std::string what;
  std::int64_t from_step = 0;
};
/// The failure of a file whose members make different calls.
[[nodiscard]] Outcome different_calls(const std::string& file_name, const std::string& what);

/// Adds up what members say when they end a step or close the file, until all have said it.
class Ends {
 public:
  /// @param different  told of members that say different things.
  Ends(std::int64_t members, std::function<void(const Difference&)> different);

  /// A member has ended a step, or several have. @param who  for people: "compute rank 3".
  /// @return the sum, when it is that of all members.
  [[nodiscard]] std::optional<Ended> end(const Ended& ended, const std::string& who);
  /// The same of the closing; its step is the one that was not ended.
  [[nodiscard]] std::optional<Ended> close(const Ended& ended, const std::string& who);
  /// The first step from this one on that some have ended and others have not.
  [[nodiscard]] std::optional<std::int64_t> half_ended(std::int64_t from) const;

 private:
  void differ_in_closing(std::int64_t step) const;
  [[nodiscard]] bool add_to(Ended& sum, const Ended& ended, const std::string& call,
                            const std::string& who) const;

  std::int64_t members_;
  std::function<void(const Difference&)> different_;
  std::map<std::int64_t, Ended> open_;  // steps that some have ended
  Ended closing_;
};

}  // namespace iocomp::steps
