// SPDX-License-Identifier: BSD-3-Clause
// Calls of MPI that SMPI lacks or simulates badly, in front of SMPI's own (LD_PRELOAD): probes that
// take what they find, nonblocking collectives, intercommunicators. And what each rank sends is
// counted. The library is none the wiser.
//
// SMPI 3.32 sends P^2 messages for a nonblocking collective, and its Ibarrier lets ranks go before
// all have come. Here a collective is a table that all ranks fill in, being in one process; it is
// done when the last one it needs has come, and a tree of messages has had the time to go up and
// down.
#include <smpi/mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "counts.h"
#include "ranks.h"

extern "C" double simgrid_get_clock();

namespace smpi {
namespace {

// The cost of one message between nodes; as the platform has it (machine.py).
constexpr double latency_seconds = 1.5e-6;
constexpr double bytes_per_second = 25e9;

// Chunks of data have this tag on the session's communicator (message_transport.cpp), and parts of
// blocks (exchange_parts.h). Everything else tells something.
constexpr int data_tag = 2;

// The i-th communicator that the ranks make: their handles of one differ, or are used again.
std::unordered_map<MPI_Comm, int>& numbers() {
  static std::unordered_map<MPI_Comm, int> all;
  return all;
}
int number_of(MPI_Comm comm) {
  const auto found = numbers().find(comm);
  return comm == MPI_COMM_WORLD || found == numbers().end() ? 0 : found->second;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}
std::size_t bytes_of(int count, MPI_Datatype type) {
  int one = 0;
  PMPI_Type_size(type, &one);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(one);
}

struct Meeting {
  std::vector<std::vector<std::byte>> parts;  // by rank
  std::vector<double> came;                   // when; < 0: not yet
  std::size_t count = 0;                      // of those that have
  std::vector<std::vector<std::byte>>
      sums;  // of the parts up to each, as far as they were asked for
};
enum class Needs { all, lower, root };

/// A rank waits for this. Its address is the request.
struct Waiting {
  std::shared_ptr<Meeting> meeting;
  Needs needs = Needs::all;
  int rank = 0;
  int root = 0;
  std::size_t result_bytes = 0;
  std::function<void(Meeting&)> take;

