// SPDX-License-Identifier: BSD-3-Clause
#include "common/session.h"

#include <sstream>
#include <stdexcept>

namespace iocomp::apps {

void check(int code, const char* call) {
  if (code == IOCOMP_OK) return;
  throw std::runtime_error(std::string{call} + ": " + iocomp_code_name(code) + ": " +
                           iocomp_error());
}

Session::Session(const std::string& settings) {
  check(iocomp_init(MPI_COMM_WORLD, settings.c_str(), &session_), "iocomp_init");
}

void Session::finalize() {
  iocomp_session* const session = session_;
  session_ = nullptr;
  check(iocomp_finalize(session), "iocomp_finalize");
}

std::string Session::settings() const {
  const char* const text = iocomp_settings(session_);
  return text == nullptr ? "" : text;
}

std::string Session::setting(const std::string& key) const { return setting_in(settings(), key); }

std::string setting_in(const std::string& settings, const std::string& key) {
  const std::string begin = key + " = ";
  std::istringstream lines{settings};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(begin)) continue;
    return line.substr(begin.size(), line.rfind("  (") - begin.size());
  }
  return "";
}

}  // namespace iocomp::apps
