// SPDX-License-Identifier: BSD-3-Clause
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "words.h"

namespace actor {
namespace {

void open(Stage& stage, const Line& line) {
  const std::string& name = line.argument(0);
  File& opening = stage.file(line);
  opening = {};
  const auto kind = line.argument(1) == "checkpoint" ? IOCOMP_CHECKPOINT : IOCOMP_SERIES;
  const auto group = line.option("on", "");
  opening.members = group.empty() ? iocomp_comm(stage.session) : stage.groups.at(group);
  if (opening.members == MPI_COMM_NULL) {
    return;
  }
  MPI_Comm_rank(opening.members, &opening.rank);
  MPI_Comm_size(opening.members, &opening.size);
  const double began = now_seconds();
  int code = IOCOMP_OK;
  if (!line.has("after") && group.empty()) {
    code = iocomp_open(stage.session, name.c_str(), kind, nullptr, &opening.handle);
  } else {
    const std::int64_t after = std::stoll(line.option("after", "0"));
    const iocomp_open_options options{.size = sizeof options,
                                      .comm = &opening.members,
                                      .after = line.has("after") ? &after : nullptr};
    code = iocomp_open(stage.session, name.c_str(), kind, &options, &opening.handle);
  }
  stage.tell(line, code, began, {{"file", name}});
}

/// The journal's words for a line about a variable.
nlohmann::json about(const Line& line) {
  return {{"file", line.argument(0)}, {"variable", line.argument(1)}};
}

Extents shape_of(const std::string& text) {
  return text == "scalar" ? Extents{} : numbers(text, 'x');
}

void define(Stage& stage, const Line& line) {
  File& file = stage.file(line);
  if (file.handle == nullptr) {
    return;
  }
  Variable& variable = file.variables[line.argument(1)];
  variable.values = {type_of(line.argument(2)), {}};
  if (line.has("seed")) {
    variable.values.seed = std::stoull(line.option("seed", ""));
  }
  variable.shape = shape_of(line.argument(3));
  const double began = now_seconds();
  const std::string name = line.argument(1);
  iocomp_definition definition{.size = sizeof definition,
                               .name = name.c_str(),
                               .type = variable.values.type,
                               .ndims = static_cast<int>(variable.shape.size()),
                               .shape = variable.shape.data()};
  if (line.has("file")) {
    definition.file_type = type_of(line.option("file", ""));
  }
  const int code = iocomp_define_with(file.handle, &definition, &variable.handle);
  stage.tell(line, code, began, about(line));
}

void set_shape(Stage& stage, const Line& line) {
  if (stage.file(line).handle == nullptr) {
    return;
  }
  Variable& variable = stage.variable(line);
  Extents shape = shape_of(line.argument(2));
  const double began = now_seconds();
  const int code = iocomp_set_shape(variable.handle, shape.data());
  if (code == IOCOMP_OK) {
    variable.shape = std::move(shape);
  }
  stage.tell(line, code, began, about(line));
}

void fill(Stage& stage, const Line& line) {
  if (stage.file(line).handle == nullptr) {
    return;
  }
  const Variable& variable = stage.variable(line);
  std::vector<std::byte> element = bytes_of(line.option("bytes", ""));
  const std::int64_t value = line.has("bytes") ? 0 : std::stoll(line.argument(2));
  const double began = now_seconds();
  const void* const chosen = line.has("bytes") ? element.data() : static_cast<const void*>(&value);
  stage.tell(line, iocomp_set_fill(variable.handle, chosen), began, about(line));
}

std::vector<std::byte> doubles(const std::string& text) {
  std::vector<double> values;
  std::istringstream stream{text};
  for (std::string value; std::getline(stream, value, ',');) {
    values.push_back(std::stod(value));
  }
  const auto* const first = reinterpret_cast<const std::byte*>(values.data());
  return {first, first + values.size() * sizeof(double)};
}

void attribute(Stage& stage, const Line& line) {
  iocomp_file* const file = stage.file(line).handle;
  if (file == nullptr) {
    return;
  }
  const char* const name = line.argument(1).c_str();
  const auto of = line.option("of", "");
  // Null too for a variable that could not be defined: then the call has neither, and is refused.
  iocomp_var* const variable = line.has("of") ? stage.file(line).variables.at(of).handle : nullptr;
  iocomp_file* const owner = line.has("of") ? nullptr : file;
  const auto type = line.option("type", "text");
  std::vector<std::byte> bytes = bytes_of(line.option("bytes", ""));
  std::string text;
  if (type == "text") {
    text = line.has("bytes")
               ? std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()}
               : with_blanks(line.argument(2));
  } else if (!line.has("bytes")) {
    bytes = doubles(line.argument(2));
  }
  std::vector<const char*> texts;  // of a list, each with a zero at its end
  for (std::size_t at = 0; type == "texts" && at < bytes.size();
       at += std::strlen(texts.back()) + 1) {
    texts.push_back(reinterpret_cast<const char*>(bytes.data()) + at);
  }
  const double began = now_seconds();
  const int code =
      type == "text" ? iocomp_set_attribute(owner, variable, name, IOCOMP_CHAR, -1, text.c_str())
      : type == "texts"
          ? iocomp_set_attribute(owner, variable, name, IOCOMP_STRING, std::ssize(texts),
                                 static_cast<const void*>(texts.data()))
          : iocomp_set_attribute(
                owner, variable, name, type_of(type),
                static_cast<std::int64_t>(bytes.size() / iocomp_type_size(type_of(type))),
                bytes.data());
  stage.tell(line, code, began, {{"file", line.argument(0)}});
}

void begin_step(Stage& stage, const Line& line) {
  iocomp_file* const file = stage.file(line).handle;
  if (file == nullptr) {
    return;
  }
  const std::int64_t number = std::stoll(line.argument(1));
  const double time = std::stod(line.option("time", "nan"));
  const double began = now_seconds();
  stage.tell(line, iocomp_begin_step(file, number, time), began,
             {{"file", line.argument(0)}, {"step", number}});
}

void after(Stage& stage, const Line& line) {
  iocomp_file* const file = stage.file(line).handle;
  if (file == nullptr) {
    return;
  }
  const double began = now_seconds();
  stage.tell(line, iocomp_after(file, line.argument(1).c_str()), began,
             {{"file", line.argument(0)}});
}

void end_step(Stage& stage, const Line& line) {
  iocomp_file* const file = stage.file(line).handle;
  if (file == nullptr) {
    return;
  }
  const std::int64_t step = iocomp_current_step(file);
  const double began = now_seconds();
  stage.tell(line, iocomp_end_step(file), began, {{"file", line.argument(0)}, {"step", step}});
}

void wait_step(Stage& stage, const Line& line) {
  iocomp_file* const file = stage.file(line).handle;
  if (file == nullptr) {
    return;
  }
  const std::int64_t step = std::stoll(line.argument(1));
  const double began = now_seconds();
  const int code = iocomp_wait_step(file, step);
  stage.tell(line, code, began, {{"file", line.argument(0)}, {"step", step}});
}

void close(Stage& stage, const Line& line) {
  iocomp_file* const file = std::exchange(stage.file(line).handle, nullptr);
  if (file == nullptr) {
    return;
  }
  const std::int64_t step = iocomp_current_step(file);
  const double began = now_seconds();
  stage.tell(line, iocomp_close(file), began, {{"file", line.argument(0)}, {"step", step}});
}

}  // namespace

Words file_words() {
  return {{"open", open},           {"define", define},       {"set_shape", set_shape},
          {"attribute", attribute}, {"fill", fill},           {"begin_step", begin_step},
          {"end_step", end_step},   {"wait_step", wait_step}, {"close", close},
          {"after", after}};
}

}  // namespace actor
