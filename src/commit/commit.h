// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/path.h"
#include "base/small_files.h"
#include "commit/step_lines.h"
#include "formats/format.h"

namespace iocomp::commit {

/// Stands between the name of a file and that of the job, in the names of files that are not
/// committed.
inline constexpr std::string_view temporary_mark = ".iocomp-";
/// Stands behind the mark in the name of a lock, which is no temporary.
inline constexpr std::string_view lock_name = "lock";

/// The names of one physical file.
struct TargetNames {
  Path target;     ///< what the user sees after the commit: "out/fields.h5", "out/ckpt.000003.h5"
  Path temporary;  ///< beside it, until the commit: "out/.fields.h5.iocomp-<host>-<pid>"
  Path manifest;   ///< "out/fields.h5.json"
  std::string folder_mark{};  ///< see Traits: not empty if the target is a folder
};

/// @param path  of a file of all steps: "out/fields.h5".
/// @param step  -1 for a file of all steps; else the number goes before the extension, six digits
/// or more.
/// @param job   "<host>-<pid>" of the session's rank 0, the same on all ranks.
[[nodiscard]] TargetNames target_names(const Path& path, std::int64_t step, const std::string& job);
/// The name of the file that holds this step.
[[nodiscard]] std::string name_with_step(const std::string& name, std::int64_t step);

/// The step whose file is called `name`, if the file of all steps is called `plain`; nothing if
/// `name` is no such name.
[[nodiscard]] std::optional<std::int64_t> step_in_name(const std::string& name,
                                                       const std::string& plain);

/// The parts of the name of a file of one step: the name of the file of all steps, and the step.
struct NameOfStep {
  std::string plain;
  std::int64_t step = 0;
};
/// The parts of a name, if nothing else tells whether the file is one of many. Nothing if it has no
/// number.
[[nodiscard]] std::optional<NameOfStep> name_of_step(const std::string& name);

/// The file that a temporary with this name is for; empty if it is not the name of a temporary.
[[nodiscard]] std::string belongs_to(const std::string& name);
/// The file that a lock with this name is for; empty if it is not the name of a lock.
[[nodiscard]] std::string is_lock_of(const std::string& name);

/// Remove a temporary. The file that it was going to replace stays, with its own manifest. Never
/// throws.
void remove_begun(const Path& temporary) noexcept;

/// The error that tells of a file that stands in the way. @param when  for the message: "exists".
[[nodiscard]] Error target_is_there(const TargetNames& names, const char* when);

/// Refuse what stands in the way, before anything is written: a target that exists (unless
/// `replace`), a directory that cannot be written, a target that is a directory. If targets are
/// directories, only one that no format has written is refused.
/// @throws Error{target_exists} or Error{storage_failure}, naming path and cause.
void prepare_target(const TargetNames& names, bool replace);

/// Steps of earlier jobs, in files of their own, that the steps of a manifest replace, until they
/// are removed. Each has the identity of its file: a file with another identity is newer.
using Superseded = std::map<std::int64_t, std::string>;

/// The entries of a manifest besides the description of its steps.
struct ManifestHead {
  std::string name;    ///< name of the file in the program
  std::string format;  ///< "posix"
  std::string kind;    ///< "series" or "checkpoint"
  std::int64_t first_step = 0;
  std::int64_t steps =
      0;  ///< committed steps: first_step ... first_step + steps - 1, less those in `absent`
  std::vector<std::int64_t> absent;              ///< steps that failed
  std::int64_t bytes = 0;                        ///< size of the data file at this commit
  std::endian byte_order = std::endian::native;  ///< of the elements, if they have an offset
  /// The manifest of the file that is being replaced, or "". That file is in force until the
  /// temporary has its name.
  std::optional<std::string> replaced{};
  Superseded supersedes{};

