// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "contents/dimensions.h"
#include "formats/format.h"
#include "formats/pnetcdf/header.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// The places of the variables in a CDF-5 file. They can be written before its header is.
///
/// A file of all steps has, behind room for the header: the variables without time, one after the
/// other, then one record per step, in which every variable with time has its part, in order of
/// definition and without gaps. So all must be known before the first record ends. A file of one
/// step has no records: its variables lie one after the other in the order in which they are
/// placed.
class PnetcdfLayout {
 public:
  /// @param header_bytes  the least room for the header.
  /// @param alignment_bytes  of variables without time, and of the first record.
  PnetcdfLayout(std::int64_t header_bytes, std::int64_t alignment_bytes, bool one_step);

  /// Go on with a file of all steps: its variables keep their places. Before any other call.
  /// @param kept  variables that its steps have. Those of them without time cannot be put again.
  /// @throws Error{unsupported} for a file that iocomp has not written.
  void go_on(const Header& header, const std::set<std::string>& kept);
  /// True if an earlier job has fixed where the variables of all steps lie.
  [[nodiscard]] bool goes_on() const noexcept { return goes_on_; }

  /// `place` does as PlainTarget::place. `expect_header` and `define` come before it when there are
  /// more variables.
  [[nodiscard]] int defined() const noexcept { return known_; }
  void define(std::span<const Variable> all);
  /// Have a part in each record for the number of the step. Where that of the second record was
  /// told, or there are no records, it is too late.
  void define_numbers();
  /// The variable that has them; nothing if there is none.
  [[nodiscard]] std::optional<int> numbers() const;
  /// @param bytes  that names and attributes will take in the header by now, at most.
  void expect_header(std::int64_t bytes) noexcept { expected_bytes_ = bytes; }
  std::int64_t place(const Variable& variable, std::int64_t step);

  /// Variables that have their place by now, or will have one in the records.
  [[nodiscard]] std::set<int> defined_variables() const;
  /// True if a variable has a part in each record.
  [[nodiscard]] bool is_record(int variable) const;
  /// The header, with no records yet: those of these variables that do not grow, and all that do.
  [[nodiscard]] Header header(const Description& description, const std::set<int>& variables) const;
  /// The size of the file.
  [[nodiscard]] std::int64_t file_bytes(std::int64_t records) const;
  /// True if nothing lies behind the header.
  [[nodiscard]] bool is_empty() const noexcept { return slots_.empty(); }
  /// Room for the header: final when something has its place. At least twice what
  /// the variables and attributes take that are known by then.
  [[nodiscard]] std::int64_t header_bytes() const noexcept { return header_bytes_; }

  [[nodiscard]] const Variable& variable(int id) const { return slots_.at(id).variable; }
  /// The attributes of a variable: those given in this job, else those of earlier jobs.
  [[nodiscard]] Attributes attributes(int id, const Description& description) const;

  /// Parts of the records `from` to `until` (not included) that nobody has put.
  struct Gap {
    int variable = 0;
    std::int64_t record = 0;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] std::vector<Gap> gaps(const Description& description, std::int64_t from,
                                      std::int64_t until) const;

 private:
  struct Slot {
    Variable variable;
    contents::Dimensions dimensions;
    std::int64_t begin = 0;       // of the first record, where it has time
    std::int64_t placed_in = -1;  // the last step
    // Set by earlier jobs:
    bool is_kept = false;
    Attributes attributes{};
  };
  std::int64_t append(Slot slot, bool is_record);
  void go_on(const Header& header, const Header::Variable& variable, int id, bool is_kept);
  [[nodiscard]] bool claim(const Variable& variable);
  void check_that_it_goes_on(const Slot& slot, const Variable& variable) const;
  std::int64_t place_alone(const Variable& variable, std::int64_t step);
  [[nodiscard]] std::int64_t record_bytes() const;
  void make_room_for_header();
  [[nodiscard]] bool is_record(const Slot& slot) const {
    return slot.dimensions.has_time && !one_step_;
  }

  std::int64_t header_bytes_;
  std::int64_t expected_bytes_ = 0;  // in the header
  std::int64_t alignment_;
  bool one_step_;
  std::int64_t end_;                // of the variables without time
  std::int64_t first_record_ = -1;  // its begin, once variables without time have their places
  std::int64_t record_end_ = 0;     // of the parts that it has, padded
  int with_time_ = 0;               // how many parts
  std::int64_t last_part_ = 0;      // bytes
  int known_ = 0;
  bool is_frozen_ = false;  // the place of the second record was told
  bool goes_on_ = false;
  std::map<int, Slot> slots_;  // by id of the variable; negative: earlier jobs have put it alone
  contents::DimensionTable table_;
  Attributes earlier_;  // of the file
};

}  // namespace iocomp::formats::cdf
