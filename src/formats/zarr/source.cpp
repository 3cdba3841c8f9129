// SPDX-License-Identifier: BSD-3-Clause
#include "formats/source.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/region.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/our_words.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "contents/description.h"
#include "contents/dimensions.h"
#include "contents/variable.h"
#include "formats/extent.h"
#include "formats/part_copy.h"
#include "formats/plain_source.h"
#include "formats/sources.h"
#include "formats/words.h"
#include "formats/zarr/array.h"
#include "formats/zarr/attributes.h"
#include "formats/zarr/codec.h"
#include "formats/zarr/shard_index.h"

namespace iocomp::formats::zarr {

/// Reads a store of Zarr 3: arrays in one group, on any regular grid of chunks, sharded or not. A
/// first dimension that is called "time" counts the steps.
class StoreSource : public Source {
 public:
  /// @throws Error{storage_failure}.
  explicit StoreSource(const Path& path);

  void has_manifest() override { may_have_holes_ = false; }
  void read(const Placed& where, const array::Box& box, const Destination& to) override;
  [[nodiscard]] bool is_whole(std::span<const Placed> contents) override;

 private:
  [[nodiscard]] Inventory look_through() override;
  // A box to be read, and its place in its array.
  struct Wanted {
    const Placed& where;
    const Array& array;
    std::int64_t record;  // along time; -1: there is no time
    const array::Box& box;
    const Destination& to;
  };
  [[nodiscard]] Array array_of(const Placed& where);
  using UseOfShard = std::function<void(const Array& array, std::int64_t record,
                                        const array::Box& shard, const std::string& name)>;
  void for_each_shard(const Placed& where, const array::Box& box, const UseOfShard& use);
  void read_shard(const Wanted& wanted, const array::Box& shard, const std::string& name) const;
  [[nodiscard]] std::optional<Descriptor> shard_in(const std::string& name) const {
    return folder_.open_if_there(name, O_RDONLY, OpenFolder::Links::followed);
  }

