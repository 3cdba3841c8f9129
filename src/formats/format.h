#pragma once

#include <mpi.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "base/error.h"
#include "contents/rules.h"
#include "formats/source.h"
#include "formats/words.h"

namespace iocomp::formats {

/// Who writes the bytes of a back-end.
enum class Access {
  plain_file,  ///< anybody, at a file offset that `place` returns; only the lead has a Target
  mpi_file,    ///< the library, through `write`; every writer has a Target
};

/// The settings of a file that a back-end may need.
struct FormatOptions {
  std::int64_t alignment_bytes = 4096;  ///< of the first byte of a variable in the file
  std::vector<std::pair<std::string, std::string>> hints;  ///< MPI_Info of an MPI file
  int aggregators = 0;  ///< of adios2: how many writers collect for the others; 0: as it likes
  std::string engine = "BP5";  ///< of adios2: BP4, BP5 or HDF5
  std::vector<std::pair<std::string, std::string>> engine_parameters{};  ///< of adios2
  bool grows_along_time = false;                     ///< of hdf5: layout = "time"
  std::int64_t chunk_bytes = std::int64_t{4} << 20;  ///< there: the largest chunk of a dataset
  int deflate_level = 0;                             ///< there: 1 to 9; 0: not compressed
  bool shuffle = true;                               ///< there: bytes are sorted before
  bool one_step = false;          ///< the file is for one step; else for all of them
  double deadline_seconds = 600;  ///< of a wait for other writers without progress; 0: none
};

/// A part of a block of a variable: elements `first` to `first + count` of the packed (row-major)
/// order of `box`.
struct Selection {
  array::Box box;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Where programs that know nothing of iocomp find a variable in a step.
struct Whereabouts {
  std::string dataset;  ///< its path in an HDF5 file; empty: plain elements at the offset, in the
                        ///< byte order of the machine
  std::int64_t record = -1;  ///< its place along the first dimension of the dataset, which the
                             ///< variable does not have; -1: nor has the dataset
};

/// One physical file in the making. All calls come from one thread; failures are exceptions
/// (`Error`) and concern this process only: the caller agrees with the other writers afterwards.
class Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() =
      default;  ///< abandons the file if `finish` was not called; never collective, never throws

  /// Of how many variables it has been told by `know`; more than there can be where it need not
  /// be told of any.
  [[nodiscard]] virtual int defined() const noexcept { return std::numeric_limits<int>::max(); }
  /// plain_file, lead only: all variables that are defined by now, before room is made for one that
  /// comes after those that were known.
  virtual void know(std::span<const Variable> /*all*/) {}
  /// The same of attributes, before that call: what names and values of all that are set by now
  /// take together, in bytes, and how many there are.
  virtual void know_attributes(std::int64_t /*bytes*/, std::int64_t /*count*/) {}

  /// Make room for a variable in a step. plain_file: called on the lead only, returns the offset of
  /// its first byte. mpi_file: collective over the writers in the same order; returns -1 (or an
  /// offset, for information). Where the variable has no bytes, and where `offsets_by_layout`, the
  /// result is -1 too: Layout knows the offset. Steps ascending or not; called again for the same
  /// variable and step (plain_file only) when its shape has changed, and nothing was written.
  virtual std::int64_t place(const Variable& variable, std::int64_t step) = 0;

  /// mpi_file only: write the selected elements (packed, native byte order). Independent; blocks
  /// until the file system has them. At most 8 MiB per call where the caller can choose.
  /// Where `writes_whole_steps`: `bytes` stay as they are until `write_step` or `forget_step`, and
  /// parts may be as large as the caller has them.
  /// @param where  with the offset that Layout computes, where `offsets_by_layout`; else what
  /// `place` returned.
  /// @throws Error{storage_failure} with the cause; a short write is one.
  virtual void write(const Placed& /*where*/, const Selection& /*selection*/,
                     std::span<const std::byte> /*bytes*/) {
    throw Error{ErrorCode::internal, "a plain file is not written through its target"};
  }

  /// Make all that the format library keeps in memory visible to an fsync, with the file still
  /// open. Lead only (plain_file); mpi_file: collective, and what this process wrote is durable
  /// when it returns. Called after a step of a series is complete.
  virtual void flush() = 0;

