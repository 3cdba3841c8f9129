// SPDX-License-Identifier: BSD-3-Clause
// An ordinary parallel HDF5 program, made from a seed: it creates, writes, extends, reads, deletes
// and copies datasets, groups, attributes and links in several files. It compares what it reads
// with what it has written. On one rank, every second one has files without MPI. It knows nothing
// of the connector. Several of them follow one another in one job.
//   random_program <first seed> <seeds> <calls> <folder>
#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "connector/check_call.h"

namespace {

int rank_of_this = 0;
int ranks = 1;
bool is_serial = false;     // HDF5's driver without MPI
std::mt19937_64 generator;  // the same on all ranks

std::size_t below(std::size_t n) { return generator() % n; }
bool one_in(std::size_t n) { return below(n) == 0; }

constexpr double unknown = std::numeric_limits<double>::infinity();

struct File {
  std::string path;
  hid_t id = H5I_INVALID_HID;
};

struct Dataset {
  std::size_t file = 0;
  std::string name;
  hsize_t rows = 0;
  hsize_t columns = 0;
  bool is_extendable = false;
  bool is_filtered = false;
  double fill = 0;
  hid_t id = H5I_INVALID_HID;
  std::vector<double> values;  // what is in it
  int division = -1;           // how the last writes since a flush were divided among ranks
  bool is_final = false;  // HDF5 1.14 loses writes to chunks that were cut, or read with filters
};

using Cells = std::vector<std::pair<hsize_t, hsize_t>>;

struct Program {
  std::vector<File> files;
  std::vector<Dataset> datasets;
  int names = 0;
  int call = 0;
};

// A write is divided in one of these ways. Every rank knows the parts of all.
constexpr int divisions = 6;
Cells cells_of(const Dataset& dataset, int division, int rank) {
  const auto part = [&](hsize_t n, int r) {
    return n * static_cast<hsize_t>(r) / static_cast<hsize_t>(ranks);
  };
  Cells cells;
  const bool is_by_columns = division == 1;
  for (hsize_t i = 0; i < dataset.rows; ++i) {
    for (hsize_t j = 0; j < dataset.columns; ++j) {
      const hsize_t along = is_by_columns ? j : i;
      const hsize_t length = is_by_columns ? dataset.columns : dataset.rows;
      bool is_mine = along >= part(length, rank) && along < part(length, rank + 1);
      if (division == 2) {
        is_mine = i % static_cast<hsize_t>(ranks) == static_cast<hsize_t>(rank);
      } else if (division == 4) {
        is_mine = rank == ranks - 1;
      } else if (division == 5) {
        is_mine = is_mine && i % 3 != 1 && (j < dataset.columns / 2 || i % 3 == 2);
      }
      if (is_mine) {
        cells.emplace_back(i, j);
      }
    }
  }
  if (division == 3) {
    std::ranges::reverse(cells);  // as points
  }
  return cells;
}

void select(hid_t space, const Dataset& dataset, int division, const Cells& cells) {
  if (cells.empty()) {
    GOOD(H5Sselect_none(space));
    return;
  }
  if (division == 3) {
    std::vector<hsize_t> points;
    for (const auto& [i, j] : cells) {
      points.insert(points.end(), {i, j});
    }
    GOOD(H5Sselect_elements(space, H5S_SELECT_SET, cells.size(), points.data()));
    return;
  }
  if (division == 4) {
    GOOD(H5Sselect_all(space));
    return;
  }
  if (division == 2) {
    const hsize_t start[2] = {static_cast<hsize_t>(rank_of_this), 0};
    const hsize_t stride[2] = {static_cast<hsize_t>(ranks), 1};
    const hsize_t count[2] = {cells.size() / dataset.columns, 1};
    const hsize_t block[2] = {1, dataset.columns};
    GOOD(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block));
    return;
  }
  GOOD(H5Sselect_none(space));
  for (std::size_t begin = 0; begin < cells.size();) {  // a box for each run of a row
    std::size_t end = begin + 1;
    while (end < cells.size() && cells[end].first == cells[begin].first &&
           cells[end].second == cells[end - 1].second + 1) {
      ++end;
    }
    hsize_t rows = 1;
    if (division < 2) {  // boxes are alike
      const auto width = end - begin;
      rows = cells.size() / width;
      end = cells.size();
      const hsize_t start[2] = {cells[0].first, cells[0].second};
      const hsize_t count[2] = {rows, width};
      GOOD(H5Sselect_hyperslab(space, H5S_SELECT_OR, start, nullptr, count, nullptr));
    } else {
      const hsize_t start[2] = {cells[begin].first, cells[begin].second};
      const hsize_t count[2] = {rows, end - begin};
      GOOD(H5Sselect_hyperslab(space, H5S_SELECT_OR, start, nullptr, count, nullptr));
    }
    begin = end;
  }
}