  friend bool operator==(const ManifestHead&, const ManifestHead&) = default;
};

/// Steps that a manifest tells already.
struct ToldSteps {
  StepLines lines;
  std::map<int, std::string> variables;  ///< names, by id, of the variables in these steps
  // Attributes of steps of earlier jobs, unless this job sets others:
  contents::Attributes attributes{};
  std::map<std::string, contents::Attributes> of_variable{};
};
/// Add the steps of a description.
void tell(ToldSteps& told, const contents::Description& description);

/// Write the manifest durably under its final name (temporary, fsync, rename, fsync of the
/// directory). JSON: {"iocomp_manifest": 2, "name", "format", "kind", "file", "bytes",
/// "byte_order": "little" (of the elements, where they have an offset),
///  "steps": [{"step" (in this file), "number" (where the program has another), "time",
///  "variables": [{"name", "type", "shape", "offset", "xxh3" (see manifest.h)}]}], "absent": [],
///  "attributes": {name: {"type", "value"}}, "variable_attributes": {variable: {...}}}, and while a
///  file is replaced "replaces": {"temporary", "manifest"}: see manifest_in_force. At the end
///  "xxh3": see manifest.h. Complex values are pairs; text is a string, and several are a list with
///  the type "texts".
///  An entry of "steps" with "count": n tells of n steps, the first and those behind it. Their
///  numbers ascend by one, "time" is a list, and a variable with an offset has "advance": so many
///  bytes lie between its places in two steps.
///  Lines that tell of more steps may follow: see manifest_line.
/// @param description  has the steps that are not in `earlier`.
/// @throws Error{storage_failure}.
void write_manifest(const TargetNames& names, const ManifestHead& head,
                    const contents::Description& description, const ToldSteps& earlier = {});
/// The same up to the fsync: the new manifest has no name yet.
[[nodiscard]] NewFile begin_manifest(const TargetNames& names, const ManifestHead& head,
                                     const contents::Description& description,
                                     const ToldSteps& earlier);

/// Rename the (already durable) temporary to the target and fsync the directory: this is the
/// commit. Without `replace` a target that has appeared meanwhile is not overwritten, and one whose
/// directory cannot be fsynced gets its temporary name back. A directory is replaced by exchanging
/// the names, then the old one is removed.
/// @throws Error{target_exists} or Error{storage_failure}.
void publish(const TargetNames& names, bool replace);

/// The first commit of a file: writes the manifest, then publishes the target. If the target cannot
/// be published, the manifest is again what it was before. If a file is replaced, the manifest
/// holds that of the old file until the new one has its name.
/// @throws as write_manifest and publish.
void publish_described(const TargetNames& names, const ManifestHead& head,
                       const contents::Description& description, bool replace,
                       const ToldSteps& earlier = {});

/// True if the target is there, and no temporary. @throws Error{storage_failure} if that cannot be
/// known.
[[nodiscard]] bool has_final_name(const TargetNames& names);
/// Make durable what an ended process may not have: names, and the last line of the manifest.
/// @throws Error{storage_failure}.
void make_published_durable(const TargetNames& names);

/// The inode number of a path; empty if nothing is there. When a folder replaces another, the two
/// exchange their names, so the name of the temporary may mean either.
[[nodiscard]] std::string inode_of(const Path& path);

/// Tells a file from others that have had its name; empty if there is no file.
/// @throws Error{storage_failure} if that cannot be known.
[[nodiscard]] std::string identity_of(const Path& path);
[[nodiscard]] std::string identity_of(const struct stat& status);

/// Check that the target is the file that was published.
/// @param identity  of that file; empty if unknown.
/// @throws Error{target_exists} if another file has its name by now.
void check_identity(const TargetNames& names, const std::string& identity);
/// Give a published file this manifest, with more steps. If that fails, it has the earlier manifest
/// again.
/// @throws Error{storage_failure}.
void describe_again(const TargetNames& names, NewFile& manifest);
/// The same by adding a line (see manifest_line), durably.
/// @param identity, @param bytes  of the manifest. @return false if the manifest is another one;
/// then it stays as it is.
[[nodiscard]] bool describe_more(const TargetNames& names, const std::string& identity,
                                 std::int64_t bytes, const std::string& line);

/// Remove the temporary, if it is there. Never throws.
void abandon(const TargetNames& names) noexcept;
/// Remove a committed target and then its manifest (the oldest of `keep` checkpoints); one fsync of
/// the folder lies between. Never throws. @return true if the target is gone. It stays if its
/// folder cannot be found.
bool remove_committed(const TargetNames& names) noexcept;

}  // namespace iocomp::commit
