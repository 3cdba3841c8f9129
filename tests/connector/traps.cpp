// SPDX-License-Identifier: BSD-3-Clause
// Small HDF5 programs, each with something in it that a connector can get wrong. They know nothing
// of the connector.
//   traps <case> <folder>
#include <hdf5.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "connector/check_call.h"
#include "formats/hdf5/zstd_filter.h"

namespace {

constexpr hsize_t rows = 96;
constexpr hsize_t columns = 500;
int rank_of_this = 0;
int ranks = 1;
std::string folder;

void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "rank %d: %s\n", rank_of_this, what);
    std::abort();
  }
}

std::string path(const char* name) { return folder + "/" + name; }

hid_t mpi_access() {
  const hid_t list = GOOD(H5Pcreate(H5P_FILE_ACCESS));
  GOOD(H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL));
  return list;
}

hid_t make_file(const char* name, hid_t access) {
  return GOOD(H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
}

hid_t make_dataset(hid_t file, const char* name, hid_t creation = H5P_DEFAULT,
                   hid_t type = H5T_NATIVE_DOUBLE) {
  const hsize_t extent[2] = {rows, columns};
  const hid_t space = GOOD(H5Screate_simple(2, extent, nullptr));
  const hid_t made = GOOD(
      name == nullptr ? H5Dcreate_anon(file, type, space, creation, H5P_DEFAULT)
                      : H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  GOOD(H5Sclose(space));
  return made;
}

hsize_t first_row() {
  return rows * static_cast<hsize_t>(rank_of_this) / static_cast<hsize_t>(ranks);
}
hsize_t last_row() {
  return rows * static_cast<hsize_t>(rank_of_this + 1) / static_cast<hsize_t>(ranks);
}

// Each rank its rows. Returns the status of the call.
herr_t write_rows(hid_t dataset, double value, hid_t transfer = H5P_DEFAULT) {
  const hsize_t start[2] = {first_row(), 0};
  const hsize_t count[2] = {last_row() - first_row(), columns};
  const hid_t file_space = GOOD(H5Dget_space(dataset));
  GOOD(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, nullptr, count, nullptr));
  const hid_t memory_space = GOOD(H5Screate_simple(2, count, nullptr));
  std::vector<double> values(count[0] * columns, value);
  const herr_t status =
      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, transfer, values.data());
  std::ranges::fill(values, -1);  // they may change now
  GOOD(H5Sclose(memory_space));
  GOOD(H5Sclose(file_space));
  return status;
}

// Each rank those of the next one.
void write_rows_of_next(hid_t dataset, double value) {
  const int own = std::exchange(rank_of_this, (rank_of_this + 1) % ranks);
  GOOD(write_rows(dataset, value));
  rank_of_this = own;
}

std::vector<double> read(hid_t dataset) {
  std::vector<double> values(rows * columns);
  GOOD(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  return values;
}

bool holds(hid_t dataset, double value) {
  return std::ranges::all_of(read(dataset), [value](double one) { return one == value; });
}

bool holds(hid_t file, const char* name, double value) {
  const hid_t dataset = GOOD(H5Dopen2(file, name, H5P_DEFAULT));
  const bool result = holds(dataset, value);
  GOOD(H5Dclose(dataset));
  return result;
}

// Several datasets in one call, with a list that the connector leaves to HDF5 for each of them. The
// list is asked afterwards what HDF5 has done.
void write_several(hid_t file) {
  std::vector<hid_t> datasets;
  for (int i = 0; i < 10; ++i) {
    datasets.push_back(make_dataset(file, ("several" + std::to_string(i)).c_str()));
  }
  const std::size_t count = datasets.size();
  std::vector<hid_t> types(count, H5T_NATIVE_DOUBLE);
  std::vector<hid_t> all(count, H5S_ALL);
  const std::vector<double> values(rows * columns, 4);
  std::vector<const void*> arrays(count, values.data());
  const hid_t transfer = GOOD(H5Pcreate(H5P_DATASET_XFER));
  GOOD(H5Pset_data_transform(transfer, "x + 1"));
  for (int i = 0; i < 20; ++i) {
    GOOD(H5Dwrite_multi(count, datasets.data(), types.data(), all.data(), all.data(), transfer,
                        arrays.data()));
    uint32_t cause = 0;
    GOOD(H5Pget_no_selection_io_cause(transfer, &cause));
    H5D_mpio_actual_io_mode_t mode = H5D_MPIO_CHUNK_MIXED;
    GOOD(H5Pget_mpio_actual_io_mode(transfer, &mode));
    require(mode == H5D_MPIO_NO_COLLECTIVE, "an independent write was a collective one");
  }
  GOOD(H5Pclose(transfer));
  GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
  for (const hid_t dataset : datasets) {
    require(holds(dataset, 5), "one of several datasets is not there");
    GOOD(H5Dclose(dataset));
  }
}

// The transfer list of a call that not all ranks can leave to the connector is gone after it.
void fallback() {
  const hid_t access = mpi_access();
  const hid_t file = make_file("out.h5", access);
  const hid_t dataset = make_dataset(file, "u");
  for (int i = 0; i < 20; ++i) {
    const hid_t transfer = GOOD(H5Pcreate(H5P_DATASET_XFER));
    GOOD(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
    GOOD(H5Pset_data_transform(transfer, "x + 1"));
    GOOD(write_rows(dataset, i - 1, transfer));
    GOOD(H5Pclose(transfer));
  }
  GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
  require(holds(dataset, 19), "the last write is not there");
  write_several(file);
  GOOD(H5Dclose(dataset));
  GOOD(H5Fclose(file));
  GOOD(H5Pclose(access));
  GOOD(H5close());
}

// A dataset is in another file than the object it was opened from.
void other_files() {
  const hid_t one = make_file("out.h5", H5P_DEFAULT);
  const hid_t two = make_file("two.h5", H5P_DEFAULT);
  const hid_t three = make_file("three.h5", H5P_DEFAULT);
  GOOD(H5Dclose(make_dataset(two, "u")));
  GOOD(H5Dclose(make_dataset(three, "w")));
  GOOD(H5Lcreate_external(path("two.h5").c_str(), "/u", one, "external", H5P_DEFAULT, H5P_DEFAULT));
  const hid_t group = GOOD(H5Gcreate2(one, "mount", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  GOOD(H5Fmount(one, "mount", three, H5P_DEFAULT));
  const hid_t through_link = GOOD(H5Dopen2(one, "external", H5P_DEFAULT));
  const hid_t mounted = GOOD(H5Dopen2(one, "mount/w", H5P_DEFAULT));
  GOOD(write_rows(through_link, 3));
  GOOD(write_rows(mounted, 4));
  require(holds(two, "u", 3), "what was written through a link is not there");
  require(holds(one, "mount/w", 4), "what was written into a mounted file is not there");
  // A virtual dataset of one file reads from another.
  const hsize_t extent[2] = {rows, columns};
  const hid_t space = GOOD(H5Screate_simple(2, extent, nullptr));
  const hid_t creation = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  GOOD(H5Pset_virtual(creation, space, path("two.h5").c_str(), "/u", space));
  const hid_t joined = make_dataset(one, "virtual", creation);
  GOOD(write_rows(through_link, 5));
  require(holds(joined, 5), "a virtual dataset does not see what was written");
  GOOD(write_rows(through_link, 6));
  GOOD(write_rows(joined, 7));
  require(holds(two, "u", 7), "an older write than that of a virtual dataset came last");
  GOOD(H5Dclose(joined));
  GOOD(H5Pclose(creation));
  GOOD(H5Sclose(space));
  GOOD(H5Dclose(mounted));
  GOOD(H5Dclose(through_link));
  GOOD(H5Funmount(one, "mount"));
  GOOD(H5Gclose(group));
  for (const hid_t file : {three, two, one}) {
    GOOD(H5Fclose(file));
  }
}

// Without MPI, HDF5 finds a place late, and keeps pieces of what it reads and writes.
void serial() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hid_t dataset = make_dataset(file, "u");
  std::vector<double> line(columns);
  for (hsize_t i = 0; i < rows; ++i) {
    const hsize_t start[2] = {i, 0};
    const hsize_t count[2] = {1, columns};
    const hid_t space = GOOD(H5Dget_space(dataset));
    GOOD(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr));
    std::ranges::fill(line, static_cast<double>(i));
    GOOD(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_BLOCK, space, H5P_DEFAULT, line.data()));
    const hsize_t narrow[2] = {1, 3};
    GOOD(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, narrow, nullptr));
    std::ranges::fill(line, -static_cast<double>(i));
    GOOD(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_BLOCK, space, H5P_DEFAULT, line.data()));
    GOOD(H5Sclose(space));
    if (i % 7 == 0) {
      const std::vector<double> found = read(dataset);
      require(found[i * columns] == -static_cast<double>(i) &&
                  found[i * columns + 3] == static_cast<double>(i) &&
                  found[i / 2 * columns + 4] == static_cast<double>(i / 2),
              "what was written is not read back");
    }
  }
  GOOD(H5Dclose(dataset));
  const hid_t creation = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  const hsize_t chunk[2] = {10, 100};
  GOOD(H5Pset_chunk(creation, 2, chunk));
  const hid_t chunked = make_dataset(file, "chunked", creation);
  GOOD(write_rows(chunked, 8));
  require(holds(chunked, 8), "chunks are not read back");
  GOOD(H5Dclose(chunked));
  GOOD(H5Pclose(creation));
  // Values that were never written are 0, also where others have been.
  GOOD(H5Ldelete(file, "u", H5P_DEFAULT));
  const hid_t unwritten = make_dataset(file, "unwritten");
  require(holds(unwritten, 0), "what was never written is not 0");
  GOOD(H5Dclose(unwritten));
  GOOD(H5Fclose(file));
}

