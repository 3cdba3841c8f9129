#pragma once

#include <cstdint>
#include <vector>

#include "blocks/block_file.h"

namespace iocomp::apps::blocks {

/// Reads what iocomp wrote without iocomp: by the offsets in the manifest.
class ManifestReader : public BlockReader {
 public:
  /// Local. @return null when the manifest has no offsets: the format library alone knows them.
  static std::unique_ptr<BlockReader> open(const Target& target);
  ~ManifestReader() override;

  void read(int step, const Box& box, std::span<double> values) override;

 private:
  ManifestReader(const Target& target, std::vector<std::int64_t> offsets);

  Target target_;
  std::vector<std::int64_t> offsets_;  ///< of the variable, by step
  int file_ = -1;
};

}  // namespace iocomp::apps::blocks
