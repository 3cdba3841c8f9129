#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "client/meeting.h"

namespace iocomp::client {

/// A nonblocking collective operation and the memory it works on, which outlives an operation that
/// the others never enter.
class Collective {
 public:
  Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  ~Collective();

  /// Element-wise maximum over the ranks. @pre no operation is under way; so below.
  void maximum(MPI_Comm comm, const std::vector<std::int64_t>& values);
  void gather(MPI_Comm comm, std::int64_t value);
  void broadcast(MPI_Comm comm, int root, const std::vector<std::int64_t>& values);

  /// Whether the operation has ended. Never waits.
  [[nodiscard]] bool test();
  /// What it made. @pre test()
  [[nodiscard]] const std::vector<std::int64_t>& values() const noexcept { return *values_; }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::unique_ptr<std::vector<std::int64_t>> values_;
  std::int64_t mine_ = 0;
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
  };
  /// @param members  compute ranks of the ranks in `comm`, for people.
  Agreement(MPI_Comm comm, const std::vector<int>& members, Mine mine);

  /// Go on as far as that is possible now. @return whether it has ended.
  bool advance();

  /// The failure of the lowest rank that failed, or inconsistent_calls: the same on all ranks.
  [[nodiscard]] const Outcome& outcome() const noexcept { return common_; }
  [[nodiscard]] std::int64_t extra() const noexcept { return extra_; }
  [[nodiscard]] const std::vector<std::int64_t>& flags() const noexcept { return flags_; }

 private:
  enum class Stage { compare, flags, failure, find_odd, usual_call, odd_call, ended };
  void start();
  void compared();
  void ended_with(const Outcome& outcome);
  [[nodiscard]] std::vector<std::int64_t> my_text() const;

  MPI_Comm comm_;
  const std::vector<int>& members_;
  int rank_ = 0;
  int ranks_ = 1;
  Mine mine_;
  Stage stage_ = Stage::compare;
  Collective operation_;
  Outcome common_;
  std::int64_t extra_ = 0;
  std::vector<std::int64_t> flags_;
  int odd_ = 0;
  std::string usual_;
};

}  // namespace iocomp::client
