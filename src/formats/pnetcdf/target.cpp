// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "contents/catalogue.h"
#include "contents/step_numbers.h"
#include "formats/cdf/fill.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "formats/pnetcdf/header.h"
#include "formats/pnetcdf/layout.h"
#include "formats/rules.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

namespace {

constexpr std::int64_t least_header_bytes = rules::pnetcdf.header_bytes;
constexpr const char* header_hint = "nc_header_align_size";
constexpr std::size_t sector_bytes = 512;  // the most that is switched at once

// The least room for a header, by the hint "nc_header_align_size".
// @throws Error{invalid_setting}.
std::int64_t header_room(const FormatOptions& options) {
  std::int64_t bytes = least_header_bytes;
  for (const auto& [key, value] : options.hints) {
    if (key == header_hint) {
      const char* end = value.data() + value.size();
      const auto read = std::from_chars(value.data(), end, bytes);
      if (read.ec != std::errc{} || read.ptr != end || bytes < 4) {
        throw Error{ErrorCode::invalid_setting, std::string{"the hint \""} + header_hint + '=' +
                                                    value + "\" must be a number of bytes"};
      }
    }
  }
  return bytes;
}

}  // namespace

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

PnetcdfTarget::PnetcdfTarget(const Path& path, const FormatOptions& options)
    : path_{path.text()},
      file_{open_physical(path, options.opening(), O_RDWR)},
      layout_{header_room(options), options.alignment_bytes, options.one_step},
      numbers_{options.earlier_numbers, options.earlier_steps} {
  if (options.earlier_steps >= 0) {
    go_on(options);
  }
}

// Before its records are written over, readers must see no more of them.
void PnetcdfTarget::go_on(const FormatOptions& options) {
  auto found = read_header(file_, path_);
  if (!found) {
    throw Error{ErrorCode::storage_failure, "cannot go on with " + path_ + ": its header is torn"};
  }
  Header header = *std::move(found);
  records_ = seen_records_ = std::min(header.records, options.earlier_steps);
  const bool has_others = contents::forget_numbers(header.attributes, records_);
  layout_.go_on(header, options.earlier_variables);
  const std::int64_t records = std::exchange(header.records, 0);
  header_ = {encode(header), layout_.goes_on()};
  if (!header_.has_variables) {
    return;
  }
  if (records_ < records) {
    switch_durably();
  }
  if (has_others) {  // no byte moves
    const auto behind = static_cast<std::size_t>(records_at) + sizeof records_;
    write_plainly(file_, static_cast<std::int64_t>(behind),
                  std::span{header_.bytes}.subspan(behind), path_);
  }
  set_length(file_, layout_.file_bytes(records_), path_);
}

std::int64_t PnetcdfTarget::place(const Variable& variable, std::int64_t step,
                                  const contents::Known& known) {
  const auto& defined = known.catalogue;
  if (layout_.defined() < defined.variables()) {
    layout_.expect_header(defined.header_bytes());
    layout_.define(defined.all_variables(known.step));
    if (defined.number(known.step) != known.step) {
      layout_.define_numbers();
    }
  }
  return layout_.place(variable, step);
}

void PnetcdfTarget::take_note(const Description& description, std::int64_t from) {
  std::erase_if(put_, [from](const auto& entry) { return entry.second >= from; });
  records_ = std::min(seen_records_, from);
  const std::int64_t first_gap = records_;  // steps may have come that put in no record
  for (const auto& placed : description.contents) {
    put_.try_emplace(placed.variable.id, placed.step);
    if (layout_.is_record(placed.variable.id)) {
      records_ = std::max(records_, placed.step + 1);
    }
  }
  numbers_.tell(description, from);
  const auto numbers = layout_.numbers();
  for (const auto& gap : layout_.gaps(description, first_gap, records_)) {
    if (gap.variable == numbers) {
      write_plainly(file_, gap.offset, encode_number(numbers_.at(gap.record)), path_);
      continue;
    }
    fill(file_, path_, gap.offset, gap.bytes, layout_.variable(gap.variable).type, std::endian::big,
         layout_.attributes(gap.variable, description));
  }
}

