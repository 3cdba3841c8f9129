// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/pull.h"

#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "array/memory_box.h"
#include "array/runs.h"

namespace iocomp::transport {

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

}  // namespace iocomp::transport
