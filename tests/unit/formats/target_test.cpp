// SPDX-License-Identifier: BSD-3-Clause
// Files of plain formats as a lead writes them, read by their sources: all types and shapes, after
// each commit, at the end, and when another job has gone on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
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
#include "base/open_folder.h"
#include "base/path.h"
#include "contents/catalogue.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "formats/registry.h"
#include "formats/sources.h"
#include "unit/temporary_folder.h"

namespace iocomp::formats {
namespace {

struct Way {
  const char* name;
  const char* format;
  bool grows_along_time = false;
  bool is_flat = false;
  bool keeps_attributes_by_step = false;  // those of variables
  bool has_one_step = false;
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

Attribute text(const std::string& value) {
  Attribute attribute;
  attribute.is_text = true;
  const auto bytes = std::as_bytes(std::span{value});
  attribute.values.assign(bytes.begin(), bytes.end());
  return attribute;
}

Attribute numbers(const std::vector<double>& values) {
  Attribute attribute;
  attribute.type = array::ElementType::float64;
  const auto bytes = std::as_bytes(std::span{values});
  attribute.values.assign(bytes.begin(), bytes.end());
  return attribute;
}

class PlainFile : public testing::TestWithParam<Way> {
 protected:
  PlainFile() {
    options_.grows_along_time = GetParam().grows_along_time;
    options_.is_flat = GetParam().is_flat;
    options_.one_step = GetParam().has_one_step;
    options_.alignment_bytes = 512;
    options_.chunk_bytes = 4096;
    write_text(path(), "");
  }

  [[nodiscard]] std::string path() const { return folder_ / "out.file"; }
  [[nodiscard]] const Format& format() const {
    return formats::format(GetParam().format, {}, options_);
  }
  [[nodiscard]] bool has_many_steps() const {
    return !GetParam().is_flat && !GetParam().has_one_step;
  }

  // A job begins, perhaps behind the steps of another.
  void begin() {
    catalogue_.emplace(format().rules(options_), options_.alignment_bytes, true);
    contents::Beginning beginning;
    beginning.number = earlier_;
    catalogue_->begin_at(beginning);
    contents_ = {};
    target_ = std::get<std::unique_ptr<PlainTarget>>(
        format().create(Path{path()}, options_, Communicator{MPI_COMM_SELF}));
    file_ = Descriptor{::open(path().c_str(), O_RDWR | O_CLOEXEC)};
    ids_.clear();
  }
  // @return false where the format has no such variable.
  bool define(const std::string& name, array::ElementType type,
              const std::vector<std::int64_t>& extent) {
    contents::Event event;
    event.what = contents::Event::What::define;
    event.step = step_ - earlier_;
    event.name = name;
    event.type = type;
    event.shape = array::make_shape(static_cast<int>(extent.size()), extent.data());
    if (!outcome_of([&] { catalogue_->apply(event); }).ok()) {
      return false;
    }
    ids_.emplace(name, catalogue_->variables() - 1);
    return true;
  }
  void set(const std::string& name, Attribute attribute, int variable = -1) {
    contents::Event event;
    event.what = contents::Event::What::attribute;
    event.step = step_ - earlier_;
    event.variable = variable;
    event.name = name;
    event.attribute = attribute;
    if (outcome_of([&] { catalogue_->apply(event); }).ok()) {
      attributes_[variable < 0 ? "" : catalogue_->variable(variable, 0).name][name] =
          std::move(attribute);
    }
  }
  static std::vector<std::byte> values_of(const Variable& variable, std::int64_t step) {
    std::vector<std::byte> values(static_cast<std::size_t>(variable.bytes()));
    for (std::size_t i = 0; i < values.size(); ++i) {  // small, so that no number is none
      values[i] = static_cast<std::byte>((i * 7 + static_cast<std::size_t>(step) * 13) % 60 + 1);
    }
    return values;
  }
  void put(const std::string& name) {
    const Variable variable = catalogue_->variable(ids_.at(name), step_ - earlier_);
    const std::int64_t offset = target_->place(variable, step_, {*catalogue_, step_ - earlier_});
    auto values = values_of(variable, step_);
    expected_[{step_, name}] = values;
    if (format().traits().swaps_bytes()) {
      array::swap_bytes(values, array::number_bytes(variable.type));
    }
    if (!values.empty()) {
      ASSERT_EQ(::pwrite(file_.raw(), values.data(), values.size(), offset), std::ssize(values));
    }
    contents_.add(step_ - earlier_, variable.id, offset);
  }
  [[nodiscard]] Description described() const {
    auto description = contents_.describe(*catalogue_, from_ - earlier_, step_ - earlier_);
    for (auto& placed : description.contents) {
      placed.step += earlier_;
    }
    description.names.clear();
    return description;
  }
  void commit() {
    show(target_->commit(described(), from_));
    target_->is_visible();
    from_ = ++step_;
  }
  void finish() {
    show(target_->finish(described(), from_));
    target_.reset();
  }
  void show(const Switch& visible) {
    if (!visible.bytes.empty()) {
      make_visible(file_, visible, path());
    }
  }
  void go_on() {
    options_.earlier_steps = earlier_ = step_;
    options_.earlier_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path()));
    for (const auto& [where, values] : expected_) {
      options_.earlier_variables.insert(where.second);
    }
    if (GetParam().keeps_attributes_by_step) {
      std::erase_if(attributes_, [](const auto& one) { return !one.first.empty(); });
    }
    begin();
  }

