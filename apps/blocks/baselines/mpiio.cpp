// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include "blocks/baselines/baseline.h"
#include "blocks/baselines/mpi_names.h"

namespace iocomp::apps::blocks {
namespace {

std::vector<int> as_ints(const Extents& extents) {
  std::vector<int> result;
  for (const std::int64_t extent : extents) result.push_back(as_int(extent));
  return result;
}

/// Raw arrays, step after step, through collective calls on a view of the rank's box.
class ArrayFile {
 public:
  ArrayFile(const Target& target, int mode) : target_{target} {
    const Hints hints{target.hints};
    check_mpi(MPI_File_open(target.comm, target.path.c_str(), mode, hints.raw(), &file_),
              "MPI_File_open");
  }

  /// See only `box` of the array of a step.
  void look_at(std::int64_t step, const Box& box) {
    const MPI_Offset begin =
        step * product(target_.block.shape) * static_cast<MPI_Offset>(sizeof(double));
    // An empty box has no subarray; nobody looks through the view of such a rank.
    MPI_Datatype view = MPI_DOUBLE;
    if (box.elements() > 0) {
      check_mpi(
          MPI_Type_create_subarray(as_int(static_cast<std::int64_t>(box.count.size())),
                                   as_ints(target_.block.shape).data(), as_ints(box.count).data(),
                                   as_ints(box.start).data(), MPI_ORDER_C, MPI_DOUBLE, &view),
          "MPI_Type_create_subarray");
      check_mpi(MPI_Type_commit(&view), "MPI_Type_commit");
    }
    check_mpi(MPI_File_set_view(file_, begin, MPI_DOUBLE, view, "native", MPI_INFO_NULL),
              "MPI_File_set_view");
    if (view != MPI_DOUBLE) MPI_Type_free(&view);
  }

  /// All elements of a box as so many lines of one type, since counts are ints.
  template <typename Call>
  void with_lines(const Box& box, Call call) {
    const std::int64_t length = box.elements() == 0 ? 0 : box.count.back();
    if (length == 0) return call(0, MPI_DOUBLE);
    MPI_Datatype line = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_contiguous(as_int(length), MPI_DOUBLE, &line), "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&line), "MPI_Type_commit");
    call(as_int(box.elements() / length), line);
    MPI_Type_free(&line);
  }

  void close(bool durable) {
    if (durable) check_mpi(MPI_File_sync(file_), "MPI_File_sync");
    check_mpi(MPI_File_close(&file_), "MPI_File_close");
  }

  [[nodiscard]] MPI_File raw() const noexcept { return file_; }
  [[nodiscard]] const Target& target() const noexcept { return target_; }

 private:
  Target target_;
  MPI_File file_ = MPI_FILE_NULL;
};

void check_complete(MPI_Status& status, MPI_Datatype line, int lines, const char* call) {
  int done = 0;
  MPI_Get_count(&status, line, &done);
  // Open MPI's own MPI-IO reports a full disk in no other way.
  if (lines > 0 && done != lines) {
    throw std::runtime_error(std::string{call} + " moved " + std::to_string(done) + " of " +
                             std::to_string(lines) + " lines");
  }
}

class MpiioFile : public BlockFile {
 public:
  explicit MpiioFile(const Target& target) : file_{target, MPI_MODE_CREATE | MPI_MODE_WRONLY} {}

  void put(std::size_t /*slot*/, std::span<const double> values) override {
    const Box& own = file_.target().block.own;
    file_.look_at(step_++, own);
    file_.with_lines(own, [&](int lines, MPI_Datatype line) {
      MPI_Status status;
      check_mpi(MPI_File_write_all(file_.raw(), values.data(), lines, line, &status),
                "MPI_File_write_all");
      check_complete(status, line, lines, "MPI_File_write_all");
    });
  }
  void finish() override { file_.close(file_.target().durable); }

 private:
  ArrayFile file_;
  std::int64_t step_ = 0;
};

class MpiioReader : public BlockReader {
 public:
  explicit MpiioReader(const Target& target) : file_{target, MPI_MODE_RDONLY} {}

  void read(int step, const Box& box, std::span<double> values) override {
    file_.look_at(step, box);
    file_.with_lines(box, [&](int lines, MPI_Datatype line) {
      MPI_Status status;
      check_mpi(MPI_File_read_all(file_.raw(), values.data(), lines, line, &status),
                "MPI_File_read_all");
      check_complete(status, line, lines, "MPI_File_read_all");
    });
  }
  void close() override { file_.close(false); }

 private:
  ArrayFile file_;
};

}  // namespace

std::unique_ptr<BlockFile> create_mpiio(const Target& target) {
  return std::make_unique<MpiioFile>(target);
}
std::unique_ptr<BlockReader> open_mpiio(const Target& target) {
  return std::make_unique<MpiioReader>(target);
}

}  // namespace iocomp::apps::blocks
