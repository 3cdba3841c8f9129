#include "server/post_office.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/peers.h"
#include "protocol/messages.h"
#include "transport/transport.h"

namespace iocomp::server {

PostOffice::PostOffice(transport::Transport& transport, mpi::Peers servers, int number)
    : transport_{transport}, servers_{std::move(servers)}, number_{number} {}

void PostOffice::to_server(int server, std::vector<std::byte> message) {
  if (server == number_) {
    own_.push_back(std::move(message));
  } else {
    transport_.post(servers_.rank(server), std::move(message));
  }
}

void PostOffice::to_all(std::vector<std::byte> message) {
  for (int server = 0; server < servers_.size(); ++server) {
    to_server(server, message);
  }
}

void PostOffice::to_rank(int rank, std::vector<std::byte> message) {
  flush();  // what was noticed before comes before
  transport_.post(rank, std::move(message));
}

void PostOffice::notify(int rank, protocol::Notice notice) {
  notices_[rank].push_back(std::move(notice));
}

void PostOffice::flush() {
  for (const auto& [rank, notices] : notices_) {
    transport_.post(rank, protocol::encode(notices));
  }
  notices_.clear();
}

std::optional<transport::Incoming> PostOffice::take_own() {
  if (own_.empty()) {
    return std::nullopt;
  }
  transport::Incoming incoming{servers_.rank(number_), std::move(own_.front())};
  own_.pop_front();
  return incoming;
}

}  // namespace iocomp::server
