// SPDX-License-Identifier: BSD-3-Clause
#include "network.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace simulation {
namespace {

constexpr std::size_t eager_bytes = 1024;
Network* made = nullptr;

template <typename Parts>
std::size_t size_of(const Parts& parts) {
  std::size_t bytes = 0;
  for (const auto part : parts) {
    bytes += part.size();
  }
  return bytes;
}

void copy(const Network::Source& from, const Network::Target& to) {
  auto target = to.begin();
  std::size_t filled = 0;
  for (auto part : from) {
    while (!part.empty()) {
      if (filled == target->size()) {
        ++target;
        filled = 0;
        continue;
      }
      const std::size_t count = std::min(part.size(), target->size() - filled);
      std::ranges::copy(part.first(count), target->begin() + static_cast<std::ptrdiff_t>(filled));
      filled += count;
      part = part.subspan(count);
    }
  }
}

}  // namespace

struct Network::Message {
  Status status;  // `source` is a rank
  Nanoseconds arrives = 0;
  std::vector<std::byte> bytes;  // of an eager one
  Source at_sender;              // of any other, until it is taken
  Request* sender = nullptr;     // that completes when it is taken
};

struct Network::Call {
  std::vector<Part> parts;
  std::vector<Request*> requests;
  std::vector<Needs> needs;
  std::vector<int> roots;
  std::vector<bool> is_done;
  Communicator* made = nullptr;  // by a duplication
};

struct Network::Communicator {
  struct Posted {
    int from;
    int tag;
    Target bytes;
    Request* request;
  };
  std::vector<int> processes;
  std::vector<std::deque<std::shared_ptr<Message>>> unexpected;  // by receiver, in order of sending
  std::vector<std::deque<Posted>> posted;
  std::map<std::pair<int, int>, Nanoseconds> last_arrival;  // by pair
  std::vector<std::size_t> calls;                           // collective ones made by each rank
  std::deque<Call> collective;
};

Network::Network(World& world) : world_{world} { made = this; }
Network::~Network() { made = nullptr; }

Network* Network::current() noexcept { return World::current() == nullptr ? nullptr : made; }

Network::Communicator& Network::make(std::vector<int> processes) {
  auto comm = std::make_unique<Communicator>();
  comm->unexpected.resize(processes.size());
  comm->posted.resize(processes.size());
  comm->calls.resize(processes.size());
  comm->processes = std::move(processes);
  communicators_.push_back(std::move(comm));
  return *communicators_.back();
}

int Network::rank(const Communicator& comm, int process) {
  const auto found = std::ranges::find(comm.processes, process);
  return found == comm.processes.end() ? -1 : static_cast<int>(found - comm.processes.begin());
}

const std::vector<int>& Network::processes(const Communicator& comm) { return comm.processes; }

Network::Group& Network::make_group(std::vector<int> processes) {
  groups_.push_back(std::make_unique<Group>(Group{std::move(processes)}));
  return *groups_.back();
}

Network::Communicator& Network::make_of(const Group& group) {
  OfGroup& known = of_groups_[group.processes];
  const std::size_t call = known.calls[world_.process()]++;
  if (call == known.made.size()) {
    known.made.push_back(&make(group.processes));
  }
  return *known.made[call];
}

Network::Request& Network::make_request() {
  auto request = std::make_unique<Request>();
  Request& made_request = *request;
  requests_.emplace(&made_request, std::move(request));
  return made_request;
}

Nanoseconds Network::delay(std::size_t bytes) {
  const Nanoseconds usual = world_.random().between(300, 5 * microsecond);
  const bool is_late = world_.random().chance(1, 50);
  return usual + static_cast<Nanoseconds>(bytes) / 8 +
         (is_late ? world_.random().between(0, 3 * millisecond) : 0);
}

Network::Request& Network::send(Communicator& comm, int to, int tag, Source bytes,
                                bool waits_for_receiver) {
  world_.spend(200);
  const std::size_t size = size_of(bytes);
  const int from = rank(comm);
  auto message = std::make_shared<Message>();
  message->status = {.source = from, .tag = tag, .bytes = size};
  Nanoseconds& last = comm.last_arrival[{from, to}];
  last = message->arrives = std::max(last, world_.now() + delay(size));
  Request& request = make_request();
  if (size <= eager_bytes) {
    message->bytes.resize(size);
    copy(bytes, {message->bytes});
  } else {
    message->at_sender = std::move(bytes);
  }
  if (size <= eager_bytes && !waits_for_receiver) {
    request.done_at = world_.now() + world_.random().below(2 * microsecond);
  } else {
    message->sender = &request;
  }
  comm.unexpected[static_cast<std::size_t>(to)].push_back(std::move(message));
  match(comm, to);
  return request;
}

Network::Request& Network::receive(Communicator& comm, int from, int tag, Target bytes) {
  world_.spend(200);
  Request& request = make_request();
  request.is_receive = true;
  const int own = rank(comm);
  comm.posted[static_cast<std::size_t>(own)].push_back({from, tag, std::move(bytes), &request});
  match(comm, own);
  return request;
}

