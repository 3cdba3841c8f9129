#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "trace/counters.h"
#include "writing/file_writer.h"
#include "writing/physical_file.h"
#include "writing/submit.h"

namespace iocomp::client {

/// The physical files of one file on a compute rank that writes them itself: a writer for each, and
/// where variables lie. Everything is local.
class OutputFiles {
 public:
  struct Setup {
    const formats::Format* format = nullptr;
    formats::FormatOptions options;
    disk::Options disk;
    writing::Submit submit;
  };
  OutputFiles(Setup setup, commit::Publication& publication, const contents::Catalogue& catalogue,
              trace::Counters& counters)
      : setup_{std::move(setup)},
        publication_{publication},
        catalogue_{catalogue},
        counters_{counters} {}

  [[nodiscard]] writing::FileWriter& writer(std::int64_t target);
  /// The physical file that it writes.
  [[nodiscard]] writing::PhysicalFile& at(std::int64_t target) { return writer(target).file(); }
  /// The one file of all steps is there already, under this name.
  void go_on_in(const std::string& path);
  /// They are not needed any more.
  void forget(std::int64_t target) { writers_.erase(target); }

  /// Where a variable lies in a step, as the layout says, or else as it was noted.
  [[nodiscard]] std::int64_t offset(int variable, std::int64_t step) const;
  [[nodiscard]] bool knows_offset(int variable, std::int64_t step) const;
  void note_offset(int variable, std::int64_t step, std::int64_t offset) {
    offsets_[{step, variable}] = offset;
  }
  void forget_offsets_until(std::int64_t step) {
    offsets_.erase(offsets_.begin(), offsets_.lower_bound({step + 1, 0}));
  }
  void forget_offset(int variable, std::int64_t step) { offsets_.erase({step, variable}); }

  /// What will be described: note a variable of a step that was put.
  void note_contents(int variable, std::int64_t step);
  [[nodiscard]] const contents::Contents& contents() const noexcept { return contents_; }
  void drop_step(std::int64_t step) { contents_.remove_step(step); }

  /// Let a physical file grow to its size at `step`, make it durable, and do the job.
  /// @throws Error{storage_failure}.
  void seal(std::int64_t target, std::int64_t step, const commit::Publication::Job& job);

 private:
  [[nodiscard]] std::unique_ptr<writing::FileWriter> make_writer(
      std::string path, disk::OutputFile::Opening opening) const;

  Setup setup_;
  commit::Publication& publication_;
  const contents::Catalogue& catalogue_;
  trace::Counters& counters_;
  std::map<std::int64_t, std::unique_ptr<writing::FileWriter>> writers_;  // by physical file
  std::map<std::pair<std::int64_t, int>, std::int64_t> offsets_;  // step, variable; where noted
  contents::Contents contents_;
};

}  // namespace iocomp::client
