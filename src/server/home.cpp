#include "server/home.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"
#include "contents/catalogue.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "server/context.h"

namespace iocomp::server {

using protocol::Kind;
using protocol::Notice;

std::string HomeFile::compute_rank(int client) const {
  return "compute rank " + std::to_string(context_.place.clients.at(client));
}

void HomeFile::inconsistent(const std::string& what) {
  if (!std::exchange(failed_, true)) {
    const std::string name = open_ ? open_->name : "?";
    context_.post.to_server(
        0, protocol::encode(key_, Kind::file_failed,
                            Outcome{ErrorCode::inconsistent_calls,
                                    "file \"" + name +
                                        "\": the ranks do not make the same calls in "
                                        "the same order: " +
                                        what}));
  }
}

void HomeFile::open(int client, const protocol::Open& open) {
  clients_.push_back(client);
  if (!open_) {
    open_ = open;
    context_.post.to_server(0, protocol::encode(key_, Kind::home_open, open));
  } else if (open.kind != open_->kind || open.members != open_->members) {
    inconsistent(compute_rank(client) + " opened it as another kind of file than compute rank " +
                 std::to_string(open_->opener));
  }
  if (opened_) {
    context_.post.to_rank(client, protocol::encode(key_, *opened_));
  }
}

void HomeFile::opened(const protocol::Opened& opened) {
  opened_ = opened;
  for (const int client : clients_) {
    context_.post.to_rank(client, protocol::encode(key_, opened));
  }
}

void HomeFile::event(int client, const protocol::Event& event) {
  const auto sequence = static_cast<std::size_t>(event.sequence);
  if (sequence == events_.size()) {
    events_.emplace_back(event.caller, event.what);
    context_.post.to_server(0, protocol::encode(key_, Kind::home_event, event));
  } else if (sequence > events_.size()) {
    throw Error{ErrorCode::internal, "an event of " + compute_rank(client) + " came out of order"};
  } else if (events_[sequence].second != event.what) {
    inconsistent(compute_rank(client) + " called " +
                 contents::text(contents::decode_event(event.what)) + " where compute rank " +
                 std::to_string(events_[sequence].first) + " called " +
                 contents::text(contents::decode_event(events_[sequence].second)));
  }
}

void HomeFile::gather(int client, const protocol::StepCounts& counts, protocol::StepCounts& sum,
                      const char* call) {
  if (sum.members == 0) {
    sum = counts;
    return;
  }
  if (counts.events != sum.events || counts.step != sum.step) {
    inconsistent(compute_rank(client) + " called " + call + " in step " +
                 std::to_string(counts.step) + " after " + std::to_string(counts.events) +
                 " definitions, another in step " + std::to_string(sum.step) + " after " +
                 std::to_string(sum.events));
  }
  protocol::add(sum, counts);
}

void HomeFile::end_step(int client, const protocol::StepCounts& counts) {
  auto& sum = steps_[counts.step];
  gather(client, counts, sum, "end_step");
  if (sum.members == open_->home_members) {
    context_.post.to_server(0, protocol::encode(key_, Kind::home_step, sum));
    steps_.erase(counts.step);
  }
}

void HomeFile::close(int client, const protocol::StepCounts& counts) {
  gather(client, counts, closing_, "close");
  if (closing_.members == open_->home_members) {
    if (!steps_.empty()) {
      inconsistent("some closed it in step " + std::to_string(counts.step) +
                   " while others had called end_step in step " +
                   std::to_string(steps_.begin()->first));
    }
    context_.post.to_server(0, protocol::encode(key_, Kind::home_close, closing_));
  }
}

void HomeFile::settled(std::int64_t step, const Outcome& outcome) {
  for (const int client : clients_) {
    context_.post.notify(client,
                         {Notice::About::settled, key_, static_cast<std::uint64_t>(step), outcome});
  }
}

void HomeFile::failed(const Outcome& outcome) {
  failed_ = true;
  for (const int client : clients_) {
    context_.post.notify(client, {Notice::About::file_failed, key_, 0, outcome});
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