// Messages go to the receives that were posted for them, both in order.
void Network::match(Communicator& comm, int rank) {
  auto& posted = comm.posted[static_cast<std::size_t>(rank)];
  auto& messages = comm.unexpected[static_cast<std::size_t>(rank)];
  for (auto receive = posted.begin(); receive != posted.end();) {
    const auto found = std::ranges::find_if(messages, [&](const auto& message) {
      return (receive->from == any || receive->from == message->status.source) &&
             (receive->tag == any || receive->tag == message->status.tag);
    });
    if (found == messages.end()) {
      ++receive;
      continue;
    }
    const std::shared_ptr<Message> message = *found;
    messages.erase(found);
    Request& request = *receive->request;
    request.status = message->status;
    request.done_at = std::max(message->arrives, world_.now()) + delay(message->status.bytes);
    request.message = message;
    request.finish = [this, message, bytes = std::move(receive->bytes)] { take(*message, bytes); };
    receive = posted.erase(receive);
  }
}

void Network::take(Message& message, const Target& bytes) {
  if (message.status.bytes > size_of(bytes)) {
    std::abort();  // a truncated message: MPI would end the program
  }
  copy(message.at_sender.empty() ? Source{message.bytes} : message.at_sender, bytes);
  if (message.sender != nullptr) {
    message.sender->done_at = world_.now() + delay(0);
    if (message.sender->is_free) {
      requests_.erase(message.sender);
    }
    message.sender = nullptr;
  }
}

void Network::cancel(Request& request) {
  for (const auto& comm : communicators_) {
    for (auto& posted : comm->posted) {
      std::erase_if(posted, [&](const auto& one) { return one.request == &request; });
    }
  }
}

std::shared_ptr<Network::Message> Network::probe(Communicator& comm, int from, int tag) {
  world_.spend(200);
  auto& messages = comm.unexpected[static_cast<std::size_t>(rank(comm))];
  std::vector<int> seen;  // sources whose first message has not come yet
  for (auto message = messages.begin(); message != messages.end(); ++message) {
    const Status& status = (*message)->status;
    if ((from != any && from != status.source) || (tag != any && tag != status.tag)) {
      continue;
    }
    if ((*message)->arrives > world_.now()) {
      continue;
    }
    auto found = *message;
    messages.erase(message);
    return found;
  }
  return nullptr;
}

Network::Status Network::status(const Message& message) { return message.status; }

bool Network::test(Request& request, Status* status) {
  world_.spend(200);
  if (!request.done_at || *request.done_at > world_.now()) {
    return false;
  }
  if (request.finish) {
    request.finish();
  }
  if (status != nullptr) {
    *status = request.status;
  }
  requests_.erase(&request);
  return true;
}

void Network::release(Request& request) {
  if (request.done_at && !request.finish) {
    requests_.erase(&request);
  } else {
    request.is_free = true;
  }
}

Network::Request& Network::collective(Communicator& comm, Needs needs, int root,
                                      std::vector<std::byte> given,
                                      std::function<void(const std::vector<Part>&)> take) {
  world_.spend(300);
  const auto own = static_cast<std::size_t>(rank(comm));
  const std::size_t number = comm.calls[own]++;
  const std::size_t ranks = comm.processes.size();
  while (comm.collective.size() <= number) {
    Call call;
    call.parts.resize(ranks);
    call.requests.resize(ranks);
    call.needs.resize(ranks);
    call.roots.resize(ranks);
    call.is_done.resize(ranks);
    comm.collective.push_back(std::move(call));
  }
  Call& call = comm.collective[number];
  Request& request = make_request();
  call.parts[own] = {.given = std::move(given), .take = std::move(take), .is_here = true};
  call.requests[own] = &request;
  call.needs[own] = needs;
  call.roots[own] = root;
  advance(comm, call);
  return request;
}

// Ranks complete one by one, each when the parts that it needs are there.
void Network::advance(Communicator& comm, Call& call) {
  for (std::size_t rank = 0; rank < comm.processes.size(); ++rank) {
    if (!call.parts[rank].is_here || call.is_done[rank]) {
      continue;
    }
    const auto is_needed = [&](std::size_t other) {
      switch (call.needs[rank]) {
        case Needs::all:
          return true;
        case Needs::root:
          return static_cast<int>(other) == call.roots[rank];
        case Needs::lower:
          return other < rank;
        case Needs::own:
          break;
      }
      return false;
    };
    bool has_all = true;
    for (std::size_t other = 0; other < comm.processes.size(); ++other) {
      has_all = has_all && (!is_needed(other) || call.parts[other].is_here);
    }
    if (has_all) {
      call.is_done[rank] = true;
      call.requests[rank]->done_at = world_.now() + delay(0);
      call.requests[rank]->finish = [&call, rank] {
        if (call.parts[rank].take) {
          call.parts[rank].take(call.parts);
        }
      };
    }
  }
}

std::vector<std::string> Network::waiting_messages() const {
  std::vector<std::string> all;
  for (const auto& comm : communicators_) {
    for (std::size_t to = 0; to < comm->unexpected.size(); ++to) {
      for (const auto& message : comm->unexpected[to]) {
        const auto from = static_cast<std::size_t>(message->status.source);
        all.push_back(std::to_string(message->status.bytes) + " bytes from " +
                      world_.name(comm->processes[from]) + " to " +
                      world_.name(comm->processes[to]) + " with tag " +
                      std::to_string(message->status.tag));
      }
    }
  }
  return all;
}

Network::Request& Network::duplicate(Communicator& comm, Communicator** made_one) {
  const std::size_t number = comm.calls[static_cast<std::size_t>(rank(comm))];
  return collective(comm, Needs::all, 0, {},
                    [this, &comm, number, made_one](const std::vector<Part>& /*parts*/) {
                      Call& call = comm.collective[number];
                      if (call.made == nullptr) {
                        call.made = &make(comm.processes);
                      }
                      *made_one = call.made;
                    });
}

}  // namespace simulation
