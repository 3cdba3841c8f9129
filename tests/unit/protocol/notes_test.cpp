// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/notes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>

namespace iocomp::protocol {
namespace {

TEST(Notes, OfDifferentFilesStepsAndKindsAreDifferentWordsAndNoneIsZero) {
  std::set<std::uint64_t> words;
  std::size_t notes = 0;
  std::mt19937_64 keys{7};  // of files: hashes of their names
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t file = keys();
    for (const Note note : {Note::publishing, Note::dropped, Note::closed, Note::failed_closed,
                            Note::opened, Note::sync_failed, Note::refused}) {
      for (std::int64_t step = 0; step < 100; ++step) {
        words.insert(word(file, note, step));
        ++notes;
      }
    }
  }
  EXPECT_EQ(words.size(), notes);
  EXPECT_EQ(words.count(0), 0U);
}

}  // namespace
}  // namespace iocomp::protocol
