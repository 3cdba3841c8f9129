// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "array/box.h"
#include "base/path.h"
#include "formats/hdf5/handle.h"
#include "formats/library_file.h"
#include "formats/plain_source.h"
#include "formats/source.h"

namespace iocomp::formats::h5 {

/// Reads datasets by the serial driver, so independently of other ranks. Contiguous ones of native
/// elements are read without the library, which tells only where they begin; of these, any number
/// of threads read at a time. Files that iocomp did not write are read too: see `inventory_of`.
class Hdf5Source : public Source {
 public:
  /// @throws Error{storage_failure}.
  Hdf5Source(const Path& path, std::mutex& library);
  ~Hdf5Source() override;

  void newest_step_is(std::int64_t number) override;
  void read(const Placed& where, const array::Box& box, const Destination& to) override;
  [[nodiscard]] Whereabouts whereabouts(const Placed& where) override;
  /// HDF5 opens no file that ends early.
  [[nodiscard]] bool is_whole() override { return true; }

 private:
  [[nodiscard]] Inventory look_through() override;
  struct Found {
    Dataset dataset;
    bool has_time = false;   ///< one more dimension in front, for the steps
    bool has_texts = false;  ///< its elements are texts, and their length is the last dimension
    std::string member{};    ///< of its compounds; empty: there are none
  };
  [[nodiscard]] std::int64_t read_by_library(const Placed& where, const array::Box& box,
                                             const Destination& to) const;
  [[nodiscard]] Found open_dataset(const Placed& where) const;
  [[nodiscard]] Dataset open_of_adios2(const Placed& where) const;
  [[nodiscard]] Found open_at_root(const Variable& variable) const;
  [[nodiscard]] Found open_member(const std::string& name, bool has_texts) const;
  void read_text(const Found& found, const Placed& where, const array::Box& box,
                 const Destination& to) const;
  [[nodiscard]] static Type stored_type(const Found& found);
  [[nodiscard]] static Type in_memory_as(const Found& found, hid_t element);
  void check_shape(const Found& found, const Placed& where) const;

  std::string path_;
  bool is_by_number_ = true;  // groups of steps are called so
  std::mutex& library_;
  File file_;
  std::optional<LibraryFile> opened_;
  std::unique_ptr<PlainSource> plain_;  // of the same file
};

}  // namespace iocomp::formats::h5
