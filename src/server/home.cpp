#include "server/home.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

std::string HomeFile::compute_rank(int client) const {
  return "compute rank " + std::to_string(context_.place.clients.at(client));
}

void HomeFile::different(const steps::Difference& difference) {
  give_up({difference.from_step, -1, 0, steps::different_calls(open_->name, difference.what)});
}

void HomeFile::give_up(const protocol::StepNote& from) {
  if (!std::exchange(is_different_, true)) {
    context_.post.to_server(0, protocol::encode(key_, Kind::file_failed, from));
  }
}

void HomeFile::left(int client) {
  if (const auto found = in_step_.find(client); found != in_step_.end()) {
    close(client, protocol::StepCounts{found->second});
  }
}

void HomeFile::open(int client, const protocol::Open& open) {
  clients_.push_back(client);
  in_step_[client].members = 1;
  if (!open_) {
    open_ = open;
    reports_.emplace(
        key_, open.home_members,
        [this](protocol::Bytes message) { context_.post.to_server(0, std::move(message)); },
        [this](const steps::Difference& difference) { different(difference); });
    context_.post.to_server(0, protocol::encode(key_, Kind::home_open, open));
  } else if (open.kind != open_->kind || open.members != open_->members ||
             open.after != open_->after || open.options != open_->options) {
    different(
        {compute_rank(client) +
             " opened it as another kind of file, after another step or with other options than "
             "compute rank " +
             std::to_string(open_->opener),
         0});
  }
  if (opened_) {
    context_.post.to_rank(client, protocol::encode(key_, *opened_));
  }
  if (failure_) {  // others were told when it came
    context_.post.notify(client, *failure_);
  }
}

void HomeFile::opened(const protocol::Opened& opened) {
  opened_ = opened;
  for (const int client : clients_) {
    context_.post.to_rank(client, protocol::encode(key_, opened));
  }
}

void HomeFile::event(int /*client*/, const protocol::Event& event) { reports_->event(event); }

void HomeFile::end_step(int client, const protocol::StepCounts& counts) {
  auto& now = in_step_[client];
  now.step = counts.step + 1;
  now.events = counts.events;
  reports_->step_ended(counts, compute_rank(client));
}

void HomeFile::close(int client, const protocol::StepCounts& counts) {
  in_step_.erase(client);
  reports_->closed(counts, compute_rank(client));
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
  return refused && open_ && static_cast<std::int64_t>(clients_.size()) == open_->home_members;
}

}  // namespace iocomp::server