  std::string path_;
  OpenFolder folder_;
  bool may_have_holes_ = true;  // shards that are not there, because nobody has put them
  std::mutex mutex_;
  std::map<std::string, Array> arrays_;  // guarded by it; by name
};

namespace {

using Lengths = std::vector<std::int64_t>;
using Links = OpenFolder::Links;

// The lengths of a grid without that along time.
std::span<const std::int64_t> in_space(const Lengths& lengths, bool has_time) {
  return std::span{lengths}.subspan(has_time ? 1 : 0);
}

// The cells of a grid that have something of a box, as boxes, with their places in the grid.
void for_each_cell(const array::Box& box, std::span<const std::int64_t> lengths,
                   const std::function<void(const array::Box&, const Lengths&)>& use) {
  const auto dimensions = static_cast<std::size_t>(box.dimensions);
  Lengths first;
  Lengths last;
  for (std::size_t d = 0; d < dimensions; ++d) {
    first.push_back(box.start.at(d) / lengths[d]);
    last.push_back((box.start.at(d) + box.count.at(d) - 1) / lengths[d]);
  }
  Lengths place = first;
  for (bool is_there = true; is_there;) {
    array::Box cell{.dimensions = box.dimensions, .start = {}, .count = {}};
    for (std::size_t d = 0; d < dimensions; ++d) {
      cell.start.at(d) = place[d] * lengths[d];
      cell.count.at(d) = lengths[d];
    }
    use(cell, place);
    is_there = false;
    for (std::size_t d = dimensions; d-- > 0 && !is_there;) {
      is_there = place[d] < last[d];
      place[d] = is_there ? place[d] + 1 : first[d];
    }
  }
}

// The chunks of a shard in its file.
std::vector<Extent> chunks_of(const Array& array, const Descriptor& file, const std::string& path) {
  const std::int64_t bytes = length_of(file, path);
  if (!array.is_sharded) {
    return {{0, bytes}};
  }
  const std::int64_t chunks = array.chunks_in_shard();
  if (chunks > bytes / index_bytes(0) || index_bytes(chunks) > bytes) {
    throw Error{ErrorCode::storage_failure, "it is shorter than its index"};
  }
  std::vector<std::byte> index(static_cast<std::size_t>(index_bytes(chunks)));
  read_plainly(file, array.index_comes_first ? 0 : bytes - std::ssize(index), index, path);
  return chunks_from(index, bytes);
}

Variable variable_of(const std::string& name, const Array& array) {
  const auto shape = in_space(array.shape, array.has_time());
  Variable variable;
  variable.name = name;
  variable.type = array.type;
  variable.shape = array::make_shape(static_cast<int>(shape.size()), shape.data());
  contents::check_bytes(variable);
  return variable;
}

// Numbers that JSON lacks. Python writes them as bare words, which pass the parser as texts with a
// mark.
constexpr char number_mark = '\x7f';
constexpr std::array<std::pair<std::string_view, double>, 3> bare_numbers{
    {{"NaN", std::numeric_limits<double>::quiet_NaN()},
     {"Infinity", std::numeric_limits<double>::infinity()},
     {"-Infinity", -std::numeric_limits<double>::infinity()}}};

std::string with_marked_numbers(std::string_view text) {
  std::string marked;
  bool is_in_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto* const number = std::ranges::find_if(bare_numbers, [&](const auto& one) {
      return !is_in_text && text.substr(at).starts_with(one.first);
    });
    if (number != bare_numbers.end()) {
      ((marked += '"') += number_mark).append(number->first) += '"';
      at += number->first.size() - 1;
      continue;
    }
    if (is_in_text && text[at] == '\\') {
      marked += text[at++];
    } else if (text[at] == '"') {
      is_in_text = !is_in_text;
    }
    marked.append(text.substr(at, 1));
  }
  return marked;
}

void unmark_numbers(Json& value) {
  if (value.is_structured()) {
    std::ranges::for_each(value, unmark_numbers);
  } else if (value.is_string()) {
    const auto text = value.get<std::string>();
    const auto* const number = std::ranges::find_if(bare_numbers, [&](const auto& one) {
      return text == number_mark + std::string{one.first};
    });
    if (number != bare_numbers.end()) {
      value = number->second;
    }
  }
}

Json metadata_of(const OpenFolder& folder) {
  const auto text = folder.read(metadata_name);
  if (!text && is_zarr_2(folder)) {
    throw Error{ErrorCode::unsupported,
                folder.text("") +
                    ": it is a store of Zarr 2, and iocomp reads Zarr 3; `zarr migrate v3` of "
                    "zarr-python adds what it lacks"};
  }
  if (!text) {
    throw Error{ErrorCode::storage_failure,
                "cannot read " + folder.text("") + ": it has no " + metadata_name};
  }
  Json json;
  if (!outcome_of([&] { json = contents::parse_json(*text); }).ok()) {
    json = contents::parse_json(with_marked_numbers(*text));
    unmark_numbers(json);
  }
  return json;
}

// The metadata of the arrays and groups in a group, by name: from the group's consolidated
// metadata, or from their own files.
Json metadata_of_members(const OpenFolder& folder, const Json& root) {
  if (root.value("node_type", "") != "group") {
    throw Error{ErrorCode::unsupported, "cannot read " + folder.text("") +
                                            ": it is no group of Zarr 3, but " +
                                            root.value("node_type", "something else")};
  }
  Json all = Json::object();
  const Json consolidated = root.value("consolidated_metadata", Json{});
  if (consolidated.is_object()) {
    for (const auto& [name, metadata] : consolidated.at("metadata").items()) {
      if (name.find('/') == std::string::npos) {
        all[name] = metadata;
      }
    }
    return all;
  }
  for (const auto& name : folder.names()) {
    const auto found = folder.find(name, Links::followed);
    if (found && S_ISDIR(found->st_mode)) {
      const auto inner = folder.folder(name, Links::followed);
      if (inner.has(metadata_name)) {
        all[name] = metadata_of(inner);
      }
    }
  }
  return all;
}

using Files = std::optional<std::set<std::string>>;

// The files of an array that has one for each step, as iocomp writes it; else nothing.
Files files_of(const OpenFolder& folder, const std::string& name, const Array& array) {
  if (!array.has_time() || array.shard.front() != 1 || array.separator != '.' ||
      array::elements(variable_of(name, array).shape) == 0) {
    return std::nullopt;
  }
  std::vector<std::string> all;  // none where the folder is gone
  (void)outcome_of([&] { all = folder.folder(name, Links::followed).names(); });
  return std::set<std::string>{all.begin(), all.end()};
}

bool may_have_put(const Array& array, std::int64_t step, const Files& files) {
  Lengths place(array.shape.size(), 0);
  if (files) {
    place.front() = step;
  }
  return !files || files->contains(array.file_of(place));
}

// The chunks in one file.
class ChunkFile {
 public:
  /// @param step  in a chunk.
  ChunkFile(Descriptor file, std::string path, const Array& array, std::int64_t step)
      : array_{array},
        path_{std::move(path)},
        step_{step},
        file_{std::move(file)},
        plain_{file_, path_} {}

