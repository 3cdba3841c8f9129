#include "mpi/wait.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
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
// Who has waited for so long may wait a little longer, at a fraction of the cost.
constexpr std::chrono::nanoseconds long_time = std::chrono::seconds{1};
constexpr int times_longer = 5;

// A nap that is too long costs whoever waits up to its length, so it is a small part of what was
// waited already.
std::chrono::nanoseconds nap_after(std::chrono::nanoseconds napped) {
  if (napped >= long_time) {
    return times_longer * longest_nap;
  }
  const auto nap = std::max(std::min(napped / short_part, cheap_nap), napped / later_part);
  return std::clamp(nap, first_nap, longest_nap);
}

}  // namespace

void Nap::pause(const std::function<void(std::chrono::nanoseconds)>& sleep_for) {
  if (idle_polls_ < eager_polls) {
    ++idle_polls_;
    return;
  }
  const auto nap = nap_after(napped_);
  napped_ += nap;
  if (sleep_for) {
    sleep_for(nap);
  } else {
    std::this_thread::sleep_for(nap);
  }
}

Deadline::Deadline(const WaitPolicy& policy)
    : limit_seconds_{policy.deadline_seconds}, last_move_{now_seconds()} {}

void Deadline::moved() { last_move_ = now_seconds(); }

void Deadline::check(const std::function<std::string()>& what) const {
  if (limit_seconds_ <= 0) {
    return;
  }
  const double idle = now_seconds() - last_move_;
  if (idle > limit_seconds_) {
    throw iocomp::Error{ErrorCode::timed_out, "waited " + std::to_string(static_cast<long>(idle)) +
                                                  " s without progress for " + what()};
  }
}

void wait(MPI_Request& request, const WaitPolicy& policy, const char* what) {
  Nap nap;
  const Deadline deadline{policy};
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
