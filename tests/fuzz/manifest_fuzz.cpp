// SPDX-License-Identifier: BSD-3-Clause
// Manifests: of series and of checkpoints. What is accepted is consistent, and can be written
// again.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/path.h"
#include "commit/commit.h"
#include "commit/json_values.h"
#include "commit/manifest.h"
#include "commit/read_manifest.h"
#include "contents/description.h"
#include "contents/variable.h"
#include "fuzz/target.h"
#include "reading/committed.h"
#include "unit/temporary_folder.h"

namespace iocomp::fuzz {
namespace {

constexpr std::int64_t enough_steps = 4096;

// Steps without variables are counted, not listed: a short text may speak of many.
std::int64_t steps_claimed(const std::string& text) {
  std::int64_t claimed = 0;
  try {
    claimed = commit::integer_from(commit::whole_manifest(text).at("committed_steps"));
  } catch (const std::exception&) {  // it is refused below
  }
  return claimed;
}

// With the checksums that its lines should have: nobody finds them by chance.
std::string with_sealed_lines(const std::string& text) {
  constexpr std::string_view end = "\n}\n";
  const auto first = text.find(end);
  if (first == std::string::npos) {
    return text;
  }
  std::string sealed = text.substr(0, first + end.size());
  std::istringstream lines{text.substr(sealed.size())};
  for (std::string line; std::getline(lines, line);) {
    sealed += commit::sealed_line(line.substr(0, line.rfind(",\"xxh3\"")));
  }
  return sealed;
}

void check(const commit::Manifest& manifest) {
  const auto& inventory = manifest.inventory;
  require(manifest.bytes >= 0, "a file of less than no bytes");
  std::int64_t before = manifest.first_step - 1;
  for (const auto step : inventory.steps) {
    require(step > before, "steps that do not ascend");
    require(step - manifest.first_step < manifest.committed_steps, "a step after the last one");
    before = step;
  }
  const std::set<std::int64_t> steps{inventory.steps.begin(), inventory.steps.end()};
  std::set<std::pair<std::int64_t, std::string>> seen;
  before = 0;
  for (const auto& placed : inventory.contents) {
    require(steps.contains(placed.step), "a variable in a step that is not there");
    require(placed.step >= before, "variables in an order that is not that of steps");
    before = placed.step;
    require(seen.emplace(placed.step, placed.variable.name).second, "a variable twice in a step");
    const auto& shape = placed.variable.shape;
    require(shape.dimensions >= 0 && shape.dimensions <= array::max_dimensions, "dimensions");
    require(array::elements(shape) >= 0 && placed.variable.bytes() >= 0, "a size below nothing");
    require(placed.offset >= -1, "an offset before the file");
    require(placed.offset < 0 || placed.variable.bytes() == 0 || manifest.bytes == 0 ||
                placed.variable.bytes() <= manifest.bytes - placed.offset,
            "a variable behind the end of the file");
  }
}

contents::Description description_of(const contents::Inventory& inventory) {
  contents::Description description;
  description.contents = inventory.contents;
  description.attributes = inventory.attributes;
  for (const auto& placed : inventory.contents) {
    const auto id = static_cast<std::size_t>(placed.variable.id);
    if (description.of_variable.size() <= id) {
      description.of_variable.resize(id + 1);
    }
    if (const auto found = inventory.of_variable.find(placed.variable.name);
        found != inventory.of_variable.end()) {
      description.of_variable[id] = found->second;
    }
  }
  return description;
}

void check_equal(const commit::Manifest& one, const commit::Manifest& other) {
  require(one.format == other.format && one.bytes == other.bytes &&
              one.first_step == other.first_step && one.absent == other.absent &&
              one.committed_steps == other.committed_steps,
          "the head has changed");
  require(one.inventory.steps == other.inventory.steps, "the steps have changed");
  require(one.inventory.attributes == other.inventory.attributes, "the attributes have changed");
  require(one.inventory.contents.size() == other.inventory.contents.size(), "other contents");
  for (std::size_t i = 0; i < one.inventory.contents.size(); ++i) {
    const auto& was = one.inventory.contents[i];
    const auto& is = other.inventory.contents[i];
    require(was.step == is.step && was.offset == is.offset && was.variable.id == is.variable.id &&
                was.variable.name == is.variable.name && was.variable.type == is.variable.type &&
                was.variable.shape == is.variable.shape,
            "a variable has changed");
    const auto attributes = [&](const commit::Manifest& of) {
      const auto found = of.inventory.of_variable.find(was.variable.name);
      return found == of.inventory.of_variable.end() ? contents::Attributes{} : found->second;
    };
    require(attributes(one) == attributes(other), "attributes of a variable have changed");
  }
}

// Sends the manifest on as a reader sends it to the other ranks.
void check_travel(const commit::Manifest& manifest) {
  reading::Committed committed;
  committed.add({"fields.bin", manifest.format}, manifest.inventory);
  const auto bytes = reading::encode(committed);
  require(reading::encode(reading::decode_committed(bytes)) == bytes, "it changes on its way");
}

void check_again(const commit::Manifest& manifest) {
  static const TemporaryFolder folder;
  const auto names = commit::target_names(Path{folder / "fields.bin"}, -1, "fuzz");
  commit::ManifestHead head;
  head.name = "fields";
  head.format = manifest.format;
  head.kind = "series";
  head.first_step = manifest.first_step;
  head.steps = manifest.committed_steps;
  head.absent = manifest.absent;
  head.bytes = manifest.bytes;
  commit::write_manifest(names, head, description_of(manifest.inventory));
  check_equal(manifest, commit::parse_manifest(text_of(names.manifest.text()), "written again"));
}

}  // namespace
}  // namespace iocomp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iocomp;
  const std::string text =
      fuzz::with_sealed_lines(std::string{fuzz::Material{data, size}.text_left()});
  const auto steps = fuzz::steps_claimed(text);
  if (steps > fuzz::enough_steps && steps <= contents::most_silent_steps) {
    return 0;  // allowed, and slow
  }
  const fuzz::MemoryLimit limit{400 * size + (std::size_t{256} << 10)};
  commit::Manifest manifest;
  if (fuzz::accepts([&] { manifest = commit::parse_manifest(text, "fuzz.json"); })) {
    fuzz::check(manifest);
    fuzz::must("what was read cannot be written", [&] {
      fuzz::check_travel(manifest);
      fuzz::check_again(manifest);
    });
  }
  return 0;
}
