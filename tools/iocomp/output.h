// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commit/owner.h"
#include "reading/input.h"

namespace iocomp::command {

using Json = nlohmann::ordered_json;

/// A file that iocomp has written, or the files of a set, one for each step, as they lie on the
/// disk. What they are their manifests say; nothing is opened.
struct Output {
  enum class Fault {
    none,
    no_manifest,
    torn_manifest,
    strange_manifest,  ///< of a later release, or of a machine with the other byte order
    torn_file,         ///< or there is none
  };
  struct File {
    std::string path;
    std::int64_t step = -1;  ///< of a set
    Fault fault = Fault::none;
    std::string story{};               ///< of the fault
    std::int64_t committed_bytes = 0;  ///< that its manifest tells of
  };
  enum class State {
    committed,
    written_now,  ///< a process holds its lock
    unknown,      ///< its lock does not tell whether a process holds it
    left,         ///< by a job that ended: temporaries, or its lock
    torn,         ///< what is there of it is not whole
    undescribed,  ///< there is no manifest: another program's, or its manifest is lost
  };

  std::string path;  ///< as in the settings, so that of a set need not be there: "out/ckpt.h5"
  bool is_set = false;
  std::string name{};                 ///< in the program; empty where no manifest tells it
  std::string format{};               ///< likewise
  std::string kind{};                 ///< likewise: "series" or "checkpoint"
  std::vector<std::int64_t> steps{};  ///< that are committed, ascending
  std::int64_t bytes = 0;             ///< of all files
  std::vector<File> files{};          ///< by step
  std::vector<std::string> temporaries{};
  std::string owned_as{};  ///< the path whose lock counts: of a set, for one of its files
  commit::Holder holder{};

  [[nodiscard]] State state() const noexcept;
  /// The state in words, with details.
  [[nodiscard]] std::string told() const;
};
/// One word of those that JSON has.
[[nodiscard]] std::string word(Output::State state);

/// Opens the committed steps for reading. Files that are left out of a set are told on stderr.
/// @param format  of files without a manifest; empty: as their first bytes say.
/// @throws as reading::find_committed.
[[nodiscard]] std::unique_ptr<reading::Input> open(const Output& output,
                                                   const std::string& format = {});

/// "0-99 (100)"; "-" for none; "99,199,...,7599 (76)" where there are many ranges.
[[nodiscard]] std::string steps_text(const std::vector<std::int64_t>& steps);

/// To stdout; bytes of names that are no UTF-8 are replaced.
void print(const Json& json);

}  // namespace iocomp::command