void PnetcdfTarget::write_header(const Description& description, const std::set<int>& variables) {
  auto bytes = encode(layout_.header(description, variables));
  if (std::ssize(bytes) > layout_.header_bytes() && !layout_.is_empty()) {
    throw Error{ErrorCode::storage_failure,
                "cannot write the header of " + path_ + ": its names and attributes take " +
                    std::to_string(bytes.size()) + " bytes, room was made for " +
                    std::to_string(layout_.header_bytes()) +
                    " when the first data were placed; set long attributes before the first put, "
                    "or ask for more with the hint " +
                    header_hint};
  }
  if (bytes == header_.bytes) {
    next_header_ = {};
    return;
  }
  if (!header_.has_variables && header_.bytes.size() > sector_bytes) {
    empty_header();
  }
  const auto with_records = visible();  // what is in front stays as it is
  const auto first = std::min(
      bytes.size(), static_cast<std::size_t>(with_records.offset) + with_records.bytes.size());
  write_plainly(file_, static_cast<std::int64_t>(first), std::span{bytes}.subspan(first), path_);
  if (header_.bytes.empty()) {
    write_plainly(file_, 0, std::span{bytes}.first(first), path_);
  }
  const bool is_next = !header_.has_variables && !header_.bytes.empty();
  (is_next ? next_header_ : header_) = {std::move(bytes), !variables.empty()};
}

// Long attributes of an earlier job, which put no variable, are not in the file until the next
// switch.
void PnetcdfTarget::empty_header() {
  header_ = {encode(Header{}), false};
  switch_durably();
}

void PnetcdfTarget::switch_durably() const {
  make_visible(file_, visible(), path_);
  make_durable(file_, path_);
}

// Others write later steps meanwhile: to set the size could cut off what they have written.
void PnetcdfTarget::reach(std::int64_t bytes) const {
  if (length_of(file_, path_) < bytes) {
    constexpr std::array<std::byte, 1> zero{};  // what is not there by now holds 0
    write_plainly(file_, bytes - 1, zero, path_);
  }
}

Switch PnetcdfTarget::visible() const {
  Switch visible{records_at, encode_number(records_)};
  if (!header_.has_variables && !header_.bytes.empty()) {
    const auto& next = next_header_.bytes.empty() ? header_.bytes : next_header_.bytes;
    const auto rest = std::span{next}
                          .first(std::min(header_.bytes.size(), next.size()))
                          .subspan(static_cast<std::size_t>(records_at) + visible.bytes.size());
    visible.bytes.insert(visible.bytes.end(), rest.begin(), rest.end());
  }
  return visible;
}

void PnetcdfTarget::is_visible() {
  seen_records_ = records_;
  if (!next_header_.bytes.empty()) {
    header_ = std::exchange(next_header_, {});
  }
}

Switch PnetcdfTarget::commit(const Description& description, std::int64_t from) {
  take_note(description, from);
  reach(layout_.file_bytes(records_));
  // Again, where steps without data came before the first variable.
  if (auto variables = layout_.defined_variables();
      header_.bytes.empty() || (variables != told_ && !layout_.goes_on())) {
    write_header(variables.empty() ? Description{} : description, variables);
    told_ = std::move(variables);
  }
  return visible();
}

Switch PnetcdfTarget::finish(const Description& description, std::int64_t from) {
  take_note(description, from);
  set_length(file_, layout_.file_bytes(records_), path_);
  std::set<int> variables;
  std::ranges::copy(std::views::keys(put_), std::inserter(variables, variables.end()));
  write_header(with_numbers(description, variables), variables);
  return visible();
}

// Records have no part for the numbers if these began like their places. Then the header tells them
// at last: it is not written anew before.
Description PnetcdfTarget::with_numbers(const Description& description,
                                        const std::set<int>& variables) const {
  Description last = description;
  if (numbers_.are_needed() && !layout_.numbers() && records_ > 0) {
    last.attributes.insert_or_assign(contents::step_numbers_name, numbers_.attribute(records_));
    const auto bytes = std::ssize(encode(layout_.header(last, variables)));
    return bytes > layout_.header_bytes() ? description : last;
  }
  return last;
}

}  // namespace iocomp::formats::cdf

namespace iocomp::formats {
namespace {

const Format& pnetcdf(const FormatOptions& /*options*/) {
  static const Format format{{.rules = rules::pnetcdf,
                              .extension = ".nc",
                              .goes_on = true,
                              .byte_order = std::endian::big},
                             [](const auto& path, const auto& options, const auto& /*writers*/) {
                               return std::make_unique<cdf::PnetcdfTarget>(path, options);
                             },
                             [](const auto& options) {
                               auto rules = rules::pnetcdf;
                               rules.header_bytes = cdf::header_room(options);
                               return rules;
                             }};
  return format;
}

std::string version() { return "CDF-5"; }

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::version, &iocomp::formats::pnetcdf};
