// SPDX-License-Identifier: BSD-3-Clause
#include "commit/commit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bug.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/folder_targets.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "base/small_files.h"
#include "commit/manifest.h"
#include "commit/owner.h"
#include "commit/read_manifest.h"
#include "commit/rename_target.h"

namespace iocomp::commit {
namespace {

// Called before a temporary is removed that was to replace another file. The other file stays, and
// gets its own manifest again. @return true if the temporary may be removed.
bool keep_what_was_to_be_replaced(const Path& temporary) noexcept {
  const std::string target = belongs_to(temporary.name());
  if (target.empty()) {
    return true;
  }
  const Path manifest = temporary.beside(target + ".json");
  return outcome_of([&] {
           const auto found = read_file(manifest);
           const auto of_old_one = in_force(found, manifest);
           if (of_old_one != found) {
             if (of_old_one) {
               const std::string_view text{*of_old_one};
               write_durably(manifest, temporary + ".json", std::span{&text, 1});
             } else {
               manifest.folder().unlink(manifest.name());
               manifest.folder().sync();
             }
           }
         })
      .ok();
}

// Creates a file, because permissions, read-only mounts, quotas and mapped users have no other
// common test.
void check_that_files_can_be_created(const TargetNames& names) {
  remove_begun(names.temporary);  // from an earlier process with our number
  const Path trial = beside_temporary(names, trial_ending);
  const Outcome made = outcome_of([&] { (void)trial.folder().create(trial.name(), O_WRONLY); });
  if (!made.ok()) {
    throw Error{made.code,
                "cannot create a file beside " + names.target.text() + ": " + made.story};
  }
  trial.folder().unlink(trial.name());
}

void refuse_a_folder(const Path& path) {
  if (is_folder(path)) {
    throw failure("write", path.text(), EISDIR);
  }
}

// A folder that is no dataset is never replaced, whatever `existing` says: the user's files would
// be lost.
void refuse_other_folders(const TargetNames& names) {
  if (names.folder_mark.empty()) {
    refuse_a_folder(names.target);
  } else if (is_folder(names.target) && !is_folder_of_a_format(names.target, names.folder_mark)) {
    throw Error{ErrorCode::storage_failure,
                "cannot write " + names.target.text() +
                    ": it is a folder, and no dataset: it has no \"" + names.folder_mark +
                    "\", or has folders that have none; remove it, or choose another path"};
  }
}

// A program may keep "run.json" beside "run", or give the name of a manifest to another file.
void refuse_other_texts(const TargetNames& names) {
  std::optional<std::string> text;
  (void)outcome_of([&] { text = read_file(names.manifest); });
  const bool is_of_others = text && is_other_json(*text);
  if (is_of_others || names.target.name().ends_with(".json")) {
    throw Error{ErrorCode::target_exists,
                "cannot write " + names.target.text() + ": " +
                    (is_of_others ? names.manifest.text() + " is there, which is no manifest"
                                  : std::string{"names that end in .json are for manifests"}) +
                    "; choose another path"};
  }
}

// Writes a file after an fsync has failed, so that the file may not become durable.
void write_for_now(const Path& path, const Path& temporary, const std::string& text) {
  const OpenFolder& folder = path.folder();
  const Descriptor file = folder.create(temporary.name(), O_WRONLY);
  write_plainly(file, 0, std::as_bytes(std::span{text}), temporary.text());
  (void)::fsync(file.raw());  // it may succeed now
  if (const int error = folder.rename(temporary.name(), path.name()); error != 0) {
    throw failure("rename " + temporary.text() + " to", path.text(), error);
  }
}

// No manifest is better than one that describes another file. A manifest that describes this file
// with one step more is better than none.
void take_back_manifest(const TargetNames& names, const std::optional<std::string>& before,
                        bool describes_target) noexcept {
  const Path temporary = names.temporary + ".json";
  try {
    if (read_file(names.manifest) == before) {
      return;
    }
    if (before) {
      write_durably(names.manifest, temporary, *before);
      return;
    }
  } catch (const std::exception&) {  // the failure that led here is the one to tell
    if (before && outcome_of([&] { write_for_now(names.manifest, temporary, *before); }).ok()) {
      return;
    }
    temporary.folder().unlink(temporary.name());
    if (describes_target) {
      return;
    }
  }
  names.manifest.folder().unlink(names.manifest.name());
}

// Makes the manifest what it was, also after a power loss. Only the failure that led here is told.
void undo(const TargetNames& names, const std::optional<std::string>& before,
          bool describes_target) noexcept {
  take_back_manifest(names, before, describes_target);
  (void)outcome_of([&] { names.target.folder().sync(); });
}

// Runs `body`. If that fails, the manifest is as it was.
template <typename Body>
void change_manifest(const TargetNames& names, bool describes_target, Body&& body) {
  // A manifest that cannot be read does not count as missing, because then `undo` would remove it.
  const auto before = read_file(names.manifest);
  try {
    body();
  } catch (...) {
    undo(names, before, describes_target);
    throw;
  }
}

// The old file stays in force until the new one has its name. From then on, nothing of the old one
// is left to go back to.
void replace_described(const TargetNames& names, const ManifestHead& head,
                       const contents::Description& description, const ToldSteps& earlier) {
  if (!names.temporary.is_there()) {  // it got its name, and an fsync failed
    throw failure("find", names.temporary.text(), ENOENT);
  }
  names.target.folder().sync();  // before a manifest names the temporary, it must be durable
  const auto before = in_force(read_file(names.manifest), names.manifest);
  ManifestHead pending = head;
  pending.replaced = before.value_or("");
  change_manifest(names, true, [&] { write_manifest(names, pending, description, earlier); });
  try {
    publish(names, true);
  } catch (...) {
    bool has_no_name = false;
    (void)outcome_of([&] { has_no_name = names.temporary.is_there(); });
    if (has_no_name) {
      undo(names, before, true);
    }
    throw;
  }
  // The temporary is gone, so its entry is removed from the manifest: a later job may have one of
  // the same name. A failure does not matter now.
  (void)outcome_of([&] { write_manifest(names, head, description, earlier); });
}

// Takes its name away from a file that is not committed. A plain file that has replaced another
// keeps the name, because nothing else is left.
void take_back(const TargetNames& names, bool replace) noexcept {
  if (!replace) {
    (void)names.target.folder().rename(names.target.name(), names.temporary.name());
  } else if (!names.folder_mark.empty()) {
    (void)undo_replacing(names.target.folder(), names.temporary.name(), names.target.name());
  }
  // This is durable before the manifest goes: a power loss must leave no file without a
  // description.
  (void)outcome_of([&] { names.target.folder().sync(); });
}

}  // namespace

void remove_begun(const Path& temporary) noexcept {
  if (keep_what_was_to_be_replaced(temporary)) {
    temporary.folder().remove(temporary.name());
  }
}

Error target_is_there(const TargetNames& names, const char* when) {
  return Error{
      ErrorCode::target_exists,
      names.target.text() + ' ' + when +
          "; remove it, choose another path, or set existing = \"replace\" or \"continue\""};
}

void prepare_target(const TargetNames& names, bool replace) {
  refuse_other_folders(names);
  refuse_a_folder(names.manifest);
  refuse_other_texts(names);
  if (!replace && names.target.is_there()) {
    throw target_is_there(names, "exists");
  }
  check_that_files_can_be_created(names);
}

void publish(const TargetNames& names, bool replace) {
  const bool is_folder_target = !names.folder_mark.empty();
  if (replace && is_folder_target) {
    refuse_other_folders(names);  // one may have appeared meanwhile
  }
  const OpenFolder& folder = names.target.folder();
  const std::string& from = names.temporary.name();
  const std::string& to = names.target.name();
  const bool replaces_one = replace && folder.has(to);
  const int error = !replace           ? folder.rename_first(from, to)
                    : is_folder_target ? rename_replacing(folder, from, to)
                                       : folder.rename(from, to);
  if (error == EEXIST) {
    throw target_is_there(names, "has appeared meanwhile");
  }
  if (error != 0) {
    throw failure("rename " + names.temporary.text() + " to", names.target.text(), error);
  }
  try {
    folder.sync();
  } catch (const Error&) {
    take_back(names, replaces_one);
    throw;
  }
  if (is_folder_target) {  // remove the old folder; after a crash the next job does it
    folder.remove(from);
    folder.remove(from + std::string{set_aside_ending});
  }
}

void publish_described(const TargetNames& names, const ManifestHead& head,
                       const contents::Description& description, bool replace,
                       const ToldSteps& earlier) {
  const bool finds_one = names.target.is_there();
  if (replace && finds_one) {
    replace_described(names, head, description, earlier);
    return;
  }
  if (finds_one) {  // refuse before its manifest changes
    throw target_is_there(names, "has appeared meanwhile");
  }
  change_manifest(names, false, [&] {
    if (has_bug(Bug::named_before_described)) {
      publish(names, replace);
    }
    write_manifest(names, head, description, earlier);
    if (!has_bug(Bug::named_before_described)) {
      publish(names, replace);
    }
  });
}

bool has_final_name(const TargetNames& names) {
  return !names.temporary.is_there() &&
         names.target.folder().find(names.target.name(), OpenFolder::Links::followed).has_value();
}

void make_published_durable(const TargetNames& names) {
  if (names.manifest.is_there() && !has_bug(Bug::left_line_not_synced)) {
    make_durable(names.manifest);
  }
  names.target.folder().sync();
}

void check_identity(const TargetNames& names, const std::string& identity) {
  const std::string found = identity_of(names.target);
  if (!identity.empty() && !found.empty() && found != identity) {
    throw Error{ErrorCode::target_exists, names.target.text() +
                                              " was replaced meanwhile, by another job: what this "
                                              "one has written is gone; give each job a path of "
                                              "its own"};
  }
}

void describe_again(const TargetNames& names, NewFile& manifest) {
  change_manifest(names, true, [&] { manifest.appear(); });
}

bool describe_more(const TargetNames& names, const std::string& of_manifest, std::int64_t bytes,
                   const std::string& line) {
  std::optional<Descriptor> file;
  (void)outcome_of(
      [&] { file = names.manifest.folder().open_if_there(names.manifest.name(), O_WRONLY); });
  struct stat status{};
  if (!file || ::fstat(file->raw(), &status) != 0 || identity_of(status) != of_manifest ||
      status.st_size != bytes) {
    return false;
  }
  try {
    names.manifest.folder().check_fence(names.manifest.name());
    write_plainly(*file, bytes, std::as_bytes(std::span{line}), names.manifest.text());
    if (!has_bug(Bug::manifest_not_synced) && ::fdatasync(file->raw()) != 0) {
      throw failure("fsync", names.manifest.text(), errno);
    }
    return true;
  } catch (...) {
    std::optional<std::string> before;
    (void)outcome_of([&] { before = read_file(names.manifest); });
    if (before) {
      before->resize(std::min(before->size(), static_cast<std::size_t>(bytes)));
      undo(names, before, true);
    }
    throw;
  }
}

void abandon(const TargetNames& names) noexcept {
  if (!has_bug(Bug::temporary_left)) {
    remove_begun(names.temporary);
  }
}

bool remove_committed(const TargetNames& names) noexcept {
  const OpenFolder& folder = names.target.folder();
  if (!names.folder_mark.empty()) {
    // The folder is renamed first, so that neither a kill nor a power loss leaves half of it under
    // its name. A new folder may have the name of the temporary by now.
    const std::string removed = names.temporary.name() + ".removed";
    (void)folder.rename(names.target.name(), removed);
    (void)outcome_of([&] { folder.sync(); });
    folder.remove(removed);
  } else {
    folder.unlink(names.target.name());
  }
  // A power loss must leave no file without a description.
  bool is_gone = false;
  (void)outcome_of([&] {
    is_gone = !names.target.is_there();
    if (is_gone) {
      folder.sync();
      folder.unlink(names.manifest.name());
    }
  });
  return is_gone;
}

}  // namespace iocomp::commit
