// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/path.h"
#include "formats/format.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/edition.h"
#include "formats/hdf5/object_header.h"

namespace iocomp::formats::h5 {

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
  struct Block {
    std::int64_t address = 0;
    std::size_t bytes = 0;
  };
  struct Place {
    std::int64_t address = 0;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] HeaderMessage link(std::size_t index) const;
  void fill_block();

  BufferedFile& file_;
  std::vector<Link> links_;
  std::vector<Block> full_;
  std::array<Place, 2> headers_{};  // of the editions
};

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

}  // namespace iocomp::formats::h5
