// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "contents/description.h"
#include "formats/format.h"

namespace iocomp::writing {

/// The orders that a format gets for a file.
struct Asked {
  struct Write {
    std::int64_t step = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::size_t bytes = 0;
  };
  std::vector<Write> writes{};
  std::vector<std::int64_t> steps{};
  int forgotten = 0;
  bool fails = false;
  bool owner_fails = false;  ///< calls of the owner alone
  std::vector<std::string> of_owner{};
  void (*writes_step)() = nullptr;  ///< called with each step; null: nothing

  void note(const Write& write) {
    writes.push_back(write);
    fail();
  }
  void fail() const {
    if (fails) {
      throw Error{ErrorCode::storage_failure, "the library says no"};
    }
  }
  void note_owner(const std::string& call) {
    of_owner.push_back(call);
    if (owner_fails) {
      throw Error{ErrorCode::storage_failure, call + " fails"};
    }
  }
};

/// Targets that note what they are asked, where the test finds it.
class FakeSharedTarget : public formats::SharedTarget {
 public:
  explicit FakeSharedTarget(Asked& asked) : asked_{asked} {}
  void write(const formats::Placed& where, const formats::Selection& selection,
             std::span<const std::byte> bytes) override {
    asked_.note({where.step, selection.first, selection.count, bytes.size()});
  }
  void finish(const formats::Description& /*description*/) override {}

 private:
  Asked& asked_;
};
class FakeStepTarget : public formats::StepTarget {
 public:
  explicit FakeStepTarget(Asked& asked) : asked_{asked} {}
  void begin() override { asked_.note_owner("begin"); }
  void write(const formats::Placed& where, const formats::Selection& selection,
             std::span<const std::byte> bytes) override {
    asked_.note({where.step, selection.first, selection.count, bytes.size()});
  }
  formats::Compressed write_step(std::int64_t step,
                                 const formats::Description& /*description*/) override {
    asked_.steps.push_back(step);
    if (asked_.writes_step != nullptr) {
      asked_.writes_step();
    }
    asked_.fail();
    return {.raw_bytes = 8, .stored_bytes = 2};
  }
  void end_step(std::int64_t /*step*/, const formats::Description& /*description*/) override {
    asked_.note_owner("end_step");
  }
  void forget_step() noexcept override { ++asked_.forgotten; }
  void finish(const formats::Description& /*description*/) override {}
  void close(const formats::Description& /*description*/) override { asked_.note_owner("close"); }

 private:
  Asked& asked_;
};

}  // namespace iocomp::writing
