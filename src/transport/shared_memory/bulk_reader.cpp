// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/bulk_reader.h"

#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "array/memory_box.h"
#include "array/runs.h"
#include "base/bug.h"
#include "base/crew.h"
#include "base/error.h"
#include "base/log.h"
#include "transport/shared_memory/exported_memory.h"
#include "transport/shared_memory/join_node.h"
#include "transport/shared_memory/node_peers.h"
#include "transport/shared_memory/records.h"
#include "transport/transport.h"

namespace iocomp::transport {

namespace {

// Reads the memory of another process. @return 0, or the errno of the kernel's refusal; then the
// contents of `memory` are of no use.
int pull(pid_t process, std::uint64_t address, std::span<std::byte> memory) noexcept {
  while (!memory.empty()) {
    const iovec local{.iov_base = memory.data(), .iov_len = memory.size()};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process
    const iovec remote{.iov_base = reinterpret_cast<void*>(address), .iov_len = memory.size()};
    const ssize_t count = process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return count < 0 ? errno : EFAULT;
    }
    memory = memory.subspan(static_cast<std::size_t>(count));
    address += static_cast<std::uint64_t>(count);
  }
  return 0;
}

// The same for elements from `first` on, in the packed order of a box in an array at `address`:
// whole elements until `memory` is full.
int pull_strided(pid_t process, std::uint64_t address, const array::MemoryBox& box,
                 std::size_t element_bytes, std::int64_t first,
                 std::span<std::byte> memory) noexcept {
  constexpr std::size_t most = 512;  // of the 1024 that the kernel takes: as many as fit the caches
  std::array<iovec, most> rows{};
  array::RunCursor runs{box.shape, box.box, first,
                        static_cast<std::int64_t>(memory.size() / element_bytes)};
  array::Run run;
  bool any = runs.next(run);
  while (any) {
    std::size_t count = 0;
    std::size_t bytes = 0;
    for (; any && count < most; any = runs.next(run)) {
      const std::size_t length = static_cast<std::size_t>(run.elements) * element_bytes;
      rows.at(count++) = {
          // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process
          .iov_base = reinterpret_cast<void*>(address + static_cast<std::uint64_t>(run.index) *
                                                            element_bytes),
          .iov_len = length};
      bytes += length;
    }
    const iovec local{.iov_base = memory.data(), .iov_len = bytes};
    ssize_t got = 0;
    do {
      got = process_vm_readv(process, &local, 1, rows.data(), count, 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      return errno;
    }
    if (static_cast<std::size_t>(got) != bytes) {
      return EFAULT;  // a row is missing: calls end early for no other reason
    }
    memory = memory.subspan(bytes);
  }
  return 0;
}

int pull_rows(pid_t process, const Strided& rows, std::uint64_t next, std::span<std::byte> memory) {
  if (next % rows.element_bytes != 0 || memory.size() % rows.element_bytes != 0) {
    throw Error{ErrorCode::internal, "a part of an element was asked for"};
  }
  const auto first = rows.first + static_cast<std::int64_t>(next / rows.element_bytes);
  return pull_strided(process, rows.offer.address, rows.memory, rows.element_bytes, first, memory);
}

}  // namespace

BulkReader::BulkReader(NodePeers& peers, Crew* crew)
    : peers_{peers}, crew_{crew}, from_(peers.processes()) {}

void BulkReader::take_offer(const Peer& from, const Offer& offer) { add(from, {.offer = offer}); }

void BulkReader::take_strided(const Peer& from, const Strided& rows) {
  add(from, {.offer = rows.offer, .rows = rows});
}

void BulkReader::add(const Peer& from, const Offered& offered) {
  from_[from.number].offers.push_back(offered);
  from_[from.number].owing.emplace(offered.offer.post, offered.offer.bytes);
}

std::span<std::byte> BulkReader::copy_target(const Peer& from, std::size_t bytes) {
  const auto& copying = from_[from.number].copying;
  if (copying.empty() || copying.front().memory.size() != bytes) {
    throw Error{ErrorCode::internal, "rank " + std::to_string(from.rank) + " sent a copy of " +
                                         std::to_string(bytes) + " bytes that nobody asked for"};
  }
  return copying.front().memory;
}

void BulkReader::take_copy(Peer& from) {
  auto& copying = from_[from.number].copying;
  const Copying done = copying.front();
  copying.pop_front();
  tally_.message_bytes += static_cast<double>(done.memory.size());
  fetched_.push_back(done.fetch);
  settle(from, done.post, done.memory.size());
}

// The next `bytes` that the peer offers, if this process can see them; otherwise empty.
ImportedMemory::View BulkReader::view(const Peer& from, std::size_t bytes) {
  auto& sender = from_[from.number];
  if (sender.offers.empty() || sender.offers.front().offer.region.id == 0) {
    return {};
  }
  const auto& [offer, next, rows] = sender.offers.front();
  return sender.memory.view(from.pid, offer.region, offer.region_offset + next, bytes);
}

// Returns 0, or the errno of a refusal.
int BulkReader::pull_offered(const Peer& from, const Offered& offered,
                             std::span<std::byte> memory) const {
  const auto& [offer, next, rows] = offered;
  const std::size_t unit = rows ? rows->element_bytes : 1;
  std::atomic<int> refusal = 0;
  share(crew_, memory, unit,
        [&, &offer = offer, &next = next, &rows = rows](std::size_t begin, std::size_t end) {
          const auto part = memory.subspan(begin, end - begin);
          const int refused = rows ? pull_rows(from.pid, *rows, next + begin, part)
                                   : pull(from.pid, offer.address + next + begin, part);
          if (refused != 0) {
            refusal = refused;
          }
        });
  return refusal;
}

// Pulls the next bytes that the peer offers. @return false if the system refuses.
bool BulkReader::pulls(const Peer& from, std::span<std::byte> memory) {
  auto& sender = from_[from.number];
  const bool is_refused = sender.refuses_pull || from.pid == unknown_process;
  const int refusal = is_refused ? EPERM : pull_offered(from, sender.offers.front(), memory);
  const bool for_good = refusal == EPERM || refusal == ENOSYS;
  if (for_good && !std::exchange(sender.refuses_pull, true)) {
    log::warning("reading the memory of rank " + std::to_string(from.rank) + " is refused (" +
                 std::strerror(refusal) + "); it copies through the node's segment instead");
  }
  return refusal == 0;
}

void BulkReader::asked(const Peer& from, std::size_t bytes) {
  auto& offers = from_[from.number].offers;
  offers.front().next += bytes;
  if (offers.front().next == offers.front().offer.bytes) {
    offers.pop_front();
  }
}

void BulkReader::settle(Peer& from, PostId post, std::size_t bytes) {
  auto& owing = from_[from.number].owing;
  const auto found = owing.find(post);
  found->second -= bytes;
  if (found->second == 0) {
    owing.erase(found);
    from.channel.send(RecordKind::taken, Taken{post});
    peers_.push(from);
  }
}

FetchId BulkReader::fetch(Peer& from, std::span<std::byte> memory) {
  auto& sender = from_[from.number];
  const auto& offers = sender.offers;
  if (offers.empty() || memory.size() > offers.front().offer.bytes - offers.front().next) {
    throw Error{ErrorCode::internal, "a chunk of " + std::to_string(memory.size()) +
                                         " bytes was asked for that rank " +
                                         std::to_string(from.rank) + " does not offer"};
  }
  const FetchId id = next_fetch_++;
  const Offer offer = offers.front().offer;
  const std::uint64_t next = offers.front().next;
  const auto bytes = static_cast<double>(memory.size());
  if (const auto seen = view(from, memory.size()).bytes; !seen.empty()) {
    share(crew_, seen, 1, [&memory, &seen = seen](std::size_t begin, std::size_t end) {
      std::memcpy(memory.data() + begin, seen.data() + begin, end - begin);
    });
    (offer.region.staged != 0 ? tally_.staged_bytes : tally_.pulled_bytes) += bytes;
  } else if (pulls(from, memory)) {
    tally_.pulled_bytes += bytes;
  } else {
    asked(from, memory.size());
    sender.copying.push_back({id, offer.post, memory});
    from.channel.send(RecordKind::want_copy, WantCopy{offer.post, next, memory.size()});
    peers_.push(from);
    return id;
  }
  asked(from, memory.size());
  fetched_.push_back(id);
  settle(from, offer.post, memory.size());
  return id;
}

std::optional<Transport::Borrowed> BulkReader::borrow(Peer& from, std::size_t bytes,
                                                      std::optional<std::size_t> page_remainder) {
  auto [seen, mapping] = view(from, bytes);
  if (seen.empty() ||
      (page_remainder &&
       reinterpret_cast<std::uintptr_t>(seen.data()) % Transport::page_bytes != *page_remainder)) {
    return std::nullopt;
  }
  const Offer& offer = from_[from.number].offers.front().offer;
  const FetchId id = next_fetch_++;
  borrowed_.emplace(id, Lent{from.number, offer.post, bytes, std::move(mapping)});
  (offer.region.staged != 0 ? tally_.staged_bytes : tally_.in_place_bytes) +=
      static_cast<double>(bytes);
  const PostId post = offer.post;
  asked(from, bytes);
  if (has_bug(Bug::returned_while_read)) {
    settle(from, post, bytes);
  }
  return Transport::Borrowed{id, seen};
}

void BulkReader::give_back(FetchId chunk) {
  const auto node = borrowed_.extract(chunk);
  if (node.empty() || has_bug(Bug::returned_while_read)) {
    return;
  }
  const Lent& lent = node.mapped();
  settle(peers_.numbered(lent.peer), lent.post, lent.bytes);
}

std::optional<FetchId> BulkReader::next_fetched() {
  if (fetched_.empty()) {
    return std::nullopt;
  }
  const FetchId id = fetched_.front();
  fetched_.pop_front();
  return id;
}

bool BulkReader::is_idle() const {
  return fetched_.empty() &&
         std::ranges::all_of(from_, [](const From& from) { return from.copying.empty(); });
}

}  // namespace iocomp::transport