double value(int call, hsize_t i, hsize_t j) {
  return call * 1000 + static_cast<double>((i * 131 + j) % 997);
}

hid_t type_of(std::size_t kind) {
  const hid_t types[] = {H5T_IEEE_F64LE, H5T_IEEE_F32LE, H5T_STD_I32LE, H5T_IEEE_F64BE,
                         H5T_STD_I64LE};
  return types[kind % 5];
}

// All ranks have written what was there, and see it. HDF5's own flush does not wait for the others.
void flush(Program& program, std::size_t file) {
  GOOD(H5Fflush(program.files[file].id, one_in(3) ? H5F_SCOPE_LOCAL : H5F_SCOPE_GLOBAL));
  MPI_Barrier(MPI_COMM_WORLD);
  for (Dataset& dataset : program.datasets) {
    if (dataset.file == file) {
      dataset.division = -1;
    }
  }
}

void compare(const Dataset& dataset, const std::vector<double>& found, const Cells& cells) {
  for (const auto& [i, j] : cells) {
    const std::size_t at = i * dataset.columns + j;
    if (dataset.values[at] != unknown && found[at] != dataset.values[at]) {
      std::fprintf(stderr, "rank %d: %s (%d, %d) is %g, not %g\n", rank_of_this,
                   dataset.name.c_str(), static_cast<int>(i), static_cast<int>(j), found[at],
                   dataset.values[at]);
      std::abort();
    }
  }
}

std::vector<double> read(const Dataset& dataset) {
  std::vector<double> found(dataset.rows * dataset.columns);
  if (!found.empty()) {
    const hid_t list = GOOD(H5Pcreate(H5P_DATASET_XFER));
    if (!is_serial) {
      GOOD(H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE));
    }
    GOOD(H5Dread(dataset.id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, list, found.data()));
    GOOD(H5Pclose(list));
  }
  return found;
}

void check_all(Program& program, const Dataset& dataset) {
  flush(program, dataset.file);
  Cells all;
  for (hsize_t i = 0; i < dataset.rows; ++i) {
    for (hsize_t j = 0; j < dataset.columns; ++j) {
      all.emplace_back(i, j);
    }
  }
  compare(dataset, read(dataset), all);
  MPI_Barrier(MPI_COMM_WORLD);  // none writes before all have read
}

