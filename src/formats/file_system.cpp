#include "formats/file_system.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <system_error>

#include "base/error.h"
#include "mpi/error.h"

namespace iocomp::formats {
namespace {

namespace fs = std::filesystem;

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

[[noreturn]] void fail(const std::string& directory) {
  throw Error{ErrorCode::storage_failure,
              "cannot ask for the file system of " + directory + ": " + std::strerror(errno)};
}

bool takes_direct_io(const std::string& directory) {
  // A file without a name, which is gone when it is closed.
  const int file = open(directory.c_str(), O_TMPFILE | O_WRONLY | O_DIRECT | O_CLOEXEC, 0600);
  if (file >= 0) {
    close(file);
    return true;
  }
  if (errno != EOPNOTSUPP && errno != EISDIR) return false;
  const std::string name = directory + "/.iocomp-probe-" + std::to_string(getpid());
  const int named = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_DIRECT | O_CLOEXEC, 0600);
  if (named < 0) return false;
  close(named);
  unlink(name.c_str());
  return true;
}

/// The largest number of targets of any Lustre that is mounted here; 0 where that is not told.
int lustre_targets() {
  int most = 0;
  for (const char* const folder : {"/sys/fs/lustre/lov", "/proc/fs/lustre/lov"}) {
    std::error_code failure;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder, failure}) {
      int targets = 0;
      if (std::ifstream{entry.path() / "numobd"} >> targets) most = std::max(most, targets);
    }
  }
  return most;
}

// What new files in the directory get, if somebody has said so (lfs setstripe).
std::int64_t lustre_stripe(const std::string& directory) {
  std::array<std::byte, 4096> attribute{};
  const ssize_t bytes =
      getxattr(directory.c_str(), "lustre.lov", attribute.data(), attribute.size());
  return bytes > 0 ? stripe_bytes_in(std::span{attribute}.first(static_cast<std::size_t>(bytes)))
                   : 0;
}

std::string folder_to_ask(const std::string& path) {
  const std::string parent = fs::path{path}.parent_path().string();
  return parent.empty() ? "." : parent;
}

FileSystemKind kind_of(std::uint32_t magic) {
  const auto* const found = std::find_if(known.begin(), known.end(),
                                         [&](const Known& each) { return each.magic == magic; });
  return found == known.end() ? FileSystemKind::other : found->kind;
}

FileSystemAdvice advise_lustre(const FileSystemFacts& facts, int writers,
                               const std::string& directory) {
  FileSystemAdvice advice;
  advice.is_special = true;
  advice.stripe_count = facts.targets > 0 ? facts.targets : -1;
  advice.stripe_bytes = lustre_stripe_bytes;
  advice.alignment_bytes = lustre_stripe_bytes;
  const int stripes = std::max(1, facts.targets);
  advice.aggregators_per_stripe = std::clamp(writers / stripes, 1, most_aggregators_per_stripe);
  const std::string each = std::to_string(advice.aggregators_per_stripe);
  advice.hints = {{"striping_factor", std::to_string(advice.stripe_count)},
                  {"striping_unit", std::to_string(advice.stripe_bytes)},
                  {"romio_lustre_co_ratio", each},
                  {"cray_cb_nodes_multiplier", each},
                  {"cray_cb_write_lock_mode", "2"}};
  advice.command = "lfs setstripe --stripe-count " + std::to_string(advice.stripe_count) +
                   " --stripe-size " + std::to_string(advice.stripe_bytes) + " " + directory;
  return advice;
}

}  // namespace

FileSystemFacts file_system_of(const std::string& directory) {
  struct statfs found{};
  struct stat entry{};
  if (statfs(directory.c_str(), &found) != 0 || stat(directory.c_str(), &entry) != 0) {
    fail(directory);
  }
  if (!S_ISDIR(entry.st_mode)) {
    errno = ENOTDIR;
    fail(directory);
  }
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
  facts.block_bytes = entry.st_blksize;
  facts.free_bytes =
      static_cast<std::int64_t>(found.f_bavail) * static_cast<std::int64_t>(found.f_bsize);
  facts.takes_direct_io = takes_direct_io(directory);
  if (facts.kind == FileSystemKind::lustre) {
    facts.targets = lustre_targets();
    facts.stripe_bytes = lustre_stripe(directory);
  }
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
  constexpr std::size_t at = 24;  // magic, pattern, number of the object (16 bytes)
  std::uint32_t magic = 0;
  std::uint32_t bytes = 0;
  if (attribute.size() < at + sizeof bytes) return 0;
  std::memcpy(&magic, attribute.data(), sizeof magic);
  std::memcpy(&bytes, attribute.data() + at, sizeof bytes);
  return std::find(magics.begin(), magics.end(), magic) != magics.end() ? bytes : 0;
}

std::int64_t domain_bytes(std::int64_t setting_bytes, const FileSystemFacts& facts) {
  const std::int64_t unit =
      facts.stripe_bytes > 0 ? facts.stripe_bytes : advise(facts, 1, {}).alignment_bytes;
  if (unit <= 0 || setting_bytes % unit == 0) return setting_bytes;
  return (setting_bytes + unit - 1) / unit * unit;
}

FileSystemFacts layout_facts_at(const std::string& path) {
  const std::string directory = folder_to_ask(path);
  FileSystemFacts facts;
  struct statfs found{};
  struct stat entry{};
  if (statfs(directory.c_str(), &found) != 0 || stat(directory.c_str(), &entry) != 0) {
    return facts;  // opening the file will tell why
  }
  facts.kind = kind_of(static_cast<std::uint32_t>(found.f_type));
  facts.block_bytes = entry.st_blksize;
  if (facts.kind == FileSystemKind::lustre) {
    facts.targets = lustre_targets();
    facts.stripe_bytes = lustre_stripe(directory);
  }
  return facts;
}

std::int64_t domain_bytes_at(const std::string& path, std::int64_t setting_bytes) {
  const FileSystemFacts facts = layout_facts_at(path);
  return facts.kind == FileSystemKind::other ? setting_bytes : domain_bytes(setting_bytes, facts);
}

std::vector<std::pair<std::string, std::string>> file_system_hints(const std::string& path,
                                                                   MPI_Comm writers) {
  const std::string directory = folder_to_ask(path);
  struct statfs found{};
  if (statfs(directory.c_str(), &found) != 0) return {};  // opening the file will tell why
  if (kind_of(static_cast<std::uint32_t>(found.f_type)) == FileSystemKind::other) return {};
  int ranks = 0;
  mpi::check(MPI_Comm_size(writers, &ranks));
  return advise(file_system_of(directory), ranks, directory).hints;
}

}  // namespace iocomp::formats
