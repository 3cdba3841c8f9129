#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace iocomp::transport {

/// Read the memory of another process. @return 0, or the errno of the kernel's refusal; then
/// `memory` holds nothing of use.
[[nodiscard]] int pull(pid_t process, std::uint64_t address, std::span<std::byte> memory) noexcept;

}  // namespace iocomp::transport
