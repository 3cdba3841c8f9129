// SPDX-License-Identifier: BSD-3-Clause
// Each system call of a target fails in turn: that is told, and readers see what they saw before.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "array/box.h"
#include "array/byte_order.h"
#include "array/element_type.h"
#include "array/memory_box.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "contents/catalogue.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "formats/registry.h"
#include "formats/sources.h"
#include "unit/failing_calls.h"
#include "unit/temporary_folder.h"

namespace iocomp::formats {
namespace {

struct Way {
  const char* name;
  const char* format;
  bool grows_along_time = false;
  bool is_flat = false;
  bool is_compressed = false;  // then a library writes whole steps
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

using Steps = std::vector<std::int64_t>;
using Made = std::vector<std::string>;

/// A file "f" with a variable "u" of four numbers in each step, at the only writer.
class AFile : public testing::Test {
 protected:
  explicit AFile(const Way& way) : way_{way} { calls = {}; }
  ~AFile() override { calls = {}; }

  void begin() {
    target_ = {};
    folder_.emplace();
    options_ = {};
    options_.grows_along_time = way_.grows_along_time;
    options_.is_flat = way_.is_flat;
    options_.alignment_bytes = 512;
    options_.chunk_bytes = 4096;
    if (way_.is_compressed) {
      options_.compression = {.method = Compression::Method::deflate, .level = 1};
    }
    write_text(path(), "");
    from_ = 0;
    open();
  }
  void open() {
    catalogue_.emplace(format().rules(options_), options_.alignment_bytes, true);
    contents::Beginning beginning;
    beginning.number = std::max<std::int64_t>(options_.earlier_steps, 0);
    catalogue_->begin_at(beginning);
    contents::Event event;
    event.what = contents::Event::What::define;
    event.name = "u";
    event.shape = {1, {4}};
    catalogue_->apply(event);
    target_ = format().create(Path{path()}, options_, Communicator{MPI_COMM_SELF});
    if (plain() == nullptr) {
      whole_steps().begin();
    }
    file_ = Descriptor{::open(path().c_str(), O_RDWR | O_CLOEXEC)};
  }
  /// A job goes on behind so many steps of the file.
  void go_on(std::int64_t steps) {
    target_ = {};
    options_.earlier_steps = from_ = steps;
    options_.earlier_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path()));
    options_.earlier_variables = {"u"};
    open();
  }
  [[nodiscard]] std::string path() const { return *folder_ / "f"; }
  [[nodiscard]] const Format& format() const { return formats::format(way_.format, {}, options_); }
  [[nodiscard]] PlainTarget* plain() const {
    const auto* const found = std::get_if<std::unique_ptr<PlainTarget>>(&target_);
    return found == nullptr ? nullptr : found->get();
  }
  [[nodiscard]] StepTarget& whole_steps() const {
    return *std::get<std::unique_ptr<StepTarget>>(target_);
  }

