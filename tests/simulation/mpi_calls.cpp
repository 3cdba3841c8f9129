// SPDX-License-Identifier: BSD-3-Clause
// The MPI that simulated processes have: the functions that the library calls, on a Network.
// Handles are pointers to the Network's objects; constants are those of the mpi.h that the library
// was compiled with (Open MPI, where handles are pointers).
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "network.h"

using simulation::Network;

namespace {

Network& network() { return *Network::current(); }

Network::Communicator& communicator(MPI_Comm comm) {
  return *reinterpret_cast<Network::Communicator*>(comm);
}
Network::Request& request_of(MPI_Request request) {
  return *reinterpret_cast<Network::Request*>(request);
}
Network::Group& group_of(MPI_Group group) { return *reinterpret_cast<Network::Group*>(group); }
MPI_Request handle(Network::Request& request) { return reinterpret_cast<MPI_Request>(&request); }

/// A type of MPI_Type_create_hindexed: bytes at addresses.
struct Blocks {
  std::vector<std::span<std::byte>> parts;
};
std::set<MPI_Datatype>& types_of_blocks() {
  static std::set<MPI_Datatype> all;
  return all;
}

std::size_t size_of(MPI_Datatype type) {
  return type == MPI_BYTE || type == MPI_CHAR ? 1 : type == MPI_INT ? sizeof(int) : 8;
}

std::span<std::byte> bytes_of(const void* memory, int count, MPI_Datatype type) {
  return {const_cast<std::byte*>(static_cast<const std::byte*>(memory)),
          static_cast<std::size_t>(count) * size_of(type)};
}

/// The memory of a message.
std::vector<std::span<std::byte>> memory_of(const void* memory, int count, MPI_Datatype type) {
  if (types_of_blocks().contains(type)) {
    return reinterpret_cast<Blocks*>(type)->parts;
  }
  return {bytes_of(memory, count, type)};
}

std::vector<std::byte> copy_of(const void* memory, int count, MPI_Datatype type) {
  const auto bytes = bytes_of(memory, count, type);
  return {bytes.begin(), bytes.end()};
}

void fill(MPI_Status* status, const Network::Status& found) {
  if (status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = found.source;
    status->MPI_TAG = found.tag;
    status->MPI_ERROR = MPI_SUCCESS;
    status->_ucount = found.bytes;
  }
}

template <typename T>
void combine(std::vector<std::byte>& sum, const std::vector<std::byte>& more, MPI_Op operation) {
  // Ranks in different calls give different lengths: what comes of it is told by what they do next.
  const std::size_t bytes = std::min(sum.size(), more.size());
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T one;
    T other;
    std::memcpy(&one, sum.data() + at, sizeof(T));
    std::memcpy(&other, more.data() + at, sizeof(T));
    one = operation == MPI_MAX ? std::max(one, other) : one + other;
    std::memcpy(sum.data() + at, &one, sizeof(T));
  }
}

void combine(std::vector<std::byte>& sum, const std::vector<std::byte>& more, MPI_Datatype type,
             MPI_Op operation) {
  type == MPI_DOUBLE ? combine<double>(sum, more, operation)
                     : combine<std::int64_t>(sum, more, operation);
}

/// Messages that a probe has found, and that are not received yet.
using Found = std::shared_ptr<Network::Message>;

/// Test without letting time pass for each of many.
bool is_done(MPI_Request& request, MPI_Status* status) {
  Network::Status found;
  if (request == MPI_REQUEST_NULL) {
    fill(status, {});
    return true;
  }
  if (!network().test(request_of(request), &found)) {
    return false;
  }
  fill(status, found);
  request = MPI_REQUEST_NULL;
  return true;
}

}  // namespace

