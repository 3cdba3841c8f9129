// SPDX-License-Identifier: BSD-3-Clause
// Tells what a C program reads. Takes a line of JSON for each file on stdin: {"path", "backend",
// "kind", "data"}. Answers by a line: {"code", "story"}, or {"code": 0, "steps": [[number, time]],
// "attributes": {name: [type, hex]}, "variables": [{"name", "type", "attributes",
// "places": [[step, shape]]}]}. The values go to the file "data", in the order of the places.
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

struct Failure {
  int code;
  std::string story;
};

void check(int code) {
  if (code != IOCOMP_OK) {
    throw Failure{code, iocomp_error()};
  }
}

std::string hex_of(std::span<const unsigned char> bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

Json attributes_of(iocomp_input* input, const char* variable) {
  Json all = Json::object();
  std::int64_t count = 0;
  const char* const* names = nullptr;
  check(iocomp_input_attributes(input, variable, &count, &names));
  for (const char* const name : std::span{names, static_cast<std::size_t>(count)}) {
    iocomp_type type{};
    std::int64_t elements = 0;
    const void* values = nullptr;
    check(iocomp_input_attribute(input, variable, name, &type, &elements, &values));
    if (type == IOCOMP_STRING) {
      std::string texts;
      for (const char* const text :
           std::span{static_cast<const char* const*>(values), static_cast<std::size_t>(elements)}) {
        texts += std::string{text} + '\0';
      }
      all[name] = {static_cast<int>(type),
                   hex_of({reinterpret_cast<const unsigned char*>(texts.data()), texts.size()})};
      continue;
    }
    const std::span bytes{static_cast<const unsigned char*>(values),
                          static_cast<std::size_t>(elements) * iocomp_type_size(type)};
    all[name] = {static_cast<int>(type), hex_of(bytes)};
  }
  return all;
}

// The whole, and again in two parts, each into the middle of a larger array.
std::vector<char> values_of(iocomp_input* input, const char* name, std::int64_t step,
                            const std::vector<std::int64_t>& shape, std::size_t size) {
  std::int64_t elements = 1;
  for (const auto extent : shape) {
    elements *= extent;
  }
  const std::size_t bytes = static_cast<std::size_t>(elements) * size;
  std::vector<char> whole(bytes);
  const std::vector<std::int64_t> origin(shape.size(), 0);
  check(iocomp_read(input, name, step, origin.data(), shape.data(), whole.data()));
  if (shape.empty() || elements == 0) {
    return whole;
  }
  const std::size_t row = bytes / static_cast<std::size_t>(shape[0]);
  std::vector<char> again(bytes + 2 * row, 'x');
  std::vector<std::int64_t> memory = shape;
  memory[0] += 2;
  for (const std::int64_t first : {std::int64_t{0}, shape[0] / 2}) {
    std::vector<std::int64_t> start = origin;
    std::vector<std::int64_t> count = shape;
    std::vector<std::int64_t> into = origin;
    start[0] = first;
    count[0] = first == 0 ? shape[0] / 2 : shape[0] - first;
    into[0] = first + 1;
    const iocomp_destination to{.size = sizeof to,
                                .start = start.data(),
                                .count = count.data(),
                                .values = again.data(),
                                .memory_shape = memory.data(),
                                .memory_start = into.data()};
    check(iocomp_read_block(input, name, step, &to));
    if (shape[0] / 2 == 0) {
      break;
    }
  }
  const bool is_one = shape[0] / 2 == 0;
  const auto at = [row](std::int64_t rows) {
    return static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rows) * row);
  };
  if (!is_one &&
      (!std::equal(whole.begin(), whole.end(), again.begin() + at(1)) ||
       std::any_of(again.begin(), again.begin() + at(1), [](char c) { return c != 'x'; }))) {
    throw Failure{-1, std::string{"two boxes of "} + name + " are not the whole"};
  }
  return whole;
}

Json dump(iocomp_session* session, const Json& asked) {
  std::string options = "path = " + asked.at("path").dump();
  for (const char* key : {"backend", "kind"}) {
    if (asked.contains(key)) {
      options += std::string{"\n"} + key + " = " + asked.at(key).dump();
    }
  }
  iocomp_input* input = nullptr;
  const iocomp_open_options told_options{.size = sizeof told_options, .settings = options.c_str()};
  check(iocomp_open_input(session, "file", &told_options, &input));
  std::ofstream data{asked.at("data").get<std::string>(), std::ios::binary};
  Json told{{"code", 0}, {"steps", Json::array()}, {"variables", Json::array()}};
  std::int64_t count = 0;
  const std::int64_t* steps = nullptr;
  check(iocomp_input_steps(input, &count, &steps));
  for (const std::int64_t step : std::span{steps, static_cast<std::size_t>(count)}) {
    double time = 0;
    check(iocomp_input_time(input, step, &time));
    told["steps"].push_back({step, std::isnan(time) ? Json{} : Json(time)});
  }
  told["attributes"] = attributes_of(input, nullptr);
  const char* const* names = nullptr;
  check(iocomp_input_variables(input, &count, &names));
  for (const char* const name : std::span{names, static_cast<std::size_t>(count)}) {
    iocomp_type type{};
    int dimensions = 0;
    const std::int64_t* extents = nullptr;
    check(iocomp_input_variable(input, name, -1, &type, nullptr, nullptr));
    Json variable{{"name", name},
                  {"type", static_cast<int>(type)},
                  {"attributes", attributes_of(input, name)},
                  {"places", Json::array()}};
    for (const auto& step : told["steps"]) {
      const auto number = step[0].get<std::int64_t>();
      const int code = iocomp_input_variable(input, name, number, nullptr, &dimensions, &extents);
      if (code == IOCOMP_NOT_FOUND) {
        continue;
      }
      check(code);
      const std::vector<std::int64_t> shape(extents, extents + dimensions);
      const auto values = values_of(input, name, number, shape, iocomp_type_size(type));
      data.write(values.data(), static_cast<std::streamsize>(values.size()));
      variable["places"].push_back({number, shape});
    }
    told["variables"].push_back(variable);
  }
  check(iocomp_close_input(input));
  return told;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  iocomp_session* session = nullptr;
  if (iocomp_init(MPI_COMM_WORLD, nullptr, &session) != IOCOMP_OK) {
    std::cerr << iocomp_error() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (std::string line; std::getline(std::cin, line);) {
    Json told;
    try {
      told = dump(session, Json::parse(line));
    } catch (const Failure& failure) {
      told = {{"code", failure.code}, {"story", failure.story}};
    } catch (const std::exception& error) {
      told = {{"code", -1}, {"story", error.what()}};
    }
    std::cout << told.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  }
  iocomp_finalize(session);
  MPI_Finalize();
  return 0;
}
