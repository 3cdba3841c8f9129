#pragma once

#include <memory>
#include <string>
#include <utility>

#include "disk/options.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "trace/counters.h"

namespace iocomp::writing {

/// One physical file in one process: the descriptors that it writes through, and what the format
/// has made of the file, where this process has that.
class PhysicalFile {
 public:
  /// @param counters  are told at the end how much was written which way.
  PhysicalFile(std::string path, const disk::Options& options, disk::OutputFile::Opening opening,
               trace::Counters& counters);
  PhysicalFile(const PhysicalFile&) = delete;
  PhysicalFile& operator=(const PhysicalFile&) = delete;
  ~PhysicalFile();

  /// The descriptors, opened at the first call and held until the end, so that no error of a
  /// write-back is missed.
  /// @throws Error{storage_failure} "cannot open PATH: No such file or directory".
  const std::shared_ptr<disk::OutputFile>& open();
  /// The same; null before they were opened.
  [[nodiscard]] const std::shared_ptr<disk::OutputFile>& opened() const noexcept { return output_; }

  /// The format has created the file.
  void created(std::unique_ptr<formats::Target> format) { format_ = std::move(format); }
  /// Null before that, and when it was taken to be finished.
  [[nodiscard]] formats::Target* format() const noexcept { return format_.get(); }
  [[nodiscard]] std::unique_ptr<formats::Target> take_format() noexcept {
    return std::move(format_);
  }

 private:
  std::string path_;
  disk::Options options_;
  disk::OutputFile::Opening opening_;
  trace::Counters& counters_;
  std::shared_ptr<disk::OutputFile> output_;
  std::unique_ptr<formats::Target> format_;
};

}  // namespace iocomp::writing
