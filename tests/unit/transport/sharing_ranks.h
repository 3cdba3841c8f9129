// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/shared_memory/node_stripes.h"
#include "transport/shared_memory/share_segment.h"
#include "transport/shared_memory/shared_mapping.h"

namespace iocomp::transport {

/// The ranks of a node, each with a mapping of its own.
struct SharingRanks {
  explicit SharingRanks(std::size_t processes, std::size_t stripe_bytes = std::size_t{8} << 10,
                        std::size_t rank_bytes = std::size_t{48} << 10) {
    terms.stripe_bytes = stripe_bytes;
    terms.rank_bytes = rank_bytes;
    const std::size_t bytes = NodeStripes::segment_bytes(terms, processes);
    auto first = SharedMapping::create(SharedMapping::Kind::memfd, "node_stripes_test", bytes,
                                       SharedMapping::Pages::on_demand);
    EXPECT_TRUE(first.reserve(0, NodeStripes::table_bytes(terms, processes)));
    const std::string path = first.path();
    for (std::size_t self = 0; self < processes; ++self) {
      NodeSegment segment;
      segment.self = self;
      segment.processes = processes;
      segment.mapping =
          self == 0 ? std::move(first)
                    : SharedMapping::open(path, bytes, true, SharedMapping::Pages::on_demand);
      ranks.push_back(std::make_unique<NodeStripes>(std::move(segment), terms, 1));
    }
  }
  NodeStripes& operator[](std::size_t rank) { return *ranks[rank]; }

  NodeStripes::Terms terms;
  std::vector<std::unique_ptr<NodeStripes>> ranks;
};

}  // namespace iocomp::transport
