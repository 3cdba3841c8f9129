// SPDX-License-Identifier: BSD-3-Clause
#include "formats/zarr/store.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "array/repeat.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/our_words.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "base/small_files.h"
#include "contents/dimensions.h"
#include "contents/variable.h"
#include "formats/chunks/record_chunks.h"
#include "formats/format.h"
#include "formats/words.h"
#include "formats/zarr/array.h"
#include "formats/zarr/attributes.h"
#include "formats/zarr/blosc.h"

namespace iocomp::formats::zarr {
namespace {

constexpr const char* new_ending = ".new";
// A file has so many steps of a variable that is no longer than that. Each step writes it anew.
constexpr std::int64_t few_bytes = 64;
constexpr std::int64_t steps_of_few_bytes = 1024;
constexpr const char* others_in_store = "metadata";

Array array_of(const Variable& variable, const Laid& laid) {
  Array array;
  array.type = variable.type;
  array.compression = laid.compression;
  array.fill = fill_bytes(variable);
  array.dimensions = laid.dimensions.names;
  for (std::size_t d = 0; d < laid.chunks.lengths.size(); ++d) {
    const std::int64_t extent = variable.shape.extent.at(d);
    const std::int64_t length = laid.chunks.lengths[d];
    array.shape.push_back(extent);
    array.chunk.push_back(length);
    array.shard.push_back(std::max<std::int64_t>(1, (extent + length - 1) / length) * length);
  }
  if (laid.dimensions.has_time) {
    array.dimensions.insert(array.dimensions.begin(), contents::time_dimension);
    array.shape.insert(array.shape.begin(), laid.record + 1);
    array.chunk.insert(array.chunk.begin(), laid.steps_in_file);
    array.shard.insert(array.shard.begin(), laid.steps_in_file);
    array.is_sharded = laid.steps_in_file == 1;
  }
  return array;
}

// True if both arrays are alike in all but their length in time and what readers are told of it.
bool are_alike(Array one, Array other) {
  const bool have_time = one.has_time() && other.has_time();
  if (have_time) {
    one.shape.front() = other.shape.front() = 0;
  }
  one.fill = other.fill;
  one.attributes = other.attributes = Json::object();
  return json(one) == json(other);
}

Path in(const std::shared_ptr<const OpenFolder>& folder, const std::string& name) {
  return {folder, name};
}

void replace_text(const std::shared_ptr<const OpenFolder>& folder, const std::string& text) {
  write_durably(in(folder, metadata_name), in(folder, metadata_name + std::string{new_ending}),
                text);
}

// The place of a file "c.<place>..." along time: -1 for others.
std::int64_t place_of(std::string_view file) {
  std::int64_t place = -1;
  if (file.starts_with("c.")) {
    (void)std::from_chars(file.data() + 2, file.data() + file.size(), place);
  }
  return place;
}

// Gives steps that nobody is to see the fill value, in place: that needs no room on the disk.
void blank(const OpenFolder& folder, const std::string& name, const Array& array,
           const std::vector<std::int64_t>& steps) {
  const Descriptor file = folder.open_own(name, O_RDWR);
  const std::int64_t bytes = array.chunk_bytes() / array.chunk.front();
  std::vector<std::byte> filled(static_cast<std::size_t>(bytes));
  array::repeat(array.fill, filled);
  for (const auto step : steps) {
    write_plainly(file, step * bytes, filled, folder.text(name));
  }
  make_durable(file, folder.text(name));
}

// Makes the new file with the steps of the old one, and with the fill value in the others.
void begin_as_before(const OpenFolder& folder, const Laid& laid, const Variable& variable) {
  const std::string path = folder.text(laid.file);
  const std::int64_t bytes = laid.steps_in_file * variable.bytes();
  auto text = folder.read(laid.file);
  if (text && std::ssize(*text) != bytes) {
    throw Error{ErrorCode::storage_failure, "cannot go on with " + path + ": it has " +
                                                std::to_string(text->size()) + " bytes where " +
                                                std::to_string(bytes) + " are expected"};
  }
  if (!text) {
    text.emplace(static_cast<std::size_t>(bytes), '\0');
    array::repeat(fill_bytes(variable), std::as_writable_bytes(std::span{*text}));
  }
  write_plainly(folder.create(laid.temporary, O_WRONLY), 0, std::as_bytes(std::span{*text}), path);
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Laid::Laid(const Variable& variable, std::int64_t step, const FormatOptions& options)
    : dimensions{contents::dimensions_of(variable, options.one_step)},
      chunks{variable, static_cast<std::size_t>(variable.shape.dimensions),
             options.storage_of(variable.name).chunk_bytes},
      compression{options.storage_of(variable.name).compression},
      record{!dimensions.has_time ? -1
             : options.one_step   ? 0
                                  : step},
      is_once{!dimensions.has_time && !options.one_step} {
  compression.shuffle = compression.shuffle && array::size_bytes(variable.type) > 1 &&
                        compression.method == Compression::Method::zstd &&
                        chunks.bytes() <= most_bytes_of_blosc;
  if (dimensions.has_time && !options.one_step && variable.bytes() > 0 &&
      chunks.all_bytes() <= few_bytes && chunks.per_record == 1) {
    steps_in_file = steps_of_few_bytes;
    compression = {};
  }
  std::vector<std::int64_t> place(static_cast<std::size_t>(variable.shape.dimensions), 0);
  if (dimensions.has_time) {
    place.insert(place.begin(), record / steps_in_file);
  }
  file = Array{}.file_of(place);
  temporary = replaces() ? file + new_ending : file;
}

Store::Store(std::shared_ptr<const OpenFolder> root, const FormatOptions& options)
    : root_{std::move(root)},
      options_{options},
      numbers_{options.earlier_numbers, options.earlier_steps} {
  if (options.earlier_steps >= 0) {
    go_on();
  }
}

void Store::go_on() {
  const auto text = root_->read(metadata_name);
  if (!text) {
    throw failure("read", root_->text(metadata_name), ENOENT);
  }
  records_ = options_.earlier_steps;
  Json arrays;
  try {
    const Json all = contents::parse_json(*text);
    attributes_ = all.at("attributes");
    arrays = all.at("consolidated_metadata").at(others_in_store);
  } catch (const Json::exception& error) {
    throw Error{ErrorCode::storage_failure,
                "cannot go on with " + root_->text(metadata_name) + ": " + in_our_words(error)};
  }
  for (const auto& [name, metadata] : arrays.items()) {
    Known known{.array = array_from(metadata), .is_new = false};
    const bool grows = known.array.has_time();
    if (!options_.earlier_variables.contains(name) && !grows) {
      root_->remove(name);  // it is of a step that is dropped
      continue;
    }
    drop_records(name, known.array,
                 [&](std::int64_t record) { return grows && record >= records_; });
    known_.emplace(name, std::move(known));
  }
  tell();
}

// Removes what steps left that are lost, and files that were never to be seen. A lost step in a
// file with others gets the fill value.
void Store::drop_records(const std::string& name, const Array& array,
                         const std::function<bool(std::int64_t)>& is_lost) const {
  const OpenFolder opened = root_->folder(name);
  const std::int64_t together = array.has_time() ? array.shard.front() : 1;
  for (const auto& file : opened.names()) {
    const std::int64_t place = place_of(file);
    std::vector<std::int64_t> lost;  // in the file
    for (std::int64_t step = 0; step < together && place >= 0; ++step) {
      if (is_lost(place * together + step)) {
        lost.push_back(step);
      }
    }
    if (file.ends_with(new_ending) || std::ssize(lost) == together) {
      opened.unlink(file);
    } else if (!lost.empty()) {
      blank(opened, file, array, lost);
    }
  }
}

void Store::make_place(const Variable& variable, std::int64_t step) {
  const Laid laid{variable, step, options_};
  const auto found = known_.find(variable.name);
  if (found != known_.end()) {
    Known& known = found->second;
    const bool is_earlier = !known.is_new && known.id < 0;
    if (is_earlier && !are_alike(known.array, array_of(variable, laid))) {
      throw Error{ErrorCode::unsupported,
                  "cannot go on with the variable \"" + variable.name + "\" in " + root_->text("") +
                      ": it has another type, shape, size of chunks, compression, or other "
                      "dimensions"};
    }
    if (laid.is_once && variable.bytes() > 0 && known.put_in >= 0 && known.put_in != step) {
      throw contents::once_only(variable, known.put_in, step);
    }
  } else if (const int error = root_->make_folder(variable.name); error != 0 && error != EEXIST) {
    throw failure("create", root_->text(variable.name), error);
  }
  const OpenFolder folder = root_->folder(variable.name);
  folder.unlink(laid.temporary);
  if (laid.steps_in_file > 1) {
    begin_as_before(folder, laid, variable);
  }
}

void Store::drop(const Description& description, std::int64_t step) noexcept {
  for (const auto& placed : description.contents) {
    (void)outcome_of([&] {
      const Variable& variable = placed.variable;
      const Laid laid{variable, step, options_};
      const OpenFolder folder = root_->folder(variable.name);
      folder.unlink(laid.temporary);
      if (laid.steps_in_file > 1 && folder.has(laid.file)) {  // it may have its name already
        blank(folder, laid.file, array_of(variable, laid), {laid.record % laid.steps_in_file});
      }
    });
  }
}

void Store::note(const Placed& placed) {
  const Variable& variable = placed.variable;
  const Laid laid{variable, placed.step, options_};
  auto [found, is_new] = known_.try_emplace(variable.name);
  Known& known = found->second;
  if (is_new || (known.is_new && !laid.dimensions.has_time)) {
    Json attributes = std::move(known.array.attributes);
    known.array = array_of(variable, laid);
    known.array.attributes = std::move(attributes);
  }
  known.id = variable.id;
  if (laid.is_once) {
    known.put_in = placed.step;
  }
  if (laid.dimensions.has_time) {
    records_ = std::max(records_, laid.record + 1);
  }
}

void Store::lay_over_attributes(const Description& description) {
  lay_over(attributes_, description.attributes, nullptr);
  std::map<int, const Variable*> variables;
  for (const auto& placed : description.contents) {
    variables[placed.variable.id] = &placed.variable;
  }
  for (auto& [name, known] : known_) {
    const auto id = static_cast<std::size_t>(known.id);
    if (known.id >= 0 && id < description.of_variable.size() && variables.contains(known.id)) {
      lay_over(known.array.attributes, description.of_variable[id], variables.at(known.id));
    }
  }
}

// An array of them would cost one more file in each step, and these metadata are written anyway.
void Store::tell_numbers() {
  attributes_.erase(contents::step_numbers_name);
  if (!options_.one_step && numbers_.are_needed() && records_ > 0) {
    lay_over(attributes_, {{contents::step_numbers_name, numbers_.attribute(records_)}}, nullptr);
  }
}

// Metadata of arrays come before those of the root, which lead to them.
void Store::tell() {
  tell_numbers();
  Json arrays = Json::object();
  bool has_folders = false;
  for (auto& [name, known] : known_) {
    if (known.array.has_time()) {
      known.array.shape.front() = options_.one_step ? 1 : records_;
    }
    arrays[name] = json(known.array);
    std::string text = text_of(arrays[name]);
    if (text != known.told) {
      replace_text(std::make_shared<const OpenFolder>(root_->folder(name)), text);
      known.told = std::move(text);
    } else if (known.has_news) {
      root_->folder(name).sync();
    }
    has_folders = has_folders || known.is_new;
    known.is_new = known.has_news = false;
  }
  if (has_folders) {
    root_->sync();
  }
  std::string text =
      text_of({{"zarr_format", 3},
               {"node_type", "group"},
               {"attributes", attributes_},
               {"consolidated_metadata",
                {{"kind", "inline"}, {"must_understand", false}, {others_in_store, arrays}}}});
  if (text != told_) {
    replace_text(root_, text);
    told_ = std::move(text);
  }
}

void Store::commit(const Description& description, std::int64_t step) {
  numbers_.tell(description, step);
  for (const auto& placed : description.contents) {
    const Laid laid{placed.variable, placed.step, options_};
    if (laid.replaces() && placed.variable.bytes() > 0) {
      const OpenFolder folder = root_->folder(placed.variable.name);
      if (const int error = folder.rename(laid.temporary, laid.file); error != 0) {
        throw failure("rename", folder.text(laid.temporary), error);
      }
    }
    note(placed);
    known_.at(placed.variable.name).has_news = true;
  }
  lay_over_attributes(description);
  tell();
}

void Store::finish(const Description& description) {
  std::set<std::int64_t> steps;
  for (const auto& placed : description.contents) {
    note(placed);
    steps.insert(placed.step);
  }
  lay_over_attributes(description);
  if (!options_.one_step) {
    const std::int64_t earlier = std::max<std::int64_t>(options_.earlier_steps, 0);
    numbers_.tell(description, earlier);
    const bool lacks_some = std::ssize(steps) < records_ - earlier;
    records_ = std::max(earlier, steps.empty() ? 0 : *steps.rbegin() + 1);
    for (const auto& [name, known] : known_) {
      if (lacks_some && known.array.has_time()) {
        drop_records(name, known.array, [&](std::int64_t record) {
          return record >= earlier && !steps.contains(record);
        });
      }
    }
  }
  tell();
}

}  // namespace iocomp::formats::zarr
