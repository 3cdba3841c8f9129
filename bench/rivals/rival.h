// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Other ways to write while computing, to compare with. Never linked into the library.
namespace iocomp::bench {

enum class Rival {
  iwrite,     ///< MPI_File_iwrite_at into one shared file
  bp5_naive,  ///< ADIOS2, engine BP5, AsyncWrite = Naive
  bp5_guided  ///< ADIOS2, engine BP5, AsyncWrite = Guided: it is told when the program computes
};

/// The names of all rivals on the command line: "iwrite", "bp5-naive", "bp5-guided".
[[nodiscard]] const std::vector<std::pair<std::string, Rival>>& rival_names();

/// The arrays that are written: global arrays of doubles, cut evenly along their one dimension.
struct RivalTarget {
  std::string path;
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<std::string> variables;
  std::size_t elements = 0;  ///< of a variable, per rank
  std::size_t slots = 0;     ///< puts that may be open at once
};

/// A file that a rival writes. Open, end_step and close are collective over the communicator.
class RivalFile {
 public:
  RivalFile() = default;
  RivalFile(const RivalFile&) = delete;
  RivalFile& operator=(const RivalFile&) = delete;
  virtual ~RivalFile() = default;

  /// Start to write a variable of the current step. The values stay untouched until `wait` was
  /// called for this slot. @pre no put is open in the slot.
  virtual void put(std::size_t variable, std::size_t slot, std::span<const double> values) = 0;
  virtual void wait(std::size_t slot) = 0;
  virtual void end_step() = 0;
  /// Return when all is durable.
  virtual void close() = 0;
  virtual void begin_computing() {}
  virtual void end_computing() {}
};

/// Collective over the communicator.
/// @throws std::runtime_error, also for a rival that this build does not have.
[[nodiscard]] std::unique_ptr<RivalFile> open_rival(Rival rival, const RivalTarget& target);

/// The makers behind `open_rival`.
[[nodiscard]] std::unique_ptr<RivalFile> open_iwrite(const RivalTarget& target);
[[nodiscard]] std::unique_ptr<RivalFile> open_bp5(const RivalTarget& target, bool guided);

}  // namespace iocomp::bench
