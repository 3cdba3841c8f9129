#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/meeting.h"

namespace iocomp::client {

/// The ranks that agree with one another: all of a communicator, by its collective operations; or
/// some, by messages through the first of them, where no communicator of theirs was made in time.
struct Circle {
  Circle(MPI_Comm all) : comm{all} {}  // NOLINT(google-explicit-constructor)
  Circle(MPI_Comm all, std::vector<int> some, int their_tag)
      : comm{all}, ranks{std::move(some)}, tag{their_tag} {}
  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  [[nodiscard]] Circle with_tag(int other) const { return {comm, ranks, other}; }

  MPI_Comm comm;
  std::vector<int> ranks{};  ///< of `comm`; empty: all
  int tag = 0;               ///< of the messages: nobody else's on `comm`
};

/// A nonblocking collective operation and the memory it works on, which outlives an operation that
/// the others never enter.
class Collective {
 public:
  Collective();
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  ~Collective();

  /// Element-wise maximum over the ranks. @pre no operation is under way; so below.
  void maximum(const Circle& circle, const std::vector<std::int64_t>& values);
  void sum(const Circle& circle, const std::vector<std::int64_t>& values);
  void gather(const Circle& circle, std::int64_t value);
  /// The values of all ranks, one behind the other. @param counts  how many each rank has.
  void join(const Circle& circle, const std::vector<std::int64_t>& mine,
            const std::vector<std::int64_t>& counts);
  void broadcast(const Circle& circle, int root, const std::vector<std::int64_t>& values);

  /// Whether the operation has ended. Never waits.
  [[nodiscard]] bool test();
  /// What it made. @pre test()
  [[nodiscard]] const std::vector<std::int64_t>& values() const noexcept { return *values_; }

 private:
  enum class Kind { maximum, sum, gather, join, broadcast };
  struct Messages;  // an operation that is done by messages
  struct Counts;    // of a join
  void begin(const Circle& circle, Kind kind, int root, std::vector<std::int64_t> mine,
             std::vector<std::int64_t> counts = {});

  MPI_Request request_ = MPI_REQUEST_NULL;
  std::unique_ptr<std::vector<std::int64_t>> values_;
  std::unique_ptr<Messages> messages_;
  std::unique_ptr<Counts> counts_;
};

/// An outcome in a broadcast: the first part of a long story.
[[nodiscard]] std::vector<std::int64_t> pack_outcome(const Outcome& outcome);
[[nodiscard]] Outcome unpack_outcome(const std::vector<std::int64_t>& packed);

/// The ranks of a file find out, without waiting, whether all make the same call and how it went
/// for each: the nonblocking sister of Meeting. Collective over `comm`, in the same order; nothing
/// else may be under way there.
class Agreement {
 public:
  struct Mine {
    Meeting::Call call;
    Outcome outcome;                  ///< of this rank's part
    std::int64_t extra = 0;           ///< its maximum is taken
    std::vector<std::int64_t> flags;  ///< their maxima are taken; as many on all ranks whose
                                      ///< definitions are alike
    std::vector<std::int64_t> sums;   ///< they are added; there only where there are flags
  };
  /// @param members  compute ranks of the ranks in `comm`, for people.
  Agreement(Circle circle, const std::vector<int>& members, Mine mine);

  /// Go on as far as that is possible now. @return whether it has ended.
  bool advance();

  /// The failure of the lowest rank that failed, or inconsistent_calls: the same on all ranks.
  [[nodiscard]] const Outcome& outcome() const noexcept { return common_; }
  [[nodiscard]] std::int64_t extra() const noexcept { return extra_; }
  [[nodiscard]] const std::vector<std::int64_t>& flags() const noexcept { return flags_; }
  [[nodiscard]] const std::vector<std::int64_t>& sums() const noexcept { return sums_; }

 private:
  enum class Stage { compare, flags, sums, failure, find_odd, usual_call, odd_call, ended };
  void start();
  void compared();
  void ended_with(const Outcome& outcome);
  [[nodiscard]] std::vector<std::int64_t> my_text() const;

  Circle circle_;
  const std::vector<int>& members_;
  int rank_ = 0;
  int ranks_ = 1;
  Mine mine_;
  Stage stage_ = Stage::compare;
  Collective operation_;
  Outcome common_;
  std::int64_t extra_ = 0;
  std::vector<std::int64_t> flags_;
  std::vector<std::int64_t> sums_;
  int odd_ = 0;
  std::string usual_;
};

}  // namespace iocomp::client
