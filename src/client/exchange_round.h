#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "array/region.h"
#include "base/error.h"
#include "base/huge_memory.h"
#include "client/carrier.h"
#include "client/exchange.h"
#include "client/exchange_parts.h"
#include "client/exchange_runs.h"
#include "contents/variable.h"

namespace iocomp::client {

/// One exchange: of one step. Each member but `failure` is collective over the ranks; to be called
/// in this order.
class ExchangeRound {
 public:
  ExchangeRound(const Exchange::Setup& setup, int rank, int ranks, ExchangedRuns& runs,
                const Exchange::FindVariable& variable, const Exchange::Target& target);

  void cut(const std::vector<const Block*>& blocks);
  /// Aggregators learn what they will get.
  void tell_pieces();
  /// Send, receive and write.
  void move();
  [[nodiscard]] const Outcome& failure() const noexcept { return failure_; }

 private:
  struct Outbound {  // to one aggregator
    std::vector<ExchangedPiece> pieces;
    std::vector<const Block*> blocks;  // of each piece
    std::vector<ExchangedPart> parts;
    std::size_t next = 0;  // part
    int open = 0;          // sends
  };
  struct Inbound {  // from one rank
    std::vector<ExchangedPiece> pieces;
    std::vector<array::Region> regions;  // of each piece
    std::vector<ExchangedPart> parts;
    std::size_t next = 0;
  };
  struct Sending {
    int to = -1;
    std::vector<std::byte> packed;  // where the block is not dense
  };
  struct Receiving {
    int from = -1;
    ExchangedPart part;
    std::span<std::byte> bytes;
    std::vector<std::byte> own;  // instead of scratch memory, for blocks that overlap others
  };
  struct Window {
    contents::Variable variable;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::byte* bytes = nullptr;
    std::int64_t filled = 0;
    std::vector<std::pair<array::Region, ExchangedPart>> parts;
    std::size_t missing = 0;  // parts
  };

  [[nodiscard]] const contents::Variable& variable(std::int64_t id);
  [[nodiscard]] Windows windows(const contents::Variable& variable, int aggregator) const;
  void wait_all(std::vector<MPI_Request>& requests, const char* what) const;
  bool send();
  void send_part(int to, Outbound& outbound);
  bool end_sends();
  bool begin_window();
  void expect(int from, Inbound& inbound, std::span<std::byte>& scratch);
  bool end_receives();
  [[nodiscard]] std::vector<std::byte> told(int aggregator, const Outbound& outbound);
  void hear(int from, std::span<const std::byte> message);
  void put_in(const array::Region& region, const ExchangedPart& part, const std::byte* bytes);
  void put_in_own(const ExchangedPart& part);
  void write_window();

  const Exchange::Setup& setup_;
  int rank_;
  int me_ = -1;  // number of this aggregator
  int ranks_;
  ExchangedRuns& runs_;
  const Exchange::FindVariable& find_variable_;
  const Exchange::Target& target_;
  std::map<std::int64_t, contents::Variable> variables_;
  std::map<int, Outbound> outbound_;             // by rank
  std::map<int, Inbound> inbound_;               // by rank; of this one, too
  std::map<int, std::vector<std::byte>> told_;   // by rank: messages that MPI sends
  std::map<int, std::vector<std::byte>> heard_;  // and receives
  std::vector<MPI_Request> send_requests_;
  std::vector<Sending> sending_;
  std::vector<MPI_Request> receive_requests_;
  std::vector<Receiving> receiving_;
  HugeMemory memory_;
  std::vector<std::byte> scratch_;
  std::optional<Window> window_;
  Outcome failure_;
};

}  // namespace iocomp::client
