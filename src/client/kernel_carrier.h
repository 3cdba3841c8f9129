#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "array/cover.h"
#include "array/run_list.h"
#include "base/error.h"
#include "client/agreement.h"
#include "client/block_writer.h"
#include "client/carrier.h"
#include "client/kernel_holes.h"
#include "client/kernel_placing.h"
#include "client/link.h"
#include "client/output_files.h"
#include "client/remains.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "formats/format.h"
#include "protocol/notes.h"
#include "writing/submit.h"

namespace iocomp::client {

/// Carries a file without servers and without waiting: blocks go from the rank's own memory to the
/// kernel. What all ranks must know of a step (is it durable everywhere? which variables has it?)
/// is agreed by nonblocking collectives, which go on in later calls; rank 0 publishes.
class KernelCarrier : public Carrier {
 public:
  struct Setup {
    std::uint64_t key = 0;
    std::string name;
    Circle circle{MPI_COMM_NULL};      ///< of the file, for agreements; used by nobody else
    MPI_Comm placing = MPI_COMM_NULL;  ///< the same ranks, for places of variables
    Circle verdicts{MPI_COMM_NULL};    ///< the same ranks, for what rank 0 tells
    std::vector<int> members;          ///< compute ranks of the ranks in `comm`
    const formats::Format* format = nullptr;
    formats::FormatOptions options;
    disk::Options disk;
    writing::Submit submit;
    int steps_in_flight = 8;
    bool may_overlap = false;  ///< puts of one step; see FileSettings
  };
  KernelCarrier(Setup setup, commit::Publication::Identity identity, BlockWriter& blocks,
                Link& link, const contents::Catalogue& catalogue);
  ~KernelCarrier() override;

  /// Collective over the file's ranks; they wait for one another here. @throws Error, the same on
  /// all ranks.
  void open();

  /// Instead: go on with what servers have left, of a format whose offsets follow from its layout.
  /// Waits for nobody. @return blocks of this rank that are written once more, or first.
  using HasNote = std::function<bool(protocol::Note, std::int64_t step)>;
  std::size_t resume(Remains remains, const HasNote& has_note);

  void announce(const contents::Event& event, std::int64_t sequence) override;
  void enter_step(std::int64_t step) override;
  void put(const Block& block) override;
  void end_step(std::int64_t step) override;
  void wait_step(std::int64_t step) override;
  void urge(std::uint64_t ticket, State state) override;
  Outcome close(std::int64_t open_step) override;

  /// Go on with what was begun, as far as that is possible now; true if anything moved.
  bool advance();
  /// Why nothing collective can be done for this file any more; `ok` as long as it can.
  [[nodiscard]] const Outcome& lost() const noexcept { return lost_; }

 private:
  struct Kept {  // a block whose place in the file is not known yet
    Block block;
    Copy copy;
  };
  struct Step {
    std::map<int, array::Cover> variables;  // put by this rank
    std::size_t writing = 0;                // blocks
    std::deque<Kept> kept;
    std::int64_t looked_at = -1;  // which news of places these blocks were looked through for
    std::vector<std::uint64_t> tickets;  // written, not durable
    Outcome failure;                     // on this rank
    bool ended = false;
    std::uint64_t definitions = 0;  // when it was ended, like the next two
    std::string last_definition;
    int known_variables = 0;
    std::int64_t end = 0;  // of what was put: a byte offset; when agreed on, of all ranks
    bool is_synced = false;
    Outcome agreed{};
  };
  struct Filling {  // of the holes of step agreed_
    enum class Stage { look, write, sync, agree };
    Stage stage = Stage::look;
    std::size_t writing = 0;
    bool has_written = false;
    Outcome outcome{};
    std::unique_ptr<Agreement> agreement{};
    void note(const Outcome& one) { outcome = outcome.ok() ? one : outcome; }
    void ended(const Outcome& one) {
      --writing;
      note(one);
    }
  };
  struct Verdict {           // of rank 0
    std::int64_t until = 0;  // steps before this one are settled
    Outcome outcome{};  // of those of them that were not, unless it was agreed that they failed
    bool is_last = false;
  };
  [[nodiscard]] bool is_first() const noexcept { return rank_ == 0; }
  [[nodiscard]] bool has_target() const {
    return is_first() && !setup_.format->offsets_by_layout();
  }
  [[nodiscard]] Outcome in_file(const Outcome& outcome, std::int64_t step = -1) const;
  [[nodiscard]] std::string what(const std::string& owed) const;
  void wait_for_all_steps();
  void create_target(std::int64_t target);