extern "C" {

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  *rank = network().rank(communicator(comm));
  return MPI_SUCCESS;
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  *size = static_cast<int>(Network::processes(communicator(comm)).size());
  return MPI_SUCCESS;
}
int MPI_Comm_free(MPI_Comm* comm) {
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
int MPI_Comm_set_errhandler(MPI_Comm /*comm*/, MPI_Errhandler /*handler*/) { return MPI_SUCCESS; }
int MPI_Comm_compare(MPI_Comm one, MPI_Comm other, int* result) {
  const auto& first = Network::processes(communicator(one));
  const auto& second = Network::processes(communicator(other));
  *result = one == other ? MPI_IDENT : first == second ? MPI_CONGRUENT : MPI_UNEQUAL;
  return MPI_SUCCESS;
}
int MPI_Comm_get_attr(MPI_Comm /*comm*/, int key, void* value, int* found) {
  static int most = (1 << 23) - 1;
  *static_cast<int**>(value) = &most;
  *found = key == MPI_TAG_UB ? 1 : 0;
  return MPI_SUCCESS;
}
// Nobody asks for what is left to MPI: no communicator is freed.
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* /*copy*/,
                           MPI_Comm_delete_attr_function* /*remove*/, int* key, void* /*extra*/) {
  *key = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}
int MPI_Comm_set_attr(MPI_Comm /*comm*/, int /*key*/, void* /*value*/) { return MPI_SUCCESS; }
int MPI_Comm_test_inter(MPI_Comm /*comm*/, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  *group =
      reinterpret_cast<MPI_Group>(&network().make_group(Network::processes(communicator(comm))));
  return MPI_SUCCESS;
}
int MPI_Group_size(MPI_Group group, int* size) {
  *size = static_cast<int>(group_of(group).processes.size());
  return MPI_SUCCESS;
}
int MPI_Group_free(MPI_Group* group) {
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}
int MPI_Group_translate_ranks(MPI_Group from, int count, const int ranks[], MPI_Group to,
                              int translated[]) {
  const auto& all = group_of(to).processes;
  for (int i = 0; i < count; ++i) {
    const int process = group_of(from).processes[static_cast<std::size_t>(ranks[i])];
    const auto found = std::ranges::find(all, process);
    translated[i] = found == all.end() ? MPI_UNDEFINED : static_cast<int>(found - all.begin());
  }
  return MPI_SUCCESS;
}
int MPI_Group_incl(MPI_Group from, int count, const int ranks[], MPI_Group* made) {
  std::vector<int> processes;
  for (int i = 0; i < count; ++i) {
    processes.push_back(group_of(from).processes[static_cast<std::size_t>(ranks[i])]);
  }
  *made = reinterpret_cast<MPI_Group>(&network().make_group(std::move(processes)));
  return MPI_SUCCESS;
}
int MPI_Comm_create_group(MPI_Comm /*comm*/, MPI_Group group, int /*tag*/, MPI_Comm* made) {
  *made = reinterpret_cast<MPI_Comm>(&network().make_of(group_of(group)));
  return MPI_SUCCESS;
}
int MPI_Finalized(int* is_finalized) {
  *is_finalized = 0;
  return MPI_SUCCESS;
}

