// SPDX-License-Identifier: BSD-3-Clause
#include "stream/verify.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace iocomp::apps::stream {
namespace {

/// @return the exit code, or 128 + the signal.
int run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure =
      posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (failure != 0) {
    throw std::runtime_error("cannot start " + words[0] + ": " + std::strerror(failure));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

bool verify(const Options& options, const std::string& path, std::size_t global) {
  ::setenv("IOCOMP_LIBRARY", IOCOMP_STREAM_LIBRARY, 0);  // it has beside it what Python reads with
  const int code =
      run({IOCOMP_STREAM_PYTHON, IOCOMP_STREAM_VERIFIER, "--file", path.empty() ? "stream" : path,
           "--elements", std::to_string(global), "--loops", std::to_string(options.loops),
           "--write-every", std::to_string(options.write_every), "--pattern",
           options.pattern == Pattern::stream ? "stream" : "index"});
  if (code > 1) throw std::runtime_error("the verifier ended with code " + std::to_string(code));
  return code == 0;
}

}  // namespace iocomp::apps::stream
