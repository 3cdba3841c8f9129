#include "client/exchange_round.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/memory_box.h"
#include "array/pieces.h"
#include "base/checked.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/exchange_parts.h"
#include "contents/variable.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"

namespace iocomp::client {
namespace {

constexpr int part_tag = 2;
// To each aggregator. A limit for all of them together could make ranks wait in a circle.
constexpr int sends_at_once = 4;
constexpr std::int64_t exchange_page = 4096;
constexpr const char* others = "the other ranks to exchange their blocks of a step";

int byte_count(std::size_t bytes) { return checked_cast<int>(bytes); }

}  // namespace

ExchangeRound::ExchangeRound(const Exchange::Setup& setup, int rank, int ranks, ExchangedRuns& runs,
                             const Exchange::FindVariable& variable, const Exchange::Target& target)
    : setup_{setup},
      rank_{rank},
      ranks_{ranks},
      runs_{runs},
      find_variable_{variable},
      target_{target} {
  const auto at = std::ranges::lower_bound(setup.aggregators, rank);
  if (at != setup.aggregators.end() && *at == rank) {
    me_ = static_cast<int>(at - setup.aggregators.begin());
  }
}

const contents::Variable& ExchangeRound::variable(std::int64_t id) {
  const auto found = variables_.find(id);
  return found != variables_.end()
             ? found->second
             : variables_.emplace(id, find_variable_(static_cast<int>(id))).first->second;
}

Windows ExchangeRound::windows(const contents::Variable& variable, int aggregator) const {
  const auto element = static_cast<std::int64_t>(array::size_bytes(variable.type));
  return {
      .domains = array::divide(variable.shape, element, static_cast<int>(setup_.aggregators.size()),
                               setup_.alignment_bytes),
      .number = aggregator,
      .elements = std::max<std::int64_t>(1, setup_.window_bytes / element)};
}

void ExchangeRound::cut(const std::vector<const Block*>& blocks) {
  for (const Block* block : blocks) {
    const contents::Variable& of = variable(block->variable.id);
    const auto pieces = array::cut(of.shape, block->region, windows(of, 0).domains);
    for (const auto& piece : pieces) {
      Outbound& to = outbound_[setup_.aggregators[static_cast<std::size_t>(piece.part)]];
      to.pieces.push_back({of.id, block->region.box, 0, piece.first, piece.count});
      to.blocks.push_back(block);
      client::cut(to.pieces.back(), block->region, to.pieces.size() - 1, of.shape,
                  windows(of, piece.part), to.parts);
    }
  }
  for (auto& [rank, to] : outbound_) {
    sort(to.parts);
  }
}

void ExchangeRound::move() {
  mpi::Nap nap;
  mpi::Deadline deadline{setup_.policy};
  bool writes = begin_window();
  for (;;) {
    bool moved = send();
    moved = end_sends() || moved;
    if (writes) {
      moved = end_receives() || moved;
      if (window_->missing == 0) {
        write_window();
        writes = begin_window();
        moved = true;
      }
    }
    const bool is_sent = sending_.empty() && std::ranges::all_of(outbound_, [&](const auto& to) {
                           return to.first == rank_ || to.second.next == to.second.parts.size();
                         });
    if (!writes && is_sent) {
      return;
    }
    if (moved) {
      nap.reset();
      deadline.moved();
    } else {
      nap.pause();
      deadline.check([] { return std::string{others}; });
    }
  }
}

bool ExchangeRound::send() {
  bool any = false;
  for (auto& [to, outbound] : outbound_) {
    while (to != rank_ && outbound.open < sends_at_once && outbound.next < outbound.parts.size()) {
      send_part(to, outbound);
      any = true;
    }
  }
  return any;
}

void ExchangeRound::send_part(int to, Outbound& outbound) {
  const ExchangedPart& part = outbound.parts[outbound.next++];
  const Block& block = *outbound.blocks[part.piece];
  const std::size_t element = block.element_bytes();
  Sending sending{.to = to, .packed = {}};
  const auto bytes = static_cast<std::size_t>(part.count) * element;
  const std::byte* from = nullptr;
  if (block.is_dense()) {
    from = block.first_value() + static_cast<std::size_t>(part.first) * element;
  } else {
    sending.packed.resize(bytes);
    block.pack(part.first, part.count, sending.packed.data());
    from = sending.packed.data();
  }
  sending_.push_back(std::move(sending));
  mpi::check(MPI_Isend(from, byte_count(bytes), MPI_BYTE, to, part_tag, setup_.comm,
                       &send_requests_.emplace_back(MPI_REQUEST_NULL)));
  ++outbound.open;
}

bool ExchangeRound::end_sends() {
  if (send_requests_.empty()) {
    return false;
  }
  std::vector<int> ended(send_requests_.size());
  int count = 0;
  mpi::check(MPI_Testsome(byte_count(send_requests_.size()), send_requests_.data(), &count,
                          ended.data(), MPI_STATUSES_IGNORE));
  if (count <= 0) {
    return false;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < send_requests_.size(); ++i) {
    if (send_requests_[i] == MPI_REQUEST_NULL) {
      --outbound_[sending_[i].to].open;
    } else if (kept++ != i) {
      send_requests_[kept - 1] = send_requests_[i];
      sending_[kept - 1] = std::move(sending_[i]);
    }
  }
  send_requests_.resize(kept);
  sending_.resize(kept);
  return true;
}

// @return whether there is a window left.
bool ExchangeRound::begin_window() {
  window_.reset();
  using Place = std::pair<std::int64_t, std::int64_t>;  // variable, window
  std::optional<Place> first;
  for (const auto& [from, inbound] : inbound_) {
    if (inbound.next < inbound.parts.size()) {
      const auto& part = inbound.parts[inbound.next];
      const Place place{part.variable, part.window};
      first = first ? std::min(*first, place) : place;
    }
  }
  if (!first) {
    return false;
  }
  Window& window = window_.emplace();
  window.variable = variable(first->first);
  const Windows cut = windows(window.variable, me_);
  window.begin = cut.begin(first->second);
  window.end = cut.end(first->second);
  const auto element = static_cast<std::int64_t>(array::size_bytes(window.variable.type));
  const auto bytes = static_cast<std::size_t>((window.end - window.begin) * element);
  if (memory_.bytes().size() < bytes + exchange_page) {
    memory_ = HugeMemory{bytes + exchange_page, "blocks that are exchanged"};
    scratch_.resize(bytes);
  }
  const std::int64_t offset = target_.offset(window.variable) + window.begin * element;
  window.bytes = memory_.bytes().data() + offset % exchange_page;
  std::span<std::byte> scratch{scratch_};
  for (auto& [from, inbound] : inbound_) {
    while (inbound.next < inbound.parts.size() &&
           Place{inbound.parts[inbound.next].variable, inbound.parts[inbound.next].window} ==
               *first) {
      expect(from, inbound, scratch);
    }
  }
  return true;
}

void ExchangeRound::expect(int from, Inbound& inbound, std::span<std::byte>& scratch) {
  const ExchangedPart& part = inbound.parts[inbound.next++];
  if (from == rank_) {
    put_in_own(part);
    return;
  }
  const auto bytes =
      static_cast<std::size_t>(part.count) * array::size_bytes(window_->variable.type);
  Receiving& receiving = receiving_.emplace_back(Receiving{from, part, {}, {}});
  if (bytes > scratch.size()) {
    receiving.own.resize(bytes);
    receiving.bytes = receiving.own;
  } else {
    receiving.bytes = scratch.first(bytes);
    scratch = scratch.subspan(bytes);
  }
  mpi::check(MPI_Irecv(receiving.bytes.data(), byte_count(bytes), MPI_BYTE, from, part_tag,
                       setup_.comm, &receive_requests_.emplace_back(MPI_REQUEST_NULL)));
  ++window_->missing;
}

bool ExchangeRound::end_receives() {
  if (receive_requests_.empty()) {
    return false;
  }
  std::vector<int> ended(receive_requests_.size());
  int count = 0;
  mpi::check(MPI_Testsome(byte_count(receive_requests_.size()), receive_requests_.data(), &count,
                          ended.data(), MPI_STATUSES_IGNORE));
  for (int i = 0; i < count; ++i) {
    const auto& done = receiving_[static_cast<std::size_t>(ended[static_cast<std::size_t>(i)])];
    put_in(inbound_[done.from].regions[done.part.piece], done.part, done.bytes.data());
    --window_->missing;
  }
  if (window_->missing == 0) {
    receive_requests_.clear();
    receiving_.clear();
  }
  return count > 0;
}

}  // namespace iocomp::client