void write(Program& program, Dataset& dataset, int division) {
  if (dataset.is_filtered && !is_serial) {  // HDF5 then wants calls that it can make collectively
    division %= 3;
  }
  if (dataset.division != -1 && dataset.division != division) {
    flush(program, dataset.file);
  }
  dataset.division = division;
  const bool is_collective = dataset.is_filtered || !one_in(3);
  const std::size_t border = below(3);
  const bool is_converted = one_in(4);
  const bool is_mixed = one_in(4);
  const bool checks = one_in(3);
  const bool is_own_type =
      (dataset.is_filtered && !is_serial) || !(is_converted || (is_mixed && rank_of_this % 2 == 0));

  const Cells cells = cells_of(dataset, division, rank_of_this);
  const hid_t file_space = GOOD(H5Dget_space(dataset.id));
  select(file_space, dataset, division, cells);
  const hid_t file_type = GOOD(H5Dget_type(dataset.id));
  const hsize_t width = cells.size() + 2 * border;
  const hid_t memory_space = GOOD(H5Screate_simple(1, &width, nullptr));
  if (cells.empty()) {
    GOOD(H5Sselect_none(memory_space));
  } else {
    const hsize_t start = border;
    const hsize_t count = cells.size();
    GOOD(H5Sselect_hyperslab(memory_space, H5S_SELECT_SET, &start, nullptr, &count, nullptr));
  }
  std::vector<double> memory(std::max<std::size_t>(width, 1), -7);
  Cells in_order = cells;
  if (division != 3) {
    std::ranges::sort(in_order);
  }
  for (std::size_t k = 0; k < in_order.size(); ++k) {
    memory[border + k] = value(program.call, in_order[k].first, in_order[k].second);
  }
  if (is_own_type) {  // in the type of the file: nothing to convert
    GOOD(H5Tconvert(H5T_NATIVE_DOUBLE, file_type, memory.size(), memory.data(), nullptr,
                    H5P_DEFAULT));
  }
  const hid_t list = GOOD(H5Pcreate(H5P_DATASET_XFER));
  if (!is_serial) {
    GOOD(H5Pset_dxpl_mpio(list, is_collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT));
  }
  GOOD(H5Dwrite(dataset.id, is_own_type ? file_type : H5T_NATIVE_DOUBLE, memory_space, file_space,
                list, memory.data()));
  std::ranges::fill(memory, -8);  // the array may change now
  GOOD(H5Pclose(list));
  GOOD(H5Sclose(memory_space));
  GOOD(H5Sclose(file_space));
  GOOD(H5Tclose(file_type));
  for (int r = 0; r < ranks; ++r) {
    for (const auto& [i, j] : cells_of(dataset, division, r)) {
      dataset.values[i * dataset.columns + j] = value(program.call, i, j);
    }
  }
  if (checks) {  // what this rank wrote can be read at once
    compare(dataset, read(dataset), cells);
  }
}

// HDF5 1.14 by itself writes past the end of memory if the checksum comes behind the compression.
void filter(hid_t list) {
  if (one_in(3)) {
    GOOD(H5Pset_fletcher32(list));
  }
  if (one_in(2)) {
    GOOD(H5Pset_shuffle(list));
  }
  GOOD(H5Pset_deflate(list, static_cast<unsigned>(1 + below(9))));
}

void create(Program& program) {
  Dataset dataset{};
  dataset.file = below(program.files.size());
  dataset.name = "d" + std::to_string(program.names++);
  const std::size_t group = below(4);
  const hid_t file = program.files[dataset.file].id;
  const std::string folder = "g" + std::to_string(group);
  if (GOOD(H5Lexists(file, folder.c_str(), H5P_DEFAULT)) > 0 && one_in(2)) {
    dataset.name = folder + "/" + dataset.name;
  }
  dataset.rows = static_cast<hsize_t>(ranks) * (1 + below(8)) + below(5);
  dataset.columns = one_in(6) ? 3000 + below(3000) : 1 + below(60);
  const std::size_t layout = below(4);  // contiguous twice as often
  const hid_t list = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  hsize_t most[2] = {dataset.rows, dataset.columns};
  const hsize_t chunk[2] = {1 + below(dataset.rows), 1 + below(dataset.columns)};
  dataset.is_extendable = layout >= 2 && one_in(2);
  dataset.is_filtered = layout == 3 && (is_serial || one_in(2));
  if (layout >= 2) {
    GOOD(H5Pset_chunk(list, 2, chunk));
    if (dataset.is_filtered && is_serial) {
      filter(list);
    } else if (dataset.is_filtered) {
      GOOD(H5Pset_deflate(list, 1));
    }
    if (dataset.is_extendable) {
      most[0] = H5S_UNLIMITED;
      most[1] = one_in(2) ? H5S_UNLIMITED : most[1];
    }
  }
  const bool has_fill = one_in(2);
  if (has_fill) {
    dataset.fill = static_cast<double>(below(100));
    GOOD(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &dataset.fill));
  }
  const hsize_t now[2] = {dataset.rows, dataset.columns};
  const hid_t space = GOOD(H5Screate_simple(2, now, most));
  dataset.id = GOOD(H5Dcreate2(file, dataset.name.c_str(), type_of(below(5)), space, H5P_DEFAULT,
                               list, H5P_DEFAULT));
  GOOD(H5Sclose(space));
  GOOD(H5Pclose(list));
  // Contiguous storage without a fill value holds whatever lay there before.
  dataset.values.assign(dataset.rows * dataset.columns, dataset.fill);
  const bool is_filtered = dataset.is_filtered;
  program.datasets.push_back(std::move(dataset));
  if ((layout < 2 && !has_fill) || is_filtered) {
    write(program, program.datasets.back(), 0);
    program.datasets.back().is_final = is_filtered && !is_serial;
  }
}