  // All that was put is there, and nothing else.
  void expect_contents() {
    const auto source = open_source(GetParam().format, Path{path()});
    auto inventory = source->inventory();
    std::map<std::pair<std::int64_t, std::string>, std::vector<std::byte>> found;
    for (const auto& placed : inventory.contents) {
      const Variable& variable = placed.variable;
      std::vector<std::byte> values(static_cast<std::size_t>(variable.bytes()));
      array::Box box;
      box.dimensions = variable.shape.dimensions;
      box.count = variable.shape.extent;
      if (!values.empty()) {
        source->read(placed, box, {array::make_memory_box(box, nullptr, nullptr), values.data()});
      }
      found[{placed.step, variable.name}] = std::move(values);
    }
    for (const auto& [where, values] : expected_) {
      SCOPED_TRACE(where.second + " of step " + std::to_string(where.first));
      ASSERT_TRUE(found.contains(where));
      EXPECT_EQ(found.at(where), values);
    }
    EXPECT_EQ(found.size(), expected_.size());
    for (const auto& [variable, attributes] : attributes_) {
      auto& read = variable.empty() ? inventory.attributes : inventory.of_variable[variable];
      for (const auto& [name, attribute] : attributes) {
        SCOPED_TRACE(variable + "/" + name);
        ASSERT_TRUE(read.contains(name));
        EXPECT_EQ(read.at(name), attribute);
      }
    }
  }

