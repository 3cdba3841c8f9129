// SPDX-License-Identifier: BSD-3-Clause
#include "server/home.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "steps/ends.h"

namespace iocomp::server {

using protocol::Kind;
using protocol::Notice;

HomeFile::HomeFile(Context& context, std::uint64_t key, Pass pass)
    : context_{context},
      key_{key},
      pass_{std::move(pass)},
      reports_{key, context.post.tree().here().size(), pass_,
               [this](const steps::Difference& difference) { different(difference); }} {}

std::string HomeFile::compute_rank(int client) const {
  return "compute rank " + std::to_string(context_.place.clients.at(client));
}

void HomeFile::different(const steps::Difference& difference) {
  give_up({difference.from_step, -1, 0, steps::different_calls(known_->name, difference.what)});
}

void HomeFile::give_up(const protocol::StepNote& from) {
  if (!std::exchange(is_different_, true)) {
    pass_(protocol::encode(key_, Kind::home_failed, from));
  }
}

void HomeFile::left(int client) {
  if (const auto found = in_step_.find(client); found != in_step_.end()) {
    close(client, protocol::StepCounts{found->second});
  } else if (is_of_all() && std::ranges::find(clients_, client) == clients_.end() &&
             absent_.insert(client).second) {
    open(*known_, {});  // this home reports
    different({compute_rank(client) + " called finalize, and has not opened the file", 0});
    close(client, {.members = 1});
  }
}

void HomeFile::known(const protocol::Open& open) {
  if (!known_) {
    known_ = open;
  }
}

bool HomeFile::is_of_all() const {
  const auto& counts = context_.place.client_counts;
  return known_ &&
         known_->members == std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

void HomeFile::open(const protocol::Open& open, const std::string& who) {
  if (!first_open_) {
    first_open_ = open;
    const auto& counts = context_.place.client_counts;
    const auto& here = context_.post.tree().here();
    known(open);
    // If all compute ranks are members of a file, it is known how many report through this server.
    // For other files, each home reports for itself, and servers pass these reports on unchanged.
    if (is_of_all()) {
      reports_.expect(
          std::accumulate(counts.begin() + here.first, counts.begin() + here.end, std::int64_t{0}));
    }
    // Servers above must know that members report from here, even if others have opened the file
    // before.
    if (!opened_ || opened_->outcome.ok()) {
      pass_(protocol::encode(key_, Kind::home_open, open));
    }
  } else if (const auto what = commit::different_open(*first_open_, open, who); !what.empty()) {
    different({what, 0});
  }
}

void HomeFile::open(int client, const protocol::Open& open) {
  clients_.push_back(client);
  in_step_[client].members = 1;
  this->open(open, compute_rank(client));
  home_members_ = open.home_members;
  if (!is_of_all() && clients_.size() == 1) {
    reports_.expect(home_members_);
  }
  if (opened_) {
    context_.post.to_rank(client, protocol::encode(key_, Kind::opened, *opened_));
  }
  if (failure_) {  // others were told when it came
    context_.post.notify(client, *failure_);
  }
}

void HomeFile::opened(const protocol::Opened& opened) {
  opened_ = opened;
  for (const int client : clients_) {
    context_.post.to_rank(client, protocol::encode(key_, Kind::opened, opened));
  }
}

void HomeFile::event(int /*client*/, const protocol::Event& event) { reports_.event(event); }

void HomeFile::end_step(int client, const protocol::StepCounts& counts) {
  auto& now = in_step_[client];
  now.step = counts.step + 1;
  now.events = counts.events;
  reports_.ended(Kind::home_step, counts, compute_rank(client));
}

void HomeFile::close(int client, const protocol::StepCounts& counts) {
  in_step_.erase(client);
  reports_.ended(Kind::home_close, counts, compute_rank(client));
}

void HomeFile::report(Kind kind, int server, std::span<const std::byte> body) {
  switch (kind) {
    case Kind::home_failed:
      give_up(protocol::decode<protocol::StepNote>(body));
      break;
    case Kind::home_open: {
      const auto open = protocol::decode<protocol::Open>(body);
      this->open(open, "compute rank " + std::to_string(open.opener));
      break;
    }
    case Kind::home_event:
    case Kind::home_step:
    case Kind::home_close:
      if (!is_of_all()) {
        if (kind == Kind::home_event) {
          reports_.defined(protocol::decode<protocol::Event>(body));
        }
        pass_(protocol::message(kind, key_, body));
        break;
      }
      [[fallthrough]];
    default:
      reports_.take(kind, body,
                    "a compute rank of server " + std::to_string(server) + " or below it");
  }
}

void HomeFile::settled(std::int64_t step, const Outcome& outcome) {
  for (const int client : clients_) {
    context_.post.notify(client,
                         {Notice::About::settled, key_, static_cast<std::uint64_t>(step), outcome});
  }
}

void HomeFile::failed(const Outcome& outcome, std::int64_t from_step) {
  is_different_ = true;
  failure_ =
      Notice{Notice::About::file_failed, key_, static_cast<std::uint64_t>(from_step), outcome};
  for (const int client : clients_) {
    context_.post.notify(client, *failure_);
  }
}

void HomeFile::closed(const Outcome& outcome) {
  closed_ = outcome;
  for (const int client : clients_) {
    context_.post.to_rank(client, protocol::encode(key_, Kind::closed, outcome));
  }
}

bool HomeFile::is_over() const noexcept {
  if (closed_) {
    return true;  // all members of all homes have opened and closed it
  }
  const bool refused = opened_ && !opened_->outcome.ok();
  return refused && std::ssize(clients_) == home_members_;
}

}  // namespace iocomp::server
