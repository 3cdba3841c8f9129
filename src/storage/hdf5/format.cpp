#include "storage/format.h"

#include <hdf5.h>
#include <mpi.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "storage/hdf5/library_target.h"
#include "storage/hdf5/raw_target.h"
#include "storage/hdf5/source.h"

namespace iocomp::storage {
namespace {

// Components "." and ".." mean something to HDF5, empty ones vanish.
bool is_a_path(std::string_view name) {
  std::string_view rest = name;
  while (true) {
    const auto slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == "..") {
      return false;
    }
    if (slash == std::string_view::npos) {
      return true;
    }
    rest.remove_prefix(slash + 1);
  }
}

class Hdf5 : public Format {
 public:
  [[nodiscard]] std::string_view name() const override { return "hdf5"; }
  [[nodiscard]] std::string_view extension() const override { return ".h5"; }
  [[nodiscard]] std::string version() const override {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    H5get_libversion(&major, &minor, &release);
    return "HDF5 " + std::to_string(major) + '.' + std::to_string(minor) + '.' +
           std::to_string(release);
  }
  [[nodiscard]] Access access(const FormatOptions& options) const override {
    return options.library_path ? Access::mpi_file : Access::plain_file;
  }
  [[nodiscard]] bool offsets_by_layout() const override { return false; }
  [[nodiscard]] bool readable_while_open() const override { return false; }
  [[nodiscard]] bool writes_together() const override { return true; }
  void check(const Variable& variable) const override {
    if (!is_a_path(variable.name)) {
      throw Error{ErrorCode::unsupported,
                  "hdf5 cannot hold a variable called \"" + variable.name +
                      "\": the parts between '/' may not be empty, \".\" or \"..\""};
    }
  }
  [[nodiscard]] std::unique_ptr<Target> create(const std::string& path,
                                               const FormatOptions& options,
                                               MPI_Comm writers) const override {
    if (options.library_path) {
      return std::make_unique<h5::LibraryTarget>(path, options, writers);
    }
    return std::make_unique<h5::RawTarget>(path, options);
  }
  [[nodiscard]] std::unique_ptr<Source> open(const std::string& path,
                                             const FormatOptions& /*options*/) const override {
    return std::make_unique<h5::Hdf5Source>(path);
  }
};

const Format* hdf5() {
  static const Hdf5 format;
  return &format;
}

}  // namespace
}  // namespace iocomp::storage

extern "C" __attribute__((visibility("default")))
const iocomp_format_entry iocomp_format{iocomp_format_interface_version, &iocomp::storage::hdf5};
