// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "blocks/block_file.h"
#include "common/session.h"

namespace iocomp::apps::blocks {

/// Blocks written by iocomp: each step is one put.
class IocompFile : public BlockFile {
 public:
  /// Collective over the ranks of the target.
  IocompFile(const Session& session, const std::string& name, const Target& target);

  /// The same, but null where iocomp has no such back-end.
  static std::unique_ptr<BlockFile> create_if_there(const Session& session, const std::string& name,
                                                    const Target& target);

  void put(std::size_t slot, std::span<const double> values) override;
  void wait(std::size_t slot) override;
  void finish() override;
  void close() override;

 private:
  explicit IocompFile(const Target& target) : target_{target} {}
  int open(const Session& session, const std::string& name);
  void define();

  Target target_;
  iocomp_file* file_ = nullptr;
  iocomp_var* variable_ = nullptr;
  std::array<iocomp_ticket, slots> tickets_{};
  std::vector<iocomp_ticket> all_tickets_;  ///< of files whose time ends before their close
};

}  // namespace iocomp::apps::blocks
