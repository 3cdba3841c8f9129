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

constexpr int passed_signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
volatile std::sig_atomic_t child_id = 0;

/// A terminal sends its interrupts to the child as well.
extern "C" void pass_on(int signal, siginfo_t* info, void* /*context*/) {
  const bool child_has_it = info->si_code == SI_KERNEL && (signal == SIGINT || signal == SIGQUIT);
  if (!child_has_it) {
    kill(static_cast<pid_t>(child_id), signal);
  }
}

/// The signals that are passed on wait while this exists, until there is a child.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t passed;
    sigemptyset(&passed);
    for (const int signal : passed_signals) {
      sigaddset(&passed, signal);
    }
    pthread_sigmask(SIG_BLOCK, &passed, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

/// Signals that are ignored, as by nohup, stay so.
void pass_signals_to(pid_t child) {
  child_id = child;
  struct sigaction action{};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : passed_signals) {
    struct sigaction before{};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) {
      sigaction(signal, &action, nullptr);
    }
  }
}

/// With the signals as a shell's child has them: this command holds SIGXFSZ.
int spawn(pid_t& child, std::vector<char*>& arguments, sigset_t blocked) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigdelset(&blocked, SIGXFSZ);
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
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
  pid_t child = 0;
  {
    const HeldSignals held;
    if (const int failure = spawn(child, arguments, held.before()); failure != 0) {
      throw Error{ErrorCode::unsupported,
                  "cannot start " + words.front() + ": " + std::strerror(failure)};
    }
    pass_signals_to(child);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      throw Error{ErrorCode::internal, std::string{"lost the launcher: "} + std::strerror(errno)};
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace iocomp::command
