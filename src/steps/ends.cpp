// SPDX-License-Identifier: BSD-3-Clause
#include "steps/ends.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "steps/ended.h"

namespace iocomp::steps {
namespace {

std::string call_text(const std::string& call, const Ended& ended) {
  return call + " in step " + std::to_string(ended.step) + " after " +
         std::to_string(ended.events) + " definitions";
}

}  // namespace

Outcome different_calls(const std::string& file_name, const std::string& what) {
  return {ErrorCode::inconsistent_calls,
          (file_name.empty() ? "" : "file \"" + file_name + "\": ") +
              "the ranks do not make the same calls in the same order: " + what};
}

Outcome unfinished(const std::string& file_name, std::int64_t number) {
  return {ErrorCode::inconsistent_calls,
          "file \"" + file_name + "\", step " + std::to_string(number) +
              ": a rank has left it unfinished, so it is not committed"};
}

Ends::Ends(std::int64_t members, std::function<void(const Difference&)> different)
    : members_{members}, different_{std::move(different)} {}

bool Ends::add_to(Ended& sum, const Ended& ended, const std::string& call,
                  const std::string& who) const {
  if (sum.members == 0) {
    sum = ended;
  } else {
    if (ended.step != sum.step || ended.events != sum.events) {
      different_({who + " called " + call_text(call, ended) + ", others " + call_text(call, sum),
                  std::min(ended.step, sum.step)});
    }
    add(sum, ended);
  }
  return sum.members >= members_;
}

std::optional<Ended> Ends::end(const Ended& ended, const std::string& who) {
  Ended& sum = open_[ended.step];
  if (closing_.members > 0 && ended.step >= closing_.step) {
    differ_in_closing(ended.step);
  }
  if (!add_to(sum, ended, "end_step", who)) {
    return std::nullopt;
  }
  return std::move(open_.extract(ended.step).mapped());
}

std::optional<Ended> Ends::close(const Ended& ended, const std::string& who) {
  const bool are_all = add_to(closing_, ended, "close", who);
  if (!open_.empty() && open_.rbegin()->first >= closing_.step) {
    differ_in_closing(open_.rbegin()->first);
  } else if (are_all && !open_.empty()) {
    differ_in_closing(open_.begin()->first);
  }
  return are_all ? std::optional{closing_} : std::nullopt;
}

std::optional<std::int64_t> Ends::half_ended(std::int64_t from) const {
  const auto found = open_.lower_bound(from);
  return found == open_.end() ? std::nullopt : std::optional{found->first};
}

// The difference is told before the last member has reported, because some members may wait for
// calls that others will never make.
void Ends::differ_in_closing(std::int64_t step) const {
  different_({"some closed it in step " + std::to_string(closing_.step) +
                  " while others had called end_step in step " + std::to_string(step),
              std::min(step, closing_.step)});
}

}  // namespace iocomp::steps
