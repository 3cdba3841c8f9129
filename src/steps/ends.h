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

/// A difference between the calls of the members. Steps before `from_step` are not affected.
struct Difference {
  std::string what;
  std::int64_t from_step = 0;
};
/// The failure of a file whose members make different calls.
[[nodiscard]] Outcome different_calls(const std::string& file_name, const std::string& what);
/// The failure of a step that the program of some member does not finish.
/// @param number  that the program knows.
[[nodiscard]] Outcome unfinished(const std::string& file_name, std::int64_t number);

/// Adds up the reports of members that end a step or close the file, until all have reported.
class Ends {
 public:
  /// @param different  called when the reports of members differ.
  Ends(std::int64_t members, std::function<void(const Difference&)> different);

  /// One or several members have ended a step. @param who  names them in messages: "compute rank
  /// 3".
  /// @return the sum, if all members have reported.
  [[nodiscard]] std::optional<Ended> end(const Ended& ended, const std::string& who);
  /// The same for closing. Its step is the one that was not ended.
  [[nodiscard]] std::optional<Ended> close(const Ended& ended, const std::string& who);
  /// The first step, from this one on, that some members have ended and others have not.
  [[nodiscard]] std::optional<std::int64_t> half_ended(std::int64_t from) const;

 private:
  void differ_in_closing(std::int64_t step) const;
  [[nodiscard]] bool add_to(Ended& sum, const Ended& ended, const std::string& call,
                            const std::string& who) const;

  std::int64_t members_;
  std::function<void(const Difference&)> different_;
  std::map<std::int64_t, Ended> open_;  // steps that some members have ended
  Ended closing_;
};

}  // namespace iocomp::steps
