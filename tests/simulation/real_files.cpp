#include "real_files.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "array/element_type.h"

namespace simulation {
namespace {

void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file{path, std::ios::binary};
  file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

std::string name_in_disk(const PlannedFile& file, std::int64_t step) {
  const std::string name = target_name(file);
  if (!has_file_per_step(file)) {
    return name;
  }
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), ".%06lld", static_cast<long long>(step));
  const std::size_t end = std::min(name.find('.'), name.size());
  return name.substr(0, end) + number.data() + name.substr(end);
}

// Of the steps of a file that cannot be lost any more.
std::set<std::int64_t> promised_steps(const PlannedFile& file, const Told& told) {
  std::set<std::int64_t> steps = told.committed;
  for (std::size_t s = 0; told.is_closed && s < file.steps.size(); ++s) {
    const auto step = static_cast<std::int64_t>(s);
    if (!told.failed.contains(step)) {
      steps.insert(step);
    }
  }
  return steps;
}

}  // namespace

bool write_real_files(const Plan& plan, const std::vector<Told>& told, const Disk& disk,
                      const std::filesystem::path& folder) {
  std::string promises;
  std::vector<std::byte> expected;
  for (std::size_t f = 0; f < plan.files.size(); ++f) {
    const PlannedFile file = what_was_put(plan.files[f], told[f]);
    auto promised = promised_steps(file, told[f]);
    while (file.keeps > 0 && std::ssize(promised) > (told[f].is_closed ? file.keeps : 0)) {
      promised.erase(promised.begin());  // later ones may be there that nobody was told of
    }
    for (const std::int64_t step : promised) {
      const auto& variables = file.steps[static_cast<std::size_t>(step)].variables;
      for (std::size_t v = 0; v < variables.size(); ++v) {
        if (variables[v].puts.empty()) {
          continue;
        }
        const Variable& variable = file.variables[v];
        std::string shape;
        for (const std::int64_t extent : variables[v].shape) {
          shape += (shape.empty() ? "" : ",") + std::to_string(extent);
        }
        promises += (promises.empty() ? "" : ",\n") + std::string{"{\"path\": \""} +
                    name_in_disk(file, step) + "\", \"backend\": \"" + file.backend +
                    "\", \"layout\": \"" + (file.grows_along_time ? "time" : "steps") +
                    "\", \"series\": " + (has_file_per_step(file) ? "false" : "true") +
                    ", \"step\": " + std::to_string(step) + ", \"name\": \"" + variable.name +
                    "\", \"type\": \"" + std::string{iocomp::array::name(variable.type)} +
                    "\", \"shape\": [" + shape +
                    "], \"expected\": " + std::to_string(expected.size()) + '}';
        const auto values = expected_values(file, v, step);
        expected.insert(expected.end(), values.begin(), values.end());
      }
    }
  }
  if (promises.empty()) {
    return false;
  }
  std::filesystem::create_directories(folder);
  for (const auto& path : disk.list()) {
    const auto inode = disk.find(path)->inode;
    if (disk.is_folder(inode)) {
      std::filesystem::create_directories(folder / path);
    } else {
      write(folder / path, disk.bytes(inode));
    }
  }
  write(folder / "expected", expected);
  std::ofstream{folder / "promised.json"} << "[" << promises << "]\n";
  return true;
}

}  // namespace simulation
