// SPDX-License-Identifier: BSD-3-Clause
#include "formats/format.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "formats/extent.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/dataset_names.h"
#include "formats/hdf5/edition.h"
#include "formats/hdf5/encoding.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/inventory.h"
#include "formats/hdf5/library.h"
#include "formats/hdf5/metadata_buffer.h"
#include "formats/hdf5/object_header.h"
#include "formats/hdf5/record_format.h"
#include "formats/hdf5/time_file.h"
#include "formats/hdf5/zstd_filter.h"
#include "formats/rules.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {
namespace {

/// `layout = "flat"`: the file has one step, and its datasets are at the root. HDF5 makes a new
/// root with each commit: what readers have seen is never changed.
class FlatTarget : public BufferedFile {
 public:
  using BufferedFile::BufferedFile;

  void is_visible() override {
    is_seen_ = true;
    BufferedFile::is_visible();
  }

 private:
  std::int64_t find_place(const Variable& variable, std::int64_t /*step*/) override {
    return creation_.place(raw(), variable, path());
  }
  std::optional<Root> write_root(const Description& description, std::int64_t from,
                                 bool is_last) override;

  /// The attributes that a root tells beside its datasets.
  struct Told {
    Attributes attributes;
    std::vector<Attributes> of_variable;
    friend bool operator==(const Told&, const Told&) = default;
  };

  Creation creation_;
  std::vector<Placed> contents_;
  Told told_;
  bool is_seen_ = false;  // it is in the file
};

std::optional<BufferedFile::Root> FlatTarget::write_root(const Description& description,
                                                         std::int64_t from, bool is_last) {
  Told told{description.attributes, description.of_variable};
  const bool has_new_contents =
      !description.contents.empty() || (!contents_.empty() && contents_.back().step >= from);
  if (is_last && is_seen_ && !has_new_contents && told == told_) {
    return {};
  }
  std::erase_if(contents_, [from](const Placed& placed) { return placed.step >= from; });
  contents_.insert(contents_.end(), description.contents.begin(), description.contents.end());
  is_seen_ = false;
  told_ = std::move(told);
  const Object root = make_group(raw(), H5P_DEFAULT, path());
  creation_.datasets(raw(), root.raw(), contents_, told_.of_variable, path());
  write_attributes(root.raw(), told_.attributes, path());
  flush();
  const std::int64_t end = end_of(contents_);
  return Root{address_of(root.raw(), path()), end, end};
}

constexpr std::size_t links_in_block = 128;

/// The root group of a file of steps: a link to the group of each step. HDF5 changes a group in
/// place; this one is written so that what readers see of it stays as it is. Its links are messages
/// of its object header ("compact"). Blocks of links that are full never change. The header itself,
/// with the last links, there is for each edition of the file.
class StepLinks {
 public:
  explicit StepLinks(BufferedFile& file) : file_{file} {}

  /// The group of a step behind all that are there. Its link has the number of the step.
  void add(std::int64_t step, std::int64_t number, std::int64_t address) {
    links_.push_back({step, number, address});
  }
  /// There are no links to steps from this one on.
  void forget(std::int64_t from);
  [[nodiscard]] bool has_from(std::int64_t step) const noexcept {
    return !links_.empty() && links_.back().step >= step;
  }

  /// @param own  what the group has beside its links.
  /// @return the address of the group.
  [[nodiscard]] std::int64_t write(int edition, const std::vector<HeaderMessage>& own);

 private:
  struct Link {
    std::int64_t step = 0;
    std::int64_t number = 0;
    std::int64_t address = 0;
  };
  [[nodiscard]] HeaderMessage link(std::size_t index) const;
  void fill_block();

