#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/carrier.h"
#include "client/direct_output.h"
#include "client/link.h"
#include "storage/catalogue.h"
#include "storage/format.h"
#include "storage/publication.h"

namespace iocomp::client {

/// Carries a file without servers (synchronous mode): the compute ranks write themselves. Blocks
/// are written inside put where their place is known; formats that need all ranks to make room keep
/// them until end_step. Steps of a series are fsynced and committed one step later, while the file
/// system has had time to write (at the latest in wait_step or close); checkpoints at once.
class DirectCarrier : public Carrier {
 public:
  DirectCarrier(std::uint64_t key, std::string name, DirectOutput::Setup setup,
                storage::Publication::Identity identity, Link& link,
                const storage::Catalogue& catalogue);
  ~DirectCarrier() override;

  /// Collective over the file's ranks. @throws Error, the same on all ranks.
  void open();

  void announce(const storage::Event&, std::int64_t) override {}
  void enter_step(std::int64_t) override {}
  void put(const Block& block) override;
  void end_step(std::int64_t step) override;
  void wait_step(std::int64_t step) override;
  void urge(std::uint64_t ticket, State state) override;
  Outcome close(std::int64_t open_step) override;

 private:
  enum class Call : std::int8_t { end_step = 1, wait_step = 2, close = 3 };
  struct Kept {  // a block that waits for end_step
    Block block;
    Copy copy;
  };
  /// Meet the other ranks of the file in the same call; the maximum of `extra`. Collective.
  /// @throws Error{inconsistent_calls} on all ranks when some make another call, or know other
  /// definitions.
  std::int64_t meet(Call call, std::int64_t step, std::int64_t extra);
  void write(const Block& block);
  void keep_copy(Kept& kept);
  [[nodiscard]] std::vector<int> variables_put();
  void write_step(std::int64_t step);
  void commit_until(std::int64_t step);
  void commit(std::int64_t step);
  void mark_durable(std::int64_t last_step);
  void fail_step(std::int64_t step, const Outcome& outcome);

  std::uint64_t key_;
  std::string name_;
  MPI_Comm comm_;
  bool per_step_;
  bool readable_while_open_;
  storage::Publication publication_;
  Link& link_;
  const storage::Catalogue& catalogue_;
  DirectOutput output_;
  std::vector<Kept> kept_;
  std::set<int> put_;       // variables put in the open step
  Outcome put_failure_;     // of the open step on this rank
  std::int64_t ended_ = 0;  // steps whose end_step was called
  std::int64_t next_commit_ = 0;
  std::map<std::int64_t, Outcome> failed_;  // steps
};

}  // namespace iocomp::client
