// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/under_way.h"

#include <mpi.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/wait.h"

namespace iocomp::mpi {
namespace {

struct Left {
  std::vector<MPI_Request> requests;
  std::shared_ptr<const void> memory;
};

// A communicator has its list as an attribute.
using List = std::vector<Left>;

int key() noexcept {
  static const int made = [] {
    int value = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &value, nullptr);
    return value;
  }();
  return made;
}

List* list(MPI_Comm comm) noexcept {
  List* found = nullptr;
  int is_there = 0;
  MPI_Comm_get_attr(comm, key(), &found, &is_there);
  return is_there != 0 ? found : nullptr;
}

bool is_open(Left& left) noexcept {
  int done = 0;
  MPI_Testall(static_cast<int>(left.requests.size()), left.requests.data(), &done,
              MPI_STATUSES_IGNORE);
  return done == 0;
}

}  // namespace

void leave_to_mpi(MPI_Comm comm, const std::vector<MPI_Request>& requests,
                  std::shared_ptr<const void> memory) noexcept {
  Left left{.requests = {}, .memory = std::move(memory)};
  std::ranges::copy_if(requests, std::back_inserter(left.requests),
                       [](MPI_Request request) { return request != MPI_REQUEST_NULL; });
  if (left.requests.empty()) {
    return;
  }
  List* of_comm = list(comm);
  if (of_comm == nullptr) {
    of_comm = new List;  // MPI has it from here on
    MPI_Comm_set_attr(comm, key(), of_comm);
  }
  of_comm->push_back(std::move(left));
}

bool has_open_requests(MPI_Comm comm) noexcept {
  List* const of_comm = list(comm);
  if (of_comm == nullptr) {
    return false;
  }
  std::erase_if(*of_comm, [](Left& left) { return !is_open(left); });
  return !of_comm->empty();
}

void wait_for_all(std::vector<MPI_Request>& requests, const WaitPolicy& policy, const char* what) {
  for (auto& request : requests) {
    wait(request, policy, what);
  }
}

}  // namespace iocomp::mpi
