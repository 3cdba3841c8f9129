// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace iocomp {

/// Objects that no thread uses now, for the next thread that needs one: to make them anew costs
/// more than many a use. Thread-safe.
template <typename Thing>
class Spares {
 public:
  [[nodiscard]] std::unique_ptr<Thing> take() {
    const std::scoped_lock lock{mutex_};
    if (free_.empty()) {
      return std::make_unique<Thing>();
    }
    auto thing = std::move(free_.back());
    free_.pop_back();
    return thing;
  }
  void give_back(std::unique_ptr<Thing> thing) {
    const std::scoped_lock lock{mutex_};
    free_.push_back(std::move(thing));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thing>> free_;  // guarded by mutex_
};

}  // namespace iocomp
