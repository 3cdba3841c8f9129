// SPDX-License-Identifier: BSD-3-Clause
#include "unit/transport/model.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace iocomp::model {
namespace {

struct Paused {};  // leaves a thread before a step that is not to be done yet
struct Broken {
  std::string what;
};  // a requirement of a thread does not hold

// The one run of a thread that is under way.
struct Run {
  const std::vector<std::uint64_t>* results = nullptr;
  std::size_t done = 0;
  Step wanted;
};
Run run;

// Run a thread up to the first step that has no result yet.
void find_next(ThreadState& thread, const std::function<void()>& program) {
  run = {&thread.results, 0, {}};
  try {
    program();
    thread.ended = true;
  } catch (const Paused&) {
    thread.next = run.wanted;
  }
}

std::uint64_t seen_by(const State& state, const ThreadState& thread, std::size_t word) {
  std::uint64_t value = state.memory[word];
  for (const Pending& pending : thread.buffer) {
    if (pending.word == word) {
      value = pending.sets_bits ? value | pending.value : pending.value;
    }
  }
  return value;
}

bool needs_empty_buffer(Kind kind, const Options& options) {
  switch (kind) {
    case Kind::fence:
      return options.with_fences;
    case Kind::exchange:
    case Kind::add:
    case Kind::sleep:  // the kernel's own barriers
    case Kind::wake:
      return true;
    default:
      return false;
  }
}

bool can_step(const ThreadState& thread, const Options& options) {
  return !thread.ended && thread.sleeps_on == awake &&
         (thread.buffer.empty() || !needs_empty_buffer(thread.next.kind, options));
}

void wake_on(State& state, std::size_t word, const std::vector<std::function<void()>>& programs) {
  for (std::size_t i = 0; i < state.threads.size(); ++i) {
    ThreadState& thread = state.threads[i];
    if (thread.sleeps_on == word) {
      thread.sleeps_on = awake;
      thread.results.push_back(0);
      find_next(thread, programs[i]);
      return;
    }
  }
}

void do_step(State& state, std::size_t number, const std::vector<std::function<void()>>& programs) {
  ThreadState& thread = state.threads[number];
  const Step step = thread.next;
  std::uint64_t result = 0;
  switch (step.kind) {
    case Kind::load:
      result = seen_by(state, thread, step.word);
      break;
    case Kind::store:
    case Kind::set_bits:
      thread.buffer.push_back({step.word, step.value, step.kind == Kind::set_bits});
      break;
    case Kind::exchange:
      result = std::exchange(state.memory[step.word], step.value);
      break;
    case Kind::add:
      state.memory[step.word] += step.value;
      break;
    case Kind::fence:
      break;
    case Kind::sleep:
      if (state.memory[step.word] == step.value) {
        thread.sleeps_on = step.word;  // the result comes with the wake-up
        return;
      }
      break;
    case Kind::wake:
      wake_on(state, step.word, programs);
      break;
  }
  thread.results.push_back(result);
  find_next(thread, programs[number]);
}

void flush_oldest(State& state, std::size_t number) {
  ThreadState& thread = state.threads[number];
  const Pending pending = thread.buffer.front();
  thread.buffer.pop_front();
  std::uint64_t& word = state.memory[pending.word];
  word = pending.sets_bits ? word | pending.value : pending.value;
}

std::string key(const State& state) {
  std::string text;
  const auto add = [&text](std::uint64_t value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const auto word : state.memory) {
    add(word);
  }
  for (const ThreadState& thread : state.threads) {
    add(thread.results.size());
    for (const auto result : thread.results) {
      add(result);
    }
    add(thread.buffer.size());
    for (const Pending& pending : thread.buffer) {
      add(pending.word * 2 + (pending.sets_bits ? 1 : 0));
      add(pending.value);
    }
    add(thread.sleeps_on);
  }
  return text;
}

std::string stuck(const State& state) {
  std::string text = "nothing can go on:";
  for (std::size_t i = 0; i < state.threads.size(); ++i) {
    const ThreadState& thread = state.threads[i];
    text += " thread " + std::to_string(i) +
            (thread.ended ? " has ended;"
                          : " sleeps after " + std::to_string(thread.results.size()) + " steps;");
  }
  return text;
}

}  // namespace

std::uint64_t perform(const Step& step) {
  if (run.done < run.results->size()) {
    return (*run.results)[run.done++];
  }
  run.wanted = step;
  throw Paused{};
}

void require(bool holds, const std::string& what) {
  if (!holds) {
    throw Broken{what};
  }
}

Verdict explore(std::size_t words, const std::vector<std::function<void()>>& threads,
                const Options& options) {
  Verdict verdict;
  State first;
  first.memory.resize(words);
  first.threads.resize(threads.size());
  std::unordered_set<std::string> seen;
  std::vector<State> open;
  const auto visit = [&](State state) {
    if (seen.insert(key(state)).second) {
      open.push_back(std::move(state));
    }
  };
  try {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      find_next(first.threads[i], threads[i]);
    }
    visit(std::move(first));
    while (!open.empty()) {
      const State state = std::move(open.back());
      open.pop_back();
      bool moves = false;
      bool all_ended = true;
      for (std::size_t i = 0; i < threads.size(); ++i) {
        all_ended = all_ended && state.threads[i].ended;
        if (!state.threads[i].buffer.empty()) {
          moves = true;
          State after = state;
          flush_oldest(after, i);
          visit(std::move(after));
        }
        if (can_step(state.threads[i], options)) {
          moves = true;
          State after = state;
          do_step(after, i, threads);
          visit(std::move(after));
        }
      }
      if (!moves && !all_ended) {
        verdict.failure = stuck(state);
        break;
      }
    }
  } catch (const Broken& broken) {
    verdict.failure = broken.what;
  }
  verdict.states = seen.size();
  return verdict;
}

}  // namespace iocomp::model
