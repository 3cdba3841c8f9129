// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iocomp/iocomp.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "api/handed_out.h"
#include "session/session.h"

// The contents of the opaque types of iocomp.h.

struct iocomp_var {
  iocomp_file* file = nullptr;
  int id = -1;
  bool is_truth = false;  // defined as IOCOMP_BOOL
};

struct iocomp_file {
  iocomp_session* session = nullptr;
  iocomp::session::File* file = nullptr;
  std::deque<iocomp_var> variables;  // addresses stay
};

struct iocomp_decomp {
  iocomp_session* session = nullptr;
  iocomp::session::Decomposition decomposition;
};

struct iocomp_input {
  iocomp_session* session = nullptr;
  std::unique_ptr<iocomp::session::Input> input;
  iocomp::api::HandedOut out;
};

struct iocomp_session {
  std::unique_ptr<iocomp::session::Session> session;
  std::vector<std::unique_ptr<iocomp_file>> files;
  std::vector<std::unique_ptr<iocomp_decomp>> decompositions;
  std::vector<std::unique_ptr<iocomp_input>> inputs;  // they count for the session: gone before it
  std::string settings_text;
};