  void read(const Extent& where, const array::Box& chunk, const Placed& placed,
            const array::Box& box, const Destination& to) {
    const auto part = common(chunk, box);
    if (where.offset < 0) {
      fill_part(*part, box, to, array_.fill);
      return;
    }
    Placed packed = placed;
    packed.variable.shape = {.dimensions = chunk.dimensions, .extent = chunk.count};
    if (array_.compression.is_on() || array_.has_checksums) {
      std::vector<std::byte> stored(static_cast<std::size_t>(where.bytes));
      read_plainly(file_, where.offset, stored, path_);
      const auto values = decoded(array_, stored);
      copy_part(chunk, values.data() + step_ * packed.variable.bytes(), box, to,
                array::size_bytes(array_.type));
      return;
    }
    if (where.bytes != array_.chunk_bytes()) {
      throw Error{ErrorCode::storage_failure,
                  "a chunk has " + std::to_string(where.bytes) + " bytes where " +
                      std::to_string(array_.chunk_bytes()) + " are expected"};
    }
    packed.offset = where.offset + step_ * packed.variable.bytes();
    Destination there = to;
    there.memory = memory_of(*part, box, to);
    plain_.read(packed, relative(*part, chunk), there);
  }

 private:
  const Array& array_;
  std::string path_;
  std::int64_t step_;
  Descriptor file_;
  PlainSource plain_;
};

Descriptor there(std::optional<Descriptor> file) {
  if (!file) {
    throw Error{ErrorCode::storage_failure, "it is not there"};
  }
  return *std::move(file);
}

}  // namespace

StoreSource::StoreSource(const Path& path)
    : path_{path.text()}, folder_{path.folder().folder(path.name(), Links::followed)} {}

// The extent along time grows while others write.
Array StoreSource::array_of(const Placed& where) {
  const std::string& name = where.variable.name;
  const std::lock_guard lock{mutex_};
  auto found = arrays_.find(name);
  if (found == arrays_.end() ||
      (found->second.has_time() && where.step >= found->second.shape.front())) {
    const auto array = array_from(metadata_of(folder_.folder(name, Links::followed)));
    found = arrays_.insert_or_assign(name, array).first;
  }
  const Variable variable = variable_of(name, found->second);
  if (variable.type != where.variable.type || variable.shape != where.variable.shape) {
    throw Error{ErrorCode::storage_failure, "it does not have the expected type and shape " +
                                                array::text(where.variable.shape)};
  }
  return found->second;
}

void StoreSource::for_each_shard(const Placed& where, const array::Box& box,
                                 const UseOfShard& use) {
  if (array::elements(box) == 0) {
    return;
  }
  try {
    const Array array = array_of(where);
    const bool has_time = array.has_time();
    // A file of its own for each step has one.
    const std::int64_t record = !has_time ? -1 : array.shape.front() == 1 ? 0 : where.step;
    for_each_cell(box, in_space(array.shard, has_time),
                  [&](const array::Box& shard, const Lengths& place) {
                    Lengths whole_place = place;
                    if (has_time) {
                      whole_place.insert(whole_place.begin(), record / array.shard.front());
                    }
                    const auto name = where.variable.name + '/' + array.file_of(whole_place);
                    try {
                      use(array, record, shard, name);
                    } catch (const Error& error) {
                      throw Error{error.code(), "the shard " + name + ": " + error.what()};
                    }
                  });
  } catch (const Error& error) {
    throw Error{error.code(), "cannot read the variable \"" + where.variable.name + "\" from " +
                                  path_ + ": " + error.what()};
  }
}

void StoreSource::read(const Placed& where, const array::Box& box, const Destination& to) {
  for_each_shard(
      where, box,
      [&](const Array& array, std::int64_t record, const array::Box& shard,
          const std::string& name) { read_shard({where, array, record, box, to}, shard, name); });
}

// A shard that is cut has no index. iocomp leaves out no shard of what was put.
bool StoreSource::is_whole(std::span<const Placed> contents) {
  for (const auto& where : contents) {
    for_each_shard(
        where, array::whole(where.variable.shape),
        [&](const Array& array, std::int64_t /*record*/, const array::Box& /*shard*/,
            const std::string& name) { (void)chunks_of(array, there(shard_in(name)), name); });
  }
  return true;
}

