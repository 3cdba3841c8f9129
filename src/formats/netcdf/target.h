#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "formats/cdf/dimensions.h"
#include "formats/cdf/reserved_room.h"
#include "formats/format.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// A NetCDF-4 file that all writers have open together. Variables are defined, and records added,
/// together; data are written independently.
///
/// Below netCDF lies HDF5, which does not survive metadata that cannot be written (see
/// hdf5/library_target.h), so room is set aside before anything is put into the file.
class NetcdfTarget : public Target {
 public:
  /// Collective over `writers`.
  NetcdfTarget(std::string path, const FormatOptions& options, MPI_Comm writers);
  /// Leaks the file if `finish` was not called: closing it is collective, and the other writers may
  /// not follow.
  ~NetcdfTarget() override = default;

  std::int64_t place(const Variable& variable, std::int64_t step) override;
  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  void write_together(const Placed& where, const array::Box& box,
                      std::span<const std::byte> bytes) override;
  void flush() override;
  void finish(const Description& description) override;

 private:
  struct Defined {
    int number = -1;  // of netCDF
    bool has_time = false;
    std::vector<std::size_t> chunk;  // of its records; none where it has no records
    std::int64_t records = 0;
    std::int64_t placed_in = -1;
    Variable variable;
  };
  Defined& add(const Variable& variable);
  void define_dimensions(const Dimensions& dimensions, const std::vector<std::size_t>& numbers,
                         std::vector<int>& used);
  void define_variable(Defined& defined, const std::vector<int>& used);
  void add_record(Defined& defined, std::int64_t step);
  // Without bytes it takes part in a collective call.
  void put(const Defined& defined, std::int64_t step, const array::Box& part,
           const std::byte* bytes);
  void put_attributes(int number, const Attributes& attributes);
  void fill_what_nobody_put(const Description& description);
  void reserve(std::int64_t more_bytes, const std::string& action);
  void check(int code, const std::string& action) const;

  std::string path_;
  MPI_Comm writers_;
  int rank_ = 0;
  bool one_step_;
  Descriptor plain_;
  ReservedRoom room_;
  int file_ = -1;
  int time_ = -1;
  std::int64_t wanted_ = 0;  // bytes, at most, with all metadata
  DimensionTable table_;
  std::vector<int> dimensions_;                    // numbers of netCDF, as in the table
  std::map<int, Defined> defined_;                 // by id of the variable
  std::set<std::pair<std::int64_t, int>> placed_;  // of variables with records
};

}  // namespace iocomp::formats::cdf
