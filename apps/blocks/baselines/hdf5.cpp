// SPDX-License-Identifier: BSD-3-Clause
#include <hdf5.h>

#include "blocks/baselines/baseline.h"
#include "blocks/baselines/mpi_names.h"
#include "blocks/paths.h"

namespace iocomp::apps::blocks {
namespace {

template <typename Result>
Result checked(Result result, const char* call) {
  if (result < 0) throw std::runtime_error(std::string{call} + " failed; see HDF5's words above");
  return result;
}

std::vector<hsize_t> sizes(const Extents& extents) { return {extents.begin(), extents.end()}; }

hid_t parallel_access(const Target& target) {
  const Hints hints{target.hints};
  const hid_t access = checked(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
  checked(H5Pset_fapl_mpio(access, target.comm, hints.raw()), "H5Pset_fapl_mpio");
  return access;
}

/// Move a box of a dataset in one collective call; a rank with an empty box takes part with
/// nothing.
template <typename Move>
void move_box(hid_t dataset, const Box& box, Move move) {
  const std::vector<hsize_t> start = sizes(box.start);
  const std::vector<hsize_t> count = sizes(box.count);
  const hid_t in_file = checked(H5Dget_space(dataset), "H5Dget_space");
  const hid_t in_memory = checked(
      H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), "H5Screate_simple");
  if (box.elements() == 0) {
    checked(H5Sselect_none(in_file), "H5Sselect_none");
    checked(H5Sselect_none(in_memory), "H5Sselect_none");
  } else {
    checked(
        H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
        "H5Sselect_hyperslab");
  }
  const hid_t transfer = checked(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
  checked(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
  move(in_memory, in_file, transfer);
  H5Pclose(transfer);
  H5Sclose(in_memory);
  H5Sclose(in_file);
}

/// One dataset per step, contiguous, without fill values: /<step>/array, as iocomp has it.
class Hdf5File : public BlockFile {
 public:
  explicit Hdf5File(const Target& target) : target_{target} {
    const hid_t access = parallel_access(target);
    file_ =
        checked(H5Fcreate(target.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
    H5Pclose(access);
  }

  void put(std::size_t /*slot*/, std::span<const double> values) override {
    const std::vector<hsize_t> shape = sizes(target_.block.shape);
    const hid_t space =
        checked(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                "H5Screate_simple");
    const hid_t creation = checked(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
    checked(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
    const hid_t links = checked(H5Pcreate(H5P_LINK_CREATE), "H5Pcreate");
    checked(H5Pset_create_intermediate_group(links, 1), "H5Pset_create_intermediate_group");
    const std::string name = "/" + std::to_string(step_++) + "/" + variable_name;
    const hid_t dataset = checked(
        H5Dcreate2(file_, name.c_str(), H5T_NATIVE_DOUBLE, space, links, creation, H5P_DEFAULT),
        "H5Dcreate2");
    move_box(dataset, target_.block.own, [&](hid_t in_memory, hid_t in_file, hid_t transfer) {
      checked(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, values.data()),
              "H5Dwrite");
    });
    H5Dclose(dataset);
    H5Pclose(links);
    H5Pclose(creation);
    H5Sclose(space);
  }

  void finish() override {
    checked(H5Fclose(file_), "H5Fclose");
    if (target_.durable) make_durable(target_.comm, target_.path);
  }

 private:
  Target target_;
  hid_t file_ = -1;
  int step_ = 0;
};

class Hdf5Reader : public BlockReader {
 public:
  explicit Hdf5Reader(const Target& target) {
    const hid_t access = parallel_access(target);
    file_ = checked(H5Fopen(target.path.c_str(), H5F_ACC_RDONLY, access), "H5Fopen");
    H5Pclose(access);
  }

  void read(int step, const Box& box, std::span<double> values) override {
    const std::string name = "/" + std::to_string(step) + "/" + variable_name;
    const hid_t dataset = checked(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "H5Dopen2");
    move_box(dataset, box, [&](hid_t in_memory, hid_t in_file, hid_t transfer) {
      checked(H5Dread(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, values.data()),
              "H5Dread");
    });
    H5Dclose(dataset);
  }
  void close() override { checked(H5Fclose(file_), "H5Fclose"); }

 private:
  hid_t file_ = -1;
};

}  // namespace

std::unique_ptr<BlockFile> create_hdf5(const Target& target) {
  return std::make_unique<Hdf5File>(target);
}
std::unique_ptr<BlockReader> open_hdf5(const Target& target) {
  return std::make_unique<Hdf5Reader>(target);
}

}  // namespace iocomp::apps::blocks