  [[nodiscard]] bool is_done() const {
    const auto& came = meeting->came;
    if (needs == Needs::all && meeting->count < came.size()) {
      return false;
    }
    auto first = came.begin();
    auto last = came.end();
    if (needs == Needs::root) {
      first += root;
      last = first + 1;
    } else if (needs == Needs::lower) {
      last = first + rank + 1;
    }
    double latest = 0;
    for (auto one = first; one != last; ++one) {
      if (*one < 0) {
        return false;
      }
      latest = std::max(latest, *one);
    }
    const double hops = std::ceil(std::log2(static_cast<double>(came.size()) + 1));
    return simgrid_get_clock() >= latest + 2 * hops * latency_seconds +
                                      static_cast<double>(result_bytes) / bytes_per_second;
  }
};

std::unordered_set<void*>& waitings() {
  static std::unordered_set<void*> all;
  return all;
}
Waiting* waiting_of(MPI_Request request) {
  return waitings().contains(request) ? reinterpret_cast<Waiting*>(request) : nullptr;
}

std::shared_ptr<Meeting> meet(MPI_Comm comm, const void* memory, std::size_t bytes) {
  static std::map<std::pair<int, int>, int> joined;  // by communicator and rank: so many
  static std::map<std::pair<int, int>, std::shared_ptr<Meeting>> open;
  const int number = number_of(comm);
  const int rank = rank_in(comm);
  const auto size = static_cast<std::size_t>(size_of(comm));
  const std::pair key{number, joined[{number, rank}]++};
  auto& meeting = open[key];
  if (!meeting) {
    meeting = std::make_shared<Meeting>();
    meeting->parts.resize(size);
    meeting->came.assign(size, -1);
  }
  const auto own = static_cast<std::size_t>(rank);
  const auto* const first = static_cast<const std::byte*>(memory);
  meeting->parts[own].assign(first, first + bytes);
  meeting->came[own] = simgrid_get_clock();
  ++meeting->count;
  auto met = meeting;
  if (met->count == size) {
    open.erase(key);
  }
  return met;
}

int begin(MPI_Comm comm, const void* memory, std::size_t bytes, std::size_t result_bytes,
          Needs needs, int root, std::function<void(Meeting&)> take, MPI_Request* request) {
  auto* const waiting = new Waiting{
      meet(comm, memory, bytes), needs, rank_in(comm), root, result_bytes, std::move(take)};
  waitings().insert(waiting);
  *request = reinterpret_cast<MPI_Request>(waiting);
  auto& counts = counts_of_this();
  counts.collectives += 1;
  counts.collective_bytes += static_cast<double>(result_bytes);
  return MPI_SUCCESS;
}

bool is_done(MPI_Request& request) {
  Waiting* const waiting = waiting_of(request);
  if (!waiting->is_done()) {
    return false;
  }
  waiting->take(*waiting->meeting);
  waitings().erase(waiting);
  delete waiting;
  request = MPI_REQUEST_NULL;
  return true;
}

void copy(void* to, const std::vector<std::byte>& from) {
  if (!from.empty()) {
    std::memcpy(to, from.data(), from.size());
  }
}

void nothing(const Meeting& /*meeting*/) {}

// All parts one after another.
auto gathered(void* result) {
  return [result](const Meeting& meeting) {
    auto* to = static_cast<std::byte*>(result);
    for (const auto& part : meeting.parts) {
      copy(to, part);
      to += part.size();
    }
  };
}

auto reduced(void* result, int count, MPI_Datatype type, MPI_Op operation, int parts) {
  return [=](Meeting& meeting) {
    if (parts == 0) {
      return;  // undefined
    }
    auto& sums = meeting.sums;
    while (sums.size() < static_cast<std::size_t>(parts)) {
      sums.push_back(meeting.parts[sums.size()]);
      if (sums.size() > 1) {
        PMPI_Reduce_local(sums[sums.size() - 2].data(), sums.back().data(), count, type, operation);
      }
    }
    copy(result, sums[static_cast<std::size_t>(parts) - 1]);
  };
}

struct Probed {
  int source;
  int tag;
  MPI_Comm comm;
};

// The group of the others stands for an intercommunicator.
std::map<MPI_Comm, MPI_Group>& others() {
  static std::map<MPI_Comm, MPI_Group> all;
  return all;
}

int numbered(MPI_Comm parent, MPI_Comm made, int part) {
  static std::map<std::vector<int>, int> known;
  static std::map<std::pair<int, int>, int> made_by;  // by parent and rank in it
  static int next = 1;
  const int turn = made_by[{number_of(parent), rank_in(parent)}]++;
  auto& number = known[{number_of(parent), turn, part}];
  number = number == 0 ? next++ : number;
  if (made != MPI_COMM_NULL) {
    numbers()[made] = number;
  }
  return MPI_SUCCESS;
}

void count_sent(int bytes, int tag) {
  auto& counts = counts_of_this();
  if (tag == data_tag) {
    counts.data_sent += 1;
    counts.data_sent_bytes += bytes;
  } else {
    counts.control_sent += 1;
    counts.control_sent_bytes += bytes;
    counts.longest_message = std::max(counts.longest_message, static_cast<double>(bytes));
  }
}

}  // namespace
}  // namespace smpi

using namespace smpi;

