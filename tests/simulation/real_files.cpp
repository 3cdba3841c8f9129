// SPDX-License-Identifier: BSD-3-Clause
#include "real_files.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "check.h"
#include "plan_settings.h"

namespace simulation {
namespace {

void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream file{path, std::ios::binary};
  file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

void write(const std::filesystem::path& path, const FileBytes& bytes) {
  std::ofstream file{path, std::ios::binary};
  bytes.for_each_page([&file](std::int64_t offset, std::span<const std::byte> page) {
    file.seekp(offset);
    file.write(reinterpret_cast<const char*>(page.data()), std::ssize(page));
  });
  file.close();
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(bytes.size()));
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

// The steps of a file that cannot be lost any more, each with what its job has put.
Steps promised_steps(const PlannedFile& planned, const Told& told) {
  const auto file = std::make_shared<const PlannedFile>(what_was_put(planned, told));
  std::set<std::int64_t> numbers = told.committed;
  for (std::int64_t step = told.first_step.value_or(0);
       told.is_closed && step < std::ssize(file->steps); ++step) {
    if (!told.failed.contains(step)) {
      numbers.insert(step);
    }
  }
  Steps steps;
  for (const std::int64_t step : numbers) {
    steps.emplace(step, file);
  }
  if (file->goes_on) {
    steps.insert(told.before.steps.begin(), told.before.steps.upper_bound(told.before.after));
  }
  while (count_kept(*file) > 0 && std::ssize(steps) > (told.is_closed ? count_kept(*file) : 0)) {
    steps.erase(steps.begin());  // later ones may be there that nobody was told of
  }
  return steps;
}

}  // namespace

bool write_real_files(const Plan& plan, const std::vector<Told>& told, const Disk& disk,
                      const std::filesystem::path& folder) {
  std::string promises;
  std::vector<std::byte> expected;
  for (std::size_t f = 0; f < plan.files.size(); ++f) {
    for (const auto& [step, promised] : promised_steps(plan.files[f], told[f])) {
      const PlannedFile& file = *promised;
      const auto& variables = file.steps[static_cast<std::size_t>(step)].variables;
      for (std::size_t v = 0; v < variables.size(); ++v) {
        if (variables[v].puts.empty() || is_vast(variables[v])) {
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
