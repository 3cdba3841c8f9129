// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/futex.h"
#include "transport/shared_memory/shared_transport.h"
#include "transport/transport.h"

namespace iocomp::transport {

/// Two transports at once: one to the ranks of this node, the other to all others. A pair of ranks
/// always uses the same one, so the order of its messages is kept.
class CombinedTransport : public Transport {
 public:
  CombinedTransport(std::unique_ptr<SharedTransport> here, std::unique_ptr<Transport> elsewhere)
      : here_{std::move(here)}, elsewhere_{std::move(elsewhere)} {}

  PostId post(int rank, std::vector<std::byte> message, std::span<const std::byte> bulk,
              std::size_t chunk_bytes) override;
  PostId post_strided(int rank, std::vector<std::byte> message, const StridedBytes& bulk) override {
    return numbered(rank, to(rank).post_strided(rank, std::move(message), bulk));
  }
  bool takes_strided(int rank) const override { return to(rank).takes_strided(rank); }
  bool runs_elsewhere(int rank) const override { return to(rank).runs_elsewhere(rank); }
  bool is_taken(PostId post) override;
  std::size_t held_back(int rank) const override { return to(rank).held_back(rank); }
  std::optional<Incoming> poll() override;
  void give_credit(int rank) override { to(rank).give_credit(rank); }
  FetchId fetch(int rank, std::span<std::byte> memory) override;
  bool fetches_any_size(int rank) const override { return to(rank).fetches_any_size(rank); }
  std::optional<Borrowed> borrow(int rank, std::size_t bytes,
                                 std::optional<std::size_t> page_remainder) override;
  void give_back(FetchId chunk) override {
    if (chunk % 2 == 0) {
      here_->give_back(chunk / 2);
    }
  }
  std::optional<FetchId> next_fetched() override;
  bool exports_memory() const override { return here_->exports_memory(); }
  std::span<std::byte> export_memory(std::size_t bytes, bool staged) override {
    return here_->export_memory(bytes, staged);
  }
  bool withdraw_memory(const std::byte* first) override { return here_->withdraw_memory(first); }
  bool progress() override;
  std::optional<FutexWord> watch() override { return here_->watch(); }
  void unwatch() override { here_->unwatch(); }
  bool needs_looks() const override { return true; }
  void rouse() override { here_->rouse(); }
  NodeWatch* node_watch() override { return here_->node_watch(); }
  Tally tally() const override;
  bool is_idle() const override { return here_->is_idle() && elsewhere_->is_idle(); }

 private:
  [[nodiscard]] Transport& to(int rank) const {
    return here_->reaches(rank) ? static_cast<Transport&>(*here_) : *elsewhere_;
  }
  // The lowest bit tells the numbers of the two apart.
  [[nodiscard]] std::uint64_t numbered(int rank, std::uint64_t number) const {
    return 2 * number + (here_->reaches(rank) ? 0 : 1);
  }

  std::unique_ptr<SharedTransport> here_;
  std::unique_ptr<Transport> elsewhere_;
};

}  // namespace iocomp::transport