  // Writing (kernel_carrier.cpp).
  void write(const Block& block);
  void block_written(const Block& block, const Outcome& outcome);
  void keep(const Block& block);
  void keep_copy(Kept& kept);
  bool write_kept();
  void fail_block(const Block& block, const Outcome& outcome);
  [[nodiscard]] Agreement::Mine ended_step(std::int64_t step) const;
  [[nodiscard]] KernelPlacing::Round place(std::int64_t step,
                                           const std::vector<std::int64_t>& flags);
  void place_variables(std::int64_t step, const std::vector<std::int64_t>& flags,
                       std::vector<KernelPlacing::Place>& places);
  void placed(const KernelPlacing::Round& round);

  // What servers have left (kernel_resume.cpp).
  [[nodiscard]] std::int64_t find_published_steps(const Remains& remains);
  [[nodiscard]] std::int64_t find_checkpoints(const Remains& remains, const HasNote& has_note);
  void take_over_steps(Remains& remains, std::int64_t settled, const HasNote& has_note);
  void take_over_tickets(const std::map<std::uint64_t, std::vector<Remains::Piece>>& pieces,
                         std::int64_t settled);
  void write_again(std::uint64_t ticket, std::vector<Remains::Piece> pieces);

  // What becomes of steps (kernel_commit.cpp).
  bool sync_steps();
  void synced(std::int64_t until, const Outcome& outcome);
  bool agree_on_steps();
  [[nodiscard]] bool is_whole();
  void agreed();
  [[nodiscard]] static std::map<int, array::Cover> put_in_step(const Agreement& agreement);
  bool tell_verdicts();
  [[nodiscard]] bool is_publication_due() const;
  [[nodiscard]] std::int64_t publishable() const;
  void begin_verdict(const Verdict& verdict);
  [[nodiscard]] static Verdict unpack(std::vector<std::int64_t> packed);
  [[nodiscard]] Verdict publish(std::int64_t until);
  [[nodiscard]] commit::Publication::Job prepare_job(std::int64_t until);
  void seal(std::int64_t target, std::int64_t step, const commit::Publication::Job& job,
            bool format_wrote);
  void settle(std::int64_t step, const Outcome& verdict);
  void fail_step(std::int64_t step, const Outcome& outcome);
  void lose(const Outcome& why);
  void sync_for(std::uint64_t ticket);
  [[nodiscard]] Outcome meet_to_close(std::int64_t open_step, std::int64_t& puts);
  [[nodiscard]] Outcome finish_file();
  [[nodiscard]] Outcome publish_file(std::int64_t until);
  [[nodiscard]] std::int64_t published() const;
  void keep_agreed_steps();
  [[nodiscard]] bool has_committed_steps(std::int64_t until) const;

  // What nobody has put (kernel_fill.cpp).
  [[nodiscard]] bool is_filled();
  void begin_filling();
  void fill(int variable, const std::shared_ptr<const array::RunList>& holes);
  void sync_filled();

  Setup setup_;
  int rank_ = 0;
  bool per_step_;
  bool readable_while_open_;
  commit::Publication publication_;
  BlockWriter& blocks_;
  Link& link_;
  const contents::Catalogue& catalogue_;
  OutputFiles files_;
  KernelPlacing placing_;
  KernelHoles holes_;
  std::uint64_t definitions_ = empty_digest;
  std::string last_definition_;
  std::map<std::int64_t, Step> steps_;               // not settled
  std::set<std::pair<std::int64_t, int>> placed_;    // rank 0: step and variable
  std::set<std::pair<std::int64_t, int>> reshaped_;  // in a step, a variable
  std::int64_t placed_until_ = 0;                    // steps whose round of places has ended
  std::int64_t placed_rounds_ = 0;
  std::int64_t ended_ = 0;
  std::int64_t next_sync_ = 0;
  bool is_syncing_ = false;
  std::int64_t agreed_ = 0;
  std::int64_t settled_ = 0;
  std::unique_ptr<Agreement> agreement_;  // on step agreed_
  std::optional<Filling> filling_;        // after that
  std::unique_ptr<Collective> verdict_;   // rank 0's
  std::optional<Outcome> end_;            // of the file
  std::int64_t durable_end_ = 0;          // of the one file of all steps
  std::set<std::int64_t> dropped_;        // rank 0: failed steps that publication_ knows of
  bool is_in_a_hurry_ = false;            // somebody waits for a commit
  bool is_closing_ = false;
  double published_at_ = 0;
  double publication_seconds_ = 0;
  std::map<std::int64_t, Outcome> failed_;
  Outcome lost_;
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);  // false for completions too late
};

}  // namespace iocomp::client
