#define TOML_EXCEPTIONS \
  0  // failures of the parser are results here, so none of its exceptions can leak

#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/check.h"
#include "config/nearest.h"
#include "config/sources.h"
#include "config/table.h"

namespace iocomp::config {
namespace {

std::string text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* number = node.as_integer()) {
    return fmt::format("{}", number->get());
  }
  if (const auto* number = node.as_floating_point()) {
    return fmt::format("{}", number->get());
  }
  if (const auto* truth = node.as_boolean()) {
    return truth->get() ? "true" : "false";
  }
  if (const auto* array = node.as_array()) {
    std::string joined;
    for (const auto& element : *array) {
      joined += (joined.empty() ? "" : ",") + text_of(element);
    }
    return joined;
  }
  return node.is_table() ? "{...}" : "a date or time";
}

std::vector<std::string> known_keys(std::string_view file) {
  std::vector<std::string> names;
  for (const auto& row : all_keys()) {
    names.push_back(is_file_key(row) ? fmt::format("files.{}.{}", file, name_in_file(row))
                                     : std::string{row.name});
  }
  return names;
}

bool is_file_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.';
  });
}

/// Walks through the tables of one text.
class Reader {
 public:
  Reader(std::string_view source, bool with_lines) : source_{source}, with_lines_{with_lines} {}

  void read(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const auto name = prefix + std::string{key.str()};
      const auto* inner = node.as_table();
      if (inner == nullptr) {
        add(name, node);
      } else if (inner->empty()) {
        check_section(name, node);
      } else {
        read(*inner, name + ".");
      }
    }
  }

  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

  [[nodiscard]] std::string origin(const toml::source_region& region) const {
    return with_lines_ ? fmt::format("{}:{}", source_, region.begin.line) : source_;
  }

 private:
  void add(const std::string& name, const toml::node& node) {
    const Value value{text_of(node), origin(node.source())};
    const auto& row = row_of(name, value.origin);
    if (row.type == ValueType::text && !node.is_string()) {
      refuse(name, value, "allowed " + allowed_text(row));
    }
    check_value(row, name, value);
    entries_.push_back({name, value});
  }

  /// A section without settings does nothing, but a misspelt one should not stay unnoticed.
  void check_section(const std::string& name, const toml::node& node) const {
    const bool known = name == "files" || name.starts_with("files.") ||
                       std::ranges::any_of(all_keys(), [&name](const Key& row) {
                         return row.name.starts_with(name + ".");
                       });
    if (!known) {
      refuse_unknown("[" + name + "]", origin(node.source()), nearest(name, known_keys("default")));
    }
  }

  /// Names of files may have dots, names of their keys do not.
  [[nodiscard]] static const Key& row_of(const std::string& name, const std::string& origin) {
    constexpr std::string_view files = "files.";
    if (!name.starts_with(files)) {
      if (const auto* row = find_key(name)) {
        return *row;
      }
      const auto moved = present_name(name);
      refuse_unknown(name, origin, moved.empty() ? nearest(name, known_keys("default")) : moved);
    }
    const auto dot = name.rfind('.');
    if (dot < files.size()) {
      refuse_unknown(name, origin,
                     nearest("files.default." + name.substr(files.size()), known_keys("default")));
    }
    const auto file = name.substr(files.size(), dot - files.size());
    if (!is_file_name(file)) {
      throw Error{ErrorCode::invalid_setting,
                  fmt::format("the file name \"{}\" ({}): allowed are letters, digits, '-', '_' "
                              "and '.'",
                              file, origin)};
    }
    if (const auto* row = find_file_key(name.substr(dot + 1))) {
      return *row;
    }
    refuse_unknown(name, origin, nearest(name, known_keys(file)));
  }

  std::string source_;
  bool with_lines_;
  std::vector<Entry> entries_;
};

}  // namespace

std::vector<Entry> read_toml(std::string_view text, std::string_view source, bool with_lines) {
  const auto result = toml::parse(text, source);
  if (!result) {
    const auto& failure = result.error();
    throw Error{ErrorCode::invalid_setting,
                fmt::format("{}:{}: not valid TOML: {}", source, failure.source().begin.line,
                            failure.description())};
  }
  Reader reader{source, with_lines};
  reader.read(result.table(), "");
  return reader.entries();
}

}  // namespace iocomp::config
