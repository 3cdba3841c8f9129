// SPDX-License-Identifier: BSD-3-Clause
#include <iocomp/iocomp.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "words.h"

namespace actor {
namespace {

iocomp_state state_of(const std::string& name) {
  static const std::map<std::string, iocomp_state> states{
      {"handed_over", IOCOMP_REUSABLE}, {"written", IOCOMP_WRITTEN}, {"durable", IOCOMP_DURABLE}};
  return states.at(name);
}

/// The puts that no earlier line has waited for in this state, or all again, in the order to wait.
std::vector<std::size_t> awaited(const Line& line, File& file) {
  std::size_t& begin = file.waited[state_of(line.argument(1))];
  if (line.option("again", "no") == "yes") {
    begin = 0;
  }
  std::vector<std::size_t> which(file.puts.size() - begin);
  std::iota(which.begin(), which.end(), begin);
  begin = file.puts.size();
  const auto order = line.option("order", "forward");
  if (order == "backward") {
    std::reverse(which.begin(), which.end());
  } else if (order == "odd_first") {
    std::stable_partition(which.begin(), which.end(), [](std::size_t put) { return put % 2 == 1; });
  }
  return which;
}

/// Each put is told about; the program uses the memory of those again that came to the state.
template <typename Wait>
void settle(Stage& stage, const Line& line, Wait wait_for) {
  File& file = stage.file(line);
  for (const std::size_t which : awaited(line, file)) {
    Put& put = file.puts[which];
    const double began = now_seconds();
    const int code = wait_for(put);
    stage.tell(line, code, began,
               {{"file", line.argument(0)}, {"variable", put.variable}, {"step", put.step}});
    if (code == IOCOMP_OK) {
      put.memory.reuse();
    }
  }
}

void wait(Stage& stage, const Line& line) {
  const iocomp_state state = state_of(line.argument(1));
  settle(stage, line, [&](Put& put) { return iocomp_wait(&put.ticket, state); });
}

/// The same with iocomp_test and iocomp_progress.
void poll(Stage& stage, const Line& line) {
  constexpr std::chrono::seconds longest{60};
  const auto deadline = std::chrono::steady_clock::now() + longest;
  const iocomp_state state = state_of(line.argument(1));
  settle(stage, line, [&](Put& put) {
    for (int reached = 0; reached == 0;) {
      iocomp_progress(stage.session);
      if (const int code = iocomp_test(&put.ticket, state, &reached); code != IOCOMP_OK) {
        return code;
      }
      if (std::chrono::steady_clock::now() > deadline) {
        throw std::runtime_error{"a put of \"" + put.variable + "\" does not come to its state"};
      }
    }
    return static_cast<int>(IOCOMP_OK);
  });
}

/// All in one call.
void wait_puts(Stage& stage, const Line& line) {
  File& file = stage.file(line);
  if (file.handle == nullptr) {
    return;
  }
  const auto which = awaited(line, file);
  const double began = now_seconds();
  const int code = iocomp_wait_puts(file.handle, state_of(line.argument(1)));
  stage.tell(line, code, began, {{"file", line.argument(0)}});
  for (const std::size_t put : which) {
    if (code == IOCOMP_OK) {
      file.puts[put].memory.reuse();
    }
  }
}

void test(Stage& stage, const Line& line) {
  const iocomp_state state = state_of(line.argument(1));
  for (const auto& put : stage.file(line).puts) {
    int reached = 0;
    const double began = now_seconds();
    const int code = iocomp_test(&put.ticket, state, &reached);
    stage.tell(line, code, began,
               {{"file", line.argument(0)}, {"step", put.step}, {"reached", reached}});
  }
}

}  // namespace

Words wait_words() {
  return {{"wait", wait}, {"wait_puts", wait_puts}, {"poll", poll}, {"test", test}};
}

}  // namespace actor
