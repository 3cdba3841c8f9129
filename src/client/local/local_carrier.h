// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "client/carrier.h"
#include "client/council/file_council.h"
#include "client/council/meeting.h"
#include "client/link.h"
#include "client/local/member_blocks.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "contents/catalogue.h"
#include "disk/output_file.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "writer/writer_file.h"

namespace iocomp::client {

/// Carries a file that its members write themselves. Each member is a writer of the file, and
/// reports to the lead of the file, which is on the first of them.
///
/// While the program goes on, reports and orders travel in later calls. Synchronous members meet in
/// `end_step`, `wait_step` and `close`, and wait there until the orders are carried out. Steps of a
/// synchronous series are made durable one step later, when the file system has had time to write.
/// The lead commits them while all go on.
class LocalCarrier : public Carrier {
 public:
  struct Setup {
    std::uint64_t key = 0;
    std::string name;
    bool file_per_step = false;
    int steps_in_flight = 8;
    MPI_Comm comm = MPI_COMM_NULL;  ///< of the members, for the opening
    FolderAddress folder{};         ///< of the file, as this rank means it
    Meeting* meeting = nullptr;     ///< of a synchronous file; null for others
  };
  LocalCarrier(Setup setup, FileCouncil::Setup council, MemberBlocks::Setup blocks,
               const commit::Publication& names, Link& link, const contents::Catalogue& catalogue);

  /// Open the file. Collective over the file's ranks; they wait for one another here. @throws
  /// Error, the same on all ranks.
  [[nodiscard]] contents::Beginning open();
  /// Called instead of `open`: go on with a file that others have begun, in a format whose offsets
  /// follow from its layout. Waits for nobody.
  /// @param ended   steps that this rank has ended.
  /// @param events  that it has made.
  /// @param file    the descriptors of the file of all steps, if this rank has had it open.
  void go_on_after(const commit::Left& left, std::int64_t ended,
                   std::vector<std::vector<std::byte>> events,
                   std::shared_ptr<disk::OutputFile> file);
  // The parts to which this rank tells what it has put and ended by then.
  [[nodiscard]] FileCouncil& council() noexcept { return council_; }
  [[nodiscard]] MemberBlocks& blocks() noexcept { return blocks_; }

  void announce(const contents::Event& event, std::int64_t sequence) override;
  void enter_step(std::int64_t step) override;
  void put(const Block& block) override;
  [[nodiscard]] std::int64_t give_up(std::int64_t open_step, const Outcome& why) override;
  /// The others do not come to close a file that was given up.
  void abandon(const Outcome& why);
  void put_nothing(const Block& block) override { blocks_.put_nothing(block); }
  void end_step(std::int64_t step, const StepEnd& end) override;
  void wait_step(std::int64_t step) override;
  void hurry(std::int64_t step) override;
  [[nodiscard]] bool tell_of(const protocol::Other& other, bool waits) override;
  void urge(std::uint64_t ticket, State state) override { blocks_.urge(ticket, state); }
  void begin_close(std::int64_t open_step, const StepEnd& end) override;
  [[nodiscard]] bool is_closed() override;
  [[nodiscard]] Outcome close() override;

  [[nodiscard]] bool is_synchronous() const noexcept { return setup_.meeting != nullptr; }
  /// Files with other members come after this one. Members of a synchronous file then commit each
  /// step when they end it.
  void commit_each_step() noexcept { commits_each_step_ = true; }

  /// Start small writes that waited to share a plan.
  void submit() { writer().files().submit(); }
  /// Go on with work that was begun while the program goes on. @return true if anything moved.
  bool advance() {
    return !is_synchronous() && move([] { return false; });
  }
  /// True if all members have left the file, so that nobody sends anything more.
  [[nodiscard]] bool is_over() const noexcept { return closed_.has_value(); }

 private:
  [[nodiscard]] writer::WriterFile& writer() noexcept { return blocks_.file(); }
  [[nodiscard]] std::string what(const std::string& owed) const;
  void wait_until(const std::function<bool()>& done, const std::string& owed);
  bool move(const std::function<bool()>& enough);
  void look_for_orders();
  void obey(protocol::Kind kind, std::span<const std::byte> body);
  void begin_at(const contents::Beginning& beginning);
  void settle(std::int64_t step, const Outcome& outcome);
  [[noreturn]] void tell(const Outcome& outcome);

  // These calls are made by all members of a synchronous file.
  struct Agreed {               // some member ...
    bool exchanges = false;     // has blocks to be exchanged
    bool commits_step = false;  // wants each step to be committed when it ends
  };
  [[nodiscard]] Agreed meet(const char* call, std::int64_t step, bool exchanges = false);
  [[nodiscard]] protocol::StepCounts counts(std::int64_t step, bool exchanges, const StepEnd& end);
  void await_step(std::int64_t step);
  void end_together(std::int64_t step, const StepEnd& end);
  void leave_together(const Error& difference);
  void lose(const Outcome& why);
  void say_closed(std::int64_t open_step, bool exchanges, const StepEnd& end);
  void leave();

  Setup setup_;
  Link& link_;
  const contents::Catalogue& catalogue_;
  FileCouncil council_;
  MemberBlocks blocks_;
  std::uint64_t definitions_ = empty_digest;
  std::string last_definition_;
  struct {
    std::optional<protocol::Opened> told;
    Outcome folder;  // whether this rank means the same folder as the lead
  } opening_;
  struct {
    std::int64_t steps = 0;     // that this rank has ended
    double at = now_seconds();  // the last one
  } ended_;
  std::int64_t settled_ = 0;  // number of settled steps
  std::map<std::int64_t, Outcome> failed_;
  bool commits_each_step_ = false;  // as far as this member knows
  bool is_alone_ = false;           // no more work with the other members is possible
  enum class Leaving { not_yet, waits_for_orders, waits_for_messages } leaving_ = Leaving::not_yet;
  std::optional<Outcome> closed_;
};

}  // namespace iocomp::client
