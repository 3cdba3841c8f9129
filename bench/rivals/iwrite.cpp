// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <climits>
#include <stdexcept>

#include "common/ranks.h"
#include "rivals/rival.h"

namespace iocomp::bench {
namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string{call} + ": " + text);
}

class IwriteFile : public RivalFile {
 public:
  explicit IwriteFile(const RivalTarget& target)
      : elements_{static_cast<MPI_Offset>(target.elements)},
        variables_{static_cast<MPI_Offset>(target.variables.size())},
        rank_{apps::rank_in(target.comm)},
        ranks_{apps::size_of(target.comm)},
        requests_(target.slots, MPI_REQUEST_NULL) {
    if (target.elements > INT_MAX) {
      throw std::runtime_error("iwrite: a put of " + std::to_string(target.elements) +
                               " elements; MPI 3 allows " + std::to_string(INT_MAX));
    }
    check(MPI_File_open(target.comm, target.path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY,
                        MPI_INFO_NULL, &file_),
          "MPI_File_open");
  }

  void put(std::size_t variable, std::size_t slot, std::span<const double> values) override {
    const MPI_Offset array = step_ * variables_ + static_cast<MPI_Offset>(variable);
    const MPI_Offset first = (array * ranks_ + rank_) * elements_;
    check(MPI_File_iwrite_at(file_, first * static_cast<MPI_Offset>(sizeof(double)), values.data(),
                             static_cast<int>(values.size()), MPI_DOUBLE, &requests_.at(slot)),
          "MPI_File_iwrite_at");
  }

  void wait(std::size_t slot) override {
    MPI_Request& request = requests_.at(slot);
    if (request == MPI_REQUEST_NULL) return;
    MPI_Status status;
    check(MPI_Wait(&request, &status), "MPI_Wait");
    int written = 0;
    MPI_Get_count(&status, MPI_DOUBLE, &written);
    // Open MPI's own MPI-IO reports a full disk in no other way.
    if (written != static_cast<int>(elements_)) {
      throw std::runtime_error("MPI_File_iwrite_at wrote less than it was given");
    }
  }

  void end_step() override { ++step_; }

  void close() override {
    for (std::size_t slot = 0; slot < requests_.size(); ++slot) wait(slot);
    check(MPI_File_sync(file_), "MPI_File_sync");
    check(MPI_File_close(&file_), "MPI_File_close");
  }

 private:
  MPI_Offset elements_;
  MPI_Offset variables_;
  MPI_Offset rank_;
  MPI_Offset ranks_;
  MPI_Offset step_ = 0;
  MPI_File file_ = MPI_FILE_NULL;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<RivalFile> open_iwrite(const RivalTarget& target) {
  return std::make_unique<IwriteFile>(target);
}

}  // namespace iocomp::bench
