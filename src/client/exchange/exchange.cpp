// SPDX-License-Identifier: BSD-3-Clause
#include "client/exchange/exchange.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/pieces.h"
#include "array/region.h"
#include "array/runs.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/huge_memory.h"
#include "base/wire.h"
#include "client/carrier.h"
#include "client/exchange/exchange_runs.h"
#include "contents/variable.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/under_way.h"
#include "mpi/wait.h"
#include "staging/arena.h"
#include "staging/arena_stripes.h"
#include "writing/piece.h"
#include "writing/stripes.h"

namespace iocomp::client {
namespace {

// Runs of this part of a stripe are fast enough when they are written one by one.
constexpr std::int64_t runs_per_stripe = 4;
// The limit is for each aggregator. A limit for all of them together could make ranks wait in a
// circle.
constexpr int sends_at_once = 4;
constexpr std::size_t longest_message = std::size_t{1} << 30;
constexpr int message_tag = 1;
constexpr int part_tag = 2;
constexpr const char* others = "the other ranks to exchange their blocks of a step";

/// A piece that a rank has for an aggregator, as it travels: elements `first` to `first + count` of
/// the packed order of the box, or all of a list of runs.
struct ExchangedPiece {
  std::int64_t variable = 0;
  array::Box box;
  std::uint64_t runs = 0;  ///< instead of the box: the number of the list that the aggregator knows
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The part of a piece that lies in one stripe: one message.
struct ExchangedPart {
  std::shared_ptr<writing::Piece> piece;
  const Block* block = nullptr;  ///< the block that it comes from; null if that is of another rank
  int from = -1;                 ///< the rank of that block
  std::int64_t stripe = 0;       ///< number in the domain
  std::int64_t first = 0;        ///< in the packed order
  std::int64_t count = 0;

  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(count * piece->element_bytes());
  }
};

// Cuts a whole piece at the borders of stripes, and adds the parts. O(parts).
void cut(ExchangedPart all, std::vector<ExchangedPart>& parts) {
  const writing::Piece& piece = *all.piece;
  const std::int64_t end = piece.first + piece.elements_left;
  for (all.first = piece.first; all.first < end; all.first += all.count) {
    all.stripe = (writing::index_of(piece, all.first) - piece.domain_begin) / piece.stripe_elements;
    all.count = std::min(end - all.first, writing::elements_in_stripe(piece, all.first));
    parts.push_back(all);
  }
}

// True if one lies in a stripe that is written before that of the other.
bool is_before(const ExchangedPart& one, const ExchangedPart& other) {
  return std::pair{one.piece->variable.id, one.stripe} <
         std::pair{other.piece->variable.id, other.stripe};
}

// Sorts parts into the order in which they travel, by variable and stripe. Parts of the same two
// keep their order.
void sort(std::vector<ExchangedPart>& parts) { std::ranges::stable_sort(parts, is_before); }

// Returns the elements of a part in their packed order, where the block lies or in `packed`.
// @pre the part is of a block of this rank.
std::span<const std::byte> bytes_of(const ExchangedPart& part, std::vector<std::byte>& packed) {
  const Block& block = *part.block;
  if (block.is_dense()) {
    return {block.first_value() + part.first * part.piece->element_bytes(), part.bytes()};
  }
  packed.resize(part.bytes());
  block.copy_to(packed, part.first, part.count, false);
  return packed;
}

// Returns the numbers of those that have ended since the last look.
std::vector<int> take_ended(std::vector<MPI_Request>& requests) {
  std::vector<int> ended(requests.size());
  int count = 0;
  if (!requests.empty()) {
    mpi::check(MPI_Testsome(checked_cast<int>(requests.size()), requests.data(), &count,
                            ended.data(), MPI_STATUSES_IGNORE));
  }
  ended.resize(static_cast<std::size_t>(std::max(count, 0)));  // none of them was under way
  return ended;
}

// Divides a message into parts whose lengths MPI can count.
template <typename Begin>
void in_parts(std::span<std::byte> bytes, Begin begin) {
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), longest_message));
    begin(part.data(), checked_cast<int>(part.size()));
    bytes = bytes.subspan(part.size());
  }
}

/// Messages of any length between ranks. Each rank knows only what it sends.
class ExchangeMessages {
 public:
  ExchangeMessages(MPI_Comm comm, const mpi::WaitPolicy& policy) : comm_{comm}, policy_{policy} {}
  ExchangeMessages(const ExchangeMessages&) = delete;
  ExchangeMessages& operator=(const ExchangeMessages&) = delete;

