#include "blocks/manifest_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

namespace iocomp::apps::blocks {

std::unique_ptr<BlockReader> ManifestReader::open(const Target& target) {
  std::ifstream text{target.path + ".json"};
  if (!text) throw std::runtime_error("there is no manifest " + target.path + ".json");
  const nlohmann::json manifest = nlohmann::json::parse(text);
  const std::string format = manifest.at("format");
  if (format != "posix" && format != "mpiio" && format != "hdf5") return nullptr;  // other bytes
  std::vector<std::int64_t> offsets;
  for (const nlohmann::json& step : manifest.at("steps")) {
    for (const nlohmann::json& variable : step.at("variables")) {
      if (variable.at("shape").get<Extents>() != target.block.shape) {
        throw std::runtime_error(target.path + ".json: the variable has another shape");
      }
      offsets.push_back(variable.at("offset"));
      if (offsets.back() < 0) return nullptr;
    }
  }
  if (offsets.size() != static_cast<std::size_t>(target.steps)) {
    throw std::runtime_error(target.path + ".json: has " + std::to_string(offsets.size()) +
                             " steps instead of " + std::to_string(target.steps));
  }
  return std::unique_ptr<BlockReader>{new ManifestReader{target, offsets}};
}

ManifestReader::ManifestReader(const Target& target, std::vector<std::int64_t> offsets)
    : target_{target}, offsets_{std::move(offsets)} {
  file_ = ::open(target.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), "open " + target.path);
}

ManifestReader::~ManifestReader() { ::close(file_); }

void ManifestReader::read(int step, const Box& box, std::span<double> values) {
  const Extents& shape = target_.block.shape;
  const std::size_t run_bytes = static_cast<std::size_t>(box.count.back()) * sizeof(double);
  Extents at = box.start;
  std::span<std::byte> left = std::as_writable_bytes(values);
  while (!left.empty()) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
    const std::int64_t begin = offsets_[static_cast<std::size_t>(step)];
    for (std::size_t done = 0; done < run_bytes;) {
      const ssize_t found = pread(file_, left.data() + done, run_bytes - done,
                                  begin + index * static_cast<std::int64_t>(sizeof(double)) +
                                      static_cast<std::int64_t>(done));
      if (found < 0 && errno == EINTR) continue;
      if (found <= 0) throw std::runtime_error(target_.path + " ends too early");
      done += static_cast<std::size_t>(found);
    }
    left = left.subspan(run_bytes);
    for (std::size_t d = shape.size() - 1; d-- > 0 && ++at[d] == box.start[d] + box.count[d];) {
      at[d] = box.start[d];
    }
  }
}

}  // namespace iocomp::apps::blocks
