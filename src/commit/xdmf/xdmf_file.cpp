// SPDX-License-Identifier: BSD-3-Clause
#include "commit/xdmf/xdmf_file.h"

#include <cmath>
#include <cstdint>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/memory_box.h"
#include "array/region.h"
#include "base/error.h"
#include "base/log.h"
#include "base/path.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/manifest.h"
#include "commit/read_manifest.h"
#include "contents/variable.h"
#include "formats/plain_source.h"

namespace iocomp::commit {

XdmfFile::XdmfFile(std::string name, const Path& path, const formats::Format& format,
                   formats::FormatOptions options)
    : name_{std::move(name)},
      path_{path + ".xdmf"},
      format_{&format},
      options_{std::move(options)},
      file_{path_, xdmf_ending} {}

void XdmfFile::step_aside(const TargetNames& names) {
  if (is_taken_over(names)) {
    return;
  }
  before_ = read_file(path_);
  if (before_) {
    path_.folder().unlink(path_.name());
    path_.folder().sync();
  }
}

void XdmfFile::come_back(const TargetNames& names) noexcept {
  try {
    if (before_) {
      const std::string_view text{*before_};
      write_durably(path_, beside_temporary(names, ".xdmf"), std::span{&text, 1}, names.may_appear);
    }
  } catch (const std::exception&) {  // the failure that led here is the one to tell
  }
}

double XdmfFile::time_of(const XdmfStep& step, const Path& file) const {
  const auto as_number = static_cast<double>(step.step);
  if (std::isfinite(step.time)) {
    return step.time;
  }
  if (const auto said = time_said(step)) {
    return *said;
  }
  const auto put = time_put(step);
  if (!put) {
    return as_number;
  }
  contents::Attribute value;
  value.type = put->variable.type;
  value.values.resize(array::size_bytes(value.type));
  const array::Box box = array::whole(put->variable.shape);
  formats::PlainSource{file}.read(
      *put, box, {array::make_memory_box(box, nullptr, nullptr), value.values.data()});
  return number(value).value_or(as_number);
}

void XdmfFile::add(const std::vector<XdmfStep>& steps, const Path& file) {
  for (const auto& step : steps) {
    try {
      set(step.step, xdmf_grids(step, time_of(step, file), file.name(), *format_, options_));
    } catch (const std::exception& error) {
      remove(step.step);
      log::error("the XDMF file " + path_.text() + " lacks step " + std::to_string(step.step) +
                 ": " + error.what());
    }
  }
}

void XdmfFile::add_from_manifest(const Path& file) {
  try {
    const Path manifest = file + ".json";
    const auto inventory =
        parse_manifest(read_file(manifest).value_or(""), manifest.text()).inventory;
    std::vector<XdmfStep> steps;
    for (auto placed : inventory.contents) {
      if (steps.empty() || steps.back().contents.front().step != placed.step) {
        const auto name = inventory.name_of(placed.step);
        auto lines = steps.empty() ? std::map<std::string, contents::Placed>{} : steps.back().lines;
        steps.push_back({.step = name.number,
                         .time = name.time,
                         .contents = {},
                         .lines = std::move(lines),
                         .attributes = inventory.attributes,
                         .of_variable = inventory.of_variable});
      }
      XdmfStep& step = steps.back();
      const contents::Attributes& attributes = step.of_variable[placed.variable.name];
      if (const auto said = attributes.find("dimensions"); said != attributes.end()) {
        placed.variable.dimensions = std::string{contents::text_of(said->second)};
      }
      if (placed.variable.shape.dimensions == 1) {
        step.lines.insert_or_assign(placed.variable.name, placed);
      }
      step.contents.push_back(std::move(placed));
    }
    add(steps, file);
  } catch (const std::exception& error) {
    log::error("the XDMF file " + path_.text() + " lacks what is in " + file.text() + ": " +
               error.what());
  }
}

void XdmfFile::set(std::int64_t step, std::string grids) {
  has_changed_ = has_changed_ || step < written_until_;
  steps_[step] = std::move(grids);
}

void XdmfFile::remove(std::int64_t step) {
  has_changed_ = (steps_.erase(step) != 0 && step < written_until_) || has_changed_;
}

void XdmfFile::clear() {
  steps_.clear();
  has_changed_ = true;
}

std::string XdmfFile::text_from(std::int64_t step) const {
  std::string text;
  for (auto at = steps_.lower_bound(step); at != steps_.end(); ++at) {
    text += at->second;
  }
  return text;
}

void XdmfFile::write(const TargetNames& names) noexcept {
  try {
    const Path temporary = beside_temporary(names, ".xdmf");
    const auto append = [&] {
      if (has_changed_ || !file_.can_grow()) {
        return false;
      }
      return outcome_of(
                 [&] { file_.append(text_from(written_until_), temporary, names.may_appear); })
          .ok();
    };
    if (!append()) {
      file_.write(xdmf_beginning(name_) + text_from(0), temporary, names.may_appear);
    }
    has_changed_ = false;
    written_until_ = steps_.empty() ? 0 : steps_.rbegin()->first + 1;
  } catch (const std::exception& error) {
    if (is_taken_over(names)) {
      return;
    }
    path_.folder().unlink(path_.name());
    log::error("there is no XDMF file " + path_.text() +
               ", the data are committed: " + error.what());
  }
}

}  // namespace iocomp::commit
