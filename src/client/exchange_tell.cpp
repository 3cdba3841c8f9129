// What ranks tell the aggregators before anything else travels.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/region.h"
#include "base/checked.h"
#include "base/wire.h"
#include "client/exchange_parts.h"
#include "client/exchange_round.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"

namespace iocomp::client {
namespace {

constexpr int piece_tag = 1;
constexpr const char* other_tellers = "the other ranks to exchange their blocks of a step";
constexpr std::size_t longest_message = std::size_t{1} << 30;

// In messages of a length that MPI can count.
template <typename Bytes, typename Begin>
void in_parts(Bytes bytes, Begin begin) {
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), longest_message));
    begin(part.data(), checked_cast<int>(part.size()));
    bytes = bytes.subspan(part.size());
  }
}

}  // namespace

void ExchangeRound::wait_all(std::vector<MPI_Request>& requests, const char* what) const {
  for (auto& request : requests) {
    mpi::wait(request, setup_.policy, what);
  }
  requests.clear();
}

// Pieces of a list of runs are lists of their own there.
std::vector<std::byte> ExchangeRound::told(int aggregator, const Outbound& outbound) {
  std::vector<ExchangedPiece> pieces = outbound.pieces;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (const auto& runs = outbound.blocks[i]->region.runs) {
      pieces[i].runs = runs_.known_to(aggregator, runs, pieces[i].first, pieces[i].count);
      pieces[i].first = 0;
    }
  }
  WireWriter writer;
  writer.put_bytes(std::as_bytes(std::span{pieces}));
  writer.put_bytes(runs_.take_news(aggregator));
  return writer.take();
}

void ExchangeRound::hear(int from, std::span<const std::byte> message) {
  WireReader reader{message};
  WireReader pieces{reader.get_bytes()};
  runs_.hear(from, reader.get_bytes());
  Inbound& inbound = inbound_[from];
  while (pieces.bytes_left() > 0) {
    const auto& piece = inbound.pieces.emplace_back(pieces.get<ExchangedPiece>());
    inbound.regions.push_back(piece.runs != 0 ? array::Region{runs_.list(from, piece.runs)}
                                              : array::Region{piece.box});
  }
}

void ExchangeRound::tell_pieces() {
  runs_.forget_unused();
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(ranks_), 0);
  for (const auto& [to, outbound] : outbound_) {
    if (to == rank_) {
      Inbound& own = inbound_[rank_];
      own.pieces = outbound.pieces;
      for (const Block* block : outbound.blocks) {
        own.regions.push_back(block->region);
      }
      continue;
    }
    const auto& message = told_[to] = told(to, outbound);
    lengths[static_cast<std::size_t>(to)] = std::ssize(message);
  }
  lengths = mpi::to_each(setup_.comm, std::move(lengths), setup_.policy, other_tellers);
  for (int from = 0; from < ranks_; ++from) {
    if (const auto bytes = lengths[static_cast<std::size_t>(from)]; bytes > 0) {
      heard_[from].resize(static_cast<std::size_t>(bytes));
      in_parts(std::span{heard_[from]}, [&](std::byte* to, int count) {
        mpi::check(MPI_Irecv(to, count, MPI_BYTE, from, piece_tag, setup_.comm,
                             &receive_requests_.emplace_back(MPI_REQUEST_NULL)));
      });
    }
  }
  for (const auto& [to, message] : told_) {
    in_parts(std::span{message}, [&, to = to](const std::byte* from, int count) {
      mpi::check(MPI_Isend(from, count, MPI_BYTE, to, piece_tag, setup_.comm,
                           &send_requests_.emplace_back(MPI_REQUEST_NULL)));
    });
  }
  wait_all(receive_requests_, other_tellers);
  wait_all(send_requests_, other_tellers);
  told_.clear();
  for (const auto& [from, message] : std::exchange(heard_, {})) {
    hear(from, message);
  }
  for (auto& [from, inbound] : inbound_) {
    for (std::size_t i = 0; i < inbound.pieces.size(); ++i) {
      const auto& of = variable(inbound.pieces[i].variable);
      client::cut(inbound.pieces[i], inbound.regions[i], i, of.shape, windows(of, me_),
                  inbound.parts);
    }
    sort(inbound.parts);
  }
}

}  // namespace iocomp::client
