// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "array/box.h"
#include "base/crew.h"
#include "base/descriptor.h"
#include "base/path.h"
#include "base/storage.h"
#include "contents/layout.h"
#include "contents/rules.h"
#include "contents/variable.h"
#include "formats/opening.h"
#include "formats/words.h"
#include "mpi/wait_policy.h"

namespace iocomp::contents {
struct Known;
}

namespace iocomp::formats {

struct Communicator;  // formats/communicator.h

/// A kind of target, named after the side that writes the elements of the file.
enum class Kind {
  plain,   ///< anybody, at offsets that the layout or the lead's PlainTarget names
  shared,  ///< MPI, at the offsets of the layout: every writer has a SharedTarget
  step,    ///< a library, a whole step at a time: every writer has a StepTarget
};

/// The properties of a format. It answers this once.
struct Traits {
  contents::Rules rules;       ///< its name, and what it can hold: see formats/rules.h
  std::string_view extension;  ///< ".bin"
  Kind kind = Kind::plain;
  /// Offsets follow from the order of definition alone (see Layout), so that every process can
  /// compute them. Data are raw, native-endian and row-major. Always so where MPI writes; a plain
  /// file then has no target.
  bool offsets_by_layout = false;
  /// The file can be read up to its last committed step while it is open; else only after `finish`.
  bool readable_while_open = true;
  /// A file of several steps that was committed can be gone on with: see FormatOptions.
  bool goes_on = false;
  /// If a target is a folder: the name of a file that every such folder has.
  std::string_view folder_mark{};
  /// All that its StepTarget has written is durable when a call of it returns, on all nodes, and a
  /// series of it has too many files to ask each time how long they are.
  bool is_durable_itself = false;
  /// A thread may make the collective calls of its StepTarget beside the program, if MPI allows
  /// that: they call no library that the program may use too.
  bool allows_threads = false;
  /// The order of the elements in a plain file. Every writer brings them into this order.
  std::endian byte_order = std::endian::native;

  [[nodiscard]] bool is_plain() const noexcept { return kind == Kind::plain; }
  [[nodiscard]] bool writes_whole_steps() const noexcept { return kind == Kind::step; }
  [[nodiscard]] bool swaps_bytes() const noexcept { return byte_order != std::endian::native; }
  /// The offset of a variable of a step: as it follows from the layout, or as its target told it.
  [[nodiscard]] std::int64_t offset(const contents::Layout& layout, int variable, std::int64_t step,
                                    std::int64_t told) const {
    return offsets_by_layout ? layout.offset(variable, step) : told;
  }
  /// True if its target makes room for variables, one after the other.
  [[nodiscard]] bool has_to_place() const noexcept { return is_plain() && !offsets_by_layout; }
};

/// The settings of a file that a back-end may need.
struct FormatOptions {
  std::int64_t alignment_bytes = 4096;  ///< of the first byte of a variable in the file
  /// MPI_Info of an MPI file; parameters of the engine of adios2
  std::vector<std::pair<std::string, std::string>> hints;
  int aggregators = 0;            ///< of adios2: how many writers collect for the others; 0: none
  std::string engine = "BP5";     ///< of adios2: BP4, BP5 or HDF5
  bool grows_along_time = false;  ///< of hdf5: layout = "time"
  bool is_flat = false;           ///< of hdf5: layout = "flat"
  std::int64_t chunk_bytes = std::int64_t{4} << 20;  ///< there and of netcdf: of a dataset at most
  Compression compression{};                         ///< of the same two
  /// Returns how a variable, given by name, is kept. Null if all are kept by the two members above.
  std::function<Storage(std::string_view)> of_variable{};
  std::vector<Storage> storages{};  ///< all that these may have
  contents::KeptBits kept_bits{};   ///< of a variable: see Catalogue; null: all
  Crew* crew = nullptr;             ///< the threads that compress; null: who writes does it itself
  bool bypasses_cache = false;      ///< long writes go past the page cache, where they can
  bool has_strings = false;         ///< hdf5: texts are strings; a format says it to itself
  bool splits_complex_numbers = false;  ///< netcdf: as in its rules; it says it to itself
  bool one_step = false;                ///< the file is for one step; else for all of them
  /// The file exists. So many of its steps, and bytes, are kept, and new ones are put behind them.
  /// -1: a new file.
  std::int64_t earlier_steps = -1;
  std::int64_t earlier_bytes = 0;
  std::set<std::string> earlier_variables{};               ///< that these steps have
  std::map<std::int64_t, std::int64_t> earlier_numbers{};  ///< as in contents::Beginning
  mpi::WaitPolicy wait{mpi::usual_deadline_seconds};       ///< for other writers

