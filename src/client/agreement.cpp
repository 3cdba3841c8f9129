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

int Circle::rank() const {
  int own = 0;
  mpi::check(MPI_Comm_rank(comm, &own));
  const auto found = std::ranges::find(ranks, own);
  return ranks.empty() ? own : static_cast<int>(found - ranks.begin());
}

int Circle::size() const {
  int all = 0;
  mpi::check(MPI_Comm_size(comm, &all));
  return ranks.empty() ? all : checked_cast<int>(ranks.size());
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

Agreement::Agreement(Circle circle, const std::vector<int>& members, Mine mine)
    : circle_{std::move(circle)}, members_{members}, mine_{std::move(mine)} {
  rank_ = circle_.rank();
  ranks_ = circle_.size();
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
      operation_.maximum(circle_, values);
      break;
    }
    case Stage::flags:
      operation_.maximum(circle_, mine_.flags);
      break;
    case Stage::sums:
      operation_.sum(circle_, mine_.sums);
      break;
    case Stage::failure:
      operation_.broadcast(circle_, odd_, pack_outcome(mine_.outcome));
      break;
    case Stage::find_odd: {
      const std::uint64_t all =
          mix(mix(mix(empty_digest, mine_.call.file), text(mine_.call)), mine_.call.definitions);
      operation_.gather(circle_, positive(all));
      break;
    }
    case Stage::usual_call:
      operation_.broadcast(circle_, 0, my_text());
      break;
    case Stage::odd_call:
      operation_.broadcast(circle_, odd_, my_text());
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
        stage_ = mine_.sums.empty() ? Stage::ended : Stage::sums;
        break;
      case Stage::sums:
        sums_ = operation_.values();
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