  /// Send each rank its message. Collective over the ranks. To be called once.
  /// @return the messages that came, by rank. @throws Error{timed_out}: then MPI may still use this
  /// object.
  [[nodiscard]] std::map<int, std::vector<std::byte>> pass(
      std::map<int, std::vector<std::byte>> messages);
  [[nodiscard]] const std::vector<MPI_Request>& requests() const noexcept { return requests_; }

 private:
  MPI_Comm comm_;
  const mpi::WaitPolicy& policy_;
  std::map<int, std::vector<std::byte>> sent_;
  std::map<int, std::vector<std::byte>> received_;
  std::vector<MPI_Request> requests_;
};

std::map<int, std::vector<std::byte>> ExchangeMessages::pass(
    std::map<int, std::vector<std::byte>> messages) {
  sent_ = std::move(messages);
  int ranks = 1;
  mpi::check(MPI_Comm_size(comm_, &ranks));
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(ranks), 0);
  for (const auto& [to, message] : sent_) {
    lengths[static_cast<std::size_t>(to)] = std::ssize(message);
  }
  lengths = mpi::to_each(comm_, std::move(lengths), policy_, others);
  for (int from = 0; from < ranks; ++from) {
    if (const auto bytes = lengths[static_cast<std::size_t>(from)]; bytes > 0) {
      received_[from].resize(static_cast<std::size_t>(bytes));
      in_parts(received_[from], [&](std::byte* to, int count) {
        mpi::check(MPI_Irecv(to, count, MPI_BYTE, from, message_tag, comm_,
                             &requests_.emplace_back(MPI_REQUEST_NULL)));
      });
    }
  }
  for (auto& [to, message] : sent_) {
    in_parts(message, [&, rank = to](const std::byte* from, int count) {
      mpi::check(MPI_Isend(from, count, MPI_BYTE, rank, message_tag, comm_,
                           &requests_.emplace_back(MPI_REQUEST_NULL)));
    });
  }
  mpi::wait_for_all(requests_, policy_, others);
  return std::move(received_);
}

/// Sends the parts of this rank's blocks to aggregators, a few at once, from where the blocks lie
/// if these are dense.
class ExchangeSends {
 public:
  explicit ExchangeSends(MPI_Comm comm) : comm_{comm} {}
  ExchangeSends(const ExchangeSends&) = delete;
  ExchangeSends& operator=(const ExchangeSends&) = delete;

  /// @param parts  in the order in which they travel.
  void add(int to, std::vector<ExchangedPart> parts) { outbound_[to].parts = std::move(parts); }
  /// @return true if anything moved.
  bool advance();
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] const std::vector<MPI_Request>& requests() const noexcept { return requests_; }

 private:
  struct Outbound {  // to one aggregator
    std::vector<ExchangedPart> parts;
    std::size_t next = 0;
    int open = 0;  // sends under way
  };
  struct Sending {
    int to = -1;
    std::vector<std::byte> packed;  // for a block that is not dense
  };
  void send(int to, Outbound& outbound);
  bool end_sends();

  MPI_Comm comm_;
  std::map<int, Outbound> outbound_;  // by rank
  std::vector<MPI_Request> requests_;
  std::vector<Sending> sending_;  // by each
};

bool ExchangeSends::advance() {
  bool moved = end_sends();
  for (auto& [to, outbound] : outbound_) {
    while (outbound.open < sends_at_once && outbound.next < outbound.parts.size()) {
      send(to, outbound);
      moved = true;
    }
  }
  return moved;
}

bool ExchangeSends::is_done() const {
  return sending_.empty() && std::ranges::all_of(outbound_, [](const auto& to) {
           return to.second.next == to.second.parts.size();
         });
}

void ExchangeSends::send(int to, Outbound& outbound) {
  const ExchangedPart& part = outbound.parts[outbound.next++];
  Sending& sending = sending_.emplace_back(Sending{.to = to, .packed = {}});
  const auto bytes = bytes_of(part, sending.packed);
  mpi::check(MPI_Isend(bytes.data(), checked_cast<int>(bytes.size()), MPI_BYTE, to, part_tag, comm_,
                       &requests_.emplace_back(MPI_REQUEST_NULL)));
  ++outbound.open;
}

bool ExchangeSends::end_sends() {
  if (take_ended(requests_).empty()) {
    return false;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) {
      --outbound_[sending_[i].to].open;
    } else if (kept++ != i) {
      requests_[kept - 1] = requests_[i];
      sending_[kept - 1] = std::move(sending_[i]);
    }
  }
  requests_.resize(kept);
  sending_.resize(kept);
  return true;
}