  /// The number of a step of the file in this job.
  [[nodiscard]] std::int64_t in_job(std::int64_t step) const {
    return step - std::max<std::int64_t>(options_.earlier_steps, 0);
  }
  static std::vector<double> values_of(std::int64_t step) {
    return {1.0 + static_cast<double>(step), 2, 3, 4};
  }
  [[nodiscard]] Description described(std::int64_t step, std::int64_t offset) const {
    contents::Contents contents;
    contents.add(in_job(step), 0, offset);
    auto description = contents.describe(*catalogue_, in_job(step), in_job(step));
    for (auto& placed : description.contents) {
      placed.step = step;
    }
    description.names.clear();
    return description;
  }
  /// Put a step, and commit it. What the target itself does is `commit`.
  void write_step(
      std::int64_t step, const std::function<void(const std::function<void()>&)>& run =
                             [](const auto& commit) { commit(); }) {
    const Variable variable = catalogue_->variable(0, 0);
    auto values = values_of(step);
    auto bytes = std::as_writable_bytes(std::span{values});
    if (plain() == nullptr) {
      const array::Box box{.dimensions = 1, .start = {0}, .count = {4}};
      whole_steps().write({step, variable, -1}, {box, 0, 4}, bytes);
      const auto description = described(step, -1);
      run([&] {
        whole_steps().begin_step(step, description);
        (void)whole_steps().write_step(step, description);
        whole_steps().end_step(step, description);
      });
      whole_steps().forget_step();
      return;
    }
    const std::int64_t offset = plain()->place(variable, step, {*catalogue_, in_job(step)});
    if (format().traits().swaps_bytes()) {
      array::swap_bytes(bytes, sizeof(double));
    }
    ASSERT_EQ(::pwrite(file_.raw(), bytes.data(), bytes.size(), offset), std::ssize(bytes));
    std::optional<Switch> visible;
    run([&] { visible = plain()->commit(described(step, offset), from_); });
    if (visible) {
      if (!visible->bytes.empty()) {
        make_visible(file_, *visible, path());
      }
      plain()->is_visible();
      from_ = step + 1;
    }
  }
  void finish() {
    Description nothing;
    nothing.of_variable.resize(1);
    if (plain() == nullptr) {
      whole_steps().finish(nothing);
      whole_steps().close(nothing);
    } else if (const Switch visible = plain()->finish(nothing, from_); !visible.bytes.empty()) {
      make_visible(file_, visible, path());
    }
    target_ = {};
  }
  /// The steps that a reader finds, with their values.
  [[nodiscard]] Steps steps() const {
    const auto source = open_source(way_.format, Path{path()});
    Steps found;
    for (const auto& placed : source->inventory().contents) {
      std::vector<double> values(4);
      array::Box box;
      box.dimensions = 1;
      box.count = placed.variable.shape.extent;
      source->read(placed, box,
                   {array::make_memory_box(box, nullptr, nullptr),
                    std::as_writable_bytes(std::span{values}).data()});
      EXPECT_EQ(values, values_of(placed.step));
      found.push_back(placed.step);
    }
    return found;
  }

  /// The calls that were made, of which one fails: that with this number.
  struct Done {
    Outcome outcome;
    bool has_failed = false;
    std::string all{};  // the calls, a line each
    Made made{};
  };
  static Done with_failure(int number, const std::function<void()>& action,
                           bool counts_reads = false) {
    calls = {.until_failure = number, .counts_reads = counts_reads};
    Done done{.outcome = outcome_of(action)};
    done.has_failed = calls.has_failed;
    done.made = std::exchange(calls, {}).made;
    for (const auto& call : done.made) {
      done.all += call + '\n';
    }
    return done;
  }

