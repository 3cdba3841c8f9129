// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/steps_target.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "formats/format.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/encoding.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/inventory.h"
#include "formats/hdf5/metadata_buffer.h"
#include "formats/hdf5/object_header.h"

namespace iocomp::formats::h5 {
namespace {

constexpr std::size_t links_in_block = 128;

}  // namespace

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
    messages.push_back(continued_at(full_.back().address, full_.back().bytes));
  }
  const std::size_t first = full_.size() * links_in_block;
  for (std::size_t i = first; i < first + links_in_block; ++i) {
    messages.push_back(link(i));
  }
  const auto bytes = encode_continuation(messages);
  full_.push_back({file_.take_metadata(std::ssize(bytes)), bytes.size()});
  file_.buffer().write(full_.back().address, bytes);
}

std::int64_t StepLinks::write(int edition, const std::vector<HeaderMessage>& own) {
  while (links_.size() >= (full_.size() + 1) * links_in_block) {
    fill_block();
  }
  auto messages = own;
  if (!full_.empty()) {
    messages.push_back(continued_at(full_.back().address, full_.back().bytes));
  }
  for (std::size_t i = full_.size() * links_in_block; i < links_.size(); ++i) {
    messages.push_back(link(i));
  }
  const auto bytes = encode_object_header(messages);
  Place& place = headers_.at(static_cast<std::size_t>(edition));
  if (place.bytes < std::ssize(bytes)) {
    place = {file_.take_metadata(2 * std::ssize(bytes)), 2 * std::ssize(bytes)};
  }
  file_.buffer().write(place.address, bytes);
  return place.address;
}

namespace {

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

}  // namespace

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

}  // namespace iocomp::formats::h5
