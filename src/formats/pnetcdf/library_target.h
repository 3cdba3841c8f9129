#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "base/descriptor.h"
#include "formats/cdf/dimensions.h"
#include "formats/cdf/reserved_room.h"
#include "formats/format.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// The library's path: all writers have the file open in PnetCDF. Variables are defined together,
/// data are written independently.
class LibraryTarget : public Target {
 public:
  /// Collective over `writers`.
  LibraryTarget(std::string path, const FormatOptions& options, MPI_Comm writers);
  /// Leaks the file if `finish` was not called: closing it is collective, and the other writers may
  /// not follow.
  ~LibraryTarget() override = default;

  std::int64_t place(const Variable& variable, std::int64_t step) override;
  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  void write_together(const Placed& where, const array::Box& box,
                      std::span<const std::byte> bytes) override;
  void flush() override;
  void finish(const Description& description) override;

 private:
  struct Defined {
    int number = -1;  // of PnetCDF
    bool has_records = false;
    bool has_time = false;
    std::int64_t placed_in = -1;
    Variable variable;
  };
  struct Part {  // of a variable with its time
    std::array<MPI_Offset, array::max_dimensions + 1> start{};
    std::array<MPI_Offset, array::max_dimensions + 1> count{};
  };
  [[nodiscard]] static Part part_of(const Defined& defined, std::int64_t step,
                                    const array::Box& box);
  void add(const Variable& variable);
  void reserve(std::int64_t more_bytes, const std::string& action);
  void put_attributes(int number, const Attributes& attributes);
  void end_the_file(const Description& description, std::int64_t record_bytes,
                    const std::map<int, std::int64_t>& begins) const;
  void grow(std::int64_t bytes) const;
  void check(int code, const std::string& action) const;

  std::string path_;
  MPI_Comm writers_;
  std::int64_t alignment_;
  bool one_step_;
  Descriptor plain_;
  ReservedRoom room_;
  int file_ = -1;
  int time_ = -1;
  std::int64_t fixed_bytes_ = 0;  // at most, of all that has no records
  std::int64_t record_bytes_ = 0;
  std::int64_t records_ = 0;
  DimensionTable table_;
  std::vector<int> dimensions_;     // numbers of PnetCDF, as in the table
  std::map<int, Defined> defined_;  // by id of the variable
};

}  // namespace iocomp::formats::cdf
