// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include <bit>
#include <cstdint>
#include <functional>
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

/// Between the name of a file and that of the job, in the names of what is not committed.
inline constexpr std::string_view temporary_mark = ".iocomp-";
/// Behind it, in the name of a lock, which is no temporary.
inline constexpr std::string_view lock_name = "lock";

/// The names of one physical file.
struct TargetNames {
  Path target;     ///< what the user sees after the commit: "out/fields.h5", "out/ckpt.000003.h5"
  Path temporary;  ///< beside it, until the commit: "out/.fields.h5.iocomp-<host>-<pid>"
  Path manifest;   ///< "out/fields.h5.json"
  std::string folder_mark{};  ///< see Traits: not empty where the target is a folder
  /// Throws where others have taken the file over: then nothing gets its name. Empty: nobody can.
  std::function<void()> may_appear{};
};

/// @param path  of a file of all steps: "out/fields.h5".
/// @param step  -1 for a file of all steps; else the number goes before the extension, six digits
/// or more.
/// @param job   "<host>-<pid>" of the session's rank 0, the same on all ranks.
[[nodiscard]] TargetNames target_names(const Path& path, std::int64_t step, const std::string& job);
/// The name of the file itself.
[[nodiscard]] std::string name_with_step(const std::string& name, std::int64_t step);

/// The other way: the step whose file is called `name`, beside a file of all steps called `plain`;
/// nothing where it is none.
[[nodiscard]] std::optional<std::int64_t> step_in_name(const std::string& name,
                                                       const std::string& plain);

/// Of the name of a file of one step: that of the file of all steps, and the step.
struct NameOfStep {
  std::string plain;
  std::int64_t step = 0;
};
/// Where nothing else tells whether a file is one of many; nothing where its name has no number.
[[nodiscard]] std::optional<NameOfStep> name_of_step(const std::string& name);

/// The file that a temporary with this name is for; empty if the name is that of no temporary.
[[nodiscard]] std::string belongs_to(const std::string& name);
/// The same for the name of a lock.
[[nodiscard]] std::string is_lock_of(const std::string& name);

/// Remove a temporary. What it was going to replace stays, with its own manifest. Never throws.
/// @param may_appear  see TargetNames: of a file of this job.
void remove_begun(const Path& temporary, const std::function<void()>& may_appear = {}) noexcept;

/// Whether `may_appear` throws.
[[nodiscard]] bool is_taken_over(const TargetNames& names);

/// The failure where a file stands in the way. @param when  "exists".
[[nodiscard]] Error target_is_there(const TargetNames& names, const char* when);

/// Refuse what stands in the way, before anything is written: a target that exists (unless
/// `replace`), a directory that cannot be written, a target that is a directory (where targets are
/// directories: one that no format has written).
/// @throws Error{target_exists} or Error{storage_failure}, naming path and cause.
void prepare_target(const TargetNames& names, bool replace);

/// Of steps in files of their own: steps of earlier jobs that a manifest takes the place of, before
/// they are removed, with the identities of their files: what has another one is newer.
using Superseded = std::map<std::int64_t, std::string>;

/// What the manifest says besides the description.
struct ManifestHead {
  std::string name;    ///< of the file in the program
  std::string format;  ///< "posix"
  std::string kind;    ///< "series" or "checkpoint"
  std::int64_t first_step = 0;
  std::int64_t steps =
      0;  ///< committed steps: first_step ... first_step + steps - 1, less those in `absent`
  std::vector<std::int64_t> absent;              ///< steps that failed
  std::int64_t bytes = 0;                        ///< size of the data file at this commit
  std::endian byte_order = std::endian::native;  ///< of the elements, where they have an offset
  /// Of the file that is replaced, which counts until the temporary has its name: its manifest, or
  /// "".
  std::optional<std::string> replaced{};
  Superseded supersedes{};

  friend bool operator==(const ManifestHead&, const ManifestHead&) = default;
};

