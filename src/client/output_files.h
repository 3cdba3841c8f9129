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

namespace iocomp::client {

/// The physical files of one file on a compute rank that writes them itself: the descriptors it
/// writes through, the targets of the format, and where variables lie. Everything is local.
class OutputFiles {
 public:
  struct Output {
    std::shared_ptr<disk::OutputFile> file;
    std::unique_ptr<formats::Target> target;
  };
  OutputFiles(const formats::Format& format, const disk::Options& disk,
              commit::Publication& publication, const contents::Catalogue& catalogue,
              trace::Counters& counters)
      : format_{format},
        disk_{disk},
        publication_{publication},
        catalogue_{catalogue},
        counters_{counters} {}
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles();

  [[nodiscard]] Output& at(std::int64_t target) { return outputs_[target]; }
  /// The descriptors of a physical file, opened at the first call.
  [[nodiscard]] const std::shared_ptr<disk::OutputFile>& file(std::int64_t target);
  /// The one file of all steps is there already, under this name.
  void go_on_in(const std::string& path);
  [[nodiscard]] bool is_open(std::int64_t target) const;
  /// They are not needed any more.
  void forget(std::int64_t target);

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
  void count(const Output& output) const;

  const formats::Format& format_;
  disk::Options disk_;
  commit::Publication& publication_;
  const contents::Catalogue& catalogue_;
  trace::Counters& counters_;
  std::map<std::int64_t, Output> outputs_;                        // by physical file
  std::map<std::pair<std::int64_t, int>, std::int64_t> offsets_;  // step, variable; where noted
  contents::Contents contents_;
};

}  // namespace iocomp::client