  BufferedFile& file_;
  std::vector<Link> links_;
  std::vector<Extent> full_;         // blocks
  std::array<Extent, 2> headers_{};  // of the editions
};

void StepLinks::forget(std::int64_t from) {
  while (!links_.empty() && links_.back().step >= from) {
    links_.pop_back();
  }
  full_.resize(std::min(full_.size(), links_.size() / links_in_block));
}

// Specification, IV.A.2.g: a hard link, with a name of less than 256 characters of ASCII.
HeaderMessage StepLinks::link(std::size_t index) const {
  const std::string name = std::to_string(links_[index].number);
  Encoder encoder;
  encoder.put8(1);  // version
  encoder.put8(0);  // the length of the name has one byte; nothing else is told
  encoder.put8(static_cast<std::uint8_t>(name.size()));
  encoder.put_text(name);
  encoder.put64(links_[index].address);
  return {HeaderMessage::link, 0, encoder.take()};
}

// A block goes on in the one before it.
void StepLinks::fill_block() {
  std::vector<HeaderMessage> messages;
  if (!full_.empty()) {
    messages.push_back(continued_at(full_.back()));
  }
  const std::size_t first = full_.size() * links_in_block;
  for (std::size_t i = first; i < first + links_in_block; ++i) {
    messages.push_back(link(i));
  }
  const auto bytes = encode_continuation(messages);
  full_.push_back({file_.take_metadata(std::ssize(bytes)), std::ssize(bytes)});
  file_.buffer().write(full_.back().offset, bytes);
}

std::int64_t StepLinks::write(int edition, const std::vector<HeaderMessage>& own) {
  while (links_.size() >= (full_.size() + 1) * links_in_block) {
    fill_block();
  }
  auto messages = own;
  if (!full_.empty()) {
    messages.push_back(continued_at(full_.back()));
  }
  for (std::size_t i = full_.size() * links_in_block; i < links_.size(); ++i) {
    messages.push_back(link(i));
  }
  const auto bytes = encode_object_header(messages);
  Extent& place = headers_.at(static_cast<std::size_t>(edition));
  if (place.bytes < std::ssize(bytes)) {
    place = {file_.take_metadata(2 * std::ssize(bytes)), 2 * std::ssize(bytes)};
  }
  file_.buffer().write(place.offset, bytes);
  return place.offset;
}

/// `layout = "steps"`: HDF5 makes the group of a step when it is committed, and iocomp links it.
class StepsTarget : public BufferedFile {
 public:
  StepsTarget(const Path& path, const FormatOptions& options);

  void is_visible() override {
    editions_.turn();
    BufferedFile::is_visible();
  }

 private:
  void find_earlier(const FormatOptions& options);
  std::int64_t find_place(const Variable& variable, std::int64_t /*step*/) override {
    return creation_.place(raw(), variable, path());
  }
  void add_steps(const Description& description);
  void describe_root(Attributes attributes);
  std::optional<Root> write_root(const Description& description, std::int64_t from,
                                 bool is_last) override;

