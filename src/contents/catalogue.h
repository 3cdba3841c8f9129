// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "base/open_folder.h"
#include "contents/description.h"
#include "contents/layout.h"
#include "contents/rules.h"
#include "contents/variable.h"

namespace iocomp::contents {

/// The attribute of a variable that says how many bits of the mantissa its values keep: the name
/// that netCDF gives it where it rounds in this way.
inline constexpr const char* kept_bits_attribute = "_QuantizeBitRoundNumberOfSignificantBits";

/// A call that all members of a file make in the same order: define, set_shape, an attribute, or
/// the number of a step.
struct Event {
  enum class What : std::uint8_t { define = 1, set_shape = 2, attribute = 3, begin_step = 4 };
  What what{};
  std::int64_t step = 0;                                  ///< current step of the caller
  std::int32_t variable = -1;                             ///< set_shape; attribute: -1 for the file
  std::string name;                                       ///< define, attribute
  array::ElementType type = array::ElementType::float64;  ///< define
  array::Shape shape;                                     ///< define, set_shape
  Attribute attribute;                                    ///< attribute
  std::int64_t number = 0;                                ///< begin_step
  double time = unknown_time;                             ///< begin_step
};
[[nodiscard]] std::vector<std::byte> encode(const Event& event);
/// @throws Error for what is no event.
[[nodiscard]] Event decode_event(std::span<const std::byte> bytes);
/// Text for people: `define("u", float64, 4 x 16) in step 0`.
[[nodiscard]] std::string text(const Event& event);

/// An attribute that earlier jobs have set.
struct EarlierAttribute {
  array::ElementType type = array::ElementType::uint8;
  bool is_text = false;
  std::int64_t bytes = 0;
};

/// The most bytes that a variable takes in the header of a file, without its attributes.
[[nodiscard]] std::int64_t bytes_in_header(const Variable& variable);

/// The beginning of a file that goes on with the work of earlier jobs.
struct Beginning {
  std::int64_t number = 0;  ///< of its first step
  FolderAddress folder{};   ///< in which it lies
  // For one file of all steps:
  bool is_there = false;
  std::int64_t steps = 0;      ///< that it has, with those that failed
  std::int64_t bytes = 0;      ///< that these take
  bool has_old_bytes = false;  ///< perhaps, behind these: of steps that are not there any more
  std::set<std::string> variables{};            ///< that these have
  std::map<std::string, Attributes> meaning{};  ///< of their values: see meaning_of
  /// Numbers of those steps that have variables, by step; none where all are as these.
  std::map<std::int64_t, std::int64_t> numbers{};
  // Filled in if the rules bound attributes by those that were set before:
  std::map<std::string, EarlierAttribute> attributes{};  ///< by "<variable>/<name>" or "<name>"
  std::int64_t header_bytes = 0;                         ///< of its variables: see bytes_in_header
  std::int64_t header_room = 0;                          ///< in front of them; 0: there are none
};

/// The contents of a file, as the log of its events tells: every process that applied the same
/// events knows the same variables, shapes and offsets.
class Catalogue {
 public:
  /// The size of a header without names and attributes of the program.
  static constexpr std::int64_t empty_header_bytes = 256;

  /// @param one_file  all steps go to one physical file.
  /// @param kept_bits  what the file keeps of its variables; null: everything.
  Catalogue(const Rules& rules, std::int64_t alignment_bytes, bool one_file,
            KeptBits kept_bits = nullptr)
      : rules_{rules},
        one_file_{one_file},
        kept_bits_{std::move(kept_bits)},
        layout_{alignment_bytes, one_file},
        header_bytes_{empty_header_bytes} {}

  /// @throws Error{invalid_argument} (name taken or malformed, other number of dimensions),
  /// Error{unsupported} for what the rules do not allow, Error{invalid_setting}; then nothing has
  /// changed.
  void apply(const Event& event);

  /// Checks all that is defined for a step together. To be called before the first put of the step
  /// and before its end: until then, definitions may contradict one another.
  /// @throws Error{unsupported} where the file has one step alone, and this is not the first;
  /// Error{invalid_argument} where a dimension has two lengths.
  void check_step(std::int64_t step) const;
  /// Checks that the values of earlier jobs keep their meaning beside those of a put.
  /// @throws Error{unsupported}.
  void check_goes_on(int id, std::int64_t step) const;
  /// The same of a variable that would have these attributes.
  void check_goes_on(const std::string& variable, const Attributes& said) const;
  [[nodiscard]] const Rules& rules() const noexcept { return rules_; }
  /// True if a variable has values in only one step of the file.
  [[nodiscard]] bool has_one_step(const Variable& variable) const;
  /// True if the event must come before the rank's first put of the step, because the file relies
  /// on it from then on.
  [[nodiscard]] bool comes_before_puts(const Event& event) const;

  /// The most bytes that names and attributes take in the header of the file.
  [[nodiscard]] std::int64_t header_bytes() const noexcept { return header_bytes_; }

  /// The file goes on there. Before the first event.
  void begin_at(const Beginning& beginning);

