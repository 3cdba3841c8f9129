// SPDX-License-Identifier: BSD-3-Clause
// Settings: the text of a program or a file, variables of the environment, what travels to other
// ranks, and single values.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/nearest.h"
#include "commit/file_terms.h"
#include "config/file_settings.h"
#include "config/parse.h"
#include "config/settings.h"
#include "fuzz/target.h"

namespace iocomp::fuzz {
namespace {

/// While it is there, these and no others are the variables of the environment.
class Environment {
 public:
  explicit Environment(std::vector<std::string> lines) : lines_{std::move(lines)} {
    for (auto& line : lines_) {
      pointers_.push_back(line.data());
    }
    pointers_.push_back(nullptr);
    environ = pointers_.data();
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { environ = before_; }

 private:
  char** before_ = environ;
  std::vector<std::string> lines_;
  std::vector<char*> pointers_;
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string{text}};
  for (std::string line; std::getline(stream, line);) {
    line = line.substr(0, line.find('\0'));
    // Another file would be read than the one that is fuzzed.
    if (!line.empty() && !line.starts_with("IOCOMP_CONFIG=")) {
      lines.push_back(line);
    }
  }
  return lines;
}

bool are_equal(const config::Settings& one, const config::Settings& other) {
  const auto first = one.in_force();
  const auto second = other.in_force();
  return one.to_wire() == other.to_wire() &&
         std::equal(first.begin(), first.end(), second.begin(), second.end(),
                    [](const auto& left, const auto& right) {
                      return left.first == right.first && left.second.text == right.second.text &&
                             left.second.origin == right.second.origin;
                    });
}

void use(const config::Settings& settings, std::string_view file) {
  for (const std::string_view kind : {"series", "checkpoint"}) {
    (void)accepts([&] {
      const auto terms = config::file_settings(settings, file, kind);
      require(terms.alignment_bytes > 0 && terms.usual.chunk_bytes > 0 && terms.keep >= 0 &&
                  terms.steps_in_flight > 0,
              "sizes that nobody allows");
      (void)commit::format_options(terms);
    });
  }
}

// Sources check what they read, so everything has the type that it should have.
void check_types(const config::Settings& settings) {
  for (const auto& row : config::all_keys()) {
    if (row.name.starts_with("files.")) {
      continue;
    }
    switch (row.type) {
      case config::ValueType::integer:
        (void)settings.integer(row.name);
        break;
      case config::ValueType::real:
        (void)settings.real(row.name);
        break;
      case config::ValueType::boolean:
        (void)settings.boolean(row.name);
        break;
      case config::ValueType::bytes:
        require(settings.bytes(row.name) >= 0, "a size below nothing");
        break;
      case config::ValueType::duration:
        require(settings.seconds(row.name) >= 0, "a duration below nothing");
        break;
      default:
        (void)settings.text(row.name);
    }
  }
}

void check_source(std::string_view program) {
  config::Settings settings;
  if (!accepts([&] { settings = config::Settings::read(program); })) {
    return;
  }
  must("a value of another type was accepted", [&] { check_types(settings); });
  require(are_equal(settings, config::Settings::from_wire(settings.to_wire())),
          "settings change on their way");
  for (const auto& [key, value] : settings.in_force()) {
    if (key.starts_with("files.") && key.ends_with(".backend")) {
      use(settings, std::string_view{key}.substr(6, key.size() - 6 - 8));
    }
  }
}

void check_transfer(std::string_view text) {
  config::Settings settings;
  if (accepts([&] { settings = config::Settings::from_wire(text); })) {
    require(are_equal(settings, config::Settings::from_wire(settings.to_wire())),
            "settings change on their way");
    use(settings, "fields");
    (void)accepts([&] { check_types(settings); });
  }
}

void check_values(std::string_view text) {
  if (const auto number = config::parse_integer(text)) {
    require(config::parse_integer(std::to_string(*number)) == number, "an integer has changed");
    require(config::parse_real(text).has_value(), "an integer that is no number");
    const auto list = config::parse_list(text);
    require(list && list->size() == 1 && list->front() == *number, "an integer that is no list");
  }
  if (const auto list = config::parse_list(text)) {
    std::string again;
    for (const auto number : *list) {
      again += (again.empty() ? "" : ", ") + std::to_string(number);
    }
    require(config::parse_list(again) == list, "a list has changed");
  }
  if (const auto bytes = parse_bytes(text)) {
    require(*bytes >= 0, "a size below nothing");
    require(parse_bytes(std::to_string(*bytes) + " B") == bytes, "a size has changed");
    require(*bytes > std::int64_t{1} << 62 || parse_bytes(format_bytes(*bytes)).has_value(),
            "a size that is shown cannot be read");
  }
  (void)config::parse_boolean(text);
  require(edit_distance(text.substr(0, 64), text.substr(0, 64)) == 0, "a distance");
}

}  // namespace
}  // namespace iocomp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iocomp;
  fuzz::Material material{data, size};
  const int which = material.up_to(3);
  const auto text = material.text_left();
  // In force are all keys of each file that is named somewhere, so a short name makes much.
  const fuzz::MemoryLimit limit{(std::size_t{32} << 10) * (size + 1) + (std::size_t{1} << 20)};
  if (which == 0) {
    const fuzz::Environment none{{}};
    fuzz::check_source(text);
  } else if (which == 1) {
    const fuzz::Environment environment{fuzz::lines_of(text)};
    fuzz::check_source({});
  } else if (which == 2) {
    fuzz::check_transfer(text);
  } else {
    fuzz::check_values(text);
  }
  return 0;
}
