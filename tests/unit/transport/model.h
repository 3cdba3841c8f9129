// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

/// A model checker for programs of a few threads over shared words: it visits every state that any
/// order of their steps can reach, on a machine with store buffers (a store, and the bit set by
/// fetch_or, become visible to others later than to the own thread; loads overtake them). Threads
/// are ordinary functions. There is no thread: to do the next step of one, the function is run
/// again from its beginning with the results that its earlier steps had, and left by an exception
/// after one step more. What a function does depends on these results only, so they are its state.
namespace iocomp::model {

enum class Kind : std::uint8_t { load, store, set_bits, exchange, add, fence, sleep, wake };

struct Step {
  Kind kind{};
  std::size_t word = 0;
  std::uint64_t value = 0;
};

struct Pending {  // in a store buffer
  std::size_t word = 0;
  std::uint64_t value = 0;
  bool sets_bits = false;
};

constexpr std::size_t awake = SIZE_MAX;

struct ThreadState {
  std::vector<std::uint64_t> results;  // of the steps done
  std::deque<Pending> buffer;
  std::size_t sleeps_on = awake;  // a word
  bool ended = false;
  Step next;  // unless it has ended
};

struct State {
  std::vector<std::uint64_t> memory;
  std::vector<ThreadState> threads;
};

/// Does a step that a thread asks for: used by the words below.
std::uint64_t perform(const Step& step);
/// Fails the exploration from inside a thread.
void require(bool holds, const std::string& what);

struct Options {
  bool with_fences = true;  ///< false: fences do nothing
};

struct Verdict {
  std::size_t states = 0;
  std::string failure;  ///< empty: none found
};

/// Explore all states. @param words  number of shared words, zero at first.
Verdict explore(std::size_t words, const std::vector<std::function<void()>>& threads,
                const Options& options = {});

/// A word of the modelled memory, with the face of std::atomic.
template <typename Value>
class Word {
 public:
  explicit Word(std::size_t number = 0) : number_{number} {}
  template <typename Order>
  Value load(Order /*order*/) const {
    return static_cast<Value>(perform({Kind::load, number_, 0}));
  }
  template <typename Order>
  void store(Value value, Order /*order*/) {
    perform({Kind::store, number_, value});
  }
  template <typename Order>
  void fetch_or(Value bits, Order /*order*/) {
    perform({Kind::set_bits, number_, bits});
  }
  template <typename Order>
  Value exchange(Value value, Order /*order*/) {
    return static_cast<Value>(perform({Kind::exchange, number_, value}));
  }
  template <typename Order>
  void fetch_add(Value value, Order /*order*/) {
    perform({Kind::add, number_, value});
  }
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  std::size_t number_;
};

/// Stands in for transport::Atomics.
struct Atomics {
  template <typename Value>
  using Atomic = Word<Value>;
  using Memory = std::size_t;  // number of its first word, which holds one byte like the others

  static void copy_in(Memory memory, std::size_t at, std::span<const std::byte> from) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      perform({Kind::store, memory + at + i, static_cast<std::uint64_t>(from[i])});
    }
  }
  static void copy_out(Memory memory, std::size_t at, std::span<std::byte> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = static_cast<std::byte>(perform({Kind::load, memory + at + i, 0}));
    }
  }
  static void fence() { perform({Kind::fence, 0, 0}); }
  static void wake(const Word<std::uint32_t>& word) { perform({Kind::wake, word.number(), 0}); }
  static void sleep(const Word<std::uint32_t>& word, std::uint32_t seen) {
    perform({Kind::sleep, word.number(), seen});
  }
};

}  // namespace iocomp::model
