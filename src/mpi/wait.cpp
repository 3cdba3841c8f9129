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
constexpr std::chrono::nanoseconds longest_nap = std::chrono::milliseconds{1};
constexpr unsigned longest_shift = 16;
// Who has waited for so long may wait a little longer, at a fraction of the cost.
constexpr std::chrono::nanoseconds long_time = std::chrono::seconds{1};
constexpr int times_longer = 5;

}  // namespace

void Nap::pause(const std::function<void(std::chrono::nanoseconds)>& sleep_for) {
  ++idle_polls_;
  if (idle_polls_ <= eager_polls) {
    return;
  }
  // Two naps of each length: fast enough to be cheap soon, slow enough to catch what follows
  // shortly.
  const unsigned shift = std::min((idle_polls_ - eager_polls - 1) / 2, longest_shift);
  const bool is_idle = napped_ >= long_time;
  const auto longest = longest_nap * (is_idle ? times_longer : 1);
  const auto nap = is_idle ? longest : std::min(first_nap * (1U << shift), longest);
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
