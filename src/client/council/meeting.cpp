// SPDX-License-Identifier: BSD-3-Clause
#include "client/council/meeting.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "steps/ends.h"

namespace iocomp::client {
std::string text(const Meeting::Call& call) {
  std::string told = call.name;
  if (call.file != 0) {
    told += " of file \"" + call.file_name + "\" in step " + std::to_string(call.step);
  }
  return call.last_definition.empty() ? told
                                      : told + " (last definition: " + call.last_definition + ')';
}

std::string different_calls(const std::string& file_name, int odd, const std::string& odd_call,
                            int usual, const std::string& usual_call) {
  const std::string what = "compute rank " + std::to_string(odd) + " called " + odd_call +
                           " where compute rank " + std::to_string(usual) + " called " + usual_call;
  const std::string why = odd_call == usual_call ? ", after different definitions" : "";
  return steps::different_calls(file_name, what + why).story;
}

std::uint64_t mix(std::uint64_t digest, std::uint64_t value) noexcept {
  for (int byte = 0; byte < 8; ++byte) {
    digest = (digest ^ (value & 0xffU)) * 0x100000001b3ULL;
    value >>= 8U;
  }
  return digest;
}

std::uint64_t mix(std::uint64_t digest, const std::string& text) noexcept {
  for (const char c : text) {
    digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return digest;
}

Meeting::Meeting(MPI_Comm comm, std::vector<int> ranks, const mpi::WaitPolicy& policy)
    : comm_{comm}, ranks_{std::move(ranks)}, policy_{policy} {
  mpi::check(MPI_Comm_rank(comm_, &rank_));
}

int Meeting::compute_rank(std::size_t member) const {
  return ranks_.empty() ? static_cast<int>(member) : ranks_.at(member);
}

void Meeting::end(const Outcome& why) {
  if (ended_.ok()) {
    ended_ = why;
  }
}

Meeting::Extras Meeting::meet(const Call& call, const Extras& extras) {
  ended_.throw_unless_ok();
  const std::array<std::int64_t, 4> mine{positive(call.file),
                                         positive(mix(empty_digest, call.name)), call.step,
                                         positive(call.definitions)};
  // The maxima of the values and of their negatives. If all ranks agree, they differ only in the
  // sign.
  std::array<std::int64_t, 2 * mine.size() + std::tuple_size_v<Extras>> values{};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    values.at(2 * i) = mine.at(i);
    values.at(2 * i + 1) = -mine.at(i);
  }
  std::ranges::copy(extras, values.end() - extras.size());
  const std::string what = "the other ranks to call " + text(call) + ", as compute rank " +
                           std::to_string(compute_rank(static_cast<std::size_t>(rank_))) + " did";
  try {
    mpi::maximum(comm_, values, policy_, what.c_str());
    const auto all_agree = [&values](std::size_t i) {
      return values.at(2 * i) == -values.at(2 * i + 1);
    };
    if (!all_agree(0) || !all_agree(1) || !all_agree(2) || !all_agree(3)) {
      Outcome told{ErrorCode::inconsistent_calls, differences(call)};
      if (!all_agree(0)) {
        end(told);
      }
      throw Error{told.code, told.story};
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::timed_out) {
      end({error.code(), error.what()});
    }
    throw;
  }
  Extras maxima{};
  std::copy(values.end() - maxima.size(), values.end(), maxima.begin());
  return maxima;
}

std::string Meeting::differences(const Call& call) {
  const char* what = "the other ranks to say what they have called";
  const std::string mine = text(call);
  const std::uint64_t digest = mix(mix(mix(empty_digest, call.file), mine), call.definitions);
  const auto all = mpi::gather_to_all(comm_, positive(digest), policy_, what);
  const auto other = std::find_if(all.begin(), all.end(),
                                  [&all](std::int64_t value) { return value != all.front(); });
  const auto odd = static_cast<std::size_t>(other - all.begin()) % all.size();
  std::string usual_call = mine;
  std::string odd_call = mine;
  mpi::broadcast(comm_, 0, usual_call, policy_, what);
  mpi::broadcast(comm_, static_cast<int>(odd), odd_call, policy_, what);
  std::string file_name = call.file_name;
  mpi::broadcast(comm_, 0, file_name, policy_, what);
  return different_calls(file_name, compute_rank(odd), odd_call, compute_rank(0), usual_call);
}

}  // namespace iocomp::client