int MPI_Isend(const void* memory, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const auto parts = memory_of(memory, count, type);
  *request =
      handle(network().send(communicator(comm), to, tag, {parts.begin(), parts.end()}, false));
  return MPI_SUCCESS;
}
int MPI_Issend(const void* memory, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  *request =
      handle(network().send(communicator(comm), to, tag, {bytes_of(memory, count, type)}, true));
  return MPI_SUCCESS;
}
int MPI_Irecv(void* memory, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  *request = handle(
      network().receive(communicator(comm), from == MPI_ANY_SOURCE ? Network::any : from,
                        tag == MPI_ANY_TAG ? Network::any : tag, memory_of(memory, count, type)));
  return MPI_SUCCESS;
}
int MPI_Improbe(int from, int tag, MPI_Comm comm, int* found, MPI_Message* message,
                MPI_Status* status) {
  auto taken = network().probe(communicator(comm), from == MPI_ANY_SOURCE ? Network::any : from,
                               tag == MPI_ANY_TAG ? Network::any : tag);
  *found = taken ? 1 : 0;
  if (taken) {
    fill(status, Network::status(*taken));
    *message = reinterpret_cast<MPI_Message>(new Found{std::move(taken)});
  }
  return MPI_SUCCESS;
}
int MPI_Mrecv(void* memory, int count, MPI_Datatype type, MPI_Message* message,
              MPI_Status* status) {
  const std::unique_ptr<Found> taken{reinterpret_cast<Found*>(*message)};
  *message = MPI_MESSAGE_NULL;
  fill(status, Network::status(**taken));
  network().take(**taken, {bytes_of(memory, count, type)});
  return MPI_SUCCESS;
}
int MPI_Get_address(const void* place, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(place);
  return MPI_SUCCESS;
}
int MPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint addresses[],
                             MPI_Datatype type, MPI_Datatype* made) {
  auto* const blocks = new Blocks;
  for (int i = 0; i < count; ++i) {
    blocks->parts.push_back(
        bytes_of(reinterpret_cast<const void*>(addresses[i]), lengths[i], type));
  }
  *made = reinterpret_cast<MPI_Datatype>(blocks);
  types_of_blocks().insert(*made);
  return MPI_SUCCESS;
}
int MPI_Type_commit(MPI_Datatype* /*type*/) { return MPI_SUCCESS; }
int MPI_Type_free(MPI_Datatype* type) {
  types_of_blocks().erase(*type);
  delete reinterpret_cast<Blocks*>(*type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  *count = static_cast<int>(status->_ucount / size_of(type));
  return MPI_SUCCESS;
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  *done = is_done(*request, status) ? 1 : 0;
  return MPI_SUCCESS;
}
int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[],
                 MPI_Status statuses[]) {
  *done = 0;
  bool any = false;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) {
      continue;
    }
    any = true;
    if (is_done(requests[i],
                statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*done])) {
      indices[(*done)++] = i;
    }
  }
  if (!any) {
    *done = MPI_UNDEFINED;
  }
  return MPI_SUCCESS;
}
int MPI_Testall(int count, MPI_Request requests[], int* done, MPI_Status* /*statuses*/) {
  *done = 1;
  for (int i = 0; i < count; ++i) {
    *done = is_done(requests[i], MPI_STATUS_IGNORE) && *done == 1 ? 1 : 0;
  }
  return MPI_SUCCESS;
}
int MPI_Request_free(MPI_Request* request) {
  network().release(request_of(*request));
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
int MPI_Cancel(MPI_Request* request) {
  network().cancel(request_of(*request));
  return MPI_SUCCESS;
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  *request = handle(
      network().duplicate(communicator(comm), reinterpret_cast<Network::Communicator**>(made)));
  return MPI_SUCCESS;
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  *request = handle(network().collective(communicator(comm), Network::Needs::all, 0, {}, {}));
  return MPI_SUCCESS;
}
int MPI_Ibcast(void* memory, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  auto& ranks = communicator(comm);
  const bool is_root = network().rank(ranks) == root;
  *request =
      handle(network().collective(ranks, is_root ? Network::Needs::own : Network::Needs::root, root,
                                  is_root ? copy_of(memory, count, type) : std::vector<std::byte>{},
                                  [memory, root](const std::vector<Network::Part>& parts) {
                                    const auto& given = parts[static_cast<std::size_t>(root)].given;
                                    std::memcpy(memory, given.data(), given.size());
                                  }));
  return MPI_SUCCESS;
}
int MPI_Iallreduce(const void* memory, void* result, int count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm comm, MPI_Request* request) {
  const void* const from = memory == MPI_IN_PLACE ? result : memory;
  *request = handle(
      network().collective(communicator(comm), Network::Needs::all, 0, copy_of(from, count, type),
                           [result, type, operation](const std::vector<Network::Part>& parts) {
                             std::vector<std::byte> sum = parts.front().given;
                             for (std::size_t i = 1; i < parts.size(); ++i) {
                               combine(sum, parts[i].given, type, operation);
                             }
                             std::memcpy(result, sum.data(), sum.size());
                           }));
  return MPI_SUCCESS;
}
int MPI_Iexscan(const void* memory, void* result, int count, MPI_Datatype type, MPI_Op operation,
                MPI_Comm comm, MPI_Request* request) {
  auto& ranks = communicator(comm);
  const auto own = static_cast<std::size_t>(network().rank(ranks));
  *request = handle(
      network().collective(ranks, Network::Needs::lower, 0, copy_of(memory, count, type),
                           [result, type, operation, own](const std::vector<Network::Part>& parts) {
                             if (own == 0) {
                               return;  // undefined there
                             }
                             std::vector<std::byte> sum = parts.front().given;
                             for (std::size_t i = 1; i < own; ++i) {
                               combine(sum, parts[i].given, type, operation);
                             }
                             std::memcpy(result, sum.data(), sum.size());
                           }));
  return MPI_SUCCESS;
}
int MPI_Iallgather(const void* memory, int count, MPI_Datatype type, void* result,
                   int /*result_count*/, MPI_Datatype /*result_type*/, MPI_Comm comm,
                   MPI_Request* request) {
  *request = handle(network().collective(communicator(comm), Network::Needs::all, 0,
                                         copy_of(memory, count, type),
                                         [result](const std::vector<Network::Part>& parts) {
                                           auto* to = static_cast<std::byte*>(result);
                                           for (const auto& part : parts) {
                                             to = std::ranges::copy(part.given, to).out;
                                           }
                                         }));
  return MPI_SUCCESS;
}
int MPI_Ialltoall(const void* memory, int count, MPI_Datatype type, void* result,
                  int /*result_count*/, MPI_Datatype /*result_type*/, MPI_Comm comm,
                  MPI_Request* request) {
  auto& ranks = communicator(comm);
  const auto own = static_cast<std::size_t>(network().rank(ranks));
  const auto size = static_cast<std::size_t>(count) * size_of(type);
  const auto all = static_cast<int>(Network::processes(ranks).size());
  *request =
      handle(network().collective(ranks, Network::Needs::all, 0, copy_of(memory, count * all, type),
                                  [result, own, size](const std::vector<Network::Part>& parts) {
                                    auto* to = static_cast<std::byte*>(result);
                                    for (const auto& part : parts) {
                                      to = std::copy_n(part.given.data() + own * size, size, to);
                                    }
                                  }));
  return MPI_SUCCESS;
}
int MPI_Igather(const void* memory, int count, MPI_Datatype type, void* result,
                int /*result_count*/, MPI_Datatype /*result_type*/, int root, MPI_Comm comm,
                MPI_Request* request) {
  auto& ranks = communicator(comm);
  const bool is_root = network().rank(ranks) == root;
  *request = handle(network().collective(
      ranks, is_root ? Network::Needs::all : Network::Needs::own, root,
      copy_of(memory, count, type), [result, is_root](const std::vector<Network::Part>& parts) {
        auto* to = static_cast<std::byte*>(result);
        for (std::size_t i = 0; is_root && i < parts.size(); ++i) {
          to = std::ranges::copy(parts[i].given, to).out;
        }
      }));
  return MPI_SUCCESS;
}
int MPI_Igatherv(const void* memory, int count, MPI_Datatype type, void* result,
                 const int* /*counts*/, const int offsets[], MPI_Datatype /*result_type*/, int root,
                 MPI_Comm comm, MPI_Request* request) {
  auto& ranks = communicator(comm);
  const bool is_root = network().rank(ranks) == root;
  std::vector<int> places;
  if (is_root) {
    places.assign(offsets, offsets + Network::processes(ranks).size());
  }
  *request = handle(network().collective(
      ranks, is_root ? Network::Needs::all : Network::Needs::own, root,
      copy_of(memory, count, type),
      [result, places, type](const std::vector<Network::Part>& parts) {
        for (std::size_t i = 0; i < places.size(); ++i) {
          std::ranges::copy(parts[i].given,
                            static_cast<std::byte*>(result) +
                                static_cast<std::size_t>(places[i]) * size_of(type));
        }
      }));
  return MPI_SUCCESS;
}

}  // extern "C"
