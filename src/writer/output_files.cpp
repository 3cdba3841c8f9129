// SPDX-License-Identifier: BSD-3-Clause
#include "writer/output_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/path.h"
#include "commit/commit.h"
#include "disk/output_file.h"
#include "disk/pace.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "writing/file_writer.h"

namespace iocomp::writer {

std::unique_ptr<writing::FileWriter> OutputFiles::make_writer(Path path, formats::Opening opening) {
  return std::make_unique<writing::FileWriter>(
      writing::FileWriter::Setup{.path = std::move(path),
                                 .name = names_.name(),
                                 .opening = opening,
                                 .disk = setup_.disk,
                                 .kind = traits().kind,
                                 .swaps_bytes = traits().swaps_bytes(),
                                 .submit = setup_.submit,
                                 .counters = &counters_,
                                 .stripes = stripes(),
                                 .spill = setup_.spill});
}

writing::FileWriter& OutputFiles::writer(std::int64_t target) {
  auto& writer = writers_[target];
  if (!writer) {
    // A file that the lead has created is not made anew: it may be closed, and have its name, by
    // now.
    const auto opening = setup_.begins_files && target >= 0 && are_places_known()
                             ? formats::Opening::shares
                             : names_.opening();
    writer = make_writer(names_.data_path(target), opening);
  }
  return *writer;
}

writing::FileWriter& OutputFiles::begin(std::int64_t target, std::int64_t named) {
  auto& writer = writers_[target];
  if (!writer) {
    writer = make_writer(names_.data_path_of(named), names_.opening());
  }
  return *writer;
}

void OutputFiles::go_on_in(const Path& path, formats::Opening opening,
                           std::shared_ptr<disk::OutputFile> opened) {
  writers_[-1] = make_writer(path, opening);
  auto& file = writers_[-1]->file();
  file.go_on_with(std::move(opened));
  (void)file.open();
}

void OutputFiles::submit() {
  for (const auto& [target, writer] : writers_) {
    writer->submit();
  }
}

bool OutputFiles::take_back() {
  bool any = false;
  for (const auto& [target, writer] : writers_) {
    any = writer->take_back() || any;
  }
  return any;
}

void OutputFiles::drop_spilled(std::int64_t from, std::int64_t to, const Outcome& outcome) {
  for (const auto& [target, writer] : writers_) {
    writer->drop_spilled(from, to, outcome);
  }
}

bool OutputFiles::is_held_back() const {
  return setup_.disk.pace && !setup_.disk.pace->is_ready() &&
         std::ranges::any_of(writers_, [](const auto& entry) { return entry.second->has_work(); });
}

writing::FileWriter* OutputFiles::next_work() {
  const auto found =
      std::ranges::find_if(writers_, [](const auto& entry) { return entry.second->has_work(); });
  return found == writers_.end() || is_held_back() ? nullptr : found->second.get();
}

std::size_t OutputFiles::kept_bytes(const std::function<bool(std::int64_t step)>& counts) const {
  std::size_t bytes = 0;
  for (const auto& [target, writer] : writers_) {
    if (const auto* const steps = writer->whole_steps()) {
      bytes += steps->kept_bytes(counts);
    }
  }
  return bytes;
}

void OutputFiles::forget(std::int64_t target) {
  if (const auto found = writers_.find(target); found != writers_.end()) {
    found->second->submit();  // so that its pieces are told
    writers_.erase(found);
  }
}

void OutputFiles::remove_uncommitted(std::int64_t from) const noexcept {
  for (const auto& [target, writer] : writers_) {
    if (is_plain() && target >= from) {
      commit::abandon(names_.names(target));
    }
  }
}

std::optional<Outcome> OutputFiles::place(int variable, std::int64_t step) const {
  if (are_places_known()) {
    return Outcome{};
  }
  const auto place = places_.find({step, variable});
  return place == places_.end() ? std::nullopt : std::optional{place->second.outcome};
}

std::int64_t OutputFiles::offset(int variable, std::int64_t step) const {
  const auto told = places_.find({step, variable});
  return traits().offset(catalogue_.layout(), variable, step,
                         told == places_.end() ? -1 : told->second.offset);
}

// A place that the lead told before it knew the new shape is for the old one.
void OutputFiles::note_place(int variable, std::int64_t step, Place place) {
  const auto reshaped = reshaped_.find({step, variable});
  if (reshaped == reshaped_.end() || place.events > reshaped->second) {
    places_[{step, variable}] = std::move(place);
  }
}

void OutputFiles::reshaped(int variable, std::int64_t step, std::int64_t event) {
  reshaped_[{step, variable}] = event;
  const auto place = places_.find({step, variable});
  if (place != places_.end() && place->second.events <= event) {
    places_.erase(place);
  }
}

void OutputFiles::forget_places_until(std::int64_t step) {
  places_.erase(places_.begin(), places_.lower_bound({step + 1, 0}));
  reshaped_.erase(reshaped_.begin(), reshaped_.lower_bound({step + 1, 0}));
}

}  // namespace iocomp::writer
