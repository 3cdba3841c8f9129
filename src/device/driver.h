// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace iocomp::device {

/// The owner of the memory at an address.
struct Owner {
  std::uintptr_t context = 0;  ///< the driver's; 0: that which all of the process use
  int gpu = 0;                 ///< its number

  friend auto operator<=>(const Owner&, const Owner&) = default;
};

/// Memory that the CPU reads and a GPU writes at full speed ("pinned"), with a stream of its own.
class Window {
 public:
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  virtual ~Window() = default;

  [[nodiscard]] virtual std::span<std::byte> memory() noexcept = 0;
  /// Copy values of the GPU to the beginning of the memory. Returns when they are there, and sleeps
  /// meanwhile. What the program has given to the default stream comes before it.
  /// @throws Error{invalid_argument} with the words of the driver.
  virtual void fetch(const std::byte* from, std::size_t bytes) = 0;
};

/// The driver of a kind of GPU, which the program has loaded.
class Driver {
 public:
  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  virtual ~Driver() = default;

  /// Finds the owner of memory; nothing for memory that the CPU can read as any other.
  /// @throws Error{unsupported} for memory of a GPU that has no addresses.
  [[nodiscard]] virtual std::optional<Owner> owner_of(const void* address) = 0;
  /// @throws Error{invalid_argument} with the words of the driver.
  [[nodiscard]] virtual std::unique_ptr<Window> make_window(const Owner& owner,
                                                            std::size_t bytes) = 0;
};

// Each loads the library at `path`.
/// The driver of NVIDIA: libcuda.so, which programs of the CUDA runtime load too.
[[nodiscard]] std::unique_ptr<Driver> cuda_driver(const std::string& path);
/// The driver of AMD: libamdhip64.so.
[[nodiscard]] std::unique_ptr<Driver> hip_driver(const std::string& path);

}  // namespace iocomp::device
