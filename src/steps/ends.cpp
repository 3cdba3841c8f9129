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
          "file \"" + file_name +
              "\": the ranks do not make the same calls in the same order: " + what};
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
  if (!add_to(sum, ended, "end_step", who)) {
    return std::nullopt;
  }
  return std::move(open_.extract(ended.step).mapped());
}

std::optional<Ended> Ends::close(const Ended& ended, const std::string& who) {
  if (!add_to(closing_, ended, "close", who)) {
    return std::nullopt;
  }
  if (!open_.empty()) {
    const std::int64_t step = open_.begin()->first;
    different_({"some closed it in step " + std::to_string(ended.step) +
                    " while others had called end_step in step " + std::to_string(step),
                step});
  }
  return closing_;
}

}  // namespace iocomp::steps