  TemporaryFolder folder_;
  FormatOptions options_;
  std::optional<contents::Catalogue> catalogue_;
  contents::Contents contents_;
  std::unique_ptr<PlainTarget> target_;
  Descriptor file_;
  std::map<std::string, int> ids_;
  std::int64_t earlier_ = 0;  // steps of the job before
  std::int64_t step_ = 0;     // in the file
  std::int64_t from_ = 0;
  std::map<std::pair<std::int64_t, std::string>, std::vector<std::byte>> expected_;
  std::map<std::string, Attributes> attributes_;
};

std::vector<std::string> define_all(const std::function<bool(const std::string&, array::ElementType,
                                                             std::vector<std::int64_t>)>& define) {
  std::vector<std::string> defined;
  for (int value = 1; array::element_type(value); ++value) {
    const auto type = *array::element_type(value);
    const std::vector<std::vector<std::int64_t>> shapes = {{}, {5}, {3, 4}, {2, 3, 4}, {2, 64, 30}};
    for (const auto& shape : shapes) {
      const std::string name =
          std::string{array::name(type)} + '_' + std::to_string(defined.size());
      if (define(name, type, shape)) {
        defined.push_back(name);
      }
    }
  }
  return defined;
}

TEST_P(PlainFile, HoldsAllTypesAndShapesAfterEachCommitAndWhenAnotherJobGoesOn) {
  begin();
  const auto define_here = [this](const auto& name, auto type, const auto& shape) {
    return define(name, type, shape);
  };
  const auto names = define_all(define_here);
  ASSERT_GE(names.size(), 24U);
  set("title", text("a file"));
  set("weights", numbers({1.5, -2.0, 0.25}));
  set("one", numbers({7.0}));
  set("units", text("K"), 1);
  set("range", numbers({0.0, 9.0}), 1);
  if (format().rules(options_).least_texts_in_list < contents::Rules::no_limit) {
    const std::vector<std::string> members{"mean", "",
                                           "gr\xc3\xb6\xc3\x9f"
                                           "er"};
    set("members", contents::list_attribute(members));
    set("member", contents::list_attribute(std::span{members}.first(1)), 1);  // unless refused
  }
  const auto write_until = [&](int end) {
    while (step_ < end) {
      for (const auto& name : names) {
        put(name);
      }
      commit();
      expect_contents();
    }
    finish();
    expect_contents();
  };
  const int steps = has_many_steps() ? 3 : 1;
  write_until(steps);
  if (!format().traits().goes_on || !has_many_steps()) {
    return;
  }
  go_on();
  ASSERT_EQ(define_all(define_here), names);
  write_until(steps + 2);
}

// Its attributes are new, though no step puts anything.
TEST_P(PlainFile, WhatACommitThatFailedWasToTellTheEndTells) {
  if (GetParam().has_one_step) {
    GTEST_SKIP() << "it has one commit";
  }
  begin();
  ASSERT_TRUE(define("u", array::ElementType::float64, {5}));
  set("title", text("a file"));
  put("u");
  commit();
  set("title", text("an old"));  // not longer: some formats made room for the first
  (void)target_->commit(described(), from_);
  finish();
  expect_contents();
}

TEST_P(PlainFile, AJobGoesOnOnlyWithVariablesThatAreAlike) {
  if (!format().traits().goes_on || !has_many_steps() || GetParam().keeps_attributes_by_step) {
    GTEST_SKIP() << "nothing has to be alike";
  }
  begin();
  ASSERT_TRUE(define("u", array::ElementType::float64, {4, 6}));
  put("u");
  commit();
  put("u");
  commit();
  finish();
  go_on();
  ASSERT_TRUE(define("u", array::ElementType::float64, {4, 6}));
  put("u");  // as it was
  for (const auto& [type, shape] :
       {std::pair{array::ElementType::int64, std::vector<std::int64_t>{4, 6}},
        std::pair{array::ElementType::float32, std::vector<std::int64_t>{4, 6}},
        std::pair{array::ElementType::float64, std::vector<std::int64_t>{4, 7}},
        std::pair{array::ElementType::float64, std::vector<std::int64_t>{24}}}) {
    begin();
    ASSERT_TRUE(define("u", type, shape));
    const Variable other = catalogue_->variable(0, 0);
    EXPECT_EQ(outcome_of([&] { (void)target_->place(other, step_, {*catalogue_, 0}); }).code,
              ErrorCode::unsupported)
        << array::name(type) << ' ' << shape.size();
  }
}

TEST_P(PlainFile, WhatHasNoTimeIsPutOnce) {
  begin();
  ASSERT_TRUE(define("lat", array::ElementType::float64, {5}));
  set("dimensions", text("lat"), 0);
  attributes_.clear();  // it becomes dimensions
  if (!catalogue_->has_one_step(catalogue_->variable(0, 0)) || !has_many_steps()) {
    GTEST_SKIP() << "all variables have a time, or the file has one step";
  }
  ASSERT_TRUE(define("u", array::ElementType::float64, {5}));
  put("lat");
  put("u");
  put("lat");  // again in the same step
  commit();
  expect_contents();
  put("u");
  const Variable lat = catalogue_->variable(0, step_);
  EXPECT_FALSE(outcome_of([&] { (void)target_->place(lat, step_, {*catalogue_, step_}); }).ok());
  commit();
  expect_contents();
  finish();
  expect_contents();
  go_on();
  ASSERT_TRUE(define("u", array::ElementType::float64, {5}));
  put("u");
  commit();
  expect_contents();
  finish();
  expect_contents();
}

#ifdef IOCOMP_HAS_HDF5
TEST_P(PlainFile, AnIndexOfChunksThatIsDamagedIsTold) {
  if (!GetParam().grows_along_time) {
    GTEST_SKIP() << "there is none";
  }
  begin();
  ASSERT_TRUE(define("u", array::ElementType::float64, {4}));
  put("u");
  commit();
  finish();
  std::string text = text_of(path());
  int damaged = 0;
  for (auto at = text.find("TREE\1"); at != std::string::npos; at = text.find("TREE\1", at + 1)) {
    text[at] = 'X';
    ++damaged;
  }
  ASSERT_GE(damaged, 1);
  write_text(path(), text);
  go_on();
  ASSERT_TRUE(define("u", array::ElementType::float64, {4}));
  const Variable variable = catalogue_->variable(0, 0);
  EXPECT_EQ(outcome_of([&] { (void)target_->place(variable, step_, {*catalogue_, 0}); }).code,
            ErrorCode::storage_failure);
}

TEST_P(PlainFile, AJobGoesOnOnlyInTheSameLayout) {
  if (std::string{GetParam().format} != "hdf5") {
    GTEST_SKIP() << "there is one layout";
  }
  for (const bool has_values : {true, false}) {
    begin();
    ASSERT_TRUE(define("u", array::ElementType::float64, {4}));
    if (has_values) {
      put("u");
    }
    commit();
    finish();
    options_.earlier_steps = step_;
    options_.earlier_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path()));
    if (has_values) {
      options_.earlier_variables = {"u"};
    }
    for (const bool grows : {false, true}) {
      options_.grows_along_time = grows;
      options_.is_flat = false;
      const bool is_alike =
          !has_values || (grows == GetParam().grows_along_time && !GetParam().is_flat);
      const Outcome outcome = outcome_of(
          [&] { (void)format().create(Path{path()}, options_, Communicator{MPI_COMM_SELF}); });
      EXPECT_EQ(outcome.code, is_alike ? ErrorCode::ok : ErrorCode::unsupported)
          << grows << has_values << outcome.story;
    }
    options_.grows_along_time = GetParam().grows_along_time;
    options_.is_flat = GetParam().is_flat;
    options_.earlier_steps = -1;
    write_text(path(), "");
    step_ = from_ = 0;
  }
}
#endif

const std::vector<Way> ways = {
#ifdef IOCOMP_HAS_HDF5
    {"hdf5_of_steps", "hdf5", false, false, true},
    {"hdf5_flat", "hdf5", false, true},
    {"hdf5_along_time", "hdf5", true},
#endif
#ifdef IOCOMP_HAS_NETCDF
    {"netcdf", "netcdf"},
    {"netcdf_of_one_step", "netcdf", false, false, false, true},
#endif
#ifdef IOCOMP_HAS_PNETCDF
    {"pnetcdf", "pnetcdf"},
    {"pnetcdf_of_one_step", "pnetcdf", false, false, false, true},
#endif
};
INSTANTIATE_TEST_SUITE_P(Ways, PlainFile, testing::ValuesIn(ways),
                         [](const auto& tested) { return std::string{tested.param.name}; });

}  // namespace
}  // namespace iocomp::formats
