#include "formats/format.h"

#include <hdf5.h>
#include <mpi.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/deflate_target.h"
#include "formats/hdf5/source.h"
#include "formats/hdf5/steps_target.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/hdf5/time_target.h"

namespace iocomp::formats {
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
  [[nodiscard]] const Format& chosen(const FormatOptions& options) const override;
  [[nodiscard]] Access access(const FormatOptions& /*options*/) const override {
    return Access::plain_file;
  }
  [[nodiscard]] bool offsets_by_layout() const override { return false; }
  [[nodiscard]] bool readable_while_open() const override { return false; }
  [[nodiscard]] bool xdmf_can_describe() const override { return true; }
  [[nodiscard]] Whereabouts whereabouts(const Placed& placed,
                                        const FormatOptions& /*options*/) const override {
    return {.dataset = h5::dataset_name(placed.variable, placed.step)};
  }
  void check(const Variable& variable) const override {
    if (!is_a_path(variable.name)) {
      throw Error{ErrorCode::unsupported,
                  "hdf5 cannot hold a variable called \"" + variable.name +
                      "\": the parts between '/' may not be empty, \".\" or \"..\""};
    }
  }
  [[nodiscard]] std::unique_ptr<Target> create(const std::string& path,
                                               const FormatOptions& options,
                                               MPI_Comm /*writers*/) const override {
    return std::make_unique<h5::StepsTarget>(path, options);
  }
  [[nodiscard]] std::unique_ptr<Source> open(const std::string& path,
                                             const FormatOptions& /*options*/) const override {
    return std::make_unique<h5::Hdf5Source>(path);
  }
};

// layout = "time". Chunks that pass a filter are written when a step is there as a whole.
class Hdf5AlongTime : public Hdf5 {
 public:
  explicit Hdf5AlongTime(bool is_filtered) : is_filtered_{is_filtered} {}
  [[nodiscard]] const Format& chosen(const FormatOptions& /*options*/) const override {
    return *this;
  }
  [[nodiscard]] Access access(const FormatOptions& /*options*/) const override {
    return is_filtered_ ? Access::mpi_file : Access::plain_file;
  }
  [[nodiscard]] bool keeps_first_definitions() const override { return true; }
  [[nodiscard]] bool writes_whole_steps() const override { return is_filtered_; }
  [[nodiscard]] Whereabouts whereabouts(const Placed& placed,
                                        const FormatOptions& /*options*/) const override {
    return {.dataset = h5::time_dataset_name(placed.variable), .record = placed.step};
  }
  [[nodiscard]] std::unique_ptr<Target> create(const std::string& path,
                                               const FormatOptions& options,
                                               MPI_Comm writers) const override {
    if (is_filtered_) {
      return std::make_unique<h5::DeflateTarget>(path, options, writers);
    }
    return std::make_unique<h5::TimeTarget>(path, options);
  }

 private:
  bool is_filtered_;
};

const Format& Hdf5::chosen(const FormatOptions& options) const {
  static const Hdf5AlongTime plain{false};
  static const Hdf5AlongTime filtered{true};
  if (!options.grows_along_time) {
    return *this;
  }
  return options.deflate_level > 0 ? filtered : plain;
}

const Format* hdf5() {
  static const Hdf5 format;
  return &format;
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default")))
const iocomp_format_entry iocomp_format{iocomp_format_interface_version, &iocomp::formats::hdf5};
