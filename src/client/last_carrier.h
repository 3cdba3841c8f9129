#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "array/run_list.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/tickets.h"
#include "contents/catalogue.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "steps/put_log.h"

namespace iocomp::client {

/// Lets the last of several puts of the same elements in a step win (`overlap = "last"`): the last
/// by rank in the file's members, then by order of put. Blocks are kept until end_step, where the
/// ranks tell each other what they put; each takes out of its blocks what later puts have, and what
/// is left goes to the carrier inside, which so never sees two puts overlap.
class LastCarrier : public Carrier {
 public:
  struct Setup {
    std::uint64_t key = 0;
    std::string name;
    mpi::Communicator comm;    ///< of the members, in their order; used by nobody else
    bool has_servers = false;  ///< the carrier inside needs them
  };
  LastCarrier(Setup setup, std::unique_ptr<Carrier> inner, Link& link,
              const contents::Catalogue& catalogue);
  ~LastCarrier() override;

  void announce(const contents::Event& event, std::int64_t sequence) override;
  void enter_step(std::int64_t step) override { inner_->enter_step(step); }
  /// Keeps the block. @throws Error{out_of_staging_memory} for a buffered one, where those of the
  /// step are more than client.buffer_memory.
  void put(const Block& block) override;
  /// Collective over the file's members.
  void end_step(std::int64_t step) override;
  void wait_step(std::int64_t step) override { inner_->wait_step(step); }
  void urge(std::uint64_t ticket, State state) override;
  void wanted_back(std::uint64_t ticket) override;
  Outcome close(std::int64_t open_step) override;

  /// The communicator may still be in use by others: it cannot be freed.
  void abandon() noexcept { (void)setup_.comm.release(); }

 private:
  struct Kept {
    Block block;
    Copy copy;  // of a buffered one
  };
  struct Held {  // what is left of a block, until it is handed over
    std::uint64_t ticket = 0;
    Copy copy;
  };
  struct Looked {  // at a variable, and no two puts overlapped
    array::Cover cover;
    array::Shape shape;
  };
  using Puts = std::vector<steps::PutRecord>;  // of all members, in the order that counts

  [[nodiscard]] bool keeps(std::uint64_t ticket) const;
  [[nodiscard]] bool exchanges() const noexcept { return lost_.ok() && !is_apart_; }
  /// Do collective work. What fails there leaves nothing to be exchanged any more.
  void together(const std::function<void()>& body);
  [[nodiscard]] bool meet(const char* call, std::int64_t step);
  [[nodiscard]] std::map<int, array::Cover> unsure(std::int64_t step);
  [[nodiscard]] Puts gather(const std::map<int, array::Cover>& variables);
  void look_for_later(std::int64_t step);
  void hand_over(std::size_t number);
  void put_left(const Block& block, std::shared_ptr<const array::RunList> left);
  void drop_kept();
  void free_held();

  Setup setup_;
  std::unique_ptr<Carrier> inner_;
  Link& link_;
  const contents::Catalogue& catalogue_;
  mpi::WaitPolicy policy_;
  int rank_ = 0;
  std::uint64_t definitions_;
  std::vector<Kept> kept_;
  std::size_t copied_bytes_ = 0;                                       // of kept_
  std::map<std::size_t, std::shared_ptr<const array::RunList>> left_;  // of kept_, by number
  std::vector<Held> held_;
  std::map<int, Looked> looked_;
  bool is_apart_ = false;  // members made different calls: the carrier inside tells them
  Outcome lost_;           // why nothing can be exchanged any more
};

}  // namespace iocomp::client
