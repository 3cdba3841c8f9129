// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/open_folder.h"
#include "contents/dimensions.h"
#include "contents/step_numbers.h"
#include "formats/chunks/record_chunks.h"
#include "formats/format.h"
#include "formats/words.h"
#include "formats/zarr/array.h"

namespace iocomp::formats::zarr {

/// The place of a variable in a store, the same on all writers. The shard of a step is a file in
/// the folder of the variable. Steps of a few bytes share a file, which is one chunk.
struct Laid {
  Laid(const Variable& variable, std::int64_t step, const FormatOptions& options);

  contents::Dimensions dimensions;
  RecordChunks chunks;
  Compression compression;   ///< bytes of elements are sorted where the codec can hold that
  std::int64_t record = -1;  ///< along time; -1: there is no time
  /// It has values for one step of a file of all steps.
  bool is_once = false;
  std::int64_t steps_in_file = 1;
  std::string file;       ///< of the shard of the step
  std::string temporary;  ///< under which that is written; the same where nobody can know of it yet

  /// True if a new file takes the place of one that readers may know.
  [[nodiscard]] bool replaces() const noexcept { return is_once || steps_in_file > 1; }
};

/// Zarr's metadata of a file, as the first writer keeps them. Readers who take the metadata of the
/// root see whole steps: those are replaced by one rename, when all else is durable.
class Store {
 public:
  /// @param root  its folder. Where the options say that it is there, the steps that are kept
  /// remain, and others go.
  /// @throws Error{storage_failure}, as all below.
  Store(std::shared_ptr<const OpenFolder> root, const FormatOptions& options);

  /// A place for the shard of a variable in a step.
  /// @throws Error{unsupported} for what the store cannot go on with.
  void make_place(const Variable& variable, std::int64_t step);
  /// Removes the files of a step that failed.
  void drop(const Description& description, std::int64_t step) noexcept;
  /// Show a step, whose shards are durable.
  void commit(const Description& description, std::int64_t step);
  /// There are no other steps of this job. Attributes may have come.
  void finish(const Description& description);

 private:
  struct Known {
    Array array;
    int id = -1;               // of the variable in this job; -1: nobody has put it yet
    std::int64_t put_in = -1;  // the one step of a variable without time
    bool is_new = true;        // readers do not know it
    bool has_news = false;     // in its folder
    std::string told{};        // its metadata
  };
  void go_on();
  void drop_records(const std::string& name, const Array& array,
                    const std::function<bool(std::int64_t)>& is_lost) const;
  void note(const Placed& placed);
  void lay_over_attributes(const Description& description);
  void tell_numbers();
  void tell();

  std::shared_ptr<const OpenFolder> root_;
  FormatOptions options_;
  std::map<std::string, Known> known_;
  Json attributes_ = Json::object();
  std::int64_t records_ = 0;
  contents::StepNumbers numbers_;
  std::string told_;
};

}  // namespace iocomp::formats::zarr