  /// The way to a file that is there.
  [[nodiscard]] Opening opening() const noexcept {
    return earlier_steps >= 0 ? Opening::finds_earlier : Opening::finds;
  }
  [[nodiscard]] Storage storage_of(std::string_view variable) const {
    return of_variable ? of_variable(variable) : Storage{chunk_bytes, compression};
  }
  /// True if some variable may be compressed.
  [[nodiscard]] bool compresses() const noexcept {
    return compression.is_on() || std::ranges::any_of(storages, [](const Storage& storage) {
             return storage.compression.is_on();
           });
  }
};

/// A part of a block of a variable: elements `first` to `first + count` of the packed (row-major)
/// order of `box`.
struct Selection {
  array::Box box;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// One element of what a variable holds where nobody puts anything.
[[nodiscard]] std::vector<std::byte> fill_bytes(const Variable& variable);

// One physical file in the making is a target of one of three kinds. Destroying it abandons the
// file if `finish` was not called; that is never collective and never throws. All calls come from
// one thread. Failures are exceptions (`Error`) and concern this process only: the caller agrees
// with the other writers afterwards.

/// The bytes that make steps visible to those that read the file. They are few, lie within one
/// sector of a disk, and are written when everything else of these steps is durable. Until then
/// readers see the file as it was.
struct Switch {
  std::int64_t offset = 0;
  std::vector<std::byte> bytes;  ///< none: there is nothing to switch
};
/// @throws Error{storage_failure}.
void make_visible(const Descriptor& file, const Switch& visible, const std::string& path);

/// A file whose variables have places that the lead's target chooses; anybody writes there.
///
/// `commit` and `finish` are told what the file contains from a step on, with the attributes that
/// hold now. The description of earlier steps does not change; later ones are described anew.
class PlainTarget {
 public:
  PlainTarget() = default;
  PlainTarget(const PlainTarget&) = delete;
  PlainTarget& operator=(const PlainTarget&) = delete;
  virtual ~PlainTarget() = default;

  /// Make room for a variable in a step. Steps ascending or not; called again for the same variable
  /// and step when its shape has changed, and nothing was written.
  /// @param known  all variables and attributes that are known by now, for a format that wants to
  /// make room for them ahead.
  /// @return the offset of its first byte; -1 where it has no bytes.
  virtual std::int64_t place(const Variable& variable, std::int64_t step,
                             const contents::Known& known) = 0;

  /// Write what readers need to find these steps, with the file still open: nothing that they use
  /// by now is changed. The caller makes it durable.
  [[nodiscard]] virtual Switch commit(const Description& description, std::int64_t from) = 0;

  /// Says that the switch which `commit` returned last is in the file, and stays there. Without
  /// this call it was not written, or was taken back.
  virtual void is_visible() {}

  /// The same for the last time: write attributes and whatever ends the file, and close it. Called
  /// once.
  [[nodiscard]] virtual Switch finish(const Description& description, std::int64_t from) = 0;
};

/// A file of raw elements that MPI writes.
class SharedTarget {
 public:
  SharedTarget() = default;
  SharedTarget(const SharedTarget&) = delete;
  SharedTarget& operator=(const SharedTarget&) = delete;
  virtual ~SharedTarget() = default;

  /// Write the selected elements (packed, native byte order). Independent; blocks until the file
  /// system has them. At most 8 MiB per call where the caller can choose.
  /// @param where  with the offset that Layout computes.
  /// @throws Error{storage_failure} with the cause; a short write is one.
  virtual void write(const Placed& where, const Selection& selection,
                     std::span<const std::byte> bytes) = 0;

  /// Give the file its size and close it. Collective with the same description; durable when it
  /// returns. A failure leaves no other writer waiting. Called once.
  virtual void finish(const Description& description) = 0;
};

/// The amounts of data before and after compression.
struct Compressed {
  std::int64_t raw_bytes = 0;     ///< before
  std::int64_t stored_bytes = 0;  ///< after
  double seconds = 0;             ///< of all threads
};

/// A file whose library writes a step in one go, when all of it is there, and one step after the
/// other: no step is begun before the one before it was written or given up.
///
/// All writers make the calls that are collective, with the same description, in any thread. Such a
/// call fails on all writers or on none. The others belong to the owner of the file, in the thread
/// that has its library, and wait for nobody. A failure there concerns all writers: the caller
/// tells them.
class StepTarget {
 public:
  StepTarget() = default;
  StepTarget(const StepTarget&) = delete;
  StepTarget& operator=(const StepTarget&) = delete;
  virtual ~StepTarget() = default;

