// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/path.h"
#include "contents/step_numbers.h"
#include "formats/format.h"
#include "formats/pnetcdf/header.h"
#include "formats/pnetcdf/layout.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// The least room for a header, by the hint "nc_header_align_size".
/// @throws Error{invalid_setting}.
[[nodiscard]] std::int64_t header_room(const FormatOptions& options);

/// Anybody writes the data, big-endian, at the offsets that `place` returns. The lead writes the
/// header with the first commit. Behind it a step appears when the number of records does: eight
/// bytes. If steps without data come first, the header has no variables. To replace it, the part
/// behind its bytes is written first, and then these are switched at once. Other changes of the
/// header are written when the file is finished, in place. A file that goes on with variables keeps
/// its header till then, but for numbers of steps that are dropped.
class PnetcdfTarget : public PlainTarget {
 public:
  PnetcdfTarget(const Path& path, const FormatOptions& options);

  std::int64_t place(const Variable& variable, std::int64_t step,
                     const contents::Known& known) override;
  /// Parts of records that nobody has put get the fill value of their variable.
  Switch commit(const Description& description, std::int64_t from) override;
  void is_visible() override;
  Switch finish(const Description& description, std::int64_t from) override;

 private:
  void go_on(const FormatOptions& options);
  void set_size(std::int64_t bytes) const;
  void reach(std::int64_t bytes) const;
  void take_note(const Description& description, std::int64_t from);
  [[nodiscard]] Description with_numbers(const Description& description,
                                         const std::set<int>& variables) const;
  void write_header(const Description& description, const std::set<int>& variables);
  void empty_header();
  [[nodiscard]] Switch visible() const;
  void switch_durably() const;

  struct Written {  // as it is in the file, but for the number of records
    std::vector<std::byte> bytes;
    bool has_variables = false;
  };

  std::string path_;
  Descriptor file_;
  PnetcdfLayout layout_;
  std::map<int, std::int64_t> put_;  // variables that were put, and the first step of each
  std::int64_t records_ = 0;
  std::int64_t seen_records_ = 0;  // that readers find: all filled
  contents::StepNumbers numbers_;
  std::set<int> told_;  // variables in the header
  Written header_;
  Written next_header_;  // in the place of one without variables, with the next switch
};

}  // namespace iocomp::formats::cdf
