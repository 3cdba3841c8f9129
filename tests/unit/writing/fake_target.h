#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "contents/description.h"
#include "formats/format.h"

namespace iocomp::writing {

/// What a format is asked to do with a file.
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
};

/// A format's target that notes what it is asked, where the test finds it.
class FakeTarget : public formats::Target {
 public:
  explicit FakeTarget(Asked& asked) : asked_{asked} {}
  std::int64_t place(const formats::Variable& /*variable*/, std::int64_t /*step*/) override {
    return -1;
  }
  void write(const formats::Placed& where, const formats::Selection& selection,
             std::span<const std::byte> bytes) override {
    asked_.writes.push_back({where.step, selection.first, selection.count, bytes.size()});
    fail();
  }
  void flush() override {}
  void write_step(std::int64_t step, const formats::Description& /*description*/) override {
    asked_.steps.push_back(step);
    fail();
  }
  void forget_step() noexcept override { ++asked_.forgotten; }
  void finish(const formats::Description& /*description*/) override {}

 private:
  void fail() const {
    if (asked_.fails) {
      throw Error{ErrorCode::storage_failure, "the library says no"};
    }
  }
  Asked& asked_;
};

}  // namespace iocomp::writing