  /// Number of events applied.
  [[nodiscard]] std::int64_t events() const noexcept { return events_; }
  /// @throws Error if the step cannot begin as the event says.
  void check_begin(const Event& event) const;
  [[nodiscard]] bool has_variable(const std::string& name) const { return names_.contains(name); }
  [[nodiscard]] int variables() const noexcept { return static_cast<int>(variables_.size()); }
  /// The variable as it is in a step.
  /// @throws Error{internal} if there is none of that number.
  [[nodiscard]] Variable variable(int id, std::int64_t step) const;
  /// An attribute of it as it is in a step; null where it has none of that name.
  [[nodiscard]] const Attribute* attribute(int id, std::int64_t step, const char* name) const;
  /// The shape alone.
  [[nodiscard]] const array::Shape& shape(int id, std::int64_t step) const;
  /// All variables as they are in a step.
  [[nodiscard]] std::vector<Variable> all_variables(std::int64_t step) const;
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
  /// The number that the program gives a step: one more than that of the step before, unless it
  /// says another.
  [[nodiscard]] std::int64_t number(std::int64_t step) const;
  /// The step of a number; nothing where no step up to this one has it.
  [[nodiscard]] std::optional<std::int64_t> step_of(std::int64_t number, std::int64_t last) const;
  /// Physical time of a step, as the program said; NaN where it did not.
  [[nodiscard]] double time(std::int64_t step) const;
  /// Attributes as they are in a step: those that were set in it or before.
  [[nodiscard]] Attributes attributes(std::int64_t step) const;
  [[nodiscard]] std::vector<Attributes> variable_attributes(std::int64_t step) const;
  /// True if an attribute of a variable was set after a step.
  [[nodiscard]] bool has_later_attributes(int id, std::int64_t step) const;
  /// The value of elements that nobody puts in a step: one element's bytes, or nothing if that is 0
  /// and the file holds 0 anyway.
  [[nodiscard]] std::vector<std::byte> fill(int id, std::int64_t step) const;
  /// The scalar variable "time" in a step whose time the program has said: the step has it even if
  /// nobody puts it. Nothing if there is none, or its type cannot hold that time.
  [[nodiscard]] std::optional<int> known_time(std::int64_t step) const;

 private:
  using AttributeHistory = std::map<std::string, std::map<std::int64_t, Attribute>>;  // by step
  struct Entry {
    std::string name;
    array::ElementType type{};
    std::vector<std::pair<std::int64_t, array::Shape>> shapes;  // from which step on
    AttributeHistory attributes;
    Kept kept;
  };
  void define(const Event& event);
  void set_attribute(const Event& event);
  void check_meaning(const Event& event, const Variable& owner) const;
  void check_keeps_meaning(const std::string& variable, const std::string& name,
                           const Attribute* said) const;
  void check_says_meaning(const std::string& variable,
                          const std::function<bool(const char*)>& says) const;
  void check_beside_others(const Event& event, const AttributeHistory& others) const;
  void check_lengths(std::int64_t step) const;
  [[nodiscard]] bool packs(const Event& event) const;
  [[nodiscard]] std::int64_t growth_of_header(const Event& event) const;
  [[nodiscard]] std::int64_t room_for_header(std::int64_t step) const;
  [[nodiscard]] std::string name_in_file(const Event& event) const;
  void check_free(const std::string& name) const;
  void set_shape(const Event& event);
  void begin_step(const Event& event);
  void check_has_step(std::int64_t step) const;
  [[nodiscard]] const Entry& entry(int id) const;
  [[nodiscard]] bool has_time_axis(std::int64_t step) const;
  [[nodiscard]] std::vector<std::byte> time_as_element(std::int64_t step) const;

  void check_keeps(const Event& event, const std::string& name) const;

  Rules rules_;
  bool one_file_;
  KeptBits kept_bits_;
  Layout layout_;
  std::int64_t events_ = 0;
  std::vector<Entry> variables_;
  std::set<std::string> names_;  // of the variables
  AttributeHistory attributes_;
  std::map<std::int64_t, std::int64_t> numbers_{{0, 0}};  // by step, where they jump
  std::map<std::int64_t, double> times_;                  // by step
  std::optional<int> time_;                               // the scalar variable
  Beginning beginning_{};
  std::int64_t header_bytes_;
  std::int64_t header_bytes_of_first_step_ = 0;
  mutable std::int64_t lengths_checked_ = -1;  // by so many events
};

/// The definitions of a file that hold in a step.
struct Known {
  const Catalogue& catalogue;
  std::int64_t step = 0;
};

/// The variables of each step, and their offsets: the lead keeps them beside the catalogue.
class Contents {
 public:
  /// The step is committed, perhaps without any variable.
  void add(std::int64_t step) { known_.try_emplace(step); }
  /// A variable is in a step; `offset` and `sums` as in Placed.
  void add(std::int64_t step, int variable, std::int64_t offset, BlockSums sums = {});
  void remove_step(std::int64_t step);
  /// The number of steps that were removed: an earlier description may hold one that is gone.
  [[nodiscard]] std::int64_t removals() const noexcept { return removals_; }
  /// True if an attribute of some variable was set after the last step that has the variable.
  [[nodiscard]] bool lacks_attributes(const Catalogue& catalogue) const;
  /// Describes the steps `first` to `last` (included), for the manifest and `finish`.
  [[nodiscard]] Description describe(const Catalogue& catalogue, std::int64_t first,
                                     std::int64_t last) const;

 private:
  struct Known {
    std::int64_t offset = -1;
    BlockSums sums;
  };
  std::map<std::int64_t, std::map<int, Known>> known_;  // step -> variable
  std::int64_t removals_ = 0;
};

}  // namespace iocomp::contents