  Creation creation_;
  StepLinks links_{*this};
  Editions editions_;
  Attributes earlier_;               // of the file, where nothing else is said now
  Attributes attributes_;            // of the file, as ...
  std::vector<HeaderMessage> root_;  // ... these messages tell them, with what a group has
};

// In other layouts the root has variables, and groups of them. One without links may be of this
// one: no step has had values.
bool is_by_steps(const Object& root, const std::string& path) {
  H5G_info_t info{};
  check(H5Gget_info(root.raw(), &info), "look at the root of", path);
  if (info.nlinks == 0) {
    return true;
  }
  std::array<char, 32> name{};  // what is longer is no number of a step
  check(H5Lget_name_by_idx(root.raw(), ".", H5_INDEX_NAME, H5_ITER_INC, 0, name.data(), name.size(),
                           H5P_DEFAULT),
        "look at the root of", path);
  const Object first{check(H5Oopen(root.raw(), name.data(), H5P_DEFAULT), "open a step of", path)};
  return step_number(name.data()) && H5Iget_type(first.raw()) == H5I_GROUP;
}

StepsTarget::StepsTarget(const Path& path, const FormatOptions& options)
    : BufferedFile{path, options} {
  if (options.earlier_steps >= 0) {
    find_earlier(options);
  }
}

// The steps of earlier jobs stay where they are: the new root leads to them too, by their numbers.
void StepsTarget::find_earlier(const FormatOptions& options) {
  const Quiet quiet;
  const File file{
      check(H5Fopen(name_of(plain()).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open", path())};
  const Object root{check(H5Oopen(file.raw(), "/", H5P_DEFAULT), "open the root of", path())};
  if (!is_by_steps(root, path())) {
    throw Error{ErrorCode::unsupported, "cannot go on with " + path() +
                                            ": it was written with layout = \"time\" or \"flat\""};
  }
  const auto& numbers = options.earlier_numbers;
  const bool is_by_number =
      !numbers.empty() && are_called_by_number(root.raw(), numbers.rbegin()->second);
  for (std::int64_t step = 0; step < options.earlier_steps; ++step) {
    const auto found = numbers.find(step);
    const std::int64_t number = found == numbers.end() ? step : found->second;
    const std::string name = std::to_string(is_by_number ? number : step);
    if (H5Lexists(root.raw(), name.c_str(), H5P_DEFAULT) > 0) {
      const Object group{
          check(H5Oopen(root.raw(), name.c_str(), H5P_DEFAULT), "open a step of", path())};
      links_.add(step, number, address_of(group.raw(), path()));
    }
  }
  earlier_ = read_attributes(root.raw(), path());
}

void StepsTarget::add_steps(const Description& description) {
  const auto& contents = description.contents;
  for (std::size_t i = 0; i < contents.size();) {
    const std::int64_t step = contents[i].step;
    const std::int64_t number = contents[i].number_of_step();
    const Object group = make_group(raw(), H5P_DEFAULT, path());
    const std::size_t first = i;
    while (i < contents.size() && contents[i].step == step) {
      ++i;
    }
    creation_.datasets(raw(), group.raw(), std::span{contents}.subspan(first, i - first),
                       description.of_variable, path());
    links_.add(step, number, address_of(group.raw(), path()));
  }
}

// HDF5 writes the attributes to a group without links. Its messages go into the root.
void StepsTarget::describe_root(Attributes attributes) {
  attributes.insert(earlier_.begin(), earlier_.end());
  if (!root_.empty() && attributes == attributes_) {
    return;
  }
  const Object group = make_group(raw(), H5P_DEFAULT, path());
  write_attributes(group.raw(), attributes, path());
  flush();
  root_ = ObjectHeader{buffer(), address_of(group.raw(), path())}.messages();
  attributes_ = std::move(attributes);
}

std::optional<BufferedFile::Root> StepsTarget::write_root(const Description& description,
                                                          std::int64_t from, bool is_last) {
  const bool is_told = !root_.empty() && !editions_.is_begun() && description.contents.empty() &&
                       description.attributes == attributes_ && !links_.has_from(from);
  if (is_last && is_told) {
    return {};
  }
  links_.forget(from);
  add_steps(description);
  describe_root(description.attributes);
  flush();
  const std::int64_t end = end_of(description.contents);
  return Root{links_.write(editions_.begin(), root_), end, end};
}

}  // namespace
}  // namespace iocomp::formats::h5

namespace iocomp::formats {
namespace {

const Format& hdf5(const FormatOptions& options) {
  static const std::string checked = h5::library_version();
  h5::make_zstd_known();
  static const Format steps{{.rules = rules::hdf5, .extension = ".h5", .goes_on = true},
                            [](const auto& path, const auto& given, const auto& /*writers*/) {
                              return std::make_unique<h5::StepsTarget>(path, given);
                            }};
  static const Format flat{{.rules = rules::hdf5_flat, .extension = ".h5"},
                           [](const auto& path, const auto& given, const auto& /*writers*/) {
                             return std::make_unique<h5::FlatTarget>(path, given);
                           }};
  static const h5::RecordFormats<h5::TimeFile> along_time{
      {.rules = rules::hdf5_time, .extension = ".h5", .goes_on = true},
      &FormatOptions::has_strings};
  if (!options.grows_along_time) {
    return options.is_flat ? flat : steps;
  }
  return along_time.of(options);
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::h5::library_version, &iocomp::formats::hdf5};
