// SPDX-License-Identifier: BSD-3-Clause
#include "formats/cdf/format.h"

#include <netcdf.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "base/path.h"
#include "formats/cdf/dimensions.h"
#include "formats/cdf/types.h"
#include "formats/netcdf/source.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

// One without time is put once, in whichever step. Dimensions that cannot be are told to who puts.
bool CdfFormat::has_in_all_steps(const Variable& variable) const {
  bool has_time = false;
  (void)outcome_of([&] { has_time = dimensions_of(variable, false).has_time; });
  return keeps_first_definitions() && has_time;
}

void CdfFormat::check(const Variable& variable) const { cdf::check(variable, name()); }

void CdfFormat::check_attribute(const std::string& attribute_name,
                                const Attribute& attribute) const {
  cdf::check(attribute_name, attribute, name());
}

std::unique_ptr<Source> CdfFormat::open(const Path& path) const { return open_netcdf(path); }

std::string library_version() {
  const std::string text = nc_inq_libvers();  // "4.9.0 of Aug  7 2022 ..."
  return "netCDF " + text.substr(0, text.find(' '));
}

}  // namespace iocomp::formats::cdf