/// The steps that an earlier manifest has told already.
struct ToldSteps {
  StepLines lines;
  std::map<int, std::string> variables;  ///< that appear in them: names by id
  // Of steps that earlier jobs have told, where nothing else is said now:
  contents::Attributes attributes{};
  std::map<std::string, contents::Attributes> of_variable{};
};
/// Tell the steps of a description too.
void tell(ToldSteps& told, const contents::Description& description);

/// Write the manifest durably under its final name (temporary, fsync, rename, fsync of the
/// directory). JSON: {"iocomp_manifest": 2, "name", "format", "kind", "file", "bytes",
/// "byte_order": "little" (of the elements, where they have an offset),
///  "steps": [{"step" (in this file), "number" (where the program has another), "time",
///  "variables": [{"name", "type", "shape", "offset", "xxh3" (see manifest.h)}]}], "absent": [],
///  "attributes": {name: {"type", "value"}}, "variable_attributes": {variable: {...}}}, and while a
///  file is replaced "replaces": {"temporary", "manifest"}: see manifest_in_force. At the end
///  "xxh3": see manifest.h. Complex values
///  are pairs; text is a string.
///  An entry of "steps" with "count": n tells of n steps, the first and those behind it. Their
///  numbers ascend by one, "time" is a list, and a variable with an offset has "advance": so many
///  bytes lie between its places in two steps.
///  Behind it there may be lines that tell of more steps: see manifest_line.
/// @param description  with the steps that are not in `earlier`.
/// @throws Error{storage_failure}.
void write_manifest(const TargetNames& names, const ManifestHead& head,
                    const contents::Description& description, const ToldSteps& earlier = {});
/// The same up to the fsync: it has no name yet.
[[nodiscard]] NewFile begin_manifest(const TargetNames& names, const ManifestHead& head,
                                     const contents::Description& description,
                                     const ToldSteps& earlier);

/// Rename the (already durable) temporary to the target and fsync the directory: this is the
/// commit. Without `replace` a target that has appeared meanwhile is not overwritten, and one whose
/// directory cannot be fsynced gets its temporary name back. A directory is replaced by exchanging
/// the names, then the old one is removed.
/// @throws Error{target_exists} or Error{storage_failure}.
void publish(const TargetNames& names, bool replace);

/// Manifest, then target: the first commit of a file. Where the target cannot be published, the
/// manifest is again what it was before. Where something is replaced, the manifest holds that of
/// the old one until the new one has its name.
/// @throws as the two.
void publish_described(const TargetNames& names, const ManifestHead& head,
                       const contents::Description& description, bool replace,
                       const ToldSteps& earlier = {});

/// Of a folder that replaces another: the two exchange their names, so that what has the name of
/// the temporary may be either. Empty where there is nothing.
[[nodiscard]] std::string inode_of(const Path& path);

/// What tells a file from others that have had its name; empty where there is none.
/// @throws Error{storage_failure} where that cannot be known.
[[nodiscard]] std::string identity_of(const Path& path);
[[nodiscard]] std::string identity_of(const struct stat& status);

/// @param identity  of the file when it was published; empty: unknown.
/// @throws Error{target_exists} where another file has its name by now.
void check_identity(const TargetNames& names, const std::string& identity);
/// A file that is published gets this manifest, with more steps. Where that fails, it has again the
/// one from before.
/// @throws Error{storage_failure}.
void describe_again(const TargetNames& names, NewFile& manifest);
/// The same by a line more (see manifest_line), durably.
/// @param identity, @param bytes  of the manifest. @return whether it is that one; else it stays.
[[nodiscard]] bool describe_more(const TargetNames& names, const std::string& identity,
                                 std::int64_t bytes, const std::string& line);

/// Remove the temporary, if it is there. Never throws.
void abandon(const TargetNames& names) noexcept;
/// Remove a committed target and then its manifest (the oldest of `keep` checkpoints); one fsync of
/// the folder lies between. Never throws. @return whether the target is gone: it stays where its
/// folder cannot be found.
bool remove_committed(const TargetNames& names) noexcept;

}  // namespace iocomp::commit
