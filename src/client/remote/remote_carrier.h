// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/carrier.h"
#include "client/link.h"
#include "client/remote/block_copies.h"
#include "client/remote/own_writes.h"
#include "client/remote/post_book.h"
#include "contents/catalogue.h"
#include "protocol/messages.h"
#include "steps/covers.h"

namespace iocomp::client {

/// Carries a file to the servers. Events and step ends go to the home server, and pieces to the
/// servers that own them.
class RemoteCarrier : public Carrier {
 public:
  struct Route {
    std::uint64_t key = 0;
    std::string name;
    std::int32_t compute_rank = 0;
    int home = 0;                 ///< number of this rank's server
    std::size_t chunk_bytes = 0;  ///< largest message of data
    BlockCopies::Limits copies;
    std::int64_t domain_bytes = 1;  ///< domain borders are multiples of it; told by the servers
    int steps_in_flight = 8;
    bool keeps_posts = false;       ///< the file can be finished without servers
    bool whole_steps = false;       ///< the format writes a step when all ranks have ended it
    bool appears_at_close = false;  ///< its steps are committed when all ranks have closed the file
  };
  RemoteCarrier(Route route, Link& link, const contents::Catalogue& catalogue);

  /// Tell home about the file and sleep until the servers have opened it.
  /// @return where the file begins. @throws Error with the servers' reason.
  const contents::Beginning& open(const protocol::Open& open);
  [[nodiscard]] const contents::Beginning& beginning() const noexcept {
    return beginning_ ? *beginning_ : nowhere;
  }
  /// True if its servers were lost before they had answered `open`.
  [[nodiscard]] bool lacks_beginning() const noexcept { return !beginning_; }
  void begin_at(contents::Beginning beginning) { beginning_ = std::move(beginning); }

  /// Let this rank write the blocks that `own` takes.
  void write_with(std::unique_ptr<OwnWrites> own) { own_ = std::move(own); }
  bool advance() { return own_ && own_->advance(); }

  void announce(const contents::Event& event, std::int64_t sequence) override;
  void enter_step(std::int64_t step) override;
  void put(const Block& block) override;
  [[nodiscard]] std::int64_t give_up(std::int64_t open_step, const Outcome& why) override;
  void put_nothing(const Block& block) override;
  void end_step(std::int64_t step, const StepEnd& end) override;
  void wait_step(std::int64_t step) override;
  [[nodiscard]] bool tell_of(const protocol::Other& other, bool waits) override;
  void urge(std::uint64_t ticket, State state) override;
  void wanted_back(std::uint64_t ticket) override;
  void begin_close(std::int64_t open_step, const StepEnd& end) override;
  [[nodiscard]] bool is_closed() override { return is_over() && has_no_blocks(); }
  [[nodiscard]] Outcome close() override;

  /// There is no server to tell any more. Wait until the kernel reads the program's memory no more.
  /// @return as OwnWrites::finish_without_server; null where this rank writes nothing itself.
  std::shared_ptr<disk::OutputFile> end_own_writes() {
    return own_ ? own_->finish_without_server() : nullptr;
  }
  /// True if the file can be finished without servers.
  [[nodiscard]] bool keeps_posts() const noexcept { return posts_.has_value(); }
  /// @pre keeps_posts()
  [[nodiscard]] Posted take_posts() { return posts_->take(); }

 private:
  protocol::Piece described(const Block& block, const array::Piece& part);
  void put_in_header(const Block& block, const array::Piece& part);
  /// @param copy  the values of this part, or null: they are read where the block lies.
  Posted::Piece put_piece(const Block& block, const array::Piece& part, const std::byte* copy);
  void note(const Block& block);
  void tell_of_small_pieces(const Block& block, std::size_t pieces);
  [[nodiscard]] protocol::StepCounts take_counts(std::int64_t step, const StepEnd& end);
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] bool has_lost(std::int64_t step) const;
  [[nodiscard]] bool has_no_blocks() const;
  [[nodiscard]] std::string what(const std::string& owed) const;

  Route route_;
  Link& link_;
  const contents::Catalogue& catalogue_;
  BlockCopies copies_;
  static inline const contents::Beginning nowhere{};
  std::optional<contents::Beginning> beginning_;
  std::optional<PostBook> posts_;                // if the file can be finished without servers
  std::int64_t ended_ = 0;                       // number of steps
  std::map<std::int32_t, std::int64_t> pieces_;  // of the open step, by server
  steps::Covers variables_;                      // put in the open step
  std::unique_ptr<OwnWrites> own_;
  bool has_told_of_pieces_ = false;
};

}  // namespace iocomp::client
