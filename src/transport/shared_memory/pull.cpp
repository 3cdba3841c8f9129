#include "transport/shared_memory/pull.h"

#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

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

}  // namespace iocomp::transport
