// SPDX-License-Identifier: BSD-3-Clause
#include "client/sequence.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/file.h"
#include "client/local/local_carrier.h"
#include "client/opened_file.h"
#include "client/waiting.h"
#include "config/file_settings.h"
#include "formats/format.h"
#include "protocol/messages.h"
#include "steps/predecessors.h"

namespace iocomp::client {
namespace {

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) {
    names.push_back(name);
  }
}

}  // namespace

// The files that come before this name, for open files and by the settings.
std::vector<std::string> Sequence::before(const std::string& name) const {
  std::vector<std::string> names = config::files_before(settings_, name);
  for (const auto& [key, opened] : files_) {
    if (opened.file->name() == name) {
      std::ranges::for_each(opened.predecessors, [&](const auto& one) { add_name(names, one); });
    }
  }
  return names;
}

// If two files came after each other, one rank could end a step of the one first, and another rank
// a step of the other. Both steps would wait for ever.
// @return the way from a file with these predecessors back to it; empty if there is none.
std::string Sequence::circle(const std::string& name, const std::vector<std::string>& before) {
  std::unordered_set<std::string> seen;
  const std::function<std::string(const std::string&)> way_from = [&](const std::string& other) {
    if (other == name) {
      return '"' + name + '"';
    }
    if (!seen.insert(other).second) {
      return std::string{};
    }
    for (const auto& next : this->before(other)) {
      if (const auto rest = way_from(next); !rest.empty()) {
        return '"' + other + "\", which comes after " + rest;
      }
    }
    return std::string{};
  };
  for (const auto& other : before) {
    if (auto way = way_from(other); !way.empty()) {
      return way;
    }
  }
  return {};
}

void Sequence::begin(OpenedFile& opened) {
  opened.predecessors = opened.settings.after;
  const std::string& name = opened.file->name();
  if (const auto way = circle(name, opened.predecessors); !way.empty()) {
    throw Error{ErrorCode::invalid_setting,
                "files." + name + ".after: \"" + name + "\" cannot come after " + way};
  }
}

void Sequence::opened(OpenedFile& opened) {
  failed_.erase(opened.file->name());
  if (!opened.predecessors.empty()) {
    follow(opened);
  }
  heard_.reset();
  tell();
}

void Sequence::add(File& file, const std::string& name) {
  OpenedFile& opened = files_.find(file.key())->second;
  if (const auto way = circle(file.name(), {name}); !way.empty()) {
    throw Error{ErrorCode::invalid_argument,
                "file \"" + file.name() + "\" cannot come after " + way};
  }
  add_name(opened.predecessors, name);
  follow(opened);
  heard_.reset();
  tell();
}

void Sequence::follow(OpenedFile& opened) {
  opened.file->come_after([this, &opened] { return find(opened); });
}

steps::Predecessors Sequence::find(const OpenedFile& opened) {
  steps::Predecessors found;
  for (const auto& name : opened.predecessors) {
    for (auto& [key, other] : files_) {
      if (other.file->name() == name && other.file->ended_steps() > 0) {
        found.push_back(find(opened, other));
      }
    }
    if (const auto failed = failed_.find(name); failed != failed_.end()) {
      const auto standing = link_.progress().standing(failed->second);
      found.push_back({failed->second, name, standing.failed_from + 1, standing.failure});
    }
  }
  link_.progress().follows(opened.file->key(), found);
  tell(true);
  return found;
}

steps::Predecessor Sequence::find(const OpenedFile& opened, OpenedFile& other) {
  const File& file = *other.file;
  steps::Predecessor found{file.key(), file.name(), file.ended_steps(), {}};
  const std::string name = "file \"" + file.name() + "\" ";
  if (!other.settings.file_per_step && !other.format->traits().readable_while_open) {
    found.failure = {ErrorCode::unsupported, name + "commits nothing before it is closed (" +
                                                 std::string{other.format->name()} + ')'};
  } else if (link_.progress().verdict(found)) {
    return found;
  } else if (other.local != nullptr && other.local->is_synchronous() &&
             !pair(opened, other).has_same_members) {
    found.failure = {ErrorCode::unsupported,
                     name +
                         "is synchronous and has other members, and its last step was ended before "
                         "this file was opened: it is committed in a later call of them"};
  } else {
    (void)outcome_of([&] { other.file->carrier().hurry(found.steps - 1); });
  }
  return found;
}

Sequence::Pair& Sequence::pair(const OpenedFile& opened, const OpenedFile& other) {
  const auto [found, is_new] = pairs_.try_emplace({opened.file->key(), other.file->key()});
  if (is_new) {
    auto mine = opened.members;
    auto others = other.members;
    std::ranges::sort(mine);
    std::ranges::sort(others);
    const auto first = std::ranges::find_if(
        opened.members, [&](int rank) { return std::ranges::binary_search(others, rank); });
    found->second.is_teller = first != opened.members.end() && *first == place_.rank;
    found->second.has_same_members = mine == others;
  }
  return found->second;
}

void Sequence::tell(bool waits) {
  if (heard_ == link_.progress().version()) {
    return;
  }
  heard_ = link_.progress().version();
  for (const auto& [key, opened] : files_) {
    for (const auto& name : opened.predecessors) {
      for (const auto& [other_key, other] : files_) {
        if (other.file->name() == name) {
          tell(opened, other, waits);
        }
      }
    }
  }
}

// Servers know how far their files have come. A lead that is a member of the other file hears it.
void Sequence::tell(const OpenedFile& opened, const OpenedFile& other, bool waits) {
  Pair& pair = this->pair(opened, other);
  if (other.local != nullptr && other.local->is_synchronous() && !pair.has_same_members) {
    other.local->commit_each_step();
  }
  const bool hears =
      opened.local == nullptr ? other.local == nullptr : opened.members.front() == place_.rank;
  if (!pair.is_teller || hears) {
    return;
  }
  const auto now = link_.progress().standing(other.file->key());
  const bool to_servers = opened.local == nullptr;
  if (pair.has_told && pair.told_servers == to_servers && pair.told == now) {
    return;
  }
  if (!opened.file->carrier().tell_of({other.file->key(), now}, waits)) {
    heard_.reset();  // try again later
    return;
  }
  pair.has_told = true;
  pair.told_servers = to_servers;
  pair.told = now;
}

void Sequence::closed(const OpenedFile& opened) {
  const std::uint64_t key = opened.file->key();
  link_.progress().closed(key);
  try {
    tell(true);
  } catch (const ServersLost&) {  // one who goes on without servers knows it, or is told then
    heard_.reset();
  }
  if (!link_.progress().standing(key).failure.ok()) {
    failed_[opened.file->name()] = key;
  }
  std::erase_if(pairs_, [&](const auto& item) {
    return item.first.first == key || item.first.second == key;
  });
}

}  // namespace iocomp::client
