// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include "blocks/baselines/baseline.h"
#include "blocks/baselines/mpi_names.h"
#include "blocks/paths.h"

namespace iocomp::apps::blocks {
namespace {

void check_netcdf(int code, const char* call) {
  if (code != NC_NOERR) throw std::runtime_error(std::string{call} + ": " + nc_strerror(code));
}

/// A box of one step: the steps are the first dimension.
struct StepBox {
  StepBox(int step, const Box& box) {
    start.push_back(static_cast<std::size_t>(step));
    count.push_back(box.elements() == 0 ? 0 : 1);
    start.insert(start.end(), box.start.begin(), box.start.end());
    count.insert(count.end(), box.count.begin(), box.count.end());
  }
  std::vector<std::size_t> start;
  std::vector<std::size_t> count;
};

/// NetCDF-4, one variable whose first dimension are the steps, written by collective calls.
class NetcdfFile : public BlockFile {
 public:
  explicit NetcdfFile(const Target& target) : target_{target} {
    const Hints hints{target.hints};
    check_netcdf(nc_create_par(target.path.c_str(), NC_NETCDF4 | NC_CLOBBER, target.comm,
                               hints.raw(), &file_),
                 "nc_create_par");
    std::vector<int> dimensions(1 + target.block.shape.size());
    check_netcdf(
        nc_def_dim(file_, "step", static_cast<std::size_t>(target.steps), dimensions.data()),
        "nc_def_dim");
    for (std::size_t d = 0; d < target.block.shape.size(); ++d) {
      check_netcdf(nc_def_dim(file_, ("x" + std::to_string(d)).c_str(),
                              static_cast<std::size_t>(target.block.shape[d]), &dimensions[d + 1]),
                   "nc_def_dim");
    }
    check_netcdf(nc_def_var(file_, variable_name, NC_DOUBLE, static_cast<int>(dimensions.size()),
                            dimensions.data(), &variable_),
                 "nc_def_var");
    check_netcdf(nc_def_var_fill(file_, variable_, NC_NOFILL, nullptr), "nc_def_var_fill");
    check_netcdf(nc_enddef(file_), "nc_enddef");
    check_netcdf(nc_var_par_access(file_, variable_, NC_COLLECTIVE), "nc_var_par_access");
  }

  void put(std::size_t /*slot*/, std::span<const double> values) override {
    const StepBox box{step_++, target_.block.own};
    check_netcdf(
        nc_put_vara_double(file_, variable_, box.start.data(), box.count.data(), values.data()),
        "nc_put_vara_double");
  }

  void finish() override {
    check_netcdf(nc_close(file_), "nc_close");
    if (target_.durable) make_durable(target_.comm, target_.path);
  }

 private:
  Target target_;
  int file_ = -1;
  int variable_ = -1;
  int step_ = 0;
};

class NetcdfReader : public BlockReader {
 public:
  explicit NetcdfReader(const Target& target) {
    const Hints hints{target.hints};
    check_netcdf(nc_open_par(target.path.c_str(), NC_NOWRITE, target.comm, hints.raw(), &file_),
                 "nc_open_par");
    check_netcdf(nc_inq_varid(file_, variable_name, &variable_), "nc_inq_varid");
    check_netcdf(nc_var_par_access(file_, variable_, NC_COLLECTIVE), "nc_var_par_access");
  }

  void read(int step, const Box& box, std::span<double> values) override {
    const StepBox wanted{step, box};
    check_netcdf(nc_get_vara_double(file_, variable_, wanted.start.data(), wanted.count.data(),
                                    values.data()),
                 "nc_get_vara_double");
  }
  void close() override { check_netcdf(nc_close(file_), "nc_close"); }

 private:
  int file_ = -1;
  int variable_ = -1;
};

}  // namespace

std::unique_ptr<BlockFile> create_netcdf(const Target& target) {
  return std::make_unique<NetcdfFile>(target);
}
std::unique_ptr<BlockReader> open_netcdf(const Target& target) {
  return std::make_unique<NetcdfReader>(target);
}

}  // namespace iocomp::apps::blocks