// Returns the bytes of the longest stripe.
std::size_t stripe_bytes(const std::vector<ExchangedPart>& parts) {
  std::int64_t most = 0;
  for (const ExchangedPart& part : parts) {
    const writing::Piece& piece = *part.piece;
    const std::int64_t elements =
        std::min(piece.stripe_elements, piece.domain_end - piece.domain_begin);
    most = std::max(most, elements * piece.element_bytes());
  }
  return static_cast<std::size_t>(most);
}

/// The work of an aggregator: it takes in the parts of its stripes, one stripe after the other, and
/// writes them.
class ExchangeStripes {
 public:
  /// @param parts  of all ranks for this one, itself included, in the order in which they travel.
  ExchangeStripes(const Exchange::Setup& setup, const Exchange::Target& target,
                  std::vector<ExchangedPart> parts);
  ExchangeStripes(const ExchangeStripes&) = delete;
  ExchangeStripes& operator=(const ExchangeStripes&) = delete;

  /// @return true if anything moved.
  bool advance();
  [[nodiscard]] bool is_done() const noexcept { return is_done_; }
  /// The first failure of a write. Blocks of others are taken all the same.
  [[nodiscard]] const Outcome& failure() const noexcept { return failure_; }
  [[nodiscard]] const std::vector<MPI_Request>& requests() const noexcept { return requests_; }

 private:
  struct Receiving {
    ExchangedPart part;
    std::span<std::byte> bytes;
    std::vector<std::byte> own;  // instead of scratch memory, for blocks that overlap others
  };
  bool begin_stripe();
  void expect(const ExchangedPart& part, std::span<std::byte>& scratch);
  bool end_receives();
  void put_in(const ExchangedPart& part, std::span<const std::byte> bytes);
  void write(const std::vector<writing::Stripe>& stripes);

  MPI_Comm comm_;
  const Exchange::Target& target_;
  std::vector<ExchangedPart> parts_;
  std::size_t next_ = 0;  // part
  std::vector<MPI_Request> requests_;
  std::vector<Receiving> receiving_;  // by each
  std::size_t missing_ = 0;           // parts of the stripe
  bool is_done_ = false;
  HugeMemory scratch_;
  staging::Arena arena_;
  staging::ArenaStripes memory_{arena_};
  writing::Stripes stripes_;
  Outcome failure_;
};

// Stripes use half of the arena, so that a stripe has room wherever it begins in a page.
ExchangeStripes::ExchangeStripes(const Exchange::Setup& setup, const Exchange::Target& target,
                                 std::vector<ExchangedPart> parts)
    : comm_{setup.comm},
      target_{target},
      parts_{std::move(parts)},
      scratch_{stripe_bytes(parts_), "blocks that are exchanged"},
      arena_{2 * (scratch_.bytes().size() + 2 * staging::Arena::page_bytes)},
      stripes_{memory_,
               {.file = 0,
                .bytes = setup.stripe_bytes,
                .run_bytes = writing::Stripes::long_run_bytes(setup.stripe_bytes),
                .may_overlap = setup.may_overlap,
                .swaps_bytes = target.swaps_bytes,
                .crew = setup.crew}} {}

bool ExchangeStripes::advance() {
  if (is_done_) {
    return false;
  }
  const bool moved = end_receives();
  if (missing_ > 0) {
    return moved;
  }
  write(stripes_.withdraw_step(0));
  is_done_ = !begin_stripe();
  return true;
}

// @return true if there is a stripe left.
bool ExchangeStripes::begin_stripe() {
  const std::size_t first = next_;
  std::span<std::byte> scratch = scratch_.bytes();
  for (; next_ < parts_.size() && !is_before(parts_[first], parts_[next_]); ++next_) {
    expect(parts_[next_], scratch);
  }
  return next_ > first;
}

void ExchangeStripes::expect(const ExchangedPart& part, std::span<std::byte>& scratch) {
  if (part.block != nullptr) {
    std::vector<std::byte> packed;
    put_in(part, bytes_of(part, packed));
    return;
  }
  Receiving& receiving = receiving_.emplace_back(Receiving{part, {}, {}});
  const std::size_t bytes = part.bytes();
  if (bytes > scratch.size()) {
    receiving.own.resize(bytes);
    receiving.bytes = receiving.own;
  } else {
    receiving.bytes = scratch.first(bytes);
    scratch = scratch.subspan(bytes);
  }
  mpi::check(MPI_Irecv(receiving.bytes.data(), checked_cast<int>(bytes), MPI_BYTE, part.from,
                       part_tag, comm_, &requests_.emplace_back(MPI_REQUEST_NULL)));
  ++missing_;
}

