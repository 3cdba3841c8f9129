// SPDX-License-Identifier: BSD-3-Clause
#include "formats/lustre_layout.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/path.h"
#include "formats/file_system.h"

namespace iocomp::formats {
namespace {

// These constants are copied from Lustre's lustre_user.h, which only its own machines have.
constexpr std::uint32_t magic_of_layout = 0x0BD10BD0;             // LOV_USER_MAGIC_V1
constexpr std::uint32_t magic_of_composite = 0x0BD60BD0;          // LOV_USER_MAGIC_COMP_V1
constexpr std::uint64_t end_of_file = ~std::uint64_t{0};          // LUSTRE_EOF
constexpr std::uint32_t striped = 1;                              // LOV_PATTERN_RAID0
constexpr std::uint16_t all_targets = 0xFFFF;                     // LOV_ALL_STRIPES
constexpr std::uint16_t any_target = 0xFFFF;                      // the first one
constexpr int without_objects = 0100000000 | O_NOCTTY | O_ASYNC;  // O_LOV_DELAY_CREATE
constexpr unsigned long set_stripe = _IOW('f', 154, long);        // LL_IOC_LOV_SETSTRIPE

struct Layout {  // lov_user_md_v1
  std::uint32_t magic;
  std::uint32_t pattern;
  std::array<std::uint64_t, 2> object;
  std::uint32_t stripe_bytes;
  std::uint16_t stripe_count;
  std::uint16_t first;
};
static_assert(sizeof(Layout) == 32);

struct Composite {  // lov_comp_md_v1
  std::uint32_t magic;
  std::uint32_t size;
  std::uint32_t generation;
  std::uint16_t flags;
  std::uint16_t entries;
  std::uint16_t mirrors;
  std::array<std::uint16_t, 3> unused;
  std::uint64_t unused_too;
};
static_assert(sizeof(Composite) == 32);

struct Part {  // lov_comp_md_entry_v1
  std::uint32_t number;
  std::uint32_t flags;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t place;  // of its Layout
  std::uint32_t size;
  std::uint32_t generation;
  std::array<std::uint32_t, 2> time;
  std::uint32_t unused;
};
static_assert(sizeof(Part) == 48);

/// Puts a record at the beginning of `bytes`. @return what is behind it.
template <typename Record>
std::span<std::byte> put(std::span<std::byte> bytes, const Record& record) {
  std::memcpy(bytes.data(), &record, sizeof record);
  return bytes.subspan(sizeof record);
}

int set_by_ioctl(int file, std::span<const std::byte> layout) {
  return ::ioctl(file, set_stripe, layout.data()) == 0 ? 0 : errno;
}

}  // namespace

std::vector<std::byte> lustre_layout(std::span<const StripedPart> parts,
                                     std::int64_t stripe_bytes) {
  const bool is_composite = parts.size() > 1;
  const std::size_t heads = is_composite ? sizeof(Composite) + parts.size() * sizeof(Part) : 0;
  std::vector<std::byte> bytes(heads + parts.size() * sizeof(Layout));
  std::span<std::byte> rest{bytes};
  if (is_composite) {
    rest = put(rest, Composite{magic_of_composite,
                               static_cast<std::uint32_t>(bytes.size()),
                               0,
                               0,
                               static_cast<std::uint16_t>(parts.size()),
                               0,
                               {},
                               0});
    std::uint64_t first = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto end = parts[i].end < 0 ? end_of_file : static_cast<std::uint64_t>(parts[i].end);
      const auto place = static_cast<std::uint32_t>(heads + i * sizeof(Layout));
      rest = put(rest, Part{0, 0, first, end, place, sizeof(Layout), 0, {}, 0});
      first = end;
    }
  }
  for (const StripedPart& part : parts) {
    const auto targets = part.targets < 0 ? all_targets : static_cast<std::uint16_t>(part.targets);
    rest = put(rest, Layout{magic_of_layout,
                            striped,
                            {},
                            static_cast<std::uint32_t>(stripe_bytes),
                            targets,
                            any_target});
  }
  return bytes;
}

std::vector<std::vector<std::byte>> layouts_for(const FileSystemFacts& facts) {
  if (facts.kind != FileSystemKind::lustre || facts.has_layout) {
    return {};
  }
  const FileSystemAdvice advice = advise(facts, 1, {});
  const std::span parts{advice.parts};
  std::vector<std::vector<std::byte>> layouts{lustre_layout(parts, advice.stripe_bytes)};
  if (parts.size() > 1) {
    layouts.push_back(lustre_layout(parts.last(1), advice.stripe_bytes));
  }
  return layouts;
}

int make_striped(const Path& path, std::span<const std::byte> layout, const SetLayout& set) {
  const auto file = path.folder().create_first(path.name(), O_WRONLY | without_objects);
  if (!file) {
    return EEXIST;
  }
  const int error = set(file->raw(), layout);
  if (error != 0) {
    path.folder().unlink(path.name());
  }
  return error;
}

namespace {

void lay_out(const Path& path) {
  int error = 0;
  for (const auto& layout : layouts_for(layout_facts_of(path.folder()))) {
    error = make_striped(path, layout, set_by_ioctl);
    if (error == 0 || error == EEXIST) {
      return;
    }
  }
  if (error != 0) {
    log::warning("Lustre does not stripe " + path.text() +
                 " over its targets: " + std::strerror(error));
  }
}

}  // namespace

Descriptor make_file(const Path& path, int access) {
  if (layouts_for(layout_facts_of(path.folder())).empty()) {
    return path.folder().create(path.name(), access);
  }
  path.folder().remove(path.name());
  return make_or_share_file(path, access);
}

Descriptor make_or_share_file(const Path& path, int access) {
  lay_out(path);
  return path.folder().create_or_share(path.name(), access);
}

}  // namespace iocomp::formats