// Chunks with filters, of which HDF5 gets those that are written as a whole when they are filtered.
hid_t filtered_list(hsize_t chunk_columns = 100) {
  const hid_t list = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  const hsize_t chunk[2] = {10, chunk_columns};  // the last ones lie partly beyond the dataset
  const double fill = -3;
  GOOD(H5Pset_chunk(list, 2, chunk));
  GOOD(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill));
  GOOD(H5Pset_fletcher32(list));
  GOOD(H5Pset_shuffle(list));
  GOOD(H5Pset_deflate(list, 4));
  return list;
}

void filtered() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hid_t list = filtered_list();
  // It is closed while its chunks are on their way; and open twice.
  for (int round = 0; round < 3; ++round) {
    const std::string name = "closed" + std::to_string(round);
    const hid_t dataset = make_dataset(file, name.c_str(), list);
    const hid_t again = GOOD(H5Dopen2(file, name.c_str(), H5P_DEFAULT));
    GOOD(write_rows(dataset, 5));
    GOOD(H5Dclose(dataset));
    require(round != 0 || holds(again, 5), "chunks are not read back");
    GOOD(write_rows(again, 6));  // both of them: the later one counts
    require(round != 1 || H5Dget_storage_size(again) > 0, "chunks have no storage");
    GOOD(H5Dclose(again));
  }
  const hid_t counted = make_dataset(file, "counted", list);
  GOOD(write_rows(counted, 1));
  H5O_native_info_t told;
  GOOD(H5Oget_native_info(counted, &told, H5O_NATIVE_INFO_META_SIZE));
  require(told.meta_size.obj.index_size > 0, "chunks have no index");
  GOOD(H5Dclose(counted));
  // A filter that is not HDF5's own.
  iocomp::formats::h5::make_zstd_known();
  if (H5Zfilter_avail(iocomp::formats::h5::zstd_filter) > 0) {
    const hid_t other = GOOD(H5Pcreate(H5P_DATASET_CREATE));
    const hsize_t chunk[2] = {rows, 7};
    const unsigned level = 5;
    GOOD(H5Pset_chunk(other, 2, chunk));
    GOOD(H5Pset_filter(other, iocomp::formats::h5::zstd_filter, H5Z_FLAG_MANDATORY, 1, &level));
    const hid_t dataset = make_dataset(file, "zstd", other);
    GOOD(write_rows(dataset, 7));
    require(holds(dataset, 7), "chunks of Zstandard are not read back");
    GOOD(H5Dclose(dataset));
    GOOD(H5Ldelete(file, "zstd", H5P_DEFAULT));  // others may not have the filter
    GOOD(H5Pclose(other));
  }
  // A part of a chunk is written by HDF5, behind the whole and before it.
  const hid_t parts = make_dataset(file, "parts", list);
  GOOD(write_rows(parts, 1));
  const hsize_t start[2] = {15, 30};
  const hsize_t count[2] = {70, 7};
  const hid_t some = GOOD(H5Dget_space(parts));
  GOOD(H5Sselect_hyperslab(some, H5S_SELECT_SET, start, nullptr, count, nullptr));
  const std::vector<double> twos(count[0] * count[1], 2);
  GOOD(H5Dwrite(parts, H5T_NATIVE_DOUBLE, H5S_BLOCK, some, H5P_DEFAULT, twos.data()));
  const auto found = read(parts);
  require(found[15 * columns + 30] == 2 && found[14 * columns + 30] == 1 && found[0] == 1,
          "a part of a chunk is not read back");
  const hsize_t first[2] = {0, 0};
  const hsize_t box[2] = {20, columns};
  GOOD(H5Sselect_hyperslab(some, H5S_SELECT_SET, first, nullptr, box, nullptr));
  const std::vector<float> threes(box[0] * box[1], 3);
  GOOD(H5Dwrite(parts, H5T_NATIVE_FLOAT, H5S_BLOCK, some, H5P_DEFAULT, threes.data()));
  GOOD(H5Sclose(some));
  GOOD(H5Dclose(parts));
  // The extent grows over the chunks at its end, with fill values; and it shrinks.
  const hsize_t most[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
  const hsize_t extent[2] = {rows, columns};
  const hid_t space = GOOD(H5Screate_simple(2, extent, most));
  const hid_t wide = filtered_list(90);
  const hid_t grows =
      GOOD(H5Dcreate2(file, "grows", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, wide, H5P_DEFAULT));
  GOOD(write_rows(grows, 4));
  const hsize_t more[2] = {rows + 2, columns + 20};
  GOOD(H5Dset_extent(grows, more));
  std::vector<double> all(more[0] * more[1]);
  GOOD(H5Dread(grows, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()));
  require(all[0] == 4 && all[columns] == -3 && all[rows * more[1]] == -3 &&
              all[(rows - 1) * more[1] + columns - 1] == 4,
          "what is new has no fill values");
  GOOD(H5Dwrite(grows, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()));
  const hsize_t less[2] = {rows - 50, columns};
  GOOD(H5Dset_extent(grows, less));
  GOOD(H5Dclose(grows));
  const hid_t removed = make_dataset(file, "removed", list);
  GOOD(write_rows(removed, 4));
  GOOD(H5Dclose(removed));
  GOOD(H5Ldelete(file, "removed", H5P_DEFAULT));
  GOOD(H5Sclose(space));
  GOOD(H5Pclose(wide));
  GOOD(H5Pclose(list));
  const hid_t last = make_dataset(file, "last", H5P_DEFAULT);
  GOOD(write_rows(last, 9));
  GOOD(H5Dclose(last));
  GOOD(H5Fclose(file));
}

// A conversion that adds what is in the file.
herr_t add(hid_t /*from*/, hid_t /*to*/, H5T_cdata_t* call, size_t count, size_t /*distance*/,
           size_t /*background_distance*/, void* values, void* background, hid_t /*list*/) {
  call->need_bkg = H5T_BKG_YES;
  for (size_t i = 0; call->command == H5T_CONV_CONV && background != nullptr && i < count; ++i) {
    double value = 0;
    std::memcpy(&value, static_cast<double*>(values) + i, sizeof value);
    const float sum = static_cast<float*>(background)[i] + static_cast<float>(value);
    std::memcpy(static_cast<float*>(values) + i, &sum, sizeof sum);
  }
  return 0;
}