bool ExchangeStripes::end_receives() {
  const auto ended = take_ended(requests_);
  for (const int number : ended) {
    const auto& done = receiving_[static_cast<std::size_t>(number)];
    put_in(done.part, done.bytes);
    --missing_;
  }
  if (missing_ == 0) {
    requests_.clear();
    receiving_.clear();
  }
  return !ended.empty();
}

void ExchangeStripes::put_in(const ExchangedPart& part, std::span<const std::byte> bytes) {
  writing::Chunk chunk;
  chunk.piece = part.piece;
  chunk.first = part.first;
  chunk.count = part.count;
  chunk.bytes = bytes;
  stripes_.take(chunk, 0);
  if (chunk.count > 0) {
    throw Error{ErrorCode::internal, "a stripe of exchanged blocks has no room"};
  }
  write(stripes_.take_full());
}

void ExchangeStripes::write(const std::vector<writing::Stripe>& stripes) {
  for (const auto& stripe : stripes) {
    if (!failure_.ok()) {
      return;
    }
    const std::int64_t element = stripe.parts.front().piece->element_bytes();
    failure_ = outcome_of([&] {
      for (const auto& run : stripe.runs()) {
        target_.write(stripe.variable, run.index,
                      {stripe.bytes + (run.index - stripe.begin) * element,
                       static_cast<std::size_t>(run.elements * element)});
      }
    });
  }
}

/// One exchange, of one step. `tell` and `move` are collective over the ranks. They must be
/// called in this order.
class ExchangeRound {
 public:
  ExchangeRound(const Exchange::Setup& setup, int rank, ExchangedRuns& runs,
                const Exchange::FindVariable& variable, const Exchange::Target& target);

  /// Tell the aggregators what they will get of these blocks.
  void tell(const std::vector<const Block*>& blocks);
  /// Send, receive and write.
  void move();
  [[nodiscard]] const Outcome& failure() const noexcept { return stripes_->failure(); }
  /// The requests that may be under way.
  [[nodiscard]] std::vector<MPI_Request> requests() const;

 private:
  struct Outbound {  // to one aggregator
    std::vector<ExchangedPiece> pieces;
    std::vector<ExchangedPart> parts;
  };
  [[nodiscard]] const contents::Variable& variable(std::int64_t id);
  [[nodiscard]] array::Domains domains(const contents::Variable& of) const;
  [[nodiscard]] std::shared_ptr<writing::Piece> piece(const contents::Variable& of,
                                                      const array::Region& region,
                                                      const array::Piece& cut) const;
  [[nodiscard]] std::map<int, Outbound> cut(const std::vector<const Block*>& blocks);
  void hear(int from, std::span<const std::byte> message, std::vector<ExchangedPart>& parts);

  const Exchange::Setup& setup_;
  int rank_;
  int me_ = -1;  // number of this aggregator
  ExchangedRuns& runs_;
  const Exchange::FindVariable& find_variable_;
  const Exchange::Target& target_;
  std::map<std::int64_t, contents::Variable> variables_;
  ExchangeMessages messages_;
  ExchangeSends sends_;
  std::unique_ptr<ExchangeStripes> stripes_;
};