void set_extent(Dataset& dataset) {
  const hsize_t old_columns = dataset.columns;
  const hsize_t old_rows = dataset.rows;
  hsize_t most[2];
  hsize_t now[2];
  const hid_t space = GOOD(H5Dget_space(dataset.id));
  GOOD(H5Sget_simple_extent_dims(space, now, most));
  GOOD(H5Sclose(space));
  const hsize_t more = 1 + below(6);
  dataset.rows = one_in(4) ? 1 + below(old_rows) : old_rows + more;
  if (most[1] == H5S_UNLIMITED && one_in(2)) {
    dataset.columns = old_columns > 1 && one_in(3) ? old_columns - 1 : old_columns + below(9);
  }
  dataset.is_final = !is_serial && (dataset.rows < old_rows || dataset.columns < old_columns);
  const hsize_t extent[2] = {dataset.rows, dataset.columns};
  GOOD(H5Dset_extent(dataset.id, extent));
  std::vector<double> values(dataset.rows * dataset.columns, dataset.fill);
  for (hsize_t i = 0; i < std::min(old_rows, dataset.rows); ++i) {
    for (hsize_t j = 0; j < std::min(old_columns, dataset.columns); ++j) {
      values[i * dataset.columns + j] = dataset.values[i * old_columns + j];
    }
  }
  dataset.values = std::move(values);
}

void remove(Program& program, std::size_t which) {
  Dataset& dataset = program.datasets[which];
  const bool closes_first = one_in(2);
  if (closes_first) {
    GOOD(H5Dclose(dataset.id));
  }
  GOOD(H5Ldelete(program.files[dataset.file].id, dataset.name.c_str(), H5P_DEFAULT));
  if (!closes_first) {
    GOOD(H5Dclose(dataset.id));
  }
  program.datasets.erase(program.datasets.begin() + static_cast<std::ptrdiff_t>(which));
}

void put_attribute(Program& program) {
  const std::string name = "a" + std::to_string(program.names++);
  const hid_t file = program.files[below(program.files.size())].id;
  const hid_t space = GOOD(H5Screate(H5S_SCALAR));
  const hid_t attribute =
      GOOD(H5Acreate2(file, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT));
  GOOD(H5Awrite(attribute, H5T_NATIVE_INT, &program.call));
  GOOD(H5Aclose(attribute));
  GOOD(H5Sclose(space));
}

