#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/region.h"
#include "array/runs.h"
#include "base/error.h"
#include "contents/variable.h"
#include "staging/arena.h"
#include "transport/transport.h"

namespace iocomp::server {

/// A piece on its way through a server.
struct Piece {
  int client = -1;  ///< session rank
  std::uint64_t ticket = 0;
  std::int64_t step = 0;
  contents::Variable variable;
  array::Region region;
  std::int64_t first = 0;             ///< of the packed order of the region
  std::int64_t elements_left = 0;     ///< not written yet
  std::int64_t elements_to_come = 0;  ///< not here yet, or without a place in the file
  Outcome failure;
  std::vector<std::byte> fill;  ///< of a piece that this server makes itself: what chunks read

  // Of a piece that is put together with others: the part of the variable that this server writes,
  // and the length of its stripes, in elements.
  std::int64_t domain_begin = 0;
  std::int64_t domain_end = 0;
  std::int64_t stripe_elements = 0;
  [[nodiscard]] bool is_joined() const noexcept { return stripe_elements > 0; }

  [[nodiscard]] std::int64_t element_bytes() const noexcept {
    return static_cast<std::int64_t>(array::size_bytes(variable.type));
  }
};

/// A chunk that the transport lends to a server: memory of a sender that it reads in place. Gives
/// it back when destroyed. Move-only.
class Loan {
 public:
  Loan() noexcept = default;
  Loan(transport::Transport& transport, transport::FetchId id) noexcept
      : transport_{&transport}, id_{id} {}
  Loan(Loan&& other) noexcept
      : transport_{std::exchange(other.transport_, nullptr)}, id_{other.id_} {}
  Loan& operator=(Loan&& other) noexcept {
    Loan taken{std::move(other)};  // gives back what we held on the way out, not later
    std::swap(transport_, taken.transport_);
    std::swap(id_, taken.id_);
    return *this;
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    if (transport_ != nullptr) {
      transport_->give_back(id_);
    }
  }

 private:
  transport::Transport* transport_ = nullptr;
  transport::FetchId id_ = 0;
};

/// A part of a piece in staging memory, or where its sender has it: elements `first` to `first +
/// count` of the packed order of the region.
struct Chunk {
  std::shared_ptr<Piece> piece;
  std::int64_t first = 0;
  std::int64_t count = 0;
  staging::Lease lease;
  std::shared_ptr<const staging::Lease> row;  ///< instead: memory shared with its neighbours
  Loan loan;                                  ///< instead of a lease
  std::span<const std::byte> bytes;           ///< there; empty when the chunk was only drained
  std::span<std::byte> own_bytes;             ///< the same, where they may be changed

  /// Its bytes are not needed any more.
  void free_memory() {
    loan = {};
    lease = {};
    row.reset();
  }
};

/// Where an element of the packed order of a piece lies in its variable.
inline std::int64_t index_of(const Piece& piece, std::int64_t element) {
  array::RunCursor cursor{piece.variable.shape, piece.region, element, 1};
  array::Run run;
  return cursor.next(run) ? run.index : 0;
}

/// The first part of a chunk that is contiguous in the variable.
inline array::Run first_run(const Chunk& chunk) {
  const Piece& piece = *chunk.piece;
  array::RunCursor runs{piece.variable.shape, piece.region, chunk.first, chunk.count};
  array::Run first;
  (void)runs.next(first);
  return first;
}

}  // namespace iocomp::server