extern "C" {

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* found, MPI_Message* message,
                MPI_Status* status) {
  MPI_Status seen;
  const int error = PMPI_Iprobe(source, tag, comm, found, &seen);
  if (*found != 0) {  // one thread for each rank: nobody takes it meanwhile
    *message = new Probed{seen.MPI_SOURCE, seen.MPI_TAG, comm};
  }
  if (status != MPI_STATUS_IGNORE) {
    *status = seen;
  }
  return error;
}
int MPI_Mrecv(void* memory, int count, MPI_Datatype type, MPI_Message* message,
              MPI_Status* status) {
  const std::unique_ptr<Probed> probed{static_cast<Probed*>(*message)};
  *message = MPI_MESSAGE_NULL;
  auto& counts = counts_of_this();
  counts.control_received += 1;
  counts.control_received_bytes += static_cast<double>(bytes_of(count, type));
  return PMPI_Recv(memory, count, type, probed->source, probed->tag, probed->comm, status);
}

int MPI_Isend(const void* memory, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  count_sent(static_cast<int>(bytes_of(count, type)), tag);
  return PMPI_Isend(memory, count, type, to, tag, comm, request);
}
int MPI_Issend(const void* memory, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  count_sent(static_cast<int>(bytes_of(count, type)), tag);
  return PMPI_Issend(memory, count, type, to, tag, comm, request);
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  if (*request == MPI_REQUEST_NULL) {
    *done = 1;  // SMPI leaves it alone
    return MPI_SUCCESS;
  }
  if (waiting_of(*request) == nullptr) {
    return PMPI_Test(request, done, status);
  }
  *done = smpi::is_done(*request) ? 1 : 0;
  return MPI_SUCCESS;
}
int MPI_Testall(int count, MPI_Request requests[], int* done, MPI_Status statuses[]) {
  *done = 1;
  for (int i = 0; i < count; ++i) {
    int one = 1;
    if (requests[i] != MPI_REQUEST_NULL) {
      MPI_Test(&requests[i], &one,
               statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    }
    *done = *done != 0 && one != 0 ? 1 : 0;
  }
  return MPI_SUCCESS;
}
int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[],
                 MPI_Status statuses[]) {
  auto& counts = counts_of_this();
  counts.most_pending = std::max(counts.most_pending, static_cast<double>(count));
  return PMPI_Testsome(count, requests, done, indices, statuses);
}
int MPI_Request_free(MPI_Request* request) {
  if (Waiting* const waiting = waiting_of(*request)) {
    waitings().erase(waiting);
    delete waiting;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  return PMPI_Request_free(request);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return begin(comm, nullptr, 0, 0, Needs::all, 0, nothing, request);
}
int MPI_Ibcast(void* memory, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  const auto bytes = bytes_of(count, type);
  const bool is_root = rank_in(comm) == root;
  return begin(
      comm, memory, is_root ? bytes : 0, bytes, Needs::root, root,
      [memory, root](const Meeting& meeting) {
        copy(memory, meeting.parts[static_cast<std::size_t>(root)]);
      },
      request);
}
int MPI_Iallreduce(const void* memory, void* result, int count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm comm, MPI_Request* request) {
  const auto bytes = bytes_of(count, type);
  return begin(comm, memory == MPI_IN_PLACE ? result : memory, bytes, bytes, Needs::all, 0,
               reduced(result, count, type, operation, size_of(comm)), request);
}
int MPI_Iexscan(const void* memory, void* result, int count, MPI_Datatype type, MPI_Op operation,
                MPI_Comm comm, MPI_Request* request) {
  const auto bytes = bytes_of(count, type);
  return begin(comm, memory == MPI_IN_PLACE ? result : memory, bytes, bytes, Needs::lower, 0,
               reduced(result, count, type, operation, rank_in(comm)), request);
}
int MPI_Iallgather(const void* memory, int count, MPI_Datatype type, void* result,
                   int /*result_count*/, MPI_Datatype /*result_type*/, MPI_Comm comm,
                   MPI_Request* request) {
  const auto bytes = bytes_of(count, type);
  return begin(comm, memory, bytes, bytes * static_cast<std::size_t>(size_of(comm)), Needs::all, 0,
               gathered(result), request);
}
int MPI_Igather(const void* memory, int count, MPI_Datatype type, void* result,
                int /*result_count*/, MPI_Datatype /*result_type*/, int root, MPI_Comm comm,
                MPI_Request* request) {
  const auto bytes = bytes_of(count, type);
  if (rank_in(comm) != root) {  // its part is copied at once
    return begin(comm, memory, bytes, 0, Needs::root, rank_in(comm), nothing, request);
  }
  return begin(comm, memory, bytes, bytes * static_cast<std::size_t>(size_of(comm)), Needs::all,
               root, gathered(result), request);
}
int MPI_Igatherv(const void* memory, int count, MPI_Datatype type, void* result,
                 const int* /*counts*/, const int offsets[], MPI_Datatype /*result_type*/, int root,
                 MPI_Comm comm, MPI_Request* request) {
  const auto bytes = bytes_of(count, type);
  if (rank_in(comm) != root) {
    return begin(comm, memory, bytes, 0, Needs::root, rank_in(comm), nothing, request);
  }
  std::vector<std::size_t> places;
  for (int i = 0; i < size_of(comm); ++i) {
    places.push_back(bytes_of(offsets[i], type));
  }
  return begin(
      comm, memory, bytes, places.back(), Needs::all, root,
      [result, places](const Meeting& meeting) {
        for (std::size_t i = 0; i < places.size(); ++i) {
          copy(static_cast<std::byte*>(result) + places[i], meeting.parts[i]);
        }
      },
      request);
}
int MPI_Ialltoall(const void* memory, int count, MPI_Datatype type, void* result,
                  int /*result_count*/, MPI_Datatype /*result_type*/, MPI_Comm comm,
                  MPI_Request* request) {
  const auto one = bytes_of(count, type);
  const auto all = one * static_cast<std::size_t>(size_of(comm));
  const auto own = static_cast<std::size_t>(rank_in(comm));
  return begin(
      comm, memory, all, all, Needs::all, 0,
      [result, one, own](const Meeting& meeting) {
        auto* to = static_cast<std::byte*>(result);
        for (const auto& part : meeting.parts) {
          std::memcpy(to, part.data() + own * one, one);
          to += one;
        }
      },
      request);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  const int error = PMPI_Comm_dup(comm, made);
  numbered(comm, *made, 0);
  return error;
}
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  MPI_Comm_dup(comm, made);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  const int error = PMPI_Comm_split(comm, color, key, made);
  numbered(comm, *made, color);
  return error;
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  const int error = PMPI_Comm_split_type(comm, type, key, info, made);
  int first = 0;  // of the session: the colour
  if (*made != MPI_COMM_NULL) {
    first = rank_in(comm);
    PMPI_Bcast(&first, 1, MPI_INT, 0, *made);
  }
  numbered(comm, *made, first);
  return error;
}
int MPI_Group_free(MPI_Group* group) {
  return *group == MPI_GROUP_NULL ? MPI_SUCCESS : PMPI_Group_free(group);
}
int MPI_Comm_free(MPI_Comm* comm) {
  if (const auto found = others().find(*comm); found != others().end()) {
    PMPI_Group_free(&found->second);
    others().erase(found);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  return PMPI_Comm_free(comm);
}
int MPI_Intercomm_create(MPI_Comm own, int /*leader*/, MPI_Comm comm, int /*other_leader*/,
                         int /*tag*/, MPI_Comm* made) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group mine = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &all);
  PMPI_Comm_group(own, &mine);
  auto* const place = new MPI_Group{MPI_GROUP_NULL};
  PMPI_Group_difference(all, mine, place);
  *made = reinterpret_cast<MPI_Comm>(place);
  others()[*made] = *place;
  return MPI_SUCCESS;
}
int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  const auto found = others().find(comm);
  if (found == others().end()) {
    return PMPI_Comm_remote_group(comm, group);
  }
  *group = found->second;
  found->second = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

}  // extern "C"
