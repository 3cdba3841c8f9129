// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <pnetcdf.h>

#include "blocks/baselines/baseline.h"
#include "blocks/baselines/mpi_names.h"
#include "blocks/paths.h"

namespace iocomp::apps::blocks {
namespace {

void check_pnetcdf(int code, const char* call) {
  if (code != NC_NOERR) throw std::runtime_error(std::string{call} + ": " + ncmpi_strerror(code));
}

/// A box of one step: the steps are the first dimension.
struct OffsetBox {
  OffsetBox(int step, const Box& box) {
    start.push_back(step);
    count.push_back(box.elements() == 0 ? 0 : 1);
    start.insert(start.end(), box.start.begin(), box.start.end());
    count.insert(count.end(), box.count.begin(), box.count.end());
  }
  std::vector<MPI_Offset> start;
  std::vector<MPI_Offset> count;
};

/// CDF-5, one variable whose first dimension are the steps, written by collective calls.
class PnetcdfFile : public BlockFile {
 public:
  explicit PnetcdfFile(const Target& target) : target_{target} {
    const Hints hints{target.hints};
    check_pnetcdf(ncmpi_create(target.comm, target.path.c_str(), NC_CLOBBER | NC_64BIT_DATA,
                               hints.raw(), &file_),
                  "ncmpi_create");
    std::vector<int> dimensions(1 + target.block.shape.size());
    check_pnetcdf(ncmpi_def_dim(file_, "step", target.steps, dimensions.data()), "ncmpi_def_dim");
    for (std::size_t d = 0; d < target.block.shape.size(); ++d) {
      check_pnetcdf(ncmpi_def_dim(file_, ("x" + std::to_string(d)).c_str(), target.block.shape[d],
                                  &dimensions[d + 1]),
                    "ncmpi_def_dim");
    }
    check_pnetcdf(ncmpi_def_var(file_, variable_name, NC_DOUBLE,
                                static_cast<int>(dimensions.size()), dimensions.data(), &variable_),
                  "ncmpi_def_var");
    check_pnetcdf(ncmpi_enddef(file_), "ncmpi_enddef");
  }

  void put(std::size_t /*slot*/, std::span<const double> values) override {
    const OffsetBox box{step_++, target_.block.own};
    check_pnetcdf(ncmpi_put_vara_double_all(file_, variable_, box.start.data(), box.count.data(),
                                            values.data()),
                  "ncmpi_put_vara_double_all");
  }

  void finish() override {
    check_pnetcdf(ncmpi_close(file_), "ncmpi_close");
    if (target_.durable) make_durable(target_.comm, target_.path);
  }

 private:
  Target target_;
  int file_ = -1;
  int variable_ = -1;
  int step_ = 0;
};

class PnetcdfReader : public BlockReader {
 public:
  explicit PnetcdfReader(const Target& target) {
    const Hints hints{target.hints};
    check_pnetcdf(ncmpi_open(target.comm, target.path.c_str(), NC_NOWRITE, hints.raw(), &file_),
                  "ncmpi_open");
    check_pnetcdf(ncmpi_inq_varid(file_, variable_name, &variable_), "ncmpi_inq_varid");
  }

  void read(int step, const Box& box, std::span<double> values) override {
    const OffsetBox wanted{step, box};
    check_pnetcdf(ncmpi_get_vara_double_all(file_, variable_, wanted.start.data(),
                                            wanted.count.data(), values.data()),
                  "ncmpi_get_vara_double_all");
  }
  void close() override { check_pnetcdf(ncmpi_close(file_), "ncmpi_close"); }

 private:
  int file_ = -1;
  int variable_ = -1;
};

}  // namespace

std::unique_ptr<BlockFile> create_pnetcdf(const Target& target) {
  return std::make_unique<PnetcdfFile>(target);
}
std::unique_ptr<BlockReader> open_pnetcdf(const Target& target) {
  return std::make_unique<PnetcdfReader>(target);
}

}  // namespace iocomp::apps::blocks
