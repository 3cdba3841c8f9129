// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/path.h"
#include "contents/step_numbers.h"
#include "formats/format.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/chunk_index.h"
#include "formats/hdf5/edition.h"
#include "formats/hdf5/encoding.h"
#include "formats/hdf5/object_header.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// A file whose variables have a record for each step. HDF5 makes all objects of the file for each
/// of two editions, and again when more than their numbers of records has changed. Chunks that go
/// through filters get no place: `keep` is told where they are.
class RecordFile : public BufferedFile {
 public:
  /// @throws Error{storage_failure}, as all that follow.
  RecordFile(const Path& path, const FormatOptions& options)
      : BufferedFile{path, options, !options.compresses()},
        goes_on_{options.earlier_steps > 0},
        steps_{std::max<std::int64_t>(options.earlier_steps, 0)},
        is_numbered_{!options.one_step},
        numbers_{options.earlier_numbers, options.earlier_steps} {}
  virtual void keep(const Variable& variable, std::int64_t step, std::vector<Extent> chunks) = 0;

  void is_visible() final {
    editions_.turn();
    BufferedFile::is_visible();
    numbers_told_ = numbers_.are_needed() ? numbers_.end() : 0;
  }

  /// The offset of what will be allotted next.
  [[nodiscard]] std::int64_t end() const;
  /// Everything up to here is taken.
  void extend(std::int64_t end);

 protected:
  /// An object that was made. Each commit tells its extent along time.
  struct Made {
    Dataset object;
    TimeDataset* dataset = nullptr;  ///< null: a dimension alone
  };
  /// The part of an edition that is told beside the numbers of records.
  struct Told {
    std::vector<int> variables;
    Attributes attributes;
    std::vector<Attributes> of_variable;
    friend bool operator==(const Told&, const Told&) = default;
  };

  /// Tell the datasets which steps have a record.
  /// @return the variables that the file has.
  virtual std::vector<int> take_note(const Description& description, std::int64_t from) = 0;
  /// No step comes any more.
  virtual void end_datasets() = 0;
  /// The length of time by now for a dataset, or for the dimension alone (null).
  [[nodiscard]] virtual std::int64_t records(const TimeDataset* dataset) const = 0;
  /// Properties of the root group.
  [[nodiscard]] virtual Properties of_root() const { return Properties{}; }
  /// Make all that the file has, below its root.
  [[nodiscard]] virtual std::vector<Made> make(hid_t root, const Told& told) = 0;

 private:
  struct Growing {
    ObjectHeader header;
    TimeDataset* dataset = nullptr;
  };
  struct Edition {
    std::int64_t root = undefined_address;
    Told told;
    std::vector<Growing> growing;
  };
  [[nodiscard]] Description with_numbers(Description description, std::int64_t from);
  std::optional<Root> write_root(const Description& description, std::int64_t from,
                                 bool is_last) final;
  void make(Edition& edition, Told told);
  [[nodiscard]] std::int64_t end_of_data(const Description& description, std::int64_t from) const;

  bool goes_on_;
  Editions editions_;
  std::array<Edition, 2> made_;
  std::int64_t steps_;  // that were told
  bool is_numbered_;    // it has more than one step
  contents::StepNumbers numbers_;
  std::int64_t numbers_told_ = 0;  // the file has those of so many places
};

}  // namespace iocomp::formats::h5
