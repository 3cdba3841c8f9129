#include "storage/find_committed.h"

#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "storage/commit.h"
#include "storage/committed.h"
#include "storage/failure.h"
#include "storage/format.h"
#include "storage/read_manifest.h"
#include "storage/registry.h"
#include "storage/small_files.h"

namespace iocomp::storage {
namespace {

// What lies in the folder under a name.
struct Found {
  bool one_file = false;
  std::map<std::int64_t, std::string> of_step;  // paths
  std::string uncommitted;                      // a file in the making; empty where there is none
};

Found look_for(const std::string& path) {
  const std::string folder = folder_of(path);
  const std::string plain = name_in_folder(path);
  const auto close = [](DIR* opened) { ::closedir(opened); };
  const std::unique_ptr<DIR, decltype(close)> opened{::opendir(folder.c_str()), close};
  if (!opened && errno != ENOENT) {
    throw failure("look for " + path + " in the folder", folder, errno);
  }
  const std::string prefix = path.substr(0, path.size() - plain.size());
  Found found;
  while (const dirent* entry = opened ? ::readdir(opened.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name == plain) {
      found.one_file = true;
    } else if (const auto step = step_in_name(name, plain)) {
      found.of_step.emplace(*step, prefix + name);
    } else if (const auto mark = name.rfind(".iocomp-");
               name.starts_with('.') && mark != std::string::npos && !name.ends_with(".json")) {
      const std::string target = name.substr(1, mark - 1);
      if (target == plain || step_in_name(target, plain)) {
        found.uncommitted = prefix + name;
      }
    }
  }
  return found;
}

void check_size(const std::string& path, std::int64_t bytes) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    throw failure("find", path, errno);
  }
  if (S_ISREG(status.st_mode) && status.st_size < bytes) {
    throw Error{ErrorCode::storage_failure,
                "cannot read " + path + ": it is torn: it has " + std::to_string(status.st_size) +
                    " bytes, its manifest says " + std::to_string(bytes)};
  }
}

void add(Committed& committed, const std::string& path, const Sought& sought) {
  const std::string manifest_path = path + ".json";
  Manifest manifest;
  if (const auto text = read_file(manifest_path)) {
    manifest = parse_manifest(*text, manifest_path);
    check_size(path, manifest.bytes);
  } else {
    manifest.format = sought.backend;
    const auto source = format(sought.backend, sought.modules).open(path, {});
    try {
      manifest.inventory = source->inventory();
    } catch (const Error& error) {
      throw Error{error.code(), "cannot read " + path + " (back-end \"" + sought.backend +
                                    "\", there is no " + manifest_path + "): " + error.what()};
    }
  }
  committed.add({path, manifest.format}, manifest.inventory);
}

Error none_there(const Sought& sought, const std::string& path, const Found& found) {
  const std::string one = path;
  const std::string many = target_names(path, 0, {}).target + " and so on";
  std::string story = "there is no committed file \"" + sought.name + "\": no ";
  story += sought.kind == Sought::Kind::one_file        ? one
           : sought.kind == Sought::Kind::file_per_step ? many
                                                        : one + ", nor " + many;
  if (!found.uncommitted.empty()) {
    story += "; " + found.uncommitted + " is there, of which nothing is committed (yet)";
  }
  return Error{ErrorCode::not_found, story};
}

}  // namespace

Committed find_committed(const Sought& sought) {
  std::string path = sought.path;
  if (path.empty()) {
    path = sought.name + std::string{format(sought.backend, sought.modules).extension()};
  }
  const Found found = look_for(path);
  const bool one = found.one_file && sought.kind != Sought::Kind::file_per_step;
  const bool many = !found.of_step.empty() && sought.kind != Sought::Kind::one_file;
  if (one && many) {
    throw Error{ErrorCode::invalid_argument,
                "the file \"" + sought.name + "\" is there twice: as " + path + " and as " +
                    found.of_step.begin()->second + "; say which by files." + sought.name +
                    ".kind = \"series\" or \"checkpoint\""};
  }
  if (!one && !many) {
    throw none_there(sought, path, found);
  }
  Committed committed;
  if (one) {
    add(committed, path, sought);
  } else {
    for (const auto& [step, file] : found.of_step) {
      add(committed, file, sought);
    }
  }
  return committed;
}

}  // namespace iocomp::storage
