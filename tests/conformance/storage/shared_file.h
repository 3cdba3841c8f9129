// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "array/box.h"
#include "back_end.h"
#include "base/descriptor.h"
#include "contents/catalogue.h"
#include "formats/format.h"

namespace iocomp::formats {

/// Does with a target what iocomp does with it, in the shortest way: rank 0 is the lead, all ranks
/// write.
class SharedFile {
 public:
  /// Collective over MPI_COMM_WORLD. The variables are defined in step 0.
  SharedFile(const BackEnd& back_end, std::string path, std::vector<Variable> variables);

  /// Collective over MPI_COMM_WORLD.
  Placed place(int variable, std::int64_t step);

  /// Write the block, whose elements are those of `element_bytes_at`, in pieces of at most `piece`
  /// elements, the last one first. Local.
  void put(const Placed& placed, const array::Box& box, std::int64_t piece = 1000000);

  /// Commits all that was placed by now. Collective over MPI_COMM_WORLD.
  void flush();
  /// Collective over MPI_COMM_WORLD. What was placed and not forgotten is described.
  void finish();
  /// Let a plain file that is finished be as long as what is in it. Local.
  void grow();
  /// Finish the target and nothing else.
  void finish_target();
  /// Commit a plain target and nothing else.
  void commit_target();
  /// The step has failed. Local.
  void forget(std::int64_t step);
  /// Destroy the target without finishing it. Local.
  void abandon() { target_ = {}; }

  /// The target if it is of that kind; else null.
  template <typename Kind>
  [[nodiscard]] Kind* target() const noexcept {
    const auto* const found = std::get_if<std::unique_ptr<Kind>>(&target_);
    return found == nullptr ? nullptr : found->get();
  }
  [[nodiscard]] const contents::Catalogue& catalogue() const noexcept { return catalogue_; }
  [[nodiscard]] Description& description() { return description_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// True if this rank has its plain target.
  [[nodiscard]] bool is_mine() const noexcept { return target<PlainTarget>() != nullptr; }

 private:
  struct Piece {
    Placed placed;
    Selection selection;
    std::vector<std::byte> bytes;
  };
  void write_steps();
  [[nodiscard]] Description news() const;
  void show(const Switch& visible) const;
  void write(const Placed& placed, const Selection& selection, const std::vector<std::byte>& bytes);

  BackEnd back_end_;
  std::string path_;
  std::vector<Variable> variables_;
  contents::Catalogue catalogue_;
  Target target_;  // of a plain file on rank 0 only, if it has one
  Descriptor plain_;
  Description description_;
  std::map<std::int64_t, std::vector<Piece>> kept_;  // formats that write whole steps: by step
  std::int64_t steps_written_ = 0;
  std::int64_t from_ = 0;  // steps before this one are told to a plain target
};

/// The bytes that a file must hold: those of one element follow from variable, step, index and
/// nothing else.
[[nodiscard]] std::vector<std::byte> expected(const Placed& placed);

}  // namespace iocomp::formats
