// SPDX-License-Identifier: BSD-3-Clause
// Stands in for a missing libFuzzer: runs every file of a corpus, then random changes of them.
//   <target> [--changes N] [--seed S] FOLDER_OR_FILE...
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/target.h"

extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using Input = std::vector<std::uint8_t>;
using Chance = std::mt19937_64;

constexpr std::size_t longest = 4096;

std::string now_at;  // for the last words

void tell_where() { (void)!::write(STDERR_FILENO, now_at.data(), now_at.size()); }

void run(const std::string& where, const Input& input) {
  now_at = "while it ran " + where + "\n";
  // A copy of exactly this size, so that reading behind its end is seen.
  const Input exact(input.begin(), input.end());
  (void)LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

std::vector<std::filesystem::path> files_of(const std::vector<std::string>& places) {
  std::vector<std::filesystem::path> files;
  for (const auto& place : places) {
    if (!std::filesystem::is_directory(place)) {
      files.emplace_back(place);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator{place}) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);  // so that a seed gives the same changes everywhere
  return files;
}

Input read(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    (void)std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::size_t below(Chance& chance, std::size_t end) { return end == 0 ? 0 : chance() % end; }

void change(Input& input, const std::vector<Input>& corpus, Chance& chance) {
  constexpr std::uint64_t edges[] = {
      0, 1, 0x7f, 0x80, 0xff, 0x7fffffff, 0x80000000, 0xffffffffU, 1ULL << 62U, ~0ULL >> 1U, ~0ULL};
  const std::size_t at = below(chance, input.size() + 1);
  const std::size_t length = below(chance, std::min<std::size_t>(input.size() - at, 64) + 1);
  const auto here = input.begin() + static_cast<std::ptrdiff_t>(at);
  switch (below(chance, 5)) {
    case 0:
      if (at < input.size()) {
        input[at] ^= static_cast<std::uint8_t>(1U << below(chance, 8));
      }
      break;
    case 1:
      input.erase(here, here + static_cast<std::ptrdiff_t>(length));
      break;
    case 2:
      input.insert(here, static_cast<std::uint8_t>(chance()));
      break;
    case 3: {
      std::uint64_t edge = edges[below(chance, std::size(edges))];
      const std::size_t width = std::size_t{1} << below(chance, 4);
      for (std::size_t i = at; i < std::min(at + width, input.size()); ++i, edge >>= 8U) {
        input[i] = static_cast<std::uint8_t>(edge);
      }
      break;
    }
    default: {
      const Input& other = corpus[below(chance, corpus.size())];
      const std::size_t from = below(chance, other.size());
      const std::size_t count = below(chance, std::min<std::size_t>(other.size() - from, 256));
      const auto first = other.begin() + static_cast<std::ptrdiff_t>(from);
      const Input part(first, first + static_cast<std::ptrdiff_t>(count));
      input.insert(here, part.begin(), part.end());
    }
  }
  input.resize(std::min(input.size(), longest));
}

}  // namespace

int main(int count, char** words) {
  std::uint64_t changes = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> places;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--changes" && i + 1 < count) {
      changes = std::stoull(words[++i]);
    } else if (word == "--seed" && i + 1 < count) {
      seed = std::stoull(words[++i]);
    } else {
      places.push_back(word);
    }
  }
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(&tell_where);
  }
  (void)std::signal(SIGABRT, [](int) { tell_where(); });
  std::vector<Input> corpus;
  for (const auto& path : files_of(places)) {
    corpus.push_back(read(path));
    run(path, corpus.back());
  }
  if (corpus.empty()) {
    (void)std::fprintf(stderr, "there is nothing to run\n");
    return 2;
  }
  Chance chance{seed};
  for (std::uint64_t i = 0; i < changes; ++i) {
    Input input = corpus[below(chance, corpus.size())];
    for (auto left = 1 + below(chance, 6); left > 0; --left) {
      change(input, corpus, chance);
    }
    run("change " + std::to_string(i) + " of seed " + std::to_string(seed), input);
  }
  std::printf("%zu files, %llu changes of them (seed %llu)\n", corpus.size(),
              static_cast<unsigned long long>(changes), static_cast<unsigned long long>(seed));
  return 0;
}