// The connector leaves some calls to HDF5: their results are right, also beside calls that it
// takes.
void not_taken() {
  const hid_t access = GOOD(H5Pcreate(H5P_FILE_ACCESS));
  GOOD(H5Pset_page_buffer_size(access, 1 << 20, 0, 0));
  const hid_t pages = GOOD(H5Pcreate(H5P_FILE_CREATE));
  GOOD(H5Pset_file_space_strategy(pages, H5F_FSPACE_STRATEGY_PAGE, false, 1));
  const hid_t buffered = GOOD(H5Fcreate(path("pages.h5").c_str(), H5F_ACC_TRUNC, pages, access));
  const hid_t in_pages = make_dataset(buffered, "u");
  GOOD(write_rows(in_pages, 1));
  require(holds(in_pages, 1), "with a page buffer");
  GOOD(H5Dclose(in_pages));
  GOOD(H5Fclose(buffered));
  const hid_t core = GOOD(H5Pcreate(H5P_FILE_ACCESS));
  GOOD(H5Pset_fapl_core(core, 1 << 16, true));
  const hid_t in_memory = make_file("core.h5", core);
  const hid_t kept = make_dataset(in_memory, "u");
  GOOD(write_rows(kept, 2));
  require(holds(kept, 2), "in memory");
  GOOD(H5Dclose(kept));
  GOOD(H5Fclose(in_memory));

  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hid_t creation = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  GOOD(H5Pset_external(creation, path("raw").c_str(), 0, H5F_UNLIMITED));
  const hid_t external = make_dataset(file, "external", creation);
  GOOD(write_rows(external, 3));
  require(holds(external, 3), "in an external file");
  GOOD(H5Dclose(external));
  GOOD(H5Pclose(creation));
  const hid_t transformed = make_dataset(file, "transformed");
  const hid_t transfer = GOOD(H5Pcreate(H5P_DATASET_XFER));
  GOOD(H5Pset_data_transform(transfer, "x * 2"));
  GOOD(write_rows(transformed, 2, transfer));
  require(holds(transformed, 4), "with a transform");
  GOOD(H5Dclose(transformed));
  const hid_t text = GOOD(H5Tcopy(H5T_C_S1));
  GOOD(H5Tset_size(text, H5T_VARIABLE));
  const hsize_t one = 1;
  const hid_t space = GOOD(H5Screate_simple(1, &one, nullptr));
  const hid_t words =
      GOOD(H5Dcreate2(file, "text", text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const char* word = "words of any length";
  GOOD(H5Dwrite(words, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, &word));
  char* found = nullptr;
  GOOD(H5Dread(words, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, &found));
  require(std::strcmp(found, word) == 0, "text of variable length");
  GOOD(H5free_memory(found));
  GOOD(H5Dclose(words));
  const hsize_t two = 2;
  const hid_t pair = GOOD(H5Tarray_create2(text, 1, &two));
  const hid_t record = GOOD(H5Tcreate(H5T_COMPOUND, H5Tget_size(pair)));
  GOOD(H5Tinsert(record, "pair", 0, pair));
  const hid_t records =
      GOOD(H5Dcreate2(file, "texts", record, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const char* both[] = {"some", "words"};
  GOOD(H5Dwrite(records, record, H5S_ALL, H5S_ALL, H5P_DEFAULT, both));
  char* found_both[] = {nullptr, nullptr};
  GOOD(H5Dread(records, record, H5S_ALL, H5S_ALL, H5P_DEFAULT, found_both));
  require(std::strcmp(found_both[1], both[1]) == 0, "an array of texts in a record");
  GOOD(H5Treclaim(record, space, H5P_DEFAULT, found_both));
  GOOD(H5Dclose(records));
  const hid_t pointers = GOOD(
      H5Dcreate2(file, "reference", H5T_STD_REF, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5R_ref_t reference;
  GOOD(H5Rcreate_object(file, "text", H5P_DEFAULT, &reference));
  GOOD(H5Dwrite(pointers, H5T_STD_REF, H5S_ALL, H5S_ALL, H5P_DEFAULT, &reference));
  GOOD(H5Rdestroy(&reference));
  GOOD(H5Dclose(pointers));
  GOOD(H5Sclose(space));
  const hid_t sums = make_dataset(file, "sums", H5P_DEFAULT, H5T_IEEE_F32LE);
  GOOD(write_rows(sums, 1));
  GOOD(H5Tregister(H5T_PERS_HARD, "add", H5T_NATIVE_DOUBLE, H5T_IEEE_F32LE, add));
  GOOD(write_rows(sums, 2));
  require(holds(sums, 3), "a conversion did not get what is in the file");
  GOOD(H5Dclose(sums));
  GOOD(H5Fclose(file));
  // Others may read while the file is written, from a call on.
  const hid_t latest = GOOD(H5Pcreate(H5P_FILE_ACCESS));
  GOOD(H5Pset_libver_bounds(latest, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
  const hid_t shown = make_file("swmr.h5", latest);
  const hid_t before = make_dataset(shown, "u");
  GOOD(H5Fstart_swmr_write(shown));
  const hid_t after = GOOD(H5Dopen2(shown, "u", H5P_DEFAULT));
  GOOD(write_rows(after, 1));
  GOOD(write_rows(before, 2));
  require(holds(after, 2), "an older write came last");
  GOOD(H5Dclose(before));
  GOOD(H5Dclose(after));
  GOOD(H5Fclose(shown));
  GOOD(H5Pclose(latest));
}

// Calls that look at storage, copy it or give it back wait for what is on its way, on all ranks.
void freed() {
  const hid_t access = mpi_access();
  const hid_t file = make_file("out.h5", access);
  for (int i = 0; i < 12; ++i) {
    const int way = i % 4;
    hid_t old = make_dataset(file, way == 3 ? nullptr : "old");
    write_rows_of_next(old, 1000 + i);
    if (way == 0) {
      GOOD(H5Dclose(old));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (way != 3) {
      GOOD(H5Ldelete(file, "old", H5P_DEFAULT));
    }
    if (way == 1) {
      const hid_t again = GOOD(H5Dopen2(old, ".", H5P_DEFAULT));
      write_rows_of_next(old, 2000 + i);
      GOOD(H5Dclose(old));
      old = again;
      write_rows_of_next(old, 3000 + i);  // its storage goes when it is closed
    }
    if (way != 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      GOOD(H5Dclose(old));
      MPI_Barrier(MPI_COMM_WORLD);
    }
    const std::string name = "new" + std::to_string(i);  // where that was
    const hid_t made = make_dataset(file, name.c_str());
    GOOD(write_rows(made, i));
    GOOD(H5Dclose(made));
  }
  GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
  for (int i = 0; i < 12; ++i) {
    require(holds(file, ("new" + std::to_string(i)).c_str(), i), "storage was used twice");
  }
  MPI_Barrier(MPI_COMM_WORLD);  // all have read
  const hid_t source = GOOD(H5Dopen2(file, "new3", H5P_DEFAULT));
  GOOD(write_rows(source, 30));
  GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
  GOOD(H5Ocopy(file, "new3", file, "copy", H5P_DEFAULT, H5P_DEFAULT));
  MPI_Barrier(MPI_COMM_WORLD);
  GOOD(write_rows(source, 31));
  GOOD(H5Oincr_refcount(source));
  GOOD(H5Odecr_refcount(source));
  GOOD(write_rows(source, 32));
  require(H5Dget_offset(source) != HADDR_UNDEF && H5Fget_freespace(file) >= 0, "optional calls");
  GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
  require(holds(file, "copy", 30) && holds(file, "new3", 32), "a copy, or its source");
  GOOD(H5Dclose(source));
  GOOD(H5Fclose(file));
  GOOD(H5Pclose(access));
}

// Between a flush of all and a read by any there is nothing else.
void after_flush() {
  const hid_t access = mpi_access();
  const hid_t file = make_file("out.h5", access);
  const hid_t dataset = make_dataset(file, "u");
  for (int i = 0; i < 10; ++i) {
    GOOD(write_rows(dataset, i));
    GOOD(H5Fflush(i % 2 == 0 ? file : dataset, H5F_SCOPE_GLOBAL));
    require(holds(dataset, i), "what another rank flushed is not there");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // From now on, no flush is needed.
  GOOD(H5Fset_mpi_atomicity(file, true));
  const hid_t again = GOOD(H5Dopen2(file, "u", H5P_DEFAULT));
  GOOD(write_rows(again, 20));
  MPI_Barrier(MPI_COMM_WORLD);
  require(holds(dataset, 20), "what another rank wrote is not there");
  MPI_Barrier(MPI_COMM_WORLD);
  GOOD(H5Dclose(again));
  GOOD(H5Dclose(dataset));
  GOOD(H5Fclose(file));
  GOOD(H5Pclose(access));
}

// All write chunks with filters together, before and behind another dataset that each has written
// alone: MPI-IO may read what lies between chunks, and write it once more.
void between_chunks() {
  const hid_t access = mpi_access();
  const hid_t file = make_file("out.h5", access);
  const hid_t creation = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  const hsize_t chunk = 1000;
  GOOD(H5Pset_chunk(creation, 1, &chunk));
  GOOD(H5Pset_fletcher32(creation));
  const hid_t transfer = GOOD(H5Pcreate(H5P_DATASET_XFER));
  GOOD(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
  const hsize_t chunks = 2 * static_cast<hsize_t>(ranks);
  const hsize_t extents[2] = {chunks / 2 * chunk, chunks * chunk};
  const hsize_t most = H5S_UNLIMITED;
  const hid_t space = GOOD(H5Screate_simple(1, &extents[0], &most));
  const hid_t together =
      GOOD(H5Dcreate2(file, "c", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  const std::vector<double> values(2 * chunk, 1);
  const auto write_chunks = [&](hsize_t of_each) {
    const hid_t some = GOOD(H5Dget_space(together));
    const hsize_t start = static_cast<hsize_t>(rank_of_this) * chunk;
    const hsize_t stride = static_cast<hsize_t>(ranks) * chunk;
    GOOD(H5Sselect_hyperslab(some, H5S_SELECT_SET, &start, &stride, &of_each, &chunk));
    GOOD(H5Dwrite(together, H5T_NATIVE_DOUBLE, H5S_BLOCK, some, transfer, values.data()));
    GOOD(H5Sclose(some));
  };
  write_chunks(1);
  const hid_t alone = make_dataset(file, "u");
  GOOD(H5Dset_extent(together, &extents[1]));
  write_chunks(2);
  GOOD(write_rows(alone, 1));
  GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
  for (int i = 2; i < 6; ++i) {
    GOOD(write_rows(alone, i));
    write_chunks(2);
    GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
    require(holds(alone, i), "what was written alone is lost");
    MPI_Barrier(MPI_COMM_WORLD);  // all have read
  }
  GOOD(H5Dclose(alone));
  GOOD(H5Dclose(together));
  GOOD(H5Sclose(space));
  GOOD(H5Pclose(transfer));
  GOOD(H5Pclose(creation));
  GOOD(H5Fclose(file));
  GOOD(H5Pclose(access));
}

// The same of metadata, which HDF5 writes together whenever its cache is full.
void between_metadata() {
  const hid_t access = mpi_access();
  GOOD(H5Pset_coll_metadata_write(access, true));
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  GOOD(H5Pget_mdc_config(access, &cache));
  cache.set_initial_size = true;
  cache.initial_size = cache.min_size = 1024;
  cache.dirty_bytes_threshold = 4096;
  GOOD(H5Pset_mdc_config(access, &cache));
  const hid_t file = make_file("out.h5", access);
  const hid_t space = GOOD(H5Screate(H5S_SCALAR));
  // Changes some that lie before the dataset, and makes as many behind it.
  const auto make_groups = [file, space](const std::string& name, bool changes) {
    for (int i = 0; i < 50; ++i) {
      const std::string number = std::to_string(i);
      GOOD(H5Gclose(
          GOOD(H5Gcreate2(file, (name + number).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
      if (changes) {
        GOOD(H5Aclose(
            GOOD(H5Acreate_by_name(file, ("first" + number).c_str(), name.c_str(), H5T_NATIVE_INT,
                                   space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
      }
    }
  };
  make_groups("first", false);
  const hid_t alone = make_dataset(file, "u");
  for (int i = 2; i < 6; ++i) {
    GOOD(write_rows(alone, i));
    make_groups("x" + std::to_string(i) + "-", true);
    GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
    require(holds(alone, i), "what was written alone is lost");
    MPI_Barrier(MPI_COMM_WORLD);  // all have read
  }
  GOOD(H5Dclose(alone));
  GOOD(H5Sclose(space));
  GOOD(H5Fclose(file));
  GOOD(H5Pclose(access));
}

// A file is open as long as its objects: HDF5 closes it with the last of them, or refuses to close
// it. One rank has another file open.
void closed_first() {
  const hid_t own = rank_of_this == 0 ? make_file("two.h5", H5P_DEFAULT) : H5I_INVALID_HID;
  const hid_t access = mpi_access();
  for (const H5F_close_degree_t degree : {H5F_CLOSE_WEAK, H5F_CLOSE_SEMI}) {
    GOOD(H5Pset_fclose_degree(access, degree));
    hid_t file = make_file("out.h5", access);
    const hid_t dataset = make_dataset(file, "u");
    herr_t closed = 0;
    H5E_BEGIN_TRY { closed = H5Fclose(file); }
    H5E_END_TRY
    require((closed >= 0) == (degree == H5F_CLOSE_WEAK), "closing a file with an open dataset");
    GOOD(write_rows(dataset, 1));
    GOOD(H5Fflush(dataset, H5F_SCOPE_GLOBAL));
    require(holds(dataset, 1), "what another rank flushed is not there");
    MPI_Barrier(MPI_COMM_WORLD);  // all have read
    file = closed >= 0 ? GOOD(H5Iget_file_id(dataset)) : file;
    const hid_t again = GOOD(H5Dopen2(file, "u", H5P_DEFAULT));
    GOOD(write_rows(dataset, 2));
    GOOD(write_rows(again, 3));
    GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
    require(holds(dataset, 3), "an older write came last");
    GOOD(H5Dclose(again));
    GOOD(H5Dclose(dataset));
    GOOD(H5Fclose(file));
  }
  GOOD(H5Pclose(access));
  if (rank_of_this == 0) {
    GOOD(H5Fclose(own));
  }
}

// One record more in each step, as h5py has it; and netCDF-4, which reads metadata collectively.
void write_records(bool reads_together) {
  const hid_t access = mpi_access();
  GOOD(H5Pset_all_coll_metadata_ops(access, reads_together));
  GOOD(H5Pset_coll_metadata_write(access, reads_together));
  const hid_t file = make_file("out.h5", access);
  const hsize_t none[3] = {0, rows, columns};
  const hsize_t most[3] = {H5S_UNLIMITED, rows, columns};
  const hsize_t chunk[3] = {1, rows / 2, columns / 2};
  const hid_t space = GOOD(H5Screate_simple(3, none, most));
  const hid_t creation = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  GOOD(H5Pset_chunk(creation, 3, chunk));
  const hid_t dataset =
      GOOD(H5Dcreate2(file, "u", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  const hsize_t count[3] = {1, last_row() - first_row(), columns};
  const hid_t memory_space = GOOD(H5Screate_simple(3, count, nullptr));
  std::vector<double> values(count[1] * columns);
  for (hsize_t step = 0; step < 20; ++step) {
    const hsize_t extent[3] = {step + 1, rows, columns};
    GOOD(H5Dset_extent(dataset, extent));
    const hid_t file_space = GOOD(H5Dget_space(dataset));
    const hsize_t start[3] = {step, first_row(), 0};
    GOOD(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, nullptr, count, nullptr));
    std::iota(values.begin(), values.end(),
              static_cast<double>(step * 1000000) + static_cast<double>(first_row() * columns));
    GOOD(
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT, values.data()));
    GOOD(H5Sclose(file_space));
  }
  GOOD(H5Sclose(memory_space));
  GOOD(H5Sclose(space));
  GOOD(H5Pclose(creation));
  GOOD(H5Dclose(dataset));
  GOOD(H5Fclose(file));
  GOOD(H5Pclose(access));
}

// Thousands of records, each of which is one chunk of a few bytes.
void short_records() {
  const hid_t access = mpi_access();
  const hid_t file = make_file("out.h5", access);
  const hsize_t steps = 3000;
  const hsize_t cells = 64;
  const hsize_t none[2] = {0, cells};
  const hsize_t most[2] = {H5S_UNLIMITED, cells};
  const hsize_t chunk[2] = {1, cells};
  const hid_t space = GOOD(H5Screate_simple(2, none, most));
  const hid_t creation = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  GOOD(H5Pset_chunk(creation, 2, chunk));
  const hid_t dataset =
      GOOD(H5Dcreate2(file, "u", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  for (hsize_t step = 0; step < steps; ++step) {
    const hsize_t extent[2] = {step + 1, cells};
    GOOD(H5Dset_extent(dataset, extent));
    const hsize_t start[2] = {step, 0};
    const hsize_t count[2] = {1, cells};
    const hid_t file_space = GOOD(H5Dget_space(dataset));
    GOOD(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, nullptr, count, nullptr));
    const std::vector<double> values(cells, static_cast<double>(step));
    if (step % static_cast<hsize_t>(ranks) == static_cast<hsize_t>(rank_of_this)) {
      GOOD(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_BLOCK, file_space, H5P_DEFAULT, values.data()));
    }
    GOOD(H5Sclose(file_space));
  }
  GOOD(H5Sclose(space));
  GOOD(H5Pclose(creation));
  GOOD(H5Dclose(dataset));
  GOOD(H5Fclose(file));
  GOOD(H5Pclose(access));
}

void records() { write_records(false); }
void records_together() { write_records(true); }

// Numbers of one type become numbers of another, as HDF5 has it: what does not fit, too.
H5T_conv_ret_t refuse(H5T_conv_except_t /*kind*/, hid_t /*from*/, hid_t /*to*/, void* /*value*/,
                      void* /*becomes*/, void* /*own*/) {
  return H5T_CONV_ABORT;
}
void numbers() {
  const hid_t access = mpi_access();
  const hid_t file = make_file("out.h5", access);
  const hid_t types[] = {H5T_IEEE_F32BE, H5T_STD_I16LE, H5T_STD_U8LE, H5T_STD_I64BE,
                         H5T_IEEE_F64LE};
  const double values[] = {1.5, -70000, 3e9, 0.1};
  for (std::size_t t = 0; t < std::size(types); ++t) {
    for (std::size_t v = 0; v < std::size(values); ++v) {
      const std::string name = "u" + std::to_string(t) + std::to_string(v);
      const hid_t dataset = make_dataset(file, name.c_str(), H5P_DEFAULT, types[t]);
      GOOD(write_rows(dataset, values[v]));
      GOOD(H5Dclose(dataset));
    }
  }
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t transfer = GOOD(H5Pcreate(H5P_DATASET_XFER));
  GOOD(H5Pset_type_conv_cb(transfer, refuse, nullptr));
  const hid_t narrow = make_dataset(file, "narrow", H5P_DEFAULT, H5T_STD_I8LE);
  GOOD(write_rows(narrow, 100, transfer));
  require(write_rows(narrow, 1000, transfer) < 0, "the program's own callback was not asked");
  GOOD(H5Dclose(narrow));
  GOOD(H5Pclose(transfer));
  GOOD(H5Fclose(file));
  GOOD(H5Pclose(access));
}

// Each rank its columns, of one element: collective writes that HDF5 puts together. One rank has
// the dataset open twice, and one of the others writes nothing.
void columns_of_one() {
  const hid_t access = mpi_access();
  const hid_t file = make_file("out.h5", access);
  const hid_t dataset = make_dataset(file, "u");
  const hid_t again = rank_of_this == 0 ? GOOD(H5Dopen2(file, "u", H5P_DEFAULT)) : dataset;
  const hid_t transfer = GOOD(H5Pcreate(H5P_DATASET_XFER));
  GOOD(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
  const hid_t space = GOOD(H5Dget_space(dataset));
  const hsize_t start[2] = {0, static_cast<hsize_t>(rank_of_this)};
  const hsize_t stride[2] = {1, static_cast<hsize_t>(ranks)};
  const hsize_t count[2] = {rows, (columns - start[1] + stride[1] - 1) / stride[1]};
  std::vector<double> values(count[0] * count[1]);
  for (int i = 0; i < 12; ++i) {
    GOOD(write_rows(dataset, 1000 + i));  // this rank's own rows are overwritten by all
    GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
    std::ranges::fill(values, i);
    GOOD(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, nullptr));
    GOOD(H5Dwrite(i % 2 == 0 ? dataset : again, H5T_NATIVE_DOUBLE, H5S_BLOCK, space, transfer,
                  values.data()));
    const hsize_t one[2] = {1, 1};  // once more, by each rank alone
    const double again_written = 2000 + i;
    GOOD(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, one, nullptr));
    GOOD(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_BLOCK, space, H5P_DEFAULT, &again_written));
    GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
    std::vector<double> found = read(dataset);
    for (int r = 0; r < ranks; ++r) {
      require(found[static_cast<std::size_t>(r)] == 2000 + i, "an older write came last");
      found[static_cast<std::size_t>(r)] = i;
    }
    require(std::ranges::all_of(found, [i](double value) { return value == i; }),
            "columns are not there");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  GOOD(H5Sselect_none(space));
  if (rank_of_this == ranks - 1) {
    GOOD(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, nullptr));
  }
  GOOD(H5Dwrite(again, H5T_NATIVE_DOUBLE, H5S_BLOCK, space, transfer, values.data()));
  GOOD(H5Sclose(space));
  GOOD(H5Pclose(transfer));
  if (again != dataset) {
    GOOD(H5Dclose(again));
  }
  GOOD(H5Dclose(dataset));
  GOOD(H5Fclose(file));
  GOOD(H5Pclose(access));
}

// Event sets: the array is left alone until its event is done. The program overwrites what is on
// its way, reads it, and waits with and without a limit.
void events() {
  const hid_t access = mpi_access();
  const hid_t file = make_file("out.h5", access);
  const hid_t dataset = make_dataset(file, "u");
  const hid_t narrow = make_dataset(file, "narrow", H5P_DEFAULT, H5T_IEEE_F32LE);
  const hid_t set = GOOD(H5EScreate());
  const hsize_t start[2] = {first_row(), 0};
  const hsize_t count[2] = {last_row() - first_row(), columns};
  const hid_t space = GOOD(H5Dget_space(dataset));
  GOOD(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr));
  std::vector<std::vector<double>> arrays;
  std::size_t left = 0;
  hbool_t has_failed = true;
  for (int i = 0; i < 10; ++i) {
    arrays.emplace_back(count[0] * columns, i);
    for (const hid_t one : {dataset, narrow}) {
      GOOD(H5Dwrite_async(one, H5T_NATIVE_DOUBLE, H5S_BLOCK, space, H5P_DEFAULT,
                          arrays.back().data(), set));
    }
    GOOD(H5ESwait(set, 0, &left, &has_failed));
  }
  require(holds(dataset, 9) || ranks > 1, "what is on its way is not read back");
  GOOD(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &has_failed));
  require(left == 0 && !has_failed, "events are not done");
  for (auto& array : arrays) {
    std::ranges::fill(array, -1);
  }
  GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
  require(holds(dataset, 9) && holds(narrow, 9), "an array was read after its event was done");
  GOOD(H5ESclose(set));
  GOOD(H5Sclose(space));
  GOOD(H5Dclose(narrow));
  GOOD(H5Dclose(dataset));
  GOOD(H5Fclose(file));
  GOOD(H5Pclose(access));
}

// A write that is left to HDF5 is done before one that began earlier. All events are waited for.
void overtaken_events() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hid_t compact = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  GOOD(H5Pset_layout(compact, H5D_COMPACT));
  const hsize_t cells = 4096;
  const hid_t space = GOOD(H5Screate_simple(1, &cells, nullptr));
  std::vector<hid_t> datasets;
  for (const char* const name : {"taken", "left"}) {
    datasets.push_back(GOOD(H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                       datasets.empty() ? H5P_DEFAULT : compact, H5P_DEFAULT)));
  }
  const hid_t set = GOOD(H5EScreate());
  std::size_t left = 0;
  hbool_t has_failed = true;
  for (int i = 0; i < 10; ++i) {
    std::vector<std::vector<double>> arrays;
    for (const std::size_t one : {0U, 1U, 0U}) {
      arrays.emplace_back(cells, i);
      GOOD(H5Dwrite_async(datasets[one], H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                          arrays.back().data(), set));
      if (one == 1) {
        GOOD(i % 2 == 0 ? H5ESwait(set, H5ES_WAIT_NONE, &left, &has_failed)
                        : H5EScancel(set, &left, &has_failed));
      }
    }
    GOOD(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &has_failed));
    require(left == 0 && !has_failed, "events are not done");
    GOOD(H5ESget_count(set, &left));
    require(left == 0, "an event is not waited for");
    for (auto& array : arrays) {
      std::ranges::fill(array, -1);
    }
    for (const hid_t dataset : datasets) {
      std::vector<double>& found = arrays.front();
      GOOD(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()));
      require(std::ranges::all_of(found, [i](double value) { return value == i; }),
              "an array was read after its event was done");
    }
  }
  GOOD(H5ESclose(set));
  for (const hid_t dataset : datasets) {
    GOOD(H5Dclose(dataset));
  }
  GOOD(H5Pclose(compact));
  GOOD(H5Sclose(space));
  GOOD(H5Fclose(file));
}

// The disk is full while an event is under way: its set says so, and has the story.
void failing_event() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hsize_t cells = hsize_t{4} << 20;
  const hid_t space = GOOD(H5Screate_simple(1, &cells, nullptr));
  const hid_t dataset =
      GOOD(H5Dcreate2(file, "u", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const std::vector<double> values(cells, 1);
  const hid_t set = GOOD(H5EScreate());
  const herr_t begun =
      H5Dwrite_async(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data(), set);
  std::size_t left = 0;
  hbool_t has_failed = false;
  if (begun >= 0) {
    H5ESwait(set, H5ES_WAIT_FOREVER, &left, &has_failed);
    require(has_failed, "an event has success on a full disk");
    H5ES_err_info_t story;
    std::size_t cleared = 0;
    GOOD(H5ESget_err_info(set, 1, &story, &cleared));
    require(cleared == 1, "an event that failed has no story");
    GOOD(H5Eprint2(story.err_stack_id, stderr));
    GOOD(H5Eclose_stack(story.err_stack_id));
    for (char* const text :
         {story.api_name, story.api_args, story.app_file_name, story.app_func_name}) {
      H5free_memory(text);
    }
  }
  GOOD(H5ESclose(set));
  GOOD(H5Dclose(dataset));
  require(H5Fclose(file) < 0, "closing the file has success");
  GOOD(H5Fclose(file));
  GOOD(H5Sclose(space));
}

// More bytes in one call than 31 bits count.
void long_write() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hsize_t bytes = (hsize_t{1} << 31U) + (hsize_t{1} << 20U) + 5;
  const hid_t space = GOOD(H5Screate_simple(1, &bytes, nullptr));
  const hid_t dataset =
      GOOD(H5Dcreate2(file, "u", H5T_NATIVE_UCHAR, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  std::vector<unsigned char> values(bytes);
  const auto value_at = [](hsize_t i) { return static_cast<unsigned char>(i % 251); };
  const std::vector<hsize_t> places{0, bytes / 3, (hsize_t{1} << 31U) - 1, hsize_t{1} << 31U,
                                    bytes - 1};
  for (const hsize_t i : places) {
    values[i] = value_at(i);
  }
  GOOD(H5Dwrite(dataset, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  for (const hsize_t i : places) {
    values[i] = 0;
    const hsize_t one = 1;
    GOOD(H5Sselect_hyperslab(space, H5S_SELECT_SET, &i, nullptr, &one, nullptr));
    unsigned char found = 0;
    GOOD(H5Dread(dataset, H5T_NATIVE_UCHAR, H5S_BLOCK, space, H5P_DEFAULT, &found));
    require(found == value_at(i), "a byte of a long write is not read back");
  }
  GOOD(H5Sclose(space));
  GOOD(H5Dclose(dataset));
  GOOD(H5Fclose(file));
}

// The disk is full: the next call on the file says so, and closing it too.
void fill_the_disk(hid_t list, bool is_closed = false) {
  const hid_t other = make_file("two.h5", H5P_DEFAULT);
  const hid_t healthy = make_dataset(other, "u");
  GOOD(write_rows(healthy, 3));
  GOOD(H5Fflush(other, H5F_SCOPE_GLOBAL));
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hsize_t cells = hsize_t{4} << 20;
  const hid_t space = GOOD(H5Screate_simple(1, &cells, nullptr));
  const hid_t dataset =
      GOOD(H5Dcreate2(file, "u", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT));
  if (is_closed) {
    GOOD(H5Fclose(file));
  }
  std::vector<double> values(cells);
  std::mt19937_64 random;  // what cannot be compressed
  std::ranges::generate(values, [&] { return static_cast<double>(random()); });
  const herr_t first =
      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  const herr_t flushed = H5Fflush(dataset, H5F_SCOPE_GLOBAL);
  require(flushed < 0, "a flush has success on a full disk");
  const hid_t stack = GOOD(H5Eget_current_stack());
  GOOD(H5Eprint2(stack, stderr));
  const herr_t second =
      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  require(second < 0, "the call after the failure has success");
  hsize_t bytes = 0;
  require(holds(healthy, 3) && H5Fget_filesize(other, &bytes) >= 0, "another file fails, too");
  GOOD(H5Dclose(healthy));
  GOOD(H5Fclose(other));
  GOOD(H5Dclose(dataset));
  if (!is_closed) {
    require(H5Fclose(file) < 0, "closing the file has success");
    GOOD(H5Fclose(file));  // it was told once
  }
  GOOD(H5Sclose(space));
  std::fprintf(stderr, "first write: %d\n", first);
}
void full_disk() { fill_the_disk(H5P_DEFAULT); }
void full_disk_when_closed() { fill_the_disk(H5P_DEFAULT, true); }
void full_disk_of_chunks() {
  const hid_t list = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  const hsize_t chunk = hsize_t{1} << 18;
  GOOD(H5Pset_chunk(list, 1, &chunk));
  GOOD(H5Pset_deflate(list, 1));
  fill_the_disk(list);
}

// A rank fails; the others, who call collectively, do not wait for it for ever.
void failing_rank() {
  const hid_t access = mpi_access();
  const hid_t file = make_file("out.h5", access);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t creation = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  const hsize_t chunk[2] = {10, 100};
  GOOD(H5Pset_chunk(creation, 2, chunk));
  GOOD(H5Pset_deflate(creation, 1));
  const hid_t taken = make_dataset(file, "taken");
  const hid_t packed = make_dataset(file, "packed", creation);
  const hid_t transfer = GOOD(H5Pcreate(H5P_DATASET_XFER));
  GOOD(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
  int failures = 0;
  for (int i = 0; i < 5; ++i) {
    failures += write_rows(taken, i, transfer) < 0 ? 1 : 0;
    failures += write_rows(packed, i, transfer) < 0 ? 1 : 0;
    failures += H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ? 1 : 0;
  }
  GOOD(H5Dclose(taken));
  GOOD(H5Dclose(packed));
  require(H5Fclose(file) < 0, "closing the file has success on this rank");
  GOOD(H5Fclose(file));
  std::fprintf(stderr, "rank %d: %d failures\n", rank_of_this, failures);
}

// The program ends without closing anything.
hid_t write_and_flush() {
  const hid_t access = mpi_access();
  const hid_t file = make_file("out.h5", access);
  const hid_t dataset = make_dataset(file, "u");
  GOOD(write_rows(dataset, 6));
  GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
  const hid_t next = make_dataset(file, "next");
  GOOD(write_rows(next, 7));
  return next;
}
void ends_open() { write_and_flush(); }
void ends_open_filtered() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hid_t list = filtered_list();
  const hid_t dataset = make_dataset(file, "u", list);
  GOOD(write_rows(dataset, 6));
}
void ends_open_alone() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  GOOD(write_rows(make_dataset(file, "u"), 6));
}
void ends_by_exit() {
  write_and_flush();
  MPI_Barrier(MPI_COMM_WORLD);
  _exit(0);
}
void ends_by_h5close() {
  write_and_flush();
  GOOD(H5close());
  const hid_t access = mpi_access();  // and HDF5 begins anew
  const hid_t file = GOOD(H5Fopen(path("out.h5").c_str(), H5F_ACC_RDWR, access));
  const hid_t dataset = GOOD(H5Dopen2(file, "u", H5P_DEFAULT));
  GOOD(write_rows(dataset, 8));
  GOOD(H5Dclose(dataset));
  GOOD(H5Fclose(file));
  GOOD(H5Pclose(access));
}

// A file is opened twice, and one that cannot be written.
void opened_twice() {
  const hid_t one = make_file("out.h5", H5P_DEFAULT);
  const hid_t dataset = make_dataset(one, "u");
  GOOD(write_rows(dataset, 1));
  const hid_t two = GOOD(H5Fopen(path("out.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
  const hid_t three = GOOD(H5Freopen(one));
  const hid_t again = GOOD(H5Dopen2(two, "u", H5P_DEFAULT));
  GOOD(write_rows(again, 2));
  GOOD(write_rows(dataset, 3));
  require(holds(again, 3) && holds(three, "u", 3), "the last write is not there");
  GOOD(H5Fclose(one));
  GOOD(write_rows(again, 4));
  GOOD(H5Dclose(dataset));
  GOOD(H5Dclose(again));
  GOOD(H5Fclose(three));
  require(holds(two, "u", 4), "what was written before a close is not there");
  GOOD(H5Fclose(two));
  const hid_t reader = GOOD(H5Fopen(path("out.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  const hid_t dataset_of_reader = GOOD(H5Dopen2(reader, "u", H5P_DEFAULT));
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  require(write_rows(dataset_of_reader, 5) < 0, "a file for reading was written");
  require(holds(dataset_of_reader, 4), "reading");
  GOOD(H5Dclose(dataset_of_reader));
  GOOD(H5Fclose(reader));
}

// Offsets in the file count from behind the user block, which the program has made or `h5jam` has
// put before a file that was there.
void user_block() {
  const auto write_and_add = [](const char* name, hid_t file) {
    const hid_t late = make_dataset(file, "late");
    GOOD(write_rows(late, 1));
    require(holds(late, 1), "what was written is not read back");
    GOOD(H5Dclose(late));
    GOOD(H5Fclose(file));
    const hid_t again = GOOD(H5Fopen(path(name).c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    for (const char* const added : {"u", "v"}) {
      const hid_t dataset = make_dataset(again, added);
      GOOD(write_rows(dataset, 2));
      GOOD(H5Dclose(dataset));
    }
    require(holds(again, "late", 1) && holds(again, "u", 2) && holds(again, "v", 2),
            "another dataset's values");
    GOOD(H5Fclose(again));
  };
  for (const hsize_t bytes : {hsize_t{512}, hsize_t{8192}}) {
    const hid_t list = GOOD(H5Pcreate(H5P_FILE_CREATE));
    GOOD(H5Pset_userblock(list, bytes));
    write_and_add("out.h5",
                  GOOD(H5Fcreate(path("out.h5").c_str(), H5F_ACC_TRUNC, list, H5P_DEFAULT)));
    GOOD(H5Pclose(list));
    const hid_t plain = make_file("plain.h5", H5P_DEFAULT);
    const hid_t old = make_dataset(plain, "old");
    GOOD(write_rows(old, 3));
    GOOD(H5Dclose(old));
    GOOD(H5Fclose(plain));
    {
      std::ofstream jammed{path("jammed.h5"), std::ios::binary};
      jammed << std::string(bytes, ' ')
             << std::ifstream{path("plain.h5"), std::ios::binary}.rdbuf();
    }
    write_and_add("jammed.h5", GOOD(H5Fopen(path("jammed.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT)));
    const hid_t jammed = GOOD(H5Fopen(path("jammed.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    require(holds(jammed, "old", 3), "a dataset that was there");
    GOOD(H5Fclose(jammed));
  }
}

// Says on stdout why calls fail: h5py decides by that what to do next.
void tell_cause(const char* call) {
  std::string cause = "HDF5 does not say why";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned /*number*/, const H5E_error2_t* error, void* to) -> herr_t {
        *static_cast<std::string*>(to) = error->desc;
        return 1;  // the first one
      },
      &cause);
  std::printf("%s: %s\n", call, cause.c_str());
}
#define CAUSE_OF(call) (require((call) < 0, #call " has success"), tell_cause(#call))

void causes() {
  GOOD(chdir(folder.c_str()));  // both runs tell the same names
  std::ofstream{"text.h5"} << "no HDF5";
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t parallel = mpi_access();
  for (const hid_t access : {hid_t{H5P_DEFAULT}, parallel}) {
    CAUSE_OF(H5Fopen("none.h5", H5F_ACC_RDONLY, access));
    CAUSE_OF(H5Fopen("none.h5", H5F_ACC_RDWR, access));
    CAUSE_OF(H5Fopen("text.h5", H5F_ACC_RDWR, access));
    CAUSE_OF(H5Fopen(".", H5F_ACC_RDWR, access));
    CAUSE_OF(H5Fcreate("text.h5", H5F_ACC_EXCL, H5P_DEFAULT, access));
    CAUSE_OF(H5Fis_accessible("none.h5", access));
    CAUSE_OF(H5Fdelete("none.h5", access));
    const hid_t file = GOOD(H5Fcreate("out.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access));
    const hid_t list = GOOD(H5Pcreate(H5P_DATASET_CREATE));
    const hsize_t chunk[2] = {10, 100};
    GOOD(H5Pset_chunk(list, 2, chunk));
    const hsize_t extent[2] = {rows, columns};
    const hid_t space = GOOD(H5Screate_simple(2, extent, nullptr));
    const hid_t taken = make_dataset(file, "taken");
    const hid_t chunked = make_dataset(file, "chunked", list);
    for (const char* const name : {"taken", "none/u"}) {
      for (const hid_t creation : {hid_t{H5P_DEFAULT}, list}) {
        CAUSE_OF(
            H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
      }
    }
    CAUSE_OF(H5Dopen2(file, "none", H5P_DEFAULT));
    CAUSE_OF(H5Oopen(file, "none", H5P_DEFAULT));
    CAUSE_OF(H5Gopen2(file, "none", H5P_DEFAULT));
    const hsize_t more[2] = {rows + 1, columns};
    CAUSE_OF(H5Dset_extent(taken, more));
    CAUSE_OF(H5Dset_extent(chunked, more));
    const hid_t other = GOOD(H5Screate_simple(2, more, nullptr));
    const std::vector<double> values(more[0] * more[1], 1);
    CAUSE_OF(H5Dwrite(taken, H5T_NATIVE_DOUBLE, other, H5S_ALL, H5P_DEFAULT, values.data()));
    hid_t datasets[] = {taken, chunked};
    hid_t types[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE};
    hid_t spaces[] = {other, H5S_ALL};
    hid_t all[] = {H5S_ALL, H5S_ALL};
    const void* arrays[] = {values.data(), values.data()};
    CAUSE_OF(H5Dwrite_multi(2, datasets, types, spaces, all, H5P_DEFAULT, arrays));
    const hid_t set = GOOD(H5EScreate());
    CAUSE_OF(
        H5Dwrite_async(taken, H5T_NATIVE_DOUBLE, other, H5S_ALL, H5P_DEFAULT, values.data(), set));
    GOOD(H5ESclose(set));
    if (access == H5P_DEFAULT) {
      CAUSE_OF(H5Fcreate("out.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access));
      const hid_t transfer = GOOD(H5Pcreate(H5P_DATASET_XFER));
      GOOD(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
      for (const hid_t dataset : datasets) {
        CAUSE_OF(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, transfer, values.data()));
      }
      GOOD(H5Pclose(transfer));
    }
    for (const hid_t dataset : datasets) {
      GOOD(H5Dclose(dataset));
    }
    GOOD(H5Sclose(other));
    GOOD(H5Sclose(space));
    GOOD(H5Pclose(list));
    GOOD(H5Fclose(file));
  }
  GOOD(H5Pclose(parallel));
}

// A group that no link leads to goes when it is closed, with its datasets, and with groups that
// lead to some. Other datasets get their places.
void close_unlinked_groups(hid_t access) {
  const hid_t file = make_file("out.h5", access);
  const double fill = 7;
  const hid_t early = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  GOOD(H5Pset_fill_value(early, H5T_NATIVE_DOUBLE, &fill));
  GOOD(H5Pset_alloc_time(early, H5D_ALLOC_TIME_EARLY));
  std::vector<std::string> names;
  for (int i = 0; i < 8; ++i) {
    const bool is_linked_first = i % 2 == 0;
    const hid_t group = is_linked_first
                            ? GOOD(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))
                            : GOOD(H5Gcreate_anon(file, H5P_DEFAULT, H5P_DEFAULT));
    if (is_linked_first) {
      GOOD(H5Ldelete(file, "g", H5P_DEFAULT));
    }
    const bool is_deeper = i % 4 < 2;
    if (is_deeper) {
      GOOD(H5Gclose(GOOD(H5Gcreate2(group, "in", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
    }
    const hid_t again = i >= 4 ? GOOD(H5Oopen(group, ".", H5P_DEFAULT)) : H5I_INVALID_HID;
    const hid_t dataset = make_dataset(group, is_deeper ? "in/u" : "u");
    GOOD(write_rows(dataset, 1000 + i));
    GOOD(H5Dclose(dataset));
    MPI_Barrier(MPI_COMM_WORLD);
    GOOD(H5Gclose(group));
    if (again != H5I_INVALID_HID) {
      GOOD(H5Oclose(again));
    }
    for (const char* const kind : {"late", "early"}) {
      names.push_back(kind + std::to_string(i));
      GOOD(H5Dclose(make_dataset(file, names.back().c_str(), early)));
    }
  }
  GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
  MPI_Barrier(MPI_COMM_WORLD);
  for (const std::string& name : names) {
    require(holds(file, name.c_str(), fill), "storage was used twice");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  GOOD(H5Pclose(early));
  GOOD(H5Fclose(file));
}
void unlinked_groups() {
  const hid_t access = mpi_access();
  close_unlinked_groups(access);
  GOOD(H5Pclose(access));
}
void unlinked_groups_alone() { close_unlinked_groups(H5P_DEFAULT); }

// An optional filter that HDF5 does not have is skipped.
void skipped_filter() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hid_t list = GOOD(H5Pcreate(H5P_DATASET_CREATE));
  const hsize_t chunk[2] = {rows, columns / 4};
  const unsigned level = 3;
  GOOD(H5Pset_chunk(list, 2, chunk));
  require(H5Zfilter_avail(iocomp::formats::h5::zstd_filter) == 0, "HDF5 has Zstandard");
  GOOD(H5Pset_filter(list, iocomp::formats::h5::zstd_filter, H5Z_FLAG_OPTIONAL, 1, &level));
  const hid_t dataset = make_dataset(file, "u", list);
  GOOD(write_rows(dataset, 1));
  require(holds(dataset, 1), "what was written is not read back");
  GOOD(H5Dclose(dataset));
  const hid_t taken = make_dataset(file, "taken");
  GOOD(write_rows(taken, 2));
  GOOD(H5Dclose(taken));
  GOOD(H5Pclose(list));
  GOOD(H5Fclose(file));
}

// The flush of a file with others on it tells that one of them has failed.
void failing_mount() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hid_t mounted = make_file("two.h5", H5P_DEFAULT);
  const hid_t apart = make_file("three.h5", H5P_DEFAULT);
  GOOD(H5Gclose(GOOD(H5Gcreate2(file, "m", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
  GOOD(H5Fmount(file, "m", mounted, H5P_DEFAULT));
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t dataset = make_dataset(file, "m/u");
  write_rows(dataset, 1);
  require(H5Fflush(file, H5F_SCOPE_GLOBAL) < 0, "the flush of all has success");
  GOOD(H5Fflush(file, H5F_SCOPE_LOCAL));
  GOOD(H5Fflush(apart, H5F_SCOPE_GLOBAL));
  GOOD(H5Dclose(dataset));
  GOOD(H5Funmount(file, "m"));
  GOOD(H5Fclose(apart));
  require(H5Fclose(mounted) < 0, "closing the file has success");
  GOOD(H5Fclose(mounted));
  GOOD(H5Fclose(file));
}

// A scratch file: the program removes it while it is open.
void removed() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hid_t dataset = make_dataset(file, "u");
  GOOD(write_rows(dataset, 1));
  GOOD(unlink(path("out.h5").c_str()));
  GOOD(write_rows(dataset, 2));
  GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
  require(holds(dataset, 2), "the last write is not there");
  GOOD(H5Dclose(dataset));
  GOOD(H5Fclose(file));
}

// An open file has three descriptors: HDF5's own, and one for each way to write.
void many_files() {
  const rlimit limit{.rlim_cur = 200, .rlim_max = 200};
  GOOD(setrlimit(RLIMIT_NOFILE, &limit));
  std::vector<hid_t> files;
  for (int i = 0; i < 55; ++i) {
    files.push_back(make_file((std::to_string(i) + ".h5").c_str(), H5P_DEFAULT));
    const hid_t dataset = make_dataset(files.back(), "u");
    GOOD(write_rows(dataset, i));
    GOOD(H5Dclose(dataset));
    GOOD(H5Fflush(files.back(), H5F_SCOPE_GLOBAL));
  }
  for (const hid_t file : files) {
    GOOD(H5Fclose(file));
  }
}

// HDF5 tells a program what it has left open.
void counts() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hid_t dataset = make_dataset(file, "u");
  GOOD(write_rows(dataset, 1));
  require(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 2,
          "more than a file and a dataset is open");
  GOOD(H5Dclose(dataset));
  const hid_t list = filtered_list();
  const hid_t filtered = make_dataset(file, "filtered", list);
  GOOD(H5Pclose(list));
  GOOD(write_rows(filtered, 1));
  GOOD(H5Dclose(filtered));
  require(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 1, "more than a file is open");
  GOOD(H5Fclose(file));
}

// A dataset is opened through a link, and then its file.
void linked_first() {
  const hid_t two = make_file("two.h5", H5P_DEFAULT);
  GOOD(H5Dclose(make_dataset(two, "u")));
  GOOD(H5Fclose(two));
  const hid_t one = make_file("out.h5", H5P_DEFAULT);
  const hid_t own = make_dataset(one, "own");
  GOOD(write_rows(own, 1));
  GOOD(H5Lcreate_external(path("two.h5").c_str(), "/u", one, "external", H5P_DEFAULT, H5P_DEFAULT));
  const hid_t through_link = GOOD(H5Dopen2(one, "external", H5P_DEFAULT));
  const hid_t again = GOOD(H5Fopen(path("two.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
  const hid_t direct = GOOD(H5Dopen2(again, "u", H5P_DEFAULT));
  for (int i = 0; i < 10; ++i) {
    GOOD(write_rows(direct, 1000 + i));
    GOOD(write_rows(through_link, 2000 + i));
    require(holds(direct, 2000 + i), "an older write came last");
  }
  GOOD(H5Dclose(own));
  GOOD(H5Dclose(through_link));
  GOOD(H5Dclose(direct));
  GOOD(H5Fclose(again));
  // HDF5 has the file open by a list of the program's own: it keeps pieces in memory.
  GOOD(H5Lcreate_external(path("two.h5").c_str(), "/", one, "root", H5P_DEFAULT, H5P_DEFAULT));
  const hid_t plain = GOOD(H5Pcreate(H5P_FILE_ACCESS));
  const hid_t by_list = GOOD(H5Pcreate(H5P_GROUP_ACCESS));
  GOOD(H5Pset_elink_fapl(by_list, plain));
  const hid_t root = GOOD(H5Gopen2(one, "root", by_list));
  const hid_t kept = GOOD(H5Fopen(path("two.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
  const hid_t in_pieces = GOOD(H5Dopen2(kept, "u", H5P_DEFAULT));
  for (int i = 0; i < 3; ++i) {
    GOOD(write_rows(in_pieces, i));
    const hsize_t corner[2] = {2, 3};
    const hid_t space = GOOD(H5Dget_space(in_pieces));
    double found = -1;
    GOOD(H5Sselect_elements(space, H5S_SELECT_SET, 1, corner));
    GOOD(H5Dread(in_pieces, H5T_NATIVE_DOUBLE, H5S_BLOCK, space, H5P_DEFAULT, &found));
    require(found == i, "an older value is read back");
    GOOD(H5Sclose(space));
  }
  GOOD(H5Dclose(in_pieces));
  GOOD(H5Fclose(kept));
  GOOD(H5Gclose(root));
  GOOD(H5Pclose(by_list));
  GOOD(H5Pclose(plain));
  GOOD(H5Fclose(one));
}

// A child of the program reads what its parent has written, and writes a file of its own.
void forks() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hid_t dataset = make_dataset(file, "u");
  const hid_t list = filtered_list();
  const hid_t filtered = make_dataset(file, "filtered", list);
  GOOD(H5Pclose(list));
  GOOD(write_rows(dataset, 1));
  GOOD(write_rows(filtered, 1));
  const pid_t child = GOOD(fork());
  if (child == 0) {
    require(holds(dataset, 1) && holds(filtered, 1), "the child reads older values");
    const hid_t own = make_file("two.h5", H5P_DEFAULT);
    const hid_t inside = make_dataset(own, "u");
    GOOD(write_rows(inside, 2));
    require(holds(inside, 2), "the child does not read back");
    GOOD(H5Dclose(inside));
    GOOD(H5Fclose(own));
    _exit(0);
  }
  int status = 0;
  GOOD(waitpid(child, &status, 0));
  require(status == 0, "the child has failed");
  require(holds(dataset, 1), "the parent does not read back");
  GOOD(H5Dclose(filtered));
  GOOD(H5Dclose(dataset));
  GOOD(H5Fclose(file));
}

// Another thread forks, and does not use HDF5.
void forks_beside() {
  const hid_t file = make_file("out.h5", H5P_DEFAULT);
  const hid_t list = filtered_list();
  std::atomic<bool> has_ended = false;
  std::thread forking{[&has_ended] {
    while (!has_ended) {
      const pid_t child = GOOD(fork());
      if (child == 0) {
        _exit(0);
      }
      GOOD(waitpid(child, nullptr, 0));
    }
  }};
  const auto name_of = [](int i) { return "u" + std::to_string(i); };
  constexpr int datasets = 100;
  for (int i = 0; i < datasets; ++i) {
    const hid_t dataset = make_dataset(file, name_of(i).c_str(), i % 2 == 0 ? H5P_DEFAULT : list);
    GOOD(write_rows(dataset, i));
    GOOD(H5Dclose(dataset));
    GOOD(H5Gclose(GOOD(H5Gcreate2(file, ("g" + std::to_string(i)).c_str(), H5P_DEFAULT, H5P_DEFAULT,
                                  H5P_DEFAULT))));
  }
  has_ended = true;
  forking.join();
  for (int i = 0; i < datasets; ++i) {
    require(holds(file, name_of(i).c_str(), i), "a dataset is lost");
  }
  GOOD(H5Pclose(list));
  GOOD(H5Fclose(file));
}

// Flushes steps until it is killed; says on stdout which are flushed. All datasets are there
// before: HDF5 itself may leave metadata in pieces when it is killed while it writes them.
void until_killed() {
  const hid_t access = mpi_access();
  const hid_t file = make_file("out.h5", access);
  std::vector<hid_t> steps(200);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    steps[step] = make_dataset(file, ("step" + std::to_string(step)).c_str());
  }
  GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
  for (std::size_t step = 0; step < steps.size(); ++step) {
    GOOD(write_rows(steps[step], static_cast<double>(step) + 1));
    GOOD(H5Fflush(file, H5F_SCOPE_GLOBAL));
    if (rank_of_this == 0) {
      std::printf("%zu\n", step);
      std::fflush(stdout);
    }
  }
  pause();
}

// HDF5 looks for filters there without HDF5_PLUGIN_PATH.
void plugin_folders() {
#ifdef H5_DEFAULT_PLUGINDIR
  unsigned folders = 0;
  H5PLsize(&folders);
  bool is_searched = false;
  for (unsigned i = 0; i < folders; ++i) {
    char name[4096] = {};
    is_searched = is_searched || (H5PLget(i, name, sizeof name) > 0 &&
                                  std::strcmp(name, H5_DEFAULT_PLUGINDIR) == 0);
  }
  require(is_searched, "the folder that HDF5 searches by itself");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> cases{
      {"fallback", fallback},
      {"other_files", other_files},
      {"serial", serial},
      {"filtered", filtered},
      {"not_taken", not_taken},
      {"freed", freed},
      {"after_flush", after_flush},
      {"between_chunks", between_chunks},
      {"between_metadata", between_metadata},
      {"closed_first", closed_first},
      {"records", records},
      {"records_together", records_together},
      {"short_records", short_records},
      {"numbers", numbers},
      {"columns", columns_of_one},
      {"events", events},
      {"overtaken_events", overtaken_events},
      {"failing_event", failing_event},
      {"long_write", long_write},
      {"full_disk", full_disk},
      {"full_disk_of_chunks", full_disk_of_chunks},
      {"full_disk_when_closed", full_disk_when_closed},
      {"failing_rank", failing_rank},
      {"ends_open", ends_open},
      {"ends_open_alone", ends_open_alone},
      {"ends_open_filtered", ends_open_filtered},
      {"ends_by_exit", ends_by_exit},
      {"ends_by_h5close", ends_by_h5close},
      {"opened_twice", opened_twice},
      {"user_block", user_block},
      {"causes", causes},
      {"unlinked_groups", unlinked_groups},
      {"unlinked_groups_alone", unlinked_groups_alone},
      {"skipped_filter", skipped_filter},
      {"failing_mount", failing_mount},
      {"forks", forks},
      {"forks_beside", forks_beside},
      {"removed", removed},
      {"linked_first", linked_first},
      {"counts", counts},
      {"plugin_folders", plugin_folders},
      {"many_files", many_files},
      {"until_killed", until_killed},
  };
  // HDF5 ends when the process exits, not in MPI_Finalize.
  const std::set<std::string> without_mpi{
      "other_files",    "serial",        "not_taken",        "full_disk",      "forks",
      "failing_event",  "opened_twice",  "ends_open_alone",  "removed",        "counts",
      "many_files",     "linked_first",  "overtaken_events", "plugin_folders", "user_block",
      "skipped_filter", "failing_mount", "forks_beside"};
  if (argc != 3 || !cases.contains(argv[1])) {
    std::fprintf(stderr, "%s <case> <folder>\n", argv[0]);
    return 2;
  }
  folder = argv[2];
  if (without_mpi.contains(argv[1])) {
    cases.at(argv[1])();
    return 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_this);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  cases.at(argv[1])();
  MPI_Finalize();
  return 0;
}
