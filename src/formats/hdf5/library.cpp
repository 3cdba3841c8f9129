// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/library.h"

#include <dlfcn.h>
#include <hdf5.h>

#include <string>

#include "base/error.h"

namespace iocomp::formats::h5 {
namespace {

std::string release(unsigned major, unsigned minor, unsigned patch) {
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

std::string file_of_library() {
  Dl_info found{};
  const bool is_known = ::dladdr(reinterpret_cast<void*>(&H5get_libversion), &found) != 0;
  return is_known && found.dli_fname != nullptr ? found.dli_fname : "a file that the system hides";
}

}  // namespace

std::string library_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  H5get_libversion(&major, &minor, &patch);
  if (major != H5_VERS_MAJOR || minor != H5_VERS_MINOR) {
    throw Error{ErrorCode::unsupported,
                "the process has HDF5 " + release(major, minor, patch) + " (" + file_of_library() +
                    "), and this back-end was built with " +
                    release(H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE) +
                    ": let the program use that one, or build iocomp with the other"};
  }
  return "HDF5 " + release(major, minor, patch);
}

}  // namespace iocomp::formats::h5
