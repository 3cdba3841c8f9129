// SPDX-License-Identifier: BSD-3-Clause
#include "contents/rules_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "contents/rules.h"

namespace iocomp::contents {
namespace {

std::string yes_or_no(bool is_so) { return is_so ? "yes" : "no"; }

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const auto name : names) {
    text += (text.empty() ? "`" : ", `") + std::string{name} + '`';
  }
  return text.empty() ? "none" : text;
}

std::string but(const Types& types) {
  std::string others;
  for (int value = 1; const auto type = array::element_type(value); ++value) {
    if (!types.has(*type)) {
      others += (others.empty() ? "" : ", ") + std::string{array::name(*type)};
    }
  }
  return others.empty() ? "all" : "all but " + others;
}

std::string most(std::int64_t bytes) {
  return bytes == Rules::no_limit ? "any" : std::to_string(bytes) + " bytes";
}

std::string empty_ones(const Rules& rules) {
  return rules.has_empty_attributes ? "yes" : rules.has_empty_texts ? "texts" : "no";
}

struct Row {
  const char* title;
  std::function<std::string(const Rules&)> text;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {"names of variables, attributes and dimensions",
       [](const Rules& rules) { return rules.has_netcdf_names ? "those of netCDF" : "any"; }},
      {"longest name",
       [](const Rules& rules) { return std::to_string(rules.most_name_bytes) + " bytes"; }},
      {"`/` in the name of a variable",
       [](const Rules& rules) {
         return !rules.has_groups         ? "no"
                : rules.has_steps_at_root ? "yes, but not `<number>/...`"
                                          : "yes";
       }},
      {"`\\` in the name of a variable",
       [](const Rules& rules) { return yes_or_no(rules.has_backslashes); }},
      {"`/` in the name of an attribute",
       [](const Rules& rules) { return yes_or_no(!rules.has_netcdf_names && !rules.joins_names); }},
      {"variables may not be called",
       [](const Rules& rules) { return joined(rules.reserved_variables); }},
      {"attributes may not be called",
       [](const Rules& rules) { return joined(rules.reserved_attributes); }},
      {"dimensions may not be called",
       [](const Rules& rules) { return joined(rules.reserved_dimensions); }},
      {"element types", [](const Rules& rules) { return but(rules.types); }},
      {"both parts of a complex fill value are the same",
       [](const Rules& rules) { return yes_or_no(rules.splits_complex_numbers); }},
      {"longest text in an array of characters",
       [](const Rules& rules) { return most(rules.most_characters); }},
      {"types of attributes", [](const Rules& rules) { return but(rules.attribute_types); }},
      {"empty attributes", empty_ones},
      {"attributes that are lists of texts",
       [](const Rules& rules) {
         return std::string{rules.least_texts_in_list == Rules::no_limit ? "no"
                            : rules.least_texts_in_list > 1              ? "of two or more"
                                                                         : "yes"};
       }},
      {"longest text of an attribute",
       [](const Rules& rules) { return most(rules.most_text_bytes); }},
      {"most numbers of an attribute",
       [](const Rules& rules) { return most(rules.most_attribute_bytes); }},
      {"an attribute may change its type in a series",
       [](const Rules& rules) { return yes_or_no(!rules.keeps_attribute_types); }},
      {"all names and attributes together",
       [](const Rules& rules) {
         return rules.header_bytes == Rules::no_limit ? "any" : "see below";
       }},
      {"dimensions have names, each with one length",
       [](const Rules& rules) { return yes_or_no(rules.has_dimensions); }},
      {"variables of a series may come later, or change shape or fill value",
       [](const Rules& rules) { return yes_or_no(!rules.keeps_first_definitions); }},
      {"steps in one file",
       [](const Rules& rules) { return rules.has_one_step ? "one" : "any number"; }},
  };
  return all;
}

struct Column {
  std::string title;
  std::vector<std::string> cells;
};

std::string title_of(const Rules& rules) {
  const auto value = rules.variant.find(" = ");
  return std::string{rules.format} +
         (value == std::string_view::npos ? "" : ", `" + std::string{rules.variant} + '`');
}

std::string line(std::string first, const std::vector<Column>& columns,
                 const std::function<std::string(const Column&)>& cell) {
  std::string text = "| " + std::move(first) + " |";
  for (const auto& column : columns) {
    text += ' ' + cell(column) + " |";
  }
  return text + '\n';
}

// A longer cell stands below the table.
constexpr std::size_t most_characters_of_cell = 60;

bool is_long(const std::string& cell) { return cell.size() > most_characters_of_cell; }

std::string in_lines(const std::string& words) {
  constexpr std::size_t most_characters = 110;
  std::string text;
  std::size_t of_line = 0;
  std::istringstream stream{words};
  for (std::string word; stream >> word;) {
    const bool fits = of_line + 1 + word.size() <= most_characters;
    text += (of_line == 0 ? "" : fits ? " " : "\n") + word;
    of_line = of_line > 0 && fits ? of_line + 1 + word.size() : word.size();
  }
  return text + '\n';
}

std::string notes(const std::vector<Column>& columns) {
  std::string text;
  for (std::size_t i = 0; i < rows().size(); ++i) {
    std::map<std::string, std::string> users;  // of a long cell
    for (const auto& column : columns) {
      if (is_long(column.cells[i])) {
        auto& titles = users[column.cells[i]];
        titles += (titles.empty() ? "" : ", ") + column.title;
      }
    }
    for (const auto& [cell, titles] : users) {
      text += '\n' + in_lines(titles + ": " + rows()[i].title + ' ' + cell + '.');
    }
  }
  return text;
}

}  // namespace

std::string rules_markdown(std::span<const Rules> all) {
  std::vector<Column> columns;
  for (const auto& rules : all) {
    Column column{title_of(rules), {}};
    for (const auto& row : rows()) {
      column.cells.push_back(row.text(rules));
    }
    const auto same = std::ranges::find(columns, column.cells, &Column::cells);
    if (same == columns.end()) {
      columns.push_back(std::move(column));
    } else {
      same->title += "; " + column.title;
    }
  }
  std::string text = line("", columns, [](const Column& column) { return column.title; });
  text += line("---", columns, [](const Column&) { return std::string{"---"}; });
  for (std::size_t i = 0; i < rows().size(); ++i) {
    text += line(rows()[i].title, columns, [i](const Column& column) {
      return is_long(column.cells[i]) ? "see below" : column.cells[i];
    });
  }
  return text + notes(columns);
}

}  // namespace iocomp::contents
