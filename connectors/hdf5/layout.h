// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hdf5/selection_runs.h"

namespace iocomp::hdf5 {

/// The places of a dataset's elements in its file.
class Layout {
 public:
  Layout() = default;
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  virtual ~Layout() = default;

  /// The dataset has this extent, and storage for all of it. False where HDF5 does not tell.
  [[nodiscard]] virtual bool prepare(std::span<const hsize_t> extent) = 0;
  /// The place of the first bytes of a run: as many as follow one another in the file. Nothing if
  /// they have no place.
  [[nodiscard]] virtual std::optional<ByteRun> place(const ByteRun& wanted) = 0;
  /// Storage was given back: look again.
  virtual void forget() = 0;
  /// All ranks of the file are in a call that has given the dataset this extent: look for places.
  virtual void look_together(std::span<const hsize_t> /*extent*/) {}
};

/// One piece of the file.
class ContiguousLayout : public Layout {
 public:
  /// @param may_make_place  false where all ranks of a file do so together.
  ContiguousLayout(void* dataset, bool may_make_place) noexcept
      : dataset_{dataset}, may_make_place_{may_make_place} {}

  [[nodiscard]] bool prepare(std::span<const hsize_t> extent) override;
  [[nodiscard]] std::optional<ByteRun> place(const ByteRun& wanted) override;
  void forget() override { offset_.reset(); }

 private:
  void* dataset_;
  bool may_make_place_;
  std::optional<haddr_t> offset_;
};

/// Chunks without filters, all of which have a place.
class ChunkedLayout : public Layout {
 public:
  /// @param may_look_alone  false where HDF5 reads metadata collectively.
  ChunkedLayout(void* dataset, std::vector<hsize_t> chunk, std::size_t element_bytes,
                bool may_look_alone);

  [[nodiscard]] bool prepare(std::span<const hsize_t> extent) override;
  [[nodiscard]] std::optional<ByteRun> place(const ByteRun& wanted) override;
  void forget() override;
  void look_together(std::span<const hsize_t> extent) override;

 private:
  [[nodiscard]] bool look();
  [[nodiscard]] bool is_worth_a_look() const;
  [[nodiscard]] std::size_t chunks_in_extent() const;

  void* dataset_;
  std::vector<hsize_t> chunk_;
  std::size_t element_bytes_;
  bool may_look_alone_;
  std::vector<hsize_t> extent_;
  std::vector<hsize_t> known_;                      // the extent whose chunks all are in places_
  std::map<std::vector<hsize_t>, haddr_t> places_;  // by the chunk's coordinates among chunks
  std::vector<hsize_t> wanted_;                     // coordinates of a chunk
};

/// The treatment of chunked datasets in a file.
enum class Chunks {
  left,           ///< they have no places, or HDF5 keeps them in memory
  found_alone,    ///< they have places as soon as they are in the extent
  found_together  ///< likewise, but all ranks have to look for them together
};

/// The layout of a dataset that can be written at its place in the file; null for any other. It
/// depends on the file alone, so all ranks decide alike.
[[nodiscard]] std::unique_ptr<Layout> layout_of(void* dataset, hid_t creation_list,
                                                std::size_t element_bytes, Chunks chunks);

}  // namespace iocomp::hdf5
