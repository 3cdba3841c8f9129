// SPDX-License-Identifier: BSD-3-Clause
#include "formats/format.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/path.h"
#include "formats/communicator.h"
#include "formats/mpiio/target.h"
#include "formats/rules.h"

namespace iocomp::formats {
namespace {

class MpiIo : public Format {
 public:
  MpiIo()
      : Format{{.rules = rules::mpiio,
                .extension = ".bin",
                .kind = Kind::shared,
                .offsets_by_layout = true,
                .goes_on = true}} {}
  [[nodiscard]] Target create(const Path& path, const FormatOptions& options,
                              const Communicator& writers) const override {
    return std::make_unique<MpiIoTarget>(path, options, writers.raw);
  }
};

std::string version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view all{text.data(), static_cast<std::size_t>(std::max(length, 0))};
  std::string first_line{
      all.substr(0, all.find_first_of(",\n"))};  // "Open MPI v4.1.4", "MPICH Version:\t4.0.2"
  std::replace(first_line.begin(), first_line.end(), '\t', ' ');
  return first_line;
}

const Format& mpiio(const FormatOptions& /*options*/) {
  static const MpiIo format;
  return format;
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::version, &iocomp::formats::mpiio};
