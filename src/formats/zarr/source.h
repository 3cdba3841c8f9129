// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "formats/source.h"
#include "formats/zarr/array.h"

namespace iocomp::formats::zarr {

/// Reads a store of Zarr 3: arrays in one group, on any regular grid of chunks, sharded or not. A
/// first dimension that is called "time" counts the steps.
class StoreSource : public Source {
 public:
  /// @throws Error{storage_failure}.
  explicit StoreSource(const Path& path);

  void has_manifest() override { may_have_holes_ = false; }
  void read(const Placed& where, const array::Box& box, const Destination& to) override;
  [[nodiscard]] bool is_whole() override;

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
  void read_shard(const Wanted& wanted, const array::Box& shard,
                  const std::vector<std::int64_t>& place) const;

  std::string path_;
  OpenFolder folder_;
  bool may_have_holes_ = true;  // shards that are not there, because nobody has put them
  std::mutex mutex_;
  std::map<std::string, Array> arrays_;  // guarded by it; by name
};

}  // namespace iocomp::formats::zarr
