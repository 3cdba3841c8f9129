// SPDX-License-Identifier: BSD-3-Clause
// The names of targets, steps, temporaries and manifests; and whose temporaries are cleared away.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>

#include "base/path.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/file_terms.h"
#include "commit/owner.h"
#include "fuzz/target.h"
#include "unit/temporary_folder.h"

namespace iocomp::fuzz {
namespace {

void check_names(const std::string& plain, std::int64_t step, const std::string& job) {
  const Path path{nullptr, plain};
  const commit::TargetNames names = commit::target_names(path, step, job);
  const std::string target = names.target.name();
  const std::string temporary = names.temporary.name();
  const std::string manifest = names.manifest.name();
  for (const auto& name : {target, temporary, manifest}) {
    require(name.find('/') == std::string::npos, "a file is in another folder");
  }
  require(manifest == target + ".json", "the manifest is not beside its target");
  require(temporary != target && manifest != temporary, "two files of one name");
  const auto found = commit::step_in_name(target, plain);
  if (step < 0) {
    require(target == plain, "a file of all steps has another name than was asked for");
    require(!found, "a file of all steps has the name of a step");
  } else {
    require(found == std::optional{step}, "the step is not found in the name of its file");
    require(target != commit::target_names(path, step ^ 1, job).target.name(),
            "two steps in one file");
    require(!commit::step_in_name(temporary, plain), "a temporary has the name of a step");
    require(!commit::step_in_name(manifest, plain), "a manifest has the name of a step");
  }
}

// Any name: a step is found in it only if that step has this name.
void check_stranger(const std::string& name, const std::string& plain) {
  if (const auto step = commit::step_in_name(name, plain)) {
    require(*step >= 0 && commit::name_with_step(plain, *step) == name,
            "a step is found in a name that is not its");
  }
}

std::string this_host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// Beside a target that a job owns lies a file of some name. It may go only if it is a temporary.
void check_clearing(std::string name, const std::string& plain) {
  static const TemporaryFolder folder;
  static const std::string host = this_host();
  if (const auto at = name.find("HOST"); at != std::string::npos) {
    name.replace(at, 4, host);
  }
  const std::string path = folder / name;
  if (name.find('/') != std::string::npos || name.find('\0') != std::string::npos ||
      !(std::ofstream{path} << 'x').flush()) {
    return;  // no file can have it
  }
  (void)accepts([&] {
    const Path target{folder / plain};
    commit::clear_away(target, commit::Owner{target, host + "-1"});
  });
  static const std::regex ours{R"(\.[^]+\.iocomp-[^]*)"};
  require(std::filesystem::exists(path) || std::regex_match(name, ours),
          "a file was removed that no job of iocomp has left");
  std::filesystem::remove_all(folder / "");
  std::filesystem::create_directory(folder / "");
}

}  // namespace
}  // namespace iocomp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iocomp;
  fuzz::Material material{data, size};
  const auto step = material.number<std::int64_t>();
  const std::string path = material.text('\n');
  std::string job = material.text('\n');
  std::ranges::replace(job, '/', '-');  // no host has it in its name
  const std::string other{material.text_left()};
  const fuzz::MemoryLimit limit{64 * size + (std::size_t{64} << 10)};
  fuzz::check_stranger(other, path);
  const bool is_name = fuzz::accepts([&] { commit::check_name(path); });
  if (!is_name && name_in_folder(path).empty()) {
    return 0;
  }
  fuzz::check_names(name_in_folder(path), step, job);
  if (is_name && !other.empty() && other != path) {
    fuzz::check_clearing(other, path);
  }
  return 0;
}
