// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "blocks/block_file.h"
#include "common/session.h"

namespace iocomp::apps::blocks {

/// Blocks read by iocomp.
class IocompReader : public BlockReader {
 public:
  /// Collective over the ranks of the target. @return null where iocomp cannot read that format.
  /// @throws std::runtime_error when the file does not have as many steps as it should.
  static std::unique_ptr<BlockReader> open(const Session& session, const std::string& name,
                                           const Target& target);

  void read(int step, const Box& box, std::span<double> values) override;
  void close() override;

 private:
  explicit IocompReader(iocomp_input* input) : input_{input} {}

  iocomp_input* input_;
};

}  // namespace iocomp::apps::blocks
