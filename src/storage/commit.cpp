#include "storage/commit.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "storage/descriptor.h"
#include "storage/failure.h"
#include "storage/small_files.h"

namespace iocomp::storage {
namespace {

constexpr std::string_view temporary_mark = ".iocomp-";
constexpr std::string_view manifest_ending = ".json";

std::string this_host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string{name.data()}
                                                          : std::string{};
}

// Of a process that is there: it has ended, and nobody has asked how.
bool is_zombie(long process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  std::string status;
  std::getline(file, status);
  const auto end_of_name = status.rfind(") ");
  return end_of_name != std::string::npos && status.compare(end_of_name + 2, 1, "Z") == 0;
}

bool is_alive(long process) {
  return (::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH) && !is_zombie(process);
}

// ".fields.h5.iocomp-<host>-<pid>", perhaps with ".json": whether <host> is this one and <pid> has
// ended.
bool is_left_by_the_dead(std::string_view name, std::string_view host) {
  const auto mark = name.rfind(temporary_mark);
  if (host.empty() || !name.starts_with('.') || mark == std::string_view::npos) {
    return false;
  }
  std::string_view job = name.substr(mark + temporary_mark.size());
  if (job.ends_with(manifest_ending)) {
    job.remove_suffix(manifest_ending.size());
  }
  if (!job.starts_with(host) || job.size() < host.size() + 2 || job[host.size()] != '-') {
    return false;
  }
  job.remove_prefix(host.size() + 1);
  long process = 0;
  const auto [end, error] = std::from_chars(job.data(), job.data() + job.size(), process);
  return error == std::errc{} && end == job.data() + job.size() && process > 0 &&
         !is_alive(process);
}

void remove_what_the_dead_left(const std::string& folder) {
  const auto close = [](DIR* opened) { ::closedir(opened); };
  const std::unique_ptr<DIR, decltype(close)> opened{::opendir(folder.c_str()), close};
  const std::string host = this_host();
  while (const dirent* entry = opened ? ::readdir(opened.get()) : nullptr) {
    if (is_left_by_the_dead(entry->d_name, host)) {
      ::unlinkat(::dirfd(opened.get()), entry->d_name, 0);
    }
  }
}

void check_folder(const TargetNames& names) {
  const std::string folder = folder_of(names.target);
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0) {
    throw failure("write " + names.target + " into the folder", folder, errno);
  }
  if (!S_ISDIR(status.st_mode)) {
    throw failure("write " + names.target + " into the folder", folder, ENOTDIR);
  }
}

// By trying: permissions, read-only mounts, quotas and mapped users have no other common test.
void check_that_files_can_be_created(const TargetNames& names) {
  ::unlink(names.temporary.c_str());  // of an earlier process with our number
  const Descriptor probe{
      ::open(names.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (!probe.is_open()) {
    throw failure("create a file beside", names.target, errno);
  }
  ::unlink(names.temporary.c_str());
}

void refuse_a_folder(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    throw failure("write", path, EISDIR);
  }
}

bool exists(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

Error target_is_there(const TargetNames& names, const char* when) {
  return Error{
      ErrorCode::target_exists,
      names.target + ' ' + when + "; remove it, choose another path, or set replace = true"};
}

// Of errno after a refused renameat2 or link: the file system does not know the operation.
bool is_not_supported(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EPERM ||
         error == EMLINK;
}

// Rename unless the target is there, on file systems without RENAME_NOREPLACE too. @return 0 or
// errno.
int rename_without_replacing(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return 0;
  }
  if (!is_not_supported(errno)) {
    return errno;
  }
  if (::link(from.c_str(), to.c_str()) == 0) {
    return ::unlink(from.c_str()) == 0 ? 0 : errno;
  }
  if (!is_not_supported(errno)) {
    return errno;
  }
  // Neither exists here: what remains is a look before the rename, with a moment between the two.
  if (exists(to)) {
    return EEXIST;
  }
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// Better none than one that describes another file.
void take_back_manifest(const TargetNames& names,
                        const std::optional<std::string>& before) noexcept {
  try {
    if (before) {
      write_durably(names.manifest, names.temporary + ".json", *before);
      return;
    }
  } catch (const std::exception&) {  // the failure that led here is the one to tell
  }
  ::unlink(names.manifest.c_str());
}

}  // namespace

void prepare_target(const TargetNames& names, bool replace) {
  check_folder(names);
  refuse_a_folder(names.target);
  refuse_a_folder(names.manifest);
  if (!replace && exists(names.target)) {
    throw target_is_there(names, "exists");
  }
  check_that_files_can_be_created(names);
  remove_what_the_dead_left(folder_of(names.target));
}

void publish(const TargetNames& names, bool replace) {
  const int error = !replace ? rename_without_replacing(names.temporary, names.target)
                    : ::rename(names.temporary.c_str(), names.target.c_str()) == 0 ? 0
                                                                                   : errno;
  if (error == EEXIST) {
    throw target_is_there(names, "has appeared meanwhile");
  }
  if (error != 0) {
    throw failure("rename " + names.temporary + " to", names.target, error);
  }
  sync_folder_of(names.target);
}

void publish_described(const TargetNames& names, const ManifestHead& head,
                       const Description& description, bool replace, ToldSteps earlier) {
  const auto before = read_file(names.manifest);
  write_manifest(names, head, description, std::move(earlier));
  try {
    publish(names, replace);
  } catch (...) {
    take_back_manifest(names, before);
    throw;
  }
}

void abandon(const TargetNames& names) noexcept { ::unlink(names.temporary.c_str()); }

void remove_committed(const TargetNames& names) noexcept {
  ::unlink(names.target.c_str());
  ::unlink(names.manifest.c_str());
}

}  // namespace iocomp::storage
