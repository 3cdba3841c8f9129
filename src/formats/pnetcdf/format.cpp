#include "formats/format.h"

#include <mpi.h>
#include <netcdf.h>

#include <bit>
#include <memory>
#include <string>

#include "formats/cdf/types.h"
#include "formats/netcdf/source.h"
#include "formats/pnetcdf/target.h"
#include "formats/words.h"

namespace iocomp::formats {
namespace {

class Pnetcdf : public Format {
 public:
  Pnetcdf()
      : Format{{.name = "pnetcdf",
                .extension = ".nc",
                .keeps_first_definitions = true,
                .byte_order = std::endian::big}} {}
  void check(const Variable& variable) const override { cdf::check(variable, name()); }
  void check_attribute(const std::string& attribute_name,
                       const Attribute& attribute) const override {
    cdf::check(attribute_name, attribute, name());
  }
  [[nodiscard]] Target create(const std::string& path, const FormatOptions& options,
                              MPI_Comm /*writers*/) const override {
    return std::make_unique<cdf::PnetcdfTarget>(path, options);
  }
  [[nodiscard]] std::unique_ptr<Source> open(const std::string& path) const override {
    return cdf::open_netcdf(path);
  }
};

const Format& pnetcdf(const FormatOptions& /*options*/) {
  static const Pnetcdf format;
  return format;
}

std::string version() {
  const std::string text = nc_inq_libvers();  // "4.9.0 of Aug  7 2022 ..."
  return "CDF-5, read by netCDF " + text.substr(0, text.find(' '));
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::version, &iocomp::formats::pnetcdf};
