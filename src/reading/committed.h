// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/open_folder.h"
#include "contents/description.h"
#include "formats/source.h"

namespace iocomp::reading {

/// Everything that is committed under one name, in one file or in many, as a reader knows it before
/// it reads. A plain value that travels.
struct Committed {
  struct File {
    std::string name;  ///< name in the folder
    std::string format;
    bool has_manifest = false;
  };
  struct Step {
    std::int64_t number = 0;
    std::int32_t file = 0;     ///< index in `files`
    std::int64_t in_file = 0;  ///< number of the step inside the file
    double time = contents::unknown_time;
  };
  /// A step of a file of its own that cannot be read.
  struct Torn {
    std::int64_t step = 0;
    std::string story;  ///< the reason, naming the file
  };
  /// A variable in one step.
  struct Place {
    std::int64_t step = 0;  ///< its number
    array::ElementType type = array::ElementType::float64;
    array::Shape shape;
    std::int64_t offset = -1;
    contents::BlockSums sums{};
  };
  struct Variable {
    std::string name;
    std::vector<Place> places{};        ///< by step, ascending; never empty
    contents::Attributes attributes{};  ///< from the newest file that has the variable
    /// The attributes that say what its values mean (contents::meaning_of), from which step on. A
    /// step before the first has none.
    std::map<std::int64_t, contents::Attributes> meaning{};
    [[nodiscard]] const contents::Attributes& meaning_in(std::int64_t step) const;
    /// True if they are not the same in all steps.
    [[nodiscard]] bool changes_meaning() const {
      return meaning.size() > 1 ||
             (!meaning.empty() && meaning.begin()->first > places.front().step);
    }
  };

  FolderAddress folder;  ///< of all files
  std::string said;      ///< its path, as the user has said it
  std::vector<File> files;
  std::vector<Step> steps;                      ///< by number, ascending
  std::vector<Variable> variables;              ///< in the order in which they appear
  contents::Attributes attributes;              ///< from the newest file
  std::vector<Torn> torn;                       ///< by step, ascending; none of them is in `steps`
  std::map<std::string, std::string> not_read;  ///< variables of other programs, and why

  /// The path of a file, for messages.
  [[nodiscard]] std::string text(const File& file) const;
  /// Append a file whose steps are later than all others.
  /// @throws Error{storage_failure} if they are not, or if a variable is twice in a step.
  void add(File file, const contents::Inventory& inventory);
  /// Open one of the files. @param in  its folder. @param modules  the setting storage.modules.
  /// @throws Error.
  [[nodiscard]] std::unique_ptr<formats::Source> open(std::size_t file,
                                                      const std::shared_ptr<const OpenFolder>& in,
                                                      const std::string& modules) const;
  /// From now on values that are read are not compared with their checksums.
  void forget_sums() noexcept;
};

[[nodiscard]] std::vector<std::byte> encode(const Committed& committed);
/// @throws Error if the bytes do not encode this.
[[nodiscard]] Committed decode_committed(std::span<const std::byte> bytes);

}  // namespace iocomp::reading
