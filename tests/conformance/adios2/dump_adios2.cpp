// SPDX-License-Identifier: BSD-3-Clause
// dump_adios2 PATH ENGINE DATA: what ADIOS2 finds in a dataset, as JSON on stdout; the values go to
// the file DATA, one behind the other:
//   {"steps": [{"u": {"type": "double", "shape": [4, 6], "bytes": 192}}], "attributes": {...}}
// in the order of "steps", then "attributes", names in ascending order.
// dump_adios2 PATH ENGINE: writes a dataset of another program.
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "read_adios2.h"
#include "write_foreign.h"

namespace {

using Json = nlohmann::ordered_json;
using Values = std::map<std::string, iocomp::tests::Adios2Values>;

Json told(const Values& values, std::ofstream& data) {
  Json all = Json::object();
  for (const auto& [name, found] : values) {
    data.write(reinterpret_cast<const char*>(found.bytes.data()),
               static_cast<std::streamsize>(found.bytes.size()));
    all[name] = {{"type", found.type}, {"shape", found.shape}, {"bytes", found.bytes.size()}};
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: dump_adios2 PATH ENGINE [DATA]\n";
    return 2;
  }
  try {
    if (argc == 3) {
      iocomp::tests::write_foreign(argv[1], argv[2]);
      return 0;
    }
    const auto dataset = iocomp::tests::read_adios2(argv[1], argv[2]);
    std::ofstream data{argv[3], std::ios::binary};
    Json steps = Json::array();
    for (const auto& step : dataset.steps) {
      steps.push_back(told(step, data));
    }
    const Json attributes = told(dataset.attributes, data);
    std::cout << Json{{"steps", steps}, {"attributes", attributes}} << '\n';
    return data.flush() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << argv[1] << ": " << error.what() << '\n';
    return 1;
  }
}
