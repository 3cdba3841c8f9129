// SPDX-License-Identifier: BSD-3-Clause
// An ordinary parallel HDF5 program: it computes and writes, step by step, and knows nothing of the
// connector. Prints one line of JSON.
//   unchanged <pattern> <path> <steps> <MiB per rank and step> <rounds of work per step>
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "work.h"

namespace {

int rank_of_this = 0;
int ranks = 1;

template <typename Result>
Result good(Result result) {
  if (result < 0) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return result;
}

void make_durable(const std::string& path) {
  const int file = good(open(path.c_str(), O_RDONLY));
  good(fsync(file));
  close(file);
}

class Program {
 public:
  Program(std::string pattern, std::string path, long steps, hsize_t mib, long rounds)
      : pattern_{std::move(pattern)},
        path_{std::move(path)},
        steps_{steps},
        rounds_{rounds},
        rows_{mib * rows_per_mib},
        values_(rows_ * row, rank_of_this),
        access_{good(H5Pcreate(H5P_FILE_ACCESS))},
        transfer_{good(H5Pcreate(H5P_DATASET_XFER))} {
    if (is_packed()) {
      fill();
    }
    if (pattern_ == "packed") {  // a file of each rank
      path_ += "." + std::to_string(rank_of_this);
      return;
    }
    good(H5Pset_fapl_mpio(access_, MPI_COMM_WORLD, MPI_INFO_NULL));
    good(H5Pset_dxpl_mpio(transfer_, H5FD_MPIO_COLLECTIVE));
  }

  Seconds run() {
    const bool has_file = pattern_ != "none" && pattern_ != "files";
    if (has_file) {
      file_ = good(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_));
    }
    for (long step = 0; step < steps_; ++step) {
      double begin = MPI_Wtime();
      values_[static_cast<std::size_t>(step)] += work(rounds_, static_cast<double>(step));
      seconds_.computing += MPI_Wtime() - begin;
      MPI_Barrier(MPI_COMM_WORLD);
      if (pattern_ != "none") {
        write_step(step);
      }
    }
    const double begin = MPI_Wtime();
    if (records_ >= 0) {
      good(H5Dclose(records_));
    }
    if (has_file) {
      good(H5Fclose(file_));
    }
    good(H5Pclose(access_));
    good(H5Pclose(transfer_));
    seconds_.closing += MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    // Without the connector, a closed file is not durable yet.
    if ((rank_of_this == 0 || pattern_ == "packed") && has_file) {
      make_durable(path_);
    }
    for (long step = 0; rank_of_this == 0 && pattern_ == "files" && step < steps_; ++step) {
      make_durable(path_of(step));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return seconds_;
  }

 private:
  [[nodiscard]] std::string path_of(long step) const { return path_ + "." + std::to_string(step); }

  [[nodiscard]] bool is_packed() const {
    return pattern_ == "packed" || pattern_ == "packed-together";
  }

  void write_step(long step) {
    double begin = MPI_Wtime();
    if (pattern_ == "files") {
      file_ = good(H5Fcreate(path_of(step).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_));
    }
    if (pattern_ == "records") {
      write_record(step);
    } else {
      write_dataset(step);
    }
    seconds_.writing += MPI_Wtime() - begin;
    begin = MPI_Wtime();
    if (pattern_ == "flush") {
      good(H5Fflush(file_, H5F_SCOPE_GLOBAL));
    } else if (pattern_ == "files") {
      good(H5Fclose(file_));
    }
    seconds_.closing += MPI_Wtime() - begin;
  }

