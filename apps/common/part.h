// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iocomp/iocomp.h>
#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace iocomp::apps {

/// Extents, places and counts, slowest dimension first, as files have them.
using Indices = std::vector<std::int64_t>;

/// The product; 1 for none.
[[nodiscard]] std::int64_t product(const Indices& extents);

/// The part of a global array of doubles that a rank has: how to put it, and how to read it again.
class Part {
 public:
  virtual ~Part() = default;

  /// The extents of the whole array.
  [[nodiscard]] const Indices& shape() const noexcept { return shape_; }
  /// The number of elements that this rank has in memory.
  [[nodiscard]] virtual std::size_t elements() const noexcept = 0;
  /// @param values  elements() of them, which stay as they are until the ticket is handed over.
  virtual void put(iocomp_var* variable, const double* values, iocomp_ticket* ticket) const = 0;
  virtual void read(iocomp_input* input, const std::string& variable, std::int64_t step,
                    std::span<double> values) const = 0;

 protected:
  explicit Part(Indices shape) : shape_{std::move(shape)} {}
  Part(const Part&) = default;
  Part& operator=(const Part&) = default;

 private:
  Indices shape_;
};

/// A box, row-major in memory.
class BoxPart : public Part {
 public:
  BoxPart(Indices shape, Indices start, Indices count);

  [[nodiscard]] const Indices& start() const noexcept { return start_; }
  [[nodiscard]] const Indices& count() const noexcept { return count_; }
  [[nodiscard]] std::size_t elements() const noexcept override;
  void put(iocomp_var* variable, const double* values, iocomp_ticket* ticket) const override;
  void read(iocomp_input* input, const std::string& variable, std::int64_t step,
            std::span<double> values) const override;

 private:
  Indices start_;
  Indices count_;
};

}  // namespace iocomp::apps
