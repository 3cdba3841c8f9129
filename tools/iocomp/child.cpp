// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/child.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace iocomp::command {
namespace {

volatile std::sig_atomic_t child_id = 0;

extern "C" void pass_on(int signal) {
  if (child_id > 0) {
    kill(static_cast<pid_t>(child_id), signal);
  }
}

/// A terminal sends its interrupts to the child as well, and the child decides what to do.
void handle_signals() {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  std::signal(SIGTERM, pass_on);
  std::signal(SIGHUP, pass_on);
}

/// With the signals as a shell's child has them: this command holds SIGXFSZ.
int spawn(pid_t& child, std::vector<char*>& arguments) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  sigdelset(&blocked, SIGXFSZ);
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const int failure =
      posix_spawnp(&child, arguments.front(), nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  return failure;
}

}  // namespace

int run_child(const std::vector<std::string>& words,
              const std::vector<std::pair<std::string, std::string>>& environment) {
  for (const auto& [name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (auto& word : copies) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  handle_signals();
  pid_t child = 0;
  if (const int failure = spawn(child, arguments); failure != 0) {
    throw Error{ErrorCode::unsupported,
                "cannot start " + words.front() + ": " + std::strerror(failure)};
  }
  child_id = child;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      throw Error{ErrorCode::internal, std::string{"lost the launcher: "} + std::strerror(errno)};
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace iocomp::command