  void write_dataset(long step) {
    const bool is_alone = pattern_ == "packed";
    const std::array<hsize_t, 2> extent{rows_ * static_cast<hsize_t>(is_alone ? 1 : ranks), row};
    const std::array<hsize_t, 2> count{rows_, row};
    const std::array<hsize_t, 2> start{is_alone ? 0 : rows_ * static_cast<hsize_t>(rank_of_this),
                                       0};
    const hid_t space = good(H5Screate_simple(2, extent.data(), nullptr));
    const hid_t creation = good(H5Pcreate(H5P_DATASET_CREATE));
    if (is_packed()) {
      const std::array<hsize_t, 2> chunk{rows_ / 4, row / 4};
      good(H5Pset_chunk(creation, 2, chunk.data()));
      good(H5Pset_shuffle(creation));
      good(H5Pset_deflate(creation, 4));
    }
    const hid_t dataset =
        good(H5Dcreate2(file_, ("step" + std::to_string(step)).c_str(), H5T_NATIVE_DOUBLE, space,
                        H5P_DEFAULT, creation, H5P_DEFAULT));
    good(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr));
    good(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_BLOCK, space, transfer_, values_.data()));
    good(H5Sclose(space));
    good(H5Pclose(creation));
    good(H5Dclose(dataset));
  }

  // A smooth field whose last digits are noise.
  void fill() {
    std::mt19937 noise;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = std::sin(static_cast<double>(i) * 1e-3) + 1e-15 * static_cast<double>(noise());
    }
  }

  // One chunk for each rank in each record, without fill values, as netCDF-4 has it with NC_NOFILL.
  void write_record(long step) {
    const hsize_t all = rows_ * static_cast<hsize_t>(ranks);
    if (records_ < 0) {
      const std::array<hsize_t, 3> none{0, all, row};
      const std::array<hsize_t, 3> most{H5S_UNLIMITED, all, row};
      const std::array<hsize_t, 3> chunk{1, rows_, row};
      const hid_t space = good(H5Screate_simple(3, none.data(), most.data()));
      const hid_t creation = good(H5Pcreate(H5P_DATASET_CREATE));
      good(H5Pset_chunk(creation, 3, chunk.data()));
      good(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
      records_ = good(H5Dcreate2(file_, "records", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation,
                                 H5P_DEFAULT));
      good(H5Pclose(creation));
      good(H5Sclose(space));
    }
    const std::array<hsize_t, 3> extent{static_cast<hsize_t>(step) + 1, all, row};
    good(H5Dset_extent(records_, extent.data()));
    const std::array<hsize_t, 3> start{static_cast<hsize_t>(step),
                                       rows_ * static_cast<hsize_t>(rank_of_this), 0};
    const std::array<hsize_t, 3> count{1, rows_, row};
    const hid_t space = good(H5Dget_space(records_));
    good(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr));
    good(H5Dwrite(records_, H5T_NATIVE_DOUBLE, H5S_BLOCK, space, transfer_, values_.data()));
    good(H5Sclose(space));
  }

  std::string pattern_;
  std::string path_;
  long steps_;
  long rounds_;
  hsize_t rows_;
  std::vector<double> values_;
  hid_t access_;
  hid_t transfer_;
  hid_t file_ = H5I_INVALID_HID;
  hid_t records_ = H5I_INVALID_HID;
  Seconds seconds_;
};

// Seconds of one call that writes so much, and of a copy of as much: the best of many.
void measure_calls(const std::string& path, std::size_t bytes, int times, double& call,
                   double& copy) {
  const hsize_t count = bytes / sizeof(double);
  std::vector<double> from(count, 1);
  std::vector<double> to(count, 2);
  const hid_t file = good(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  const hid_t space = good(H5Screate_simple(1, &count, nullptr));
  call = copy = 1e9;
  for (int i = 0; i < times; ++i) {
    const hid_t dataset = good(H5Dcreate2(file, std::to_string(i).c_str(), H5T_NATIVE_DOUBLE, space,
                                          H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    double begin = MPI_Wtime();
    good(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, from.data()));
    call = std::min(call, MPI_Wtime() - begin);
    begin = MPI_Wtime();
    std::memcpy(to.data(), from.data(), bytes);
    copy = std::min(copy, MPI_Wtime() - begin);
    from[0] += to[count / 2];
    good(H5Dclose(dataset));
    good(H5Fflush(file, H5F_SCOPE_GLOBAL));
  }
  good(H5Sclose(space));
  good(H5Fclose(file));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "%s <pattern> <path> <steps> <MiB> <rounds of work>\n", argv[0]);
    return 2;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_this);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (std::string{argv[1]} == "call") {
    double small = 0;
    double small_copy = 0;
    double large = 0;
    double large_copy = 0;
    measure_calls(argv[2], 4096, 200, small, small_copy);
    measure_calls(argv[2], std::size_t{64} << 20, 10, large, large_copy);
    std::printf(
        "{\"small_seconds\": %.9f, \"small_copy_seconds\": %.9f, \"large_seconds\": %.9f, "
        "\"large_copy_seconds\": %.9f}\n",
        small, small_copy, large, large_copy);
  } else {
    Program program{argv[1], argv[2], std::atol(argv[3]), static_cast<hsize_t>(std::atol(argv[4])),
                    std::atol(argv[5])};
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    const Seconds seconds = program.run();
    if (rank_of_this == 0) {
      print(MPI_Wtime() - begin, seconds);
    }
  }
  MPI_Finalize();
  return 0;
}
