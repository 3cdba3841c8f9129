// SPDX-License-Identifier: BSD-3-Clause
#include "formats/file_system.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/system_file.h"
#include "mpi/error.h"

namespace iocomp::formats {
namespace {

struct Known {
  std::uint32_t magic;
  const char* name;
  FileSystemKind kind;
};
// Numbers of statfs(2); those of Lustre and GPFS stand in no header of the system.
constexpr std::array known{Known{0x0BD00BD0, "lustre", FileSystemKind::lustre},
                           Known{0x47504653, "gpfs", FileSystemKind::gpfs},
                           Known{0xEF53, "ext4", FileSystemKind::other},
                           Known{0x58465342, "xfs", FileSystemKind::other},
                           Known{0x9123683E, "btrfs", FileSystemKind::other},
                           Known{0x01021994, "tmpfs", FileSystemKind::other},
                           Known{0x794C7630, "overlay", FileSystemKind::other},
                           Known{0x6969, "nfs", FileSystemKind::other},
                           Known{0x65735546, "fuse", FileSystemKind::other}};

constexpr std::int64_t lustre_stripe_bytes = std::int64_t{1} << 20;
constexpr int most_aggregators_per_stripe = 16;

bool takes_direct_io(const OpenFolder& folder) {
  // A file without a name, which is gone when it is closed.
  if (folder.create_nameless(O_WRONLY | O_DIRECT).is_open()) return true;
  if (errno != EOPNOTSUPP && errno != EISDIR) return false;
  const std::string name = ".iocomp-probe-" + std::to_string(getpid());
  const bool takes = outcome_of([&] { (void)folder.create(name, O_WRONLY | O_DIRECT); }).ok();
  folder.unlink(name);
  return takes;
}

/// The largest number of targets of any Lustre that is mounted here; 0 where that is not told.
int lustre_targets() {
  int most = 0;
  for (const std::string folder : {"/sys/fs/lustre/lov/", "/proc/fs/lustre/lov/"}) {
    for (const std::string& name : names_in_system_folder(folder)) {
      std::istringstream told{read_system_file(folder + name + "/numobd")};
      int targets = 0;
      if (told >> targets) most = std::max(most, targets);
    }
  }
  return most;
}

// Reads the layout that new files in the directory get, if somebody has set one (lfs setstripe):
// for the directory, or at the top for the whole file system.
void ask_lustre(const OpenFolder& folder, FileSystemFacts& facts) {
  facts.targets = lustre_targets();
  std::vector<std::byte> attribute(std::size_t{64} << 10);  // XATTR_SIZE_MAX
  std::size_t bytes = folder.attribute("lustre.lov", attribute);
  if (bytes == 0) bytes = folder.top().attribute("lustre.lov", attribute);
  if (bytes > 0) {
    facts.has_layout = true;
    facts.stripe_bytes = stripe_bytes_in(std::span{attribute}.first(bytes));
  }
}

// The best number of targets depends on the length, which nobody knows when a file is made.
std::vector<StripedPart> striped_parts(int targets) {
  constexpr std::array<StripedPart, 2> few{StripedPart{std::int64_t{16} << 20, 1},
                                           StripedPart{std::int64_t{1} << 30, 8}};
  std::vector<StripedPart> parts;
  for (const StripedPart& part : few) {
    if (targets == 0 || part.targets < targets) parts.push_back(part);
  }
  parts.push_back({-1, targets > 0 ? targets : -1});
  return parts;
}

std::string words_of(const std::vector<StripedPart>& parts, std::int64_t stripe_bytes) {
  std::string words;
  for (const StripedPart& part : parts) {
    words += " -E " + (part.end < 0 ? "-1" : std::to_string(part.end >> 20) + "M") + " -c " +
             std::to_string(part.targets) + " -S " + std::to_string(stripe_bytes);
  }
  return words;
}

// 0 behind the end.
template <typename Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) {
  Number number = 0;
  if (at + sizeof number <= bytes.size()) std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// Its kind and type, and the layout that Lustre tells.
FileSystemFacts facts_of(const struct statfs& found, const OpenFolder& folder) {
  const auto magic = static_cast<std::uint32_t>(found.f_type);
  const auto* const name = std::find_if(known.begin(), known.end(),
                                        [&](const Known& each) { return each.magic == magic; });
  FileSystemFacts facts;
  if (name != known.end()) {
    facts.kind = name->kind;
    facts.type = name->name;
  } else {
    std::ostringstream text;
    text << "0x" << std::hex << magic;
    facts.type = text.str();
  }
  if (facts.kind == FileSystemKind::lustre) {
    ask_lustre(folder, facts);
  }
  return facts;
}

FileSystemAdvice advise_lustre(const FileSystemFacts& facts, int writers,
                               const std::string& directory) {
  FileSystemAdvice advice;
  advice.is_special = true;
  advice.parts = striped_parts(facts.targets);
  advice.stripe_bytes = lustre_stripe_bytes;
  advice.alignment_bytes = lustre_stripe_bytes;
  const int stripes = std::max(1, facts.targets);
  advice.aggregators_per_stripe = std::clamp(writers / stripes, 1, most_aggregators_per_stripe);
  const std::string each = std::to_string(advice.aggregators_per_stripe);
  advice.hints = {{"romio_lustre_co_ratio", each},
                  {"cray_cb_nodes_multiplier", each},
                  {"cray_cb_write_lock_mode", "2"}};
  if (!facts.has_layout) {
    advice.hints.emplace_back("striping_factor", std::to_string(advice.parts.back().targets));
    advice.hints.emplace_back("striping_unit", std::to_string(advice.stripe_bytes));
  }
  advice.command = "lfs setstripe" + words_of(advice.parts, advice.stripe_bytes) + ' ' + directory;
  return advice;
}

}  // namespace

FileSystemFacts file_system_of(const OpenFolder& folder) {
  const auto found = folder.file_system();
  const auto entry = folder.find(".");
  if (!found || !entry) {
    throw failure("ask for the file system of", folder.text(""), errno);
  }
  FileSystemFacts facts = facts_of(*found, folder);
  facts.block_bytes = entry->st_blksize;
  facts.free_bytes =
      static_cast<std::int64_t>(found->f_bavail) * static_cast<std::int64_t>(found->f_bsize);
  facts.takes_direct_io = takes_direct_io(folder);
  return facts;
}

FileSystemAdvice advise(const FileSystemFacts& facts, int writers, const std::string& directory) {
  if (facts.kind == FileSystemKind::lustre) return advise_lustre(facts, writers, directory);
  FileSystemAdvice advice;
  if (facts.kind == FileSystemKind::gpfs) {
    advice.is_special = true;
    advice.alignment_bytes = facts.block_bytes;
    advice.hints = {{"striping_unit", std::to_string(facts.block_bytes)}};
  }
  return advice;
}

std::int64_t stripe_bytes_in(std::span<const std::byte> attribute) {
  constexpr std::array<std::uint32_t, 2> magics{0x0BD10BD0, 0x0BD30BD0};  // versions 1 and 3
  constexpr std::uint32_t composite = 0x0BD60BD0;
  constexpr std::size_t size_at = 24;     // magic, pattern, number of the object (16 bytes)
  constexpr std::size_t entries_at = 14;  // magic, size, generation, flags
  constexpr std::size_t first_entry = 32;
  constexpr std::size_t entry_bytes = 48;
  constexpr std::size_t place_at = 24;  // in an entry: number, flags, extent (16 bytes)
  const auto magic = number_at<std::uint32_t>(attribute, 0);
  if (magic != composite) {
    return std::find(magics.begin(), magics.end(), magic) != magics.end()
               ? number_at<std::uint32_t>(attribute, size_at)
               : 0;
  }
  std::int64_t longest = 0;
  const auto entries = number_at<std::uint16_t>(attribute, entries_at);
  for (std::size_t i = 0; i < entries; ++i) {
    const auto place =
        number_at<std::uint32_t>(attribute, first_entry + i * entry_bytes + place_at);
    if (place < first_entry || place >= attribute.size()) continue;
    const auto part = attribute.subspan(place);
    if (number_at<std::uint32_t>(part, 0) == composite) continue;  // which lies in no other
    longest = std::max(longest, stripe_bytes_in(part));
  }
  return longest;
}

std::int64_t domain_bytes(std::int64_t setting_bytes, const FileSystemFacts& facts) {
  const std::int64_t unit =
      facts.stripe_bytes > 0 ? facts.stripe_bytes : advise(facts, 1, {}).alignment_bytes;
  if (unit <= 0 || setting_bytes % unit == 0) return setting_bytes;
  return (setting_bytes + unit - 1) / unit * unit;
}

FileSystemFacts layout_facts_of(const OpenFolder& folder) {
  const auto found = folder.file_system();
  if (!found) {
    return {};  // opening the file will tell why
  }
  FileSystemFacts facts = facts_of(*found, folder);
  if (facts.kind != FileSystemKind::other) {
    if (const auto entry = folder.find(".")) {
      facts.block_bytes = entry->st_blksize;
    }
  }
  return facts;
}

std::int64_t domain_bytes_in(const OpenFolder& folder, std::int64_t setting_bytes) {
  const FileSystemFacts facts = layout_facts_of(folder);
  return facts.kind == FileSystemKind::other ? setting_bytes : domain_bytes(setting_bytes, facts);
}

std::vector<std::pair<std::string, std::string>> file_system_hints(const OpenFolder& folder,
                                                                   MPI_Comm writers) {
  if (layout_facts_of(folder).kind == FileSystemKind::other) return {};
  int ranks = 0;
  mpi::check(MPI_Comm_size(writers, &ranks));
  return advise(file_system_of(folder), ranks, folder.address().path).hints;
}

}  // namespace iocomp::formats
