// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/conversion.h"
#include "array/cover.h"
#include "array/decomposition.h"
#include "array/memory_box.h"
#include "array/region.h"
#include "base/crew.h"
#include "base/error.h"
#include "client/tickets.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "device/gpu_values.h"
#include "protocol/messages.h"
#include "steps/ended.h"
#include "steps/predecessors.h"

namespace iocomp::client {

/// A block that a rank puts: where it goes, and where it comes from.
struct Block {
  contents::Variable variable;
  std::int64_t step = 0;
  array::Region region;
  array::MemoryBox memory;
  std::shared_ptr<const array::Gather> gather;  ///< instead of `memory`: another order there
  const std::byte* values = nullptr;            ///< first element of the local array
  std::shared_ptr<device::GpuValues> gpu;       ///< where `values` are those of a GPU
  /// Where `values` are of another type than the file keeps; null: they are of that.
  std::shared_ptr<const array::Conversion> conversion;
  bool buffered = false;  ///< `values` is free when put returns
  std::uint64_t ticket = 0;
  array::Cover cover;
  Crew* crew = nullptr;  ///< the threads that copy; null: the caller alone

  [[nodiscard]] std::size_t element_bytes() const noexcept {
    return array::size_bytes(variable.type);
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(array::elements(region)) * element_bytes();
  }
  /// Of an element in memory.
  [[nodiscard]] std::size_t memory_element_bytes() const noexcept {
    return conversion ? array::size_bytes(conversion->from()) : element_bytes();
  }
  /// Whether its values lie one behind the other, as the file keeps them.
  [[nodiscard]] bool is_dense() const noexcept {
    return !gather && !gpu && !conversion && array::is_contiguous(memory.shape, memory.box);
  }
  /// Which bytes behind `values` it has: from the first to behind the last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> reach() const noexcept;
  /// First element of the block itself. @pre is_dense()
  [[nodiscard]] const std::byte* first_value() const noexcept;
  /// Copy elements `first` to `first + count` of its packed order from the local array, in the type
  /// of the file, with the bytes of every number reversed where `swapped`.
  void copy_to(std::span<std::byte> packed, std::int64_t first, std::int64_t count,
               bool swapped) const;
  /// The same as they are, by the caller alone.
  void pack(std::int64_t first, std::int64_t count, std::byte* packed) const;
  /// The first element of its packed order that the file cannot keep, and why; nothing where it can
  /// keep all.
  struct Unfit {
    std::int64_t element = 0;
    std::string story;
  };
  [[nodiscard]] std::optional<Unfit> first_unfit() const;
  /// Of its values, as the file keeps them.
  [[nodiscard]] std::uint64_t checksum() const;
  /// Where an element of its packed order lies in the local array.
  [[nodiscard]] const std::byte* value(std::int64_t element) const noexcept;
  /// The whole block lies in packed order at `packed` now.
  void lies_packed(const std::byte* packed) noexcept;

 private:
  /// Call `take(first element in the local array, elements)` for each run of its packed order.
  template <typename Take>
  void visit_runs(std::int64_t first, std::int64_t count, const Take& take) const;
  /// Call `take(bytes)` with the values of a run as they are in memory, part by part.
  template <typename Take>
  void visit_values(std::int64_t local, std::int64_t elements, const Take& take) const;
};

using PutSums = std::vector<steps::PutSum>;

/// What a rank says with the end of a step, besides how much it has put.
struct StepEnd {
  PutSums sums;                      ///< of the blocks that were put, where they are summed
  steps::Predecessors predecessors;  ///< steps of other files that are committed first
};

/// Carries out what the program asks of one file: through servers, or in the compute ranks
/// themselves. File (file.h) has checked everything that can be checked without others.
class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  virtual ~Carrier() = default;

  /// An event that this rank's catalogue has applied.
  virtual void announce(const contents::Event& event, std::int64_t sequence) = 0;
  /// Called before the first put of a step, and before its end: may wait for earlier steps.
  virtual void enter_step(std::int64_t step) = 0;
  virtual void put(const Block& block) = 0;
  /// A block of a variable without elements: nothing travels, but the variable was put.
  virtual void put_nothing(const Block& block) = 0;
  virtual void end_step(std::int64_t step, const StepEnd& end) = 0;
  /// True if every further step fails, and each call of one is told so.
  [[nodiscard]] virtual bool is_lost() const { return false; }
  /// Sleep until the step is committed. @throws Error with the failure of the step.
  virtual void wait_step(std::int64_t step) = 0;
  /// A step of another file comes after this one, which shall be committed soon. Members of a
  /// synchronous file commit it here, together.
  virtual void hurry(std::int64_t /*step*/) {}
  /// The lead of this file shall know how far another file has come.
  /// @param waits  whether the caller may wait. @return false if it may not, and had to.
  [[nodiscard]] virtual bool tell_of(const protocol::Other& /*other*/, bool /*waits*/) {
    return true;
  }
  /// Do whatever is needed so that a ticket comes to a state without further calls of put or
  /// end_step.
  /// @throws Error{invalid_argument} when only an end_step can bring it there.
  virtual void urge(std::uint64_t ticket, State state) = 0;
  /// The program waits for the memory of a block from now on.
  virtual void wanted_back(std::uint64_t /*ticket*/) {}
  /// Nothing more is put: begin to settle everything. Members of a synchronous file do it here,
  /// together. `open_step` is the step that was not ended; `end` as for `end_step`.
  virtual void begin_close(std::int64_t open_step, const StepEnd& end) = 0;
  /// Whether `close` would not wait.
  [[nodiscard]] virtual bool is_closed() = 0;
  /// Sleep until everything is settled. @pre begin_close
  [[nodiscard]] virtual Outcome close() = 0;
  /// The program ends without closing the file, and its arrays may be gone. Nobody is waited for.
  /// @return the first step that is lost by it.
  [[nodiscard]] virtual std::int64_t give_up(std::int64_t open_step, const Outcome& why) = 0;
};

}  // namespace iocomp::client
