// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/wait.h"

#include <mpi.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "mpi/error.h"

namespace iocomp::mpi {
namespace {

constexpr unsigned eager_polls = 8;
constexpr std::chrono::nanoseconds first_nap = std::chrono::microseconds{4};
// A look takes some 8 us: at naps of this length 3 % of a core.
constexpr std::chrono::nanoseconds cheap_nap = std::chrono::microseconds{250};
constexpr std::chrono::nanoseconds longest_nap = std::chrono::milliseconds{1};
constexpr int short_part = 8;   // of what was waited, up to the cheap nap
constexpr int later_part = 64;  // from there on
// A wait that has lasted so long may last a little longer, at a fraction of the cost.
constexpr std::chrono::nanoseconds long_time = std::chrono::seconds{1};
constexpr int times_longer = 5;

constexpr double part_before_warning = 0.1;  // of the deadline
constexpr double warning_without_deadline_seconds = 180;
// Looks follow one another more quickly. A longer gap means that the process was suspended, with
// its peers perhaps, so they had no time to move either.
constexpr double longest_gap_seconds = 1;
// A call that has used up its deadline gives each further wait this long.
constexpr double moment_seconds = 0.1;

double first_warning(double limit_seconds) {
  return limit_seconds > 0 ? limit_seconds * part_before_warning : warning_without_deadline_seconds;
}

std::string whole_seconds(double seconds) {
  return std::to_string(static_cast<long>(seconds)) + " s";
}

// A nap that is too long costs whoever waits up to its length, so it is a small part of what was
// waited already.
std::chrono::nanoseconds nap_after(std::chrono::nanoseconds napped) {
  if (napped >= long_time) {
    return times_longer * longest_nap;
  }
  const auto nap = std::max(std::min(napped / short_part, cheap_nap), napped / later_part);
  return std::clamp(nap, first_nap, longest_nap);
}

// Linux may lengthen each sleep by the timer slack of the thread, commonly 50 us: as much as many
// short naps.
class ShortSlack {
 public:
  explicit ShortSlack(std::chrono::nanoseconds nap)
      : before_{nap < cheap_nap ? ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) : -1} {
    set(1);
  }
  ShortSlack(const ShortSlack&) = delete;
  ShortSlack& operator=(const ShortSlack&) = delete;
  ~ShortSlack() { set(before_); }

 private:
  void set(int nanoseconds) const noexcept {
    if (before_ > 0) {
      (void)::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(nanoseconds), 0, 0, 0);
    }
  }
  int before_;  // -1: it stays as it is
};

}  // namespace

void Nap::pause(const std::function<void(std::chrono::nanoseconds)>& sleep_for) {
  if (idle_polls_ < eager_polls) {
    ++idle_polls_;
    return;
  }
  const auto nap = nap_after(napped_);
  napped_ += nap;
  const ShortSlack slack{nap};
  if (sleep_for) {
    sleep_for(nap);
  } else {
    std::this_thread::sleep_for(nap);
  }
}

Deadline::Deadline(const WaitPolicy& policy)
    : limit_seconds_{policy.deadline_seconds},
      has_given_up_{policy.has_given_up},
      held_back_until_{policy.held_back_until},
      last_move_{beginning()},
      last_look_{now_seconds()},
      next_warning_seconds_{*has_given_up_ ? limit_seconds_ : first_warning(limit_seconds_)} {}

// The time when the present idleness began.
double Deadline::beginning() const {
  const double spent =
      *has_given_up_ ? limit_seconds_ - std::min(moment_seconds, limit_seconds_) : 0;
  return now_seconds() - spent;
}

void Deadline::moved() {
  if (!*has_given_up_ && next_warning_seconds_ > first_warning(limit_seconds_)) {
    log::warning("the wait makes progress again, after " +
                 whole_seconds(now_seconds() - last_move_));
    next_warning_seconds_ = first_warning(limit_seconds_);
  }
  last_move_ = beginning();
  last_look_ = now_seconds();
}

double Deadline::idle_seconds() const {
  const double since = held_back_until_ ? std::max(last_move_, *held_back_until_) : last_move_;
  return now_seconds() - since;
}

bool Deadline::is_long() const {
  return limit_seconds_ > 0 && idle_seconds() >= first_warning(limit_seconds_);
}

void Deadline::check(const std::function<std::string()>& what) {
  const double now = now_seconds();
  last_move_ += std::max(0.0, now - last_look_ - longest_gap_seconds);
  last_look_ = now;
  const double idle = idle_seconds();
  if (limit_seconds_ > 0 && idle > limit_seconds_) {
    *has_given_up_ = true;
    throw iocomp::Error{ErrorCode::timed_out,
                        "waited " + whole_seconds(idle) + " without progress for " + what()};
  }
  if (idle >= next_warning_seconds_) {
    next_warning_seconds_ *= 2;
    log::warning("waiting for " + what() + ": " + whole_seconds(idle) + " without progress" +
                 (limit_seconds_ > 0
                      ? ", it fails after " + whole_seconds(limit_seconds_) + " (wait.deadline)"
                      : ""));
  }
}

void wait(MPI_Request& request, const WaitPolicy& policy, const char* what) {
  Nap nap;
  Deadline deadline{policy};
  int done = 0;
  while (true) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done != 0) {
      return;
    }
    deadline.check([what] { return std::string{what}; });
    if (policy.meanwhile) {
      policy.meanwhile();
    }
    nap.pause();
  }
}

}  // namespace iocomp::mpi