  /// The owner's first call, when all writers have made their target.
  virtual void begin() {}

  /// Remember the selected elements (packed, native byte order) for the step. The owner's. `bytes`
  /// stay as they are until `write_step` or `forget_step`; they may be as many as the caller has.
  virtual void write(const Placed& where, const Selection& selection,
                     std::span<const std::byte> bytes) = 0;

  /// The owner's, before each `write_step`. That throws what fails here.
  virtual void begin_step(std::int64_t /*step*/, const Description& /*description*/) noexcept {}

  /// Write the elements remembered for this step, on all writers. Steps in ascending order; failed
  /// ones are left out. Collective, with the description of this step alone. Bytes that this
  /// process wrote are durable when it returns, except on the first writer's node: the committer of
  /// the step calls `make_durable` there.
  /// @return the amounts that this process has compressed, also in steps that failed before;
  /// nothing if the format does not know.
  virtual Compressed write_step(std::int64_t step, const Description& description) = 0;

  /// The owner's, for a step that all writers have written: readers find it afterwards, unless the
  /// file is for one step.
  virtual void end_step(std::int64_t /*step*/, const Description& /*description*/) {}

  /// Forget the elements remembered for the step that is begun. The owner's.
  virtual void forget_step() noexcept = 0;

  /// Write attributes and whatever ends the file. Collective; what it wrote is durable when it
  /// returns. Called once.
  virtual void finish(const Description& description) = 0;

  /// The owner's last call, after `finish`: the rest of that, durable when it returns.
  virtual void close(const Description& /*description*/) {}
};

/// A target of the kind that the format's traits name; null: none.
using Target = std::variant<std::unique_ptr<PlainTarget>, std::unique_ptr<SharedTarget>,
                            std::unique_ptr<StepTarget>>;

/// Finish it, if there is one that all writers have. Collective.
void finish(const Target& target, const Description& description);
/// The owner's part of that: see StepTarget.
void close(const Target& target, const Description& description);

/// A format for files of some options: what a back-end module provides to those who write. For what
/// reads its files see sources.h.
class Format {
 public:
  using Create = std::function<Target(const Path&, const FormatOptions&, const Communicator&)>;
  using Rules = std::function<contents::Rules(const FormatOptions&)>;
  using Check = std::function<void(const Variable&, const FormatOptions&)>;

  /// @param create  null: there is nothing to be made.
  /// @param rules  null: those of the traits hold for all options.
  /// @param check  null: nothing is refused.
  explicit Format(const Traits& traits, Create create = {}, Rules rules = {}, Check check = {})
      : traits_{traits},
        create_{std::move(create)},
        rules_{std::move(rules)},
        check_{std::move(check)} {}
  Format(const Format&) = delete;
  Format& operator=(const Format&) = delete;

  [[nodiscard]] const Traits& traits() const noexcept { return traits_; }
  [[nodiscard]] std::string_view name() const noexcept { return traits_.rules.format; }
  /// The rules for a file with these options.
  [[nodiscard]] contents::Rules rules(const FormatOptions& options) const {
    return rules_ ? rules_(options) : traits_.rules;
  }
  /// Refuse a variable that its settings do not fit. Called where it is defined.
  /// @throws Error{invalid_setting}.
  void check(const Variable& variable, const FormatOptions& options) const {
    if (check_) {
      check_(variable, options);
    }
  }
  /// Start a file. A plain one, which is there and empty: on the lead, if it `has_to_place`;
  /// others: collective over `writers`.
  [[nodiscard]] Target create(const Path& path, const FormatOptions& options,
                              const Communicator& writers) const {
    return create_ ? create_(path, options, writers) : Target{};
  }

 private:
  Traits traits_;
  Create create_;
  Rules rules_;
  Check check_;
};

}  // namespace iocomp::formats

/// The symbol that a module `libiocomp_format_<name>.so` exports; `interface_version` must be the
/// core's.
extern "C" {
inline constexpr int iocomp_format_interface_version = 17;
struct iocomp_format_entry {
  int interface_version;
  /// The version of the format's library, for `iocomp info`.
  std::string (*version)();
  /// The format that files with these options have. It lives until the program ends.
  /// @throws Error{invalid_setting} naming what is allowed; Error{unsupported}.
  const iocomp::formats::Format& (*format)(const iocomp::formats::FormatOptions& options);
};
}
// A module defines: extern "C" __attribute__((visibility("default"))) const iocomp_format_entry
// iocomp_format;