void StoreSource::read_shard(const Wanted& wanted, const array::Box& shard,
                             const std::string& name) const {
  const auto& [where, array, record, box, to] = wanted;
  const bool has_time = record >= 0;
  auto found = shard_in(name);
  if (!found && may_have_holes_) {
    fill_part(*common(shard, box), box, to, array.fill);
    return;
  }
  Descriptor file = there(std::move(found));
  const auto chunks = chunks_of(array, file, name);
  const auto lengths = in_space(array.chunk, has_time);
  const auto chunk_in_time = has_time ? array.chunk.front() : 1;
  const auto number_in_time = has_time ? record % array.shard.front() / chunk_in_time : 0;
  Lengths grid;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    grid.push_back(in_space(array.shard, has_time)[d] / lengths[d]);
  }
  ChunkFile chunk_file{std::move(file), name, array, has_time ? record % chunk_in_time : 0};
  const array::Box inside = relative(*common(shard, box), shard);
  for_each_cell(inside, lengths, [&](const array::Box& cell, const Lengths& at) {
    std::int64_t number = number_in_time;
    for (std::size_t d = 0; d < grid.size(); ++d) {
      number = number * grid[d] + at[d];
    }
    array::Box chunk = cell;
    for (std::size_t d = 0; d < grid.size(); ++d) {
      chunk.start.at(d) += shard.start.at(d);
    }
    chunk_file.read(chunks[static_cast<std::size_t>(number)], chunk, where, box, to);
  });
}

Inventory StoreSource::look_through() {
  const Json root = metadata_of(folder_);
  Inventory inventory;
  std::map<std::string, Array> arrays;
  Json metadata_of_all;
  const auto note_lost = [&](const Json& all, const Attributes& read, const std::string& of) {
    for (const auto& [name, value] : all.items()) {
      if (!read.contains(name)) {
        inventory.not_read["the attribute " + name + of] =
            std::string{"JSON of the type "} + value.type_name() + ", which iocomp has none for";
      }
    }
  };
  try {
    metadata_of_all = metadata_of_members(folder_, root);
    const Json attributes = root.value("attributes", Json::object());
    inventory.attributes = attributes_from(attributes, nullptr);
    note_lost(attributes, inventory.attributes, "");
  } catch (const Json::exception& error) {
    throw Error{ErrorCode::storage_failure, "cannot read " + path_ + ": " + in_our_words(error)};
  }
  for (const auto& [name, metadata] : metadata_of_all.items()) {
    if (const Outcome taken = outcome_of([&] {
          arrays[name] = array_from(metadata);
          (void)variable_of(name, arrays[name]);
        });
        !taken.ok()) {
      arrays.erase(name);
      inventory.not_read[name] = taken.story;
    }
  }
  std::int64_t steps = 1;
  for (const auto& [name, array] : arrays) {
    steps = std::max(steps, array.has_time() ? array.shape.front() : 1);
  }
  if (steps > contents::most_silent_steps) {
    throw Error{ErrorCode::storage_failure,
                "cannot read " + path_ + ": it claims to have " + std::to_string(steps) + " steps"};
  }
  std::map<std::string, Files> files;
  for (const auto& [name, array] : arrays) {
    files[name] = files_of(folder_, name, array);
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    inventory.steps.push_back(step);
    int id = 0;
    for (const auto& [name, array] : arrays) {
      Variable variable = variable_of(name, array);
      variable.id = id++;
      if (step < (array.has_time() ? array.shape.front() : 1)) {
        inventory.contents.push_back({step, std::move(variable), -1});
        inventory.contents.back().was_put = may_have_put(array, step, files[name]);
      }
    }
  }
  for (const auto& [name, array] : arrays) {
    auto& attributes = inventory.of_variable[name];
    attributes = attributes_from(array.attributes, &array);
    note_lost(array.attributes, attributes, " of " + name);
    const auto names = std::span{array.dimensions}.subspan(array.has_time() ? 1 : 0);
    contents::note_dimensions(attributes, variable_of(name, array),
                              {array.has_time(), {names.begin(), names.end()}});
  }
  return inventory;
}

}  // namespace iocomp::formats::zarr

namespace {

std::string version() { return "Zarr 3"; }

std::unique_ptr<iocomp::formats::Source> open(const iocomp::Path& path, std::mutex& /*library*/) {
  return std::make_unique<iocomp::formats::zarr::StoreSource>(path);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const iocomp_source_entry iocomp_source{iocomp_source_interface_version, &version, &open};
