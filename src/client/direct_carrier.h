#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/carrier.h"
#include "client/direct_output.h"
#include "client/link.h"
#include "client/meeting.h"
#include "client/step_coverage.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "formats/format.h"

namespace iocomp::client {

/// Carries a file without servers (synchronous mode): the compute ranks write themselves. Blocks
/// are written inside put where their place is known and their runs are long; formats that need all
/// ranks to make room keep them until end_step, where blocks of short runs are exchanged. Steps of
/// a series are fsynced and committed one step later, while the file system has had time to write
/// (at the latest in wait_step or close); checkpoints at once.
class DirectCarrier : public Carrier {
 public:
  DirectCarrier(std::uint64_t key, std::string name, DirectOutput::Setup setup,
                commit::Publication::Identity identity, Link& link, Meeting& meeting,
                const contents::Catalogue& catalogue);
  ~DirectCarrier() override;

  /// Collective over the file's ranks. @throws Error, the same on all ranks.
  void open();

  void announce(const contents::Event& event, std::int64_t sequence) override;
  void enter_step(std::int64_t) override {}
  void put(const Block& block) override;
  void end_step(std::int64_t step) override;
  void wait_step(std::int64_t step) override;
  void urge(std::uint64_t ticket, State state) override;
  Outcome close(std::int64_t open_step) override;

  /// Why nothing collective can be done for this file any more; `ok` as long as it can.
  [[nodiscard]] const Outcome& lost() const noexcept { return lost_; }

 private:
  struct Kept {  // a block that waits for end_step
    Block block;
    Copy copy;
  };
  /// Do collective work. Where the ranks turn out to make different calls, or one does not come,
  /// the file is lost: nothing collective is begun from then on, and whoever asks is told why.
  template <typename Body>
  void together(Body&& body) {
    if (!lost_.ok()) {
      throw Error{lost_.code, lost_.story};
    }
    try {
      body();
    } catch (const Error& error) {
      note_loss(error);
      throw;
    }
  }
  void note_loss(const Error& error);
  std::int64_t meet(const char* call, std::int64_t step, std::int64_t extra = 0);
  [[nodiscard]] Outcome in_file(const Outcome& outcome, std::int64_t step = -1) const;
  void write(const Block& block);
  void keep(const Block& block);
  void keep_copy(Kept& kept);
  void write_now(std::uint64_t ticket);
  struct Put {
    std::vector<int> variables;
    bool exchanges = false;  // some rank has blocks to be exchanged
  };
  [[nodiscard]] std::vector<const Block*> write_kept(std::int64_t step, const Put& put);
  void write_step(std::int64_t step);
  void settle_kept(const Outcome& outcome);
  void commit_until(std::int64_t step);
  void keep_ended_steps();
  Outcome end_file();
  void commit(std::int64_t step);
  void mark_durable(std::int64_t last_step);
  void fail_step(std::int64_t step, const Outcome& outcome);
  [[nodiscard]] bool is_first() const;

  std::uint64_t key_;
  std::string name_;
  MPI_Comm comm_;
  bool per_step_;
  bool readable_while_open_;
  commit::Publication publication_;
  Link& link_;
  Meeting& meeting_;
  const contents::Catalogue& catalogue_;
  StepCoverage coverage_;  // of the open step
  DirectOutput output_;
  std::uint64_t definitions_ = empty_digest;
  std::string last_definition_;
  Outcome lost_;
  std::vector<Kept> kept_;
  Outcome put_failure_;     // of the open step on this rank
  std::int64_t ended_ = 0;  // steps that all ranks have ended
  std::int64_t next_commit_ = 0;
  std::map<std::int64_t, Outcome> failed_;  // steps
};

}  // namespace iocomp::client