  Way way_;
  std::optional<TemporaryFolder> folder_;
  FormatOptions options_;
  std::optional<contents::Catalogue> catalogue_;
  Target target_;
  Descriptor file_;
  std::int64_t from_ = 0;  // steps before this one are committed
};

class EachFormat : public AFile, public testing::WithParamInterface<Way> {
 protected:
  EachFormat() : AFile{GetParam()} {}
};

TEST_P(EachFormat, ACommitOfWhichACallFailsIsToldAndLeavesTheStepsBefore) {
  if (way_.is_flat) {
    GTEST_SKIP() << "it has one step";
  }
  for (int number = 0;; ++number) {
    begin();
    write_step(0);
    Done done;
    write_step(1, [&](const auto& commit) { done = with_failure(number, commit); });
    SCOPED_TRACE(done.all + done.outcome.story);
    EXPECT_EQ(done.outcome.ok(), !done.has_failed);
    EXPECT_EQ(steps(), done.has_failed ? Steps{0} : (Steps{0, 1}));
    if (!done.has_failed) {
      EXPECT_EQ(number > 0, std::string{way_.format} != "pnetcdf");  // it told all at the first
      break;
    }
    // A name that the disk may have lost is never told again. All else goes on.
    const bool is_lost = done.all.find("sync f: fails") != std::string::npos;
    Done again;
    write_step(1, [&](const auto& commit) { again = with_failure(-1, commit); });
    EXPECT_EQ(again.outcome.ok(), !is_lost) << again.outcome.story;
    EXPECT_EQ(steps(), is_lost ? Steps{0} : (Steps{0, 1}));
    if (HasFailure()) {
      break;
    }
  }
}

TEST_P(EachFormat, AnEndOfWhichACallFailsIsToldAndLeavesTheSteps) {
  for (int number = 0;; ++number) {
    begin();
    write_step(0);
    const Done done = with_failure(number, [this] { finish(); });
    SCOPED_TRACE(done.all + done.outcome.story);
    EXPECT_EQ(done.outcome.ok(), !done.has_failed);
    target_ = {};
    EXPECT_EQ(steps(), Steps{0});
    if (!done.has_failed || HasFailure()) {
      break;
    }
  }
}

TEST_P(EachFormat, AJobThatCannotReadOrWriteWhatItGoesOnWithIsTold) {
  if (way_.is_flat) {
    GTEST_SKIP() << "no job goes on with it";
  }
  for (int number = 0;; ++number) {
    begin();
    write_step(0);
    write_step(1);
    finish();
    const Done done = with_failure(
        number,
        [this] {
          go_on(1);
          if (plain() != nullptr) {
            (void)plain()->place(catalogue_->variable(0, 0), 1, {*catalogue_, 0});
          }
        },
        true);
    SCOPED_TRACE(done.all + done.outcome.story);
    EXPECT_EQ(done.outcome.ok(), !done.has_failed);
    if (!done.has_failed || HasFailure()) {
      EXPECT_GE(number, 1);
      break;
    }
  }
}

const std::vector<Way> ways = {
#ifdef IOCOMP_HAS_HDF5
    {"hdf5_of_steps", "hdf5"},
    {"hdf5_flat", "hdf5", false, true},
    {"hdf5_along_time", "hdf5", true},
    {"hdf5_compressed", "hdf5", true, false, true},
#endif
#ifdef IOCOMP_HAS_NETCDF
    {"netcdf", "netcdf"},
    {"netcdf_compressed", "netcdf", false, false, true},
#endif
#ifdef IOCOMP_HAS_PNETCDF
    {"pnetcdf", "pnetcdf"},
#endif
};
INSTANTIATE_TEST_SUITE_P(Ways, EachFormat, testing::ValuesIn(ways),
                         [](const auto& tested) { return std::string{tested.param.name}; });

#ifdef IOCOMP_HAS_HDF5
class Compressed : public AFile {
 protected:
  Compressed() : AFile{{"hdf5_compressed", "hdf5", true, false, true}} {}
};

// Data, then what leads to them, then the switch.
TEST_F(Compressed, WhatLeadsReadersToDataIsWrittenWhenTheseAreDurable) {
  begin();
  write_step(0);
  Done done;
  write_step(1, [&](const auto& commit) { done = with_failure(-1, commit); });
  EXPECT_EQ(done.made,
            (Made{"write f", "sync f", "write f", "cut f", "sync f", "write f", "sync f"}));
}
#endif

#ifdef IOCOMP_HAS_PNETCDF
class Pnetcdf : public AFile {
 protected:
  Pnetcdf() : AFile{{"pnetcdf", "pnetcdf"}} {}
};

TEST_F(Pnetcdf, RecordsThatAJobDropsAreOutOfSightForGoodBeforeTheFileIsCut) {
  begin();
  for (const std::int64_t step : {0, 1, 2}) {
    write_step(step);
  }
  finish();
  const Done done = with_failure(-1, [this] { go_on(1); });
  EXPECT_EQ(done.made, (Made{"write f", "sync f", "cut f"}));
  EXPECT_EQ(steps(), Steps{0});
}

// The file of the earlier job has a step without data, and attributes. A power loss before the
// switch leaves what was there. Attributes that take more than a sector go first.
TEST_F(Pnetcdf, TheHeaderOfAFileWithoutVariablesIsReplacedBySwitchesAlone) {
  for (const bool is_within_sector : {true, false}) {
    SCOPED_TRACE(is_within_sector);
    begin();
    Description nothing;
    nothing.of_variable.resize(1);
    make_visible(file_, plain()->commit(nothing, 0), path());
    plain()->is_visible();
    const auto title = contents::text_attribute(std::string(is_within_sector ? 100 : 2000, 'a'));
    nothing.attributes.emplace("title", title);
    make_visible(file_, plain()->finish(nothing, 0), path());
    const auto header = text_of(path()).substr(0, 100);
    go_on(1);
    Done done;
    write_step(1, [&](const auto& commit) {
      done = with_failure(-1, commit);
      const auto seen = open_source(way_.format, Path{path()})->inventory();
      EXPECT_EQ(seen.attributes.size(), is_within_sector ? 1 : 0);
      EXPECT_TRUE(seen.contents.empty());
      EXPECT_EQ(text_of(path()).starts_with(header), is_within_sector);
    });
    const Made rest{"write f"};
    const Made emptied{"write f", "sync f", "write f"};
    EXPECT_EQ(done.made, is_within_sector ? rest : emptied);
    EXPECT_EQ(open_source(way_.format, Path{path()})->inventory().attributes.at("title"), title);
  }
}
#endif

}  // namespace
}  // namespace iocomp::formats
