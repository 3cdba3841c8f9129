#include "client/agreement.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "client/meeting.h"
#include "mpi/error.h"

namespace iocomp::client {
namespace {

constexpr std::size_t text_bytes = 1024;  // of a story or a call that is told to all
constexpr std::size_t fields = 4;         // of a call: what has to be the same on all ranks

std::array<std::int64_t, fields> digest_of(const Meeting::Call& call) {
  return {positive(call.file), positive(mix(empty_digest, call.name)), call.step,
          positive(call.definitions)};
}

}  // namespace

Collective::~Collective() {
  if (request_ != MPI_REQUEST_NULL) {
    (void)values_.release();  // the operation may still write there
  }
}

void Collective::maximum(MPI_Comm comm, const std::vector<std::int64_t>& values) {
  values_ = std::make_unique<std::vector<std::int64_t>>(values);
  mpi::check(MPI_Iallreduce(MPI_IN_PLACE, values_->data(), checked_cast<int>(values_->size()),
                            MPI_INT64_T, MPI_MAX, comm, &request_));
}

void Collective::gather(MPI_Comm comm, std::int64_t value) {
  int ranks = 0;
  int rank = 0;
  mpi::check(MPI_Comm_size(comm, &ranks));
  mpi::check(MPI_Comm_rank(comm, &rank));
  values_ = std::make_unique<std::vector<std::int64_t>>(static_cast<std::size_t>(ranks));
  (*values_)[static_cast<std::size_t>(rank)] = value;
  mpi::check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values_->data(), 1, MPI_INT64_T,
                            comm, &request_));
}

void Collective::broadcast(MPI_Comm comm, int root, const std::vector<std::int64_t>& values) {
  values_ = std::make_unique<std::vector<std::int64_t>>(values);
  mpi::check(MPI_Ibcast(values_->data(), checked_cast<int>(values_->size()), MPI_INT64_T, root,
                        comm, &request_));
}

bool Collective::test() {
  int done = 0;
  mpi::check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE));
  return done != 0;
}

std::vector<std::int64_t> pack_outcome(const Outcome& outcome) {
  std::vector<std::int64_t> packed(2 + text_bytes / sizeof(std::int64_t));
  const std::size_t bytes = std::min(outcome.story.size(), text_bytes);
  packed[0] = static_cast<std::int64_t>(outcome.code);
  packed[1] = static_cast<std::int64_t>(bytes);
  std::memcpy(packed.data() + 2, outcome.story.data(), bytes);
  return packed;
}

Outcome unpack_outcome(const std::vector<std::int64_t>& packed) {
  Outcome outcome{static_cast<ErrorCode>(packed[0]), std::string{}};
  outcome.story.resize(static_cast<std::size_t>(packed[1]));
  std::memcpy(outcome.story.data(), packed.data() + 2, outcome.story.size());
  return outcome;
}

Agreement::Agreement(MPI_Comm comm, const std::vector<int>& members, Mine mine)
    : comm_{comm}, members_{members}, mine_{std::move(mine)} {
  mpi::check(MPI_Comm_rank(comm_, &rank_));
  mpi::check(MPI_Comm_size(comm_, &ranks_));
  start();
}

std::vector<std::int64_t> Agreement::my_text() const {
  return pack_outcome({ErrorCode::inconsistent_calls, text(mine_.call)});
}

void Agreement::start() {
  switch (stage_) {
    case Stage::compare: {
      // The maxima of the values and of their negatives: equal but for the sign where all agree.
      std::vector<std::int64_t> values;
      for (const std::int64_t value : digest_of(mine_.call)) {
        values.insert(values.end(), {value, -value});
      }
      values.push_back(mine_.extra);
      values.push_back(mine_.outcome.ok() ? 0 : ranks_ - rank_);  // the lowest rank wins
      operation_.maximum(comm_, values);
      break;
    }
    case Stage::flags:
      operation_.maximum(comm_, mine_.flags);
      break;
    case Stage::failure:
      operation_.broadcast(comm_, odd_, pack_outcome(mine_.outcome));
      break;
    case Stage::find_odd: {
      const std::uint64_t all =
          mix(mix(mix(empty_digest, mine_.call.file), text(mine_.call)), mine_.call.definitions);
      operation_.gather(comm_, positive(all));
      break;
    }
    case Stage::usual_call:
      operation_.broadcast(comm_, 0, my_text());
      break;
    case Stage::odd_call:
      operation_.broadcast(comm_, odd_, my_text());
      break;
    case Stage::ended:
      break;
  }
}

void Agreement::compared() {
  const auto& values = operation_.values();
  bool alike = true;
  for (std::size_t i = 0; i < fields; ++i) {
    alike = alike && values[2 * i] == -values[2 * i + 1];
  }
  extra_ = values[2 * fields];
  const std::int64_t failed = values[2 * fields + 1];
  if (!alike) {
    stage_ = Stage::find_odd;
  } else if (failed > 0) {
    odd_ = ranks_ - static_cast<int>(failed);
    stage_ = Stage::failure;
  } else {
    stage_ = mine_.flags.empty() ? Stage::ended : Stage::flags;
  }
}

void Agreement::ended_with(const Outcome& outcome) {
  common_ = outcome;
  stage_ = Stage::ended;
}

bool Agreement::advance() {
  while (stage_ != Stage::ended && operation_.test()) {
    switch (stage_) {
      case Stage::compare:
        compared();
        break;
      case Stage::flags:
        flags_ = operation_.values();
        stage_ = Stage::ended;
        break;
      case Stage::failure:
        ended_with(unpack_outcome(operation_.values()));
        break;
      case Stage::find_odd: {
        const auto& all = operation_.values();
        const auto other = std::ranges::find_if(all, [&](auto one) { return one != all.front(); });
        odd_ = static_cast<int>(static_cast<std::size_t>(other - all.begin()) % all.size());
        stage_ = Stage::usual_call;
        break;
      }
      case Stage::usual_call:
        usual_ = unpack_outcome(operation_.values()).story;
        stage_ = Stage::odd_call;
        break;
      default:
        ended_with(
            {ErrorCode::inconsistent_calls,
             different_calls(mine_.call.file_name, members_.at(static_cast<std::size_t>(odd_)),
                             unpack_outcome(operation_.values()).story, members_.at(0), usual_)});
    }
    start();
  }
  return stage_ == Stage::ended;
}

}  // namespace iocomp::client
