#include "formats/format.h"

#include <mpi.h>
#include <pnetcdf.h>

#include <bit>
#include <memory>
#include <string>
#include <string_view>

#include "formats/cdf/types.h"
#include "formats/pnetcdf/library_target.h"
#include "formats/pnetcdf/raw_target.h"
#include "formats/pnetcdf/source.h"
#include "formats/words.h"

namespace iocomp::formats {
namespace {

class Pnetcdf : public Format {
 public:
  [[nodiscard]] std::string_view name() const override { return "pnetcdf"; }
  [[nodiscard]] std::string_view extension() const override { return ".nc"; }
  [[nodiscard]] std::string version() const override {
    return "PnetCDF " + std::to_string(PNETCDF_VERSION_MAJOR) + '.' +
           std::to_string(PNETCDF_VERSION_MINOR) + '.' + std::to_string(PNETCDF_VERSION_SUB);
  }
  [[nodiscard]] Access access(const FormatOptions& options) const override {
    return options.library_path ? Access::mpi_file : Access::plain_file;
  }
  [[nodiscard]] bool offsets_by_layout() const override { return false; }
  [[nodiscard]] bool readable_while_open() const override { return false; }
  [[nodiscard]] std::endian byte_order() const override { return std::endian::big; }
  [[nodiscard]] bool keeps_first_definitions() const override { return true; }
  [[nodiscard]] bool writes_together() const override { return true; }
  void check(const Variable& variable) const override { cdf::check(variable, name()); }
  void check_attribute(const std::string& attribute_name,
                       const Attribute& attribute) const override {
    cdf::check(attribute_name, attribute, name());
  }
  [[nodiscard]] std::unique_ptr<Target> create(const std::string& path,
                                               const FormatOptions& options,
                                               MPI_Comm writers) const override {
    if (options.library_path) {
      return std::make_unique<cdf::LibraryTarget>(path, options, writers);
    }
    return std::make_unique<cdf::RawTarget>(path, options);
  }
  [[nodiscard]] std::unique_ptr<Source> open(const std::string& path,
                                             const FormatOptions& /*options*/) const override {
    return cdf::open_pnetcdf(path);
  }
};

const Format* pnetcdf() {
  static const Pnetcdf format;
  return &format;
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default")))
const iocomp_format_entry iocomp_format{iocomp_format_interface_version, &iocomp::formats::pnetcdf};
