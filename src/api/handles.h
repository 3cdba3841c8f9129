#pragma once

#include <iocomp/iocomp.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "session/session.h"

// What the opaque types of iocomp.h are.

struct iocomp_var {
  iocomp_file* file = nullptr;
  int id = -1;
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

struct iocomp_session {
  std::unique_ptr<iocomp::session::Session> session;
  std::vector<std::unique_ptr<iocomp_file>> files;
  std::vector<std::unique_ptr<iocomp_decomp>> decompositions;
  std::string settings_text;
};
