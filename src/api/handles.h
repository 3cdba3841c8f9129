// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iocomp/iocomp.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/handed_out.h"
#include "session/session.h"

namespace iocomp::api {

/// The handles of a kind that a session has given out. One that was given back is kept for a while,
/// empty, so that a later call with it is refused.
template <typename T>
class Handles {
 public:
  T* add(std::unique_ptr<T> made) { return out_.emplace_back(std::move(made)).get(); }
  /// @param handle  is one of those that are out.
  void give_back(T* handle) {
    const auto mine = std::ranges::find(out_, handle, &std::unique_ptr<T>::get);
    given_back_.push_back(std::move(*mine));
    out_.erase(mine);
    if (given_back_.size() > most_given_back) {
      given_back_.pop_front();
    }
  }

 private:
  static constexpr std::size_t most_given_back = 1000;
  std::vector<std::unique_ptr<T>> out_;
  std::deque<std::unique_ptr<T>> given_back_;
};

}  // namespace iocomp::api

// The contents of the opaque types of iocomp.h.

struct iocomp_var {
  iocomp_file* file = nullptr;
  int id = -1;
  bool is_truth = false;  // defined as IOCOMP_BOOL
};

struct iocomp_file {
  iocomp_session* session = nullptr;
  iocomp::session::File* file = nullptr;  // null: closed
  std::string name{};
  std::deque<iocomp_var> variables{};  // addresses stay
};

struct iocomp_decomp {
  iocomp_session* session = nullptr;
  iocomp::session::Decomposition decomposition{};
  bool is_freed = false;
};

struct iocomp_input {
  iocomp_session* session = nullptr;
  std::unique_ptr<iocomp::session::Input> input;  // null: closed
  iocomp::api::HandedOut out;
};

struct iocomp_session {
  std::unique_ptr<iocomp::session::Session> session;
  iocomp::api::Handles<iocomp_file> files;
  iocomp::api::Handles<iocomp_decomp> decompositions;
  iocomp::api::Handles<iocomp_input> inputs;  // they count for the session: gone before it
  std::string settings_text;
};