  /// Where `writes_whole_steps`, instead of `flush`: write what `write` was given for this step, on
  /// all writers. Steps in ascending order, at most one begun at a time; failed ones are left out.
  /// Collective, with the same description, of this step alone. What this process wrote is durable
  /// when it returns, except on the first writer's node: whoever commits the step calls
  /// `make_durable` there.
  virtual void write_step(std::int64_t /*step*/, const Description& /*description*/) {}
  /// There too: forget what `write` was given for the step that is begun. Local.
  virtual void forget_step() noexcept {}

  /// Write attributes and whatever ends the file, and close it. plain_file: lead, who fsyncs
  /// afterwards; mpi_file: collective with the same description, durable when it returns. A failure
  /// leaves no other writer waiting. Called once.
  virtual void finish(const Description& description) = 0;
};

/// A format: what a back-end module provides.
class Format : public contents::Rules {
 public:
  [[nodiscard]] virtual std::string_view extension() const = 0;  ///< ".bin"
  [[nodiscard]] virtual std::string version()
      const = 0;  ///< of the format library, for `iocomp info`
  [[nodiscard]] virtual Access access(const FormatOptions& options) const = 0;

  /// Whether offsets follow from the order of definition alone (see Layout), so that every process
  /// can compute them: then `place` is called on no data path. Data are raw, native-endian and
  /// row-major.
  [[nodiscard]] virtual bool offsets_by_layout() const = 0;

  /// Whether the file can be read up to its last committed step while it is open (posix, mpiio), or
  /// only after `finish`.
  [[nodiscard]] virtual bool readable_while_open() const = 0;

  /// Whether it writes a step in one go, when all of it is there, and one step after the other:
  /// then `place` is never called, and no step is begun before the one before it was written or
  /// given up.
  [[nodiscard]] virtual bool writes_whole_steps() const { return false; }

  /// Where a target is a folder: the name of a file that every such folder has. Else empty.
  [[nodiscard]] virtual std::string_view folder_mark() const { return {}; }

  /// The format that these options make of this one, which answers all other questions.
  /// @throws Error{invalid_setting} naming what is allowed.
  [[nodiscard]] virtual const Format& chosen(const FormatOptions& /*options*/) const {
    return *this;
  }

  /// Of the elements in a plain file: whoever writes them there brings them into this order.
  [[nodiscard]] virtual std::endian byte_order() const { return std::endian::native; }

  /// Whether an XDMF file can describe its files: they are HDF5 inside, or plain elements. Where it
  /// can, `whereabouts` tells where a variable lies that was put into the file that the options
  /// make.
  [[nodiscard]] virtual bool xdmf_can_describe() const { return false; }
  [[nodiscard]] virtual Whereabouts whereabouts(const Placed& /*placed*/,
                                                const FormatOptions& /*options*/) const {
    return {};
  }

  /// Start a file. plain_file: on the lead, `writers` is MPI_COMM_SELF; mpi_file: collective over
  /// `writers`. The file does not exist yet, or is empty.
  [[nodiscard]] virtual std::unique_ptr<Target> create(const std::string& path,
                                                       const FormatOptions& options,
                                                       MPI_Comm writers) const = 0;

  /// Open a committed file for reading. Local: every reader opens it for itself, whoever wrote it;
  /// the options of the writer are not known. By default a format cannot.
  /// @throws Error{unsupported}; Error{storage_failure} for a file that is none of this format.
  [[nodiscard]] virtual std::unique_ptr<Source> open(const std::string& path,
                                                     const FormatOptions& options) const;
};

/// Whether the elements of a file are written by others than the format library, and must be
/// brought into another byte order before.
[[nodiscard]] inline bool swaps_bytes(const Format& format, const FormatOptions& options) {
  return format.byte_order() != std::endian::native && format.access(options) == Access::plain_file;
}

}  // namespace iocomp::formats

/// What a module `libiocomp_format_<name>.so` exports; `interface_version` must be the core's.
extern "C" {
inline constexpr int iocomp_format_interface_version = 7;
struct iocomp_format_entry {
  int interface_version;
  const iocomp::formats::Format* (*format)();
};
}
// A module defines: extern "C" __attribute__((visibility("default"))) const iocomp_format_entry
// iocomp_format;