void make_group(Program& program) {
  const std::string name = "g" + std::to_string(below(4));
  const hid_t file = program.files[below(program.files.size())].id;
  if (GOOD(H5Lexists(file, name.c_str(), H5P_DEFAULT)) == 0) {
    GOOD(H5Gclose(GOOD(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
  }
}

void copy(Program& program, const Dataset& dataset) {
  flush(program, dataset.file);
  const std::string name = "c" + std::to_string(program.names++);
  GOOD(H5Ocopy(program.files[dataset.file].id, dataset.name.c_str(), program.files[dataset.file].id,
               name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  MPI_Barrier(MPI_COMM_WORLD);  // each rank copies values: none may change before
}

void link(Program& program, const Dataset& dataset) {
  const std::string name = "l" + std::to_string(program.names++);
  const hid_t file = program.files[dataset.file].id;
  const std::string path = "/" + dataset.name;
  GOOD(H5Lcreate_soft(path.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
}

void open(File& file, bool is_new) {
  const hid_t list = GOOD(H5Pcreate(H5P_FILE_ACCESS));
  if (!is_serial) {
    GOOD(H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL));
  }
  GOOD(H5Pset_fclose_degree(list, H5F_CLOSE_WEAK));  // its datasets may be closed later
  if (one_in(2)) {
    GOOD(H5Pset_libver_bounds(list, H5F_LIBVER_V18, H5F_LIBVER_V110));
  }
  const hid_t creation = GOOD(H5Pcreate(H5P_FILE_CREATE));
  if (is_new && one_in(3)) {
    GOOD(H5Pset_userblock(creation, hsize_t{512} << below(5)));
  }
  file.id = is_new ? GOOD(H5Fcreate(file.path.c_str(), H5F_ACC_TRUNC, creation, list))
                   : GOOD(H5Fopen(file.path.c_str(), H5F_ACC_RDWR, list));
  GOOD(H5Pclose(creation));
  GOOD(H5Pclose(list));
}

void close(Program& program, std::size_t file) {
  const bool closes_file_first = one_in(2);
  if (closes_file_first) {
    GOOD(H5Fclose(program.files[file].id));
  }
  for (Dataset& dataset : program.datasets) {
    if (dataset.file == file) {
      GOOD(H5Dclose(dataset.id));
      dataset.division = -1;
    }
  }
  if (!closes_file_first) {
    GOOD(H5Fclose(program.files[file].id));
  }
}

void reopen(Program& program) {
  const std::size_t file = below(program.files.size());
  close(program, file);
  MPI_Barrier(MPI_COMM_WORLD);
  open(program.files[file], false);
  for (Dataset& dataset : program.datasets) {
    if (dataset.file == file) {
      const hid_t from = program.files[file].id;
      dataset.id = one_in(2) ? GOOD(H5Dopen2(from, dataset.name.c_str(), H5P_DEFAULT))
                             : GOOD(H5Oopen(from, dataset.name.c_str(), H5P_DEFAULT));
    }
  }
}

void make_call(Program& program) {
  if (program.datasets.empty()) {
    create(program);
    return;
  }
  const std::size_t which = below(program.datasets.size());
  Dataset& dataset = program.datasets[which];
  switch (below(20)) {
    case 0:
    case 1:
    case 2:
    case 3:
      create(program);
      break;
    case 4:
      remove(program, which);
      break;
    case 5:
      check_all(program, dataset);
      break;
    case 6:
    case 7:
      if (dataset.is_extendable && !dataset.is_final) {
        set_extent(dataset);
      }
      break;
    case 8:
      put_attribute(program);
      break;
    case 9:
      make_group(program);
      break;
    case 10:
      copy(program, dataset);
      break;
    case 11:
      reopen(program);
      break;
    case 12:
      link(program, dataset);
      break;
    default:
      if (!dataset.is_final) {
        write(program, dataset, static_cast<int>(below(divisions)));
      }
      break;
  }
}

void run(int seed, int calls, const std::string& folder) {
  generator.seed(static_cast<std::uint64_t>(seed));
  is_serial = ranks == 1 && seed % 2 == 0;
  Program program;
  for (const char* const name : {"-one.h5", "-two.h5"}) {
    program.files.push_back({.path = folder + "/" + std::to_string(seed) + name});
    open(program.files.back(), true);
  }
  for (program.call = 1; program.call <= calls; ++program.call) {
    make_call(program);
  }
  for (const Dataset& dataset : program.datasets) {
    check_all(program, dataset);
  }
  for (std::size_t file = 0; file < program.files.size(); ++file) {
    close(program, file);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "%s <first seed> <seeds> <calls> <folder>\n", argv[0]);
    return 2;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_this);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int first = std::atoi(argv[1]);
  for (int seed = first; seed < first + std::atoi(argv[2]); ++seed) {
    if (rank_of_this == 0) {
      std::printf("seed %d\n", seed);
      std::fflush(stdout);
    }
    run(seed, std::atoi(argv[3]), argv[4]);
  }
  MPI_Finalize();
  return 0;
}
