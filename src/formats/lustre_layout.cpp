#include "formats/lustre_layout.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/descriptor.h"
#include "base/log.h"
#include "formats/file_system.h"

namespace iocomp::formats {
namespace {

// Of Lustre's lustre_user.h, which only its own machines have.
constexpr std::uint32_t magic_of_layout = 0x0BD10BD0;             // LOV_USER_MAGIC_V1
constexpr std::uint32_t striped = 1;                              // LOV_PATTERN_RAID0
constexpr std::uint16_t all_targets = 0xFFFF;                     // LOV_ALL_STRIPES
constexpr std::uint16_t any_target = 0xFFFF;                      // the first one
constexpr int without_objects = 0100000000 | O_NOCTTY | O_ASYNC;  // O_LOV_DELAY_CREATE
constexpr unsigned long set_stripe = _IOW('f', 154, long);        // LL_IOC_LOV_SETSTRIPE

int set_by_ioctl(int file, std::span<const std::byte> layout) {
  return ::ioctl(file, set_stripe, layout.data()) == 0 ? 0 : errno;
}

}  // namespace

std::array<std::byte, 32> lustre_layout(int stripe_count, std::int64_t stripe_bytes) {
  struct Layout {
    std::uint32_t magic;
    std::uint32_t pattern;
    std::array<std::uint64_t, 2> object;
    std::uint32_t stripe_bytes;
    std::uint16_t stripe_count;
    std::uint16_t first;
  };
  const Layout layout{magic_of_layout,
                      striped,
                      {},
                      static_cast<std::uint32_t>(stripe_bytes),
                      stripe_count < 0 ? all_targets : static_cast<std::uint16_t>(stripe_count),
                      any_target};
  static_assert(sizeof layout == 32);
  std::array<std::byte, sizeof layout> bytes{};
  std::memcpy(bytes.data(), &layout, sizeof layout);
  return bytes;
}

int make_striped(const std::string& path, std::span<const std::byte> layout, const SetLayout& set) {
  const Descriptor file{
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | without_objects, 0666)};
  if (!file.is_open()) {
    return errno;
  }
  const int error = set(file.raw(), layout);
  if (error != 0) {
    ::unlink(path.c_str());
  }
  return error;
}

void lay_out(const std::string& path) {
  const FileSystemFacts facts = layout_facts_at(path);
  if (facts.kind != FileSystemKind::lustre || facts.stripe_bytes > 0) {
    return;  // nothing to choose, or somebody has
  }
  const FileSystemAdvice advice = advise(facts, 1, {});
  const int error =
      make_striped(path, lustre_layout(advice.stripe_count, advice.stripe_bytes), set_by_ioctl);
  if (error != 0 && error != EEXIST) {
    log::warning("Lustre does not stripe " + path + " over its targets: " + std::strerror(error));
  }
}

}  // namespace iocomp::formats
