// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/open_folder.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "contents/catalogue.h"
#include "formats/format.h"
#include "protocol/messages.h"
#include "protocol/notes.h"
#include "protocol/put_messages.h"
#include "steps/coordinator.h"
#include "steps/council.h"
#include "steps/definitions.h"
#include "steps/orders.h"
#include "steps/predecessors.h"

namespace iocomp::commit {

/// Warns once about each variable that nobody has put into a step, if the format has it in all
/// steps. Other programs find its fill value there.
class Unput {
 public:
  /// @param file  its name in the program.
  explicit Unput(std::string file) : file_{std::move(file)} {}

  void look(const steps::Commit& commit, const contents::Catalogue& catalogue);

 private:
  std::string file_;
  std::set<int> told_;
};

/// A file at its lead, which is server 0, or the first member if members write themselves. It gives
/// reports to the coordinator, and the orders of the coordinator to the council or to the
/// publisher.
class Lead {
 public:
  enum class Writers {
    servers,          ///< they learn from the lead what there is to write
    members,          ///< they write while the program goes on, and report that unasked
    waiting_members,  ///< synchronous: they write in calls that all of them make
  };
  struct Setup {
    std::uint64_t key = 0;
    protocol::Open open;
    Publisher::Setup publisher;
    bool may_overlap = false;
    Writers writers = Writers::servers;
    bool fills_gaps = false;      ///< as for the coordinator
    std::int64_t first_step = 0;  ///< as for the coordinator; so is `committed`
    std::int64_t committed = 0;
  };
  struct Means {
    steps::Council* council = nullptr;
    steps::Progress* progress = nullptr;  ///< of all files, as far as this process knows
    /// Run a job that may take long and calls no MPI.
    std::function<void(Publication::Job, Publisher::Then)> run;
    /// Note something that must outlive the lead.
    std::function<void(protocol::Note, std::int64_t step)> note;
    /// Called when the file has failed.
    std::function<void()> failed;
  };
  Lead(Setup setup, Means means);

  /// Refuse what stands in the way, start the physical file, and tell all writers.
  void start();
  /// These are called instead of `start` for a file that others have begun: before all definitions
  /// are made again, and after.
  void begin_again() { catalogue_.begin_at(setup_.open.beginning); }
  void go_on_after(const Left& left) { publisher_.go_on_after(left); }

  // Reports. One may be the sum of those of several members or writers.
  /// Take in one of those that follow, as a message brings it.
  /// @throws Error{internal} for a message of another kind.
  void take(protocol::Kind kind, std::span<const std::byte> body);
  void open(const protocol::Open& open);
  void event(const protocol::Event& event);
  void want_place(const protocol::StepNote& note);
  void step_ended(const protocol::StepCounts& counts);
  void step_done(const protocol::StepNote& note);
  void put_report(protocol::PutReport report);
  void closed(const protocol::StepCounts& counts);
  void action_done(const protocol::ActionNote& note);
  /// Steps from this one on have failed.
  void fail(const Outcome& outcome, std::int64_t from_step);
  /// Somebody waits for the commit of a step.
  void hurry(std::int64_t step);
  /// Take in the progress of a file that this one comes after.
  void heard_of(const protocol::Other& other);

  /// Hold commits back, or release them.
  void hold_commits(bool hold);

  /// Give no more orders. What is not published must not appear.
  void abandon() { publisher_.abandon(); }

  /// The folder of the file, which is open since `start`.
  [[nodiscard]] const std::shared_ptr<const OpenFolder>& folder() const {
    return publisher_.path().shared_folder();
  }
  /// The absolute path of the file.
  [[nodiscard]] std::string absolute_path() const { return publisher_.absolute_path(); }
  /// Give up the ownership of the files: others may write them.
  void release() noexcept { publisher_.release(); }

  /// Give the orders that were held back and are due, or that waited for other files.
  /// @return true if there were any.
  bool advance();

  [[nodiscard]] bool is_over() const noexcept { return over_ && jobs_ == 0; }
  [[nodiscard]] bool has_failed() const noexcept { return !coordinator_.failure().ok(); }

 private:
  struct Action {
    int writers = 0;
    Outcome outcome;
    Publisher::Then then;
  };
  struct Pace {                     // of commits
    double spent = 0;               // seconds on the commit under way, before `since`
    double since = 0;               // this process works on it since then, unless a job does
    double next = 0;                // no commit begins before this time
    std::int64_t urgent_until = 0;  // somebody waits for the steps before this one
    bool is_held = false;
  };
  [[nodiscard]] static steps::Coordinator::Setup coordination(const Setup& setup, int writers);
  [[nodiscard]] Publisher::Means hands();
  void take_orders();
  template <typename Record>
  void tell(protocol::Kind kind, const Record& record);  // all writers
  void obey(const steps::Expect& order);
  void obey(const steps::Fill& order);
  void obey(const steps::Sync& order);
  void obey(const steps::Settle& order);
  void obey(const steps::Fail& order);
  void obey(const steps::Closed& order);
  void obey(const steps::Look& order);
  void obey(const steps::Commit& order);
  void obey(const steps::Drop& order);
  void obey(const steps::Finish& order);
  void run(Publication::Job job, Publisher::Then then);
  void run_timed(Publication::Job job, Publisher::Then then);
  void act(steps::Action action, std::int64_t step, std::int64_t settled, Publisher::Then then);
  void place_ahead(const protocol::StepCounts& counts);
  void place_what_is_empty(const protocol::StepCounts& counts);
  [[nodiscard]] protocol::Bytes placed(std::int64_t step, int variable, std::int64_t offset,
                                       const Outcome& outcome) const;
  void opened(const Outcome& outcome);

  Setup setup_;
  Means means_;
  contents::Catalogue catalogue_;
  steps::Definitions definitions_;
  steps::Coordinator coordinator_;
  Publisher publisher_;
  std::map<std::int64_t, Action> actions_;
  std::int64_t next_action_ = 0;
  Pace pace_;
  Unput unput_;
  std::uint64_t heard_ = 0;  // version of the progress of other files
  bool over_ = false;
  int jobs_ = 0;  // number of those under way
};

}  // namespace iocomp::commit