ExchangeRound::ExchangeRound(const Exchange::Setup& setup, int rank, ExchangedRuns& runs,
                             const Exchange::FindVariable& variable, const Exchange::Target& target)
    : setup_{setup},
      rank_{rank},
      runs_{runs},
      find_variable_{variable},
      target_{target},
      messages_{setup.comm, setup.policy},
      sends_{setup.comm} {
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

array::Domains ExchangeRound::domains(const contents::Variable& of) const {
  return array::divide(of.shape, static_cast<std::int64_t>(array::size_bytes(of.type)),
                       static_cast<int>(setup_.aggregators.size()), setup_.alignment_bytes);
}

std::shared_ptr<writing::Piece> ExchangeRound::piece(const contents::Variable& of,
                                                     const array::Region& region,
                                                     const array::Piece& cut) const {
  auto piece = std::make_shared<writing::Piece>();
  piece->variable = of;
  piece->region = region;
  piece->first = cut.first;
  piece->elements_left = cut.count;
  piece->domain_begin = domains(of).begin(cut.part);
  piece->domain_end = domains(of).begin(cut.part + 1);
  piece->stripe_elements = std::max<std::int64_t>(1, setup_.stripe_bytes / piece->element_bytes());
  if (cut.part == me_) {
    piece->offset = target_.offset(of);
  }
  return piece;
}

// A piece of a list of runs is a list of its own on the aggregator.
std::map<int, ExchangeRound::Outbound> ExchangeRound::cut(const std::vector<const Block*>& blocks) {
  std::map<int, Outbound> outbound;
  for (const Block* block : blocks) {
    const contents::Variable& of = variable(block->variable.id);
    const array::Region& region = block->region;
    for (const auto& cut : array::cut(of.shape, region, domains(of))) {
      const int to = setup_.aggregators[static_cast<std::size_t>(cut.part)];
      client::cut({.piece = piece(of, region, cut), .block = block}, outbound[to].parts);
      ExchangedPiece told{of.id, region.box, 0, cut.first, cut.count};
      if (region.runs && to != rank_) {
        told.runs = runs_.known_to(to, region.runs, cut.first, cut.count);
        told.first = 0;
      }
      outbound[to].pieces.push_back(told);
    }
  }
  return outbound;
}

void ExchangeRound::tell(const std::vector<const Block*>& blocks) {
  runs_.forget_unused();
  std::vector<ExchangedPart> inbound;
  std::map<int, std::vector<std::byte>> messages;
  for (auto& [to, out] : cut(blocks)) {
    if (to == rank_) {
      inbound = std::move(out.parts);
      continue;
    }
    sort(out.parts);
    sends_.add(to, std::move(out.parts));
    WireWriter writer;
    writer.put_bytes(std::as_bytes(std::span{out.pieces}));
    writer.put_bytes(runs_.take_news(to));
    messages[to] = writer.take();
  }
  for (const auto& [from, message] : messages_.pass(std::move(messages))) {
    hear(from, message, inbound);
  }
  sort(inbound);
  stripes_ = std::make_unique<ExchangeStripes>(setup_, target_, std::move(inbound));
}

void ExchangeRound::hear(int from, std::span<const std::byte> message,
                         std::vector<ExchangedPart>& parts) {
  WireReader reader{message};
  WireReader pieces{reader.get_bytes()};
  runs_.hear(from, reader.get_bytes());
  while (pieces.bytes_left() > 0) {
    const auto told = pieces.get<ExchangedPiece>();
    array::check(told.box);
    const array::Region region =
        told.runs != 0 ? array::Region{runs_.list(from, told.runs)} : array::Region{told.box};
    client::cut({.piece = piece(variable(told.variable), region, {me_, told.first, told.count}),
                 .from = from},
                parts);
  }
}

void ExchangeRound::move() {
  mpi::Nap nap;
  mpi::Deadline deadline{setup_.policy};
  while (!sends_.is_done() || !stripes_->is_done()) {
    const bool has_sent = sends_.advance();
    const bool has_taken = stripes_->advance();
    if (has_sent || has_taken) {
      nap.reset();
      deadline.moved();
    } else {
      nap.pause();
      deadline.check([] { return std::string{others}; });
    }
  }
}

std::vector<MPI_Request> ExchangeRound::requests() const {
  std::vector<MPI_Request> all = messages_.requests();
  all.insert(all.end(), sends_.requests().begin(), sends_.requests().end());
  if (stripes_ != nullptr) {
    all.insert(all.end(), stripes_->requests().begin(), stripes_->requests().end());
  }
  return all;
}

}  // namespace

Exchange::Exchange(Setup setup) : setup_{std::move(setup)} {
  mpi::check(MPI_Comm_rank(setup_.comm, &rank_));
  if (setup_.aggregators.empty()) {
    int ranks = 1;
    mpi::check(MPI_Comm_size(setup_.comm, &ranks));
    setup_.aggregators.resize(static_cast<std::size_t>(ranks));
    std::iota(setup_.aggregators.begin(), setup_.aggregators.end(), 0);
  }
}

bool Exchange::takes(const Block& block) const noexcept {
  const std::int64_t row = array::row_elements(block.variable.shape, block.region);
  const auto row_bytes = row * static_cast<std::int64_t>(block.element_bytes());
  return row < array::elements(block.region) && row_bytes * runs_per_stripe <= setup_.stripe_bytes;
}

Outcome Exchange::carry_out(const std::vector<const Block*>& blocks, const FindVariable& variable,
                            const Target& target) {
  // After a deadline MPI may still use memory of the round, so the round is left to MPI.
  auto round = std::make_shared<ExchangeRound>(setup_, rank_, runs_, variable, target);
  try {
    round->tell(blocks);
    round->move();
  } catch (...) {
    mpi::leave_to_mpi(setup_.comm, round->requests(), round);
    throw;
  }
  return round->failure();
}

}  // namespace iocomp::client
