// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/error.h"

#include <hdf5.h>

#include <string>

#include "base/error.h"

namespace iocomp::formats::h5 {
namespace {

herr_t append(unsigned /*depth*/, const H5E_error2_t* entry, void* text) {
  auto& story = *static_cast<std::string*>(text);
  story += story.empty() ? "" : "; ";
  story += entry->func_name != nullptr ? std::string{entry->func_name} + ": " : std::string{};
  story += entry->desc != nullptr ? entry->desc : "unknown";
  return 0;
}

// The errors in order, from the first failure to the call that was made.
std::string error_stack() {
  std::string story;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, &append, &story);
  return story;
}

}  // namespace

Quiet::Quiet() noexcept {
  H5Eget_auto2(H5E_DEFAULT, &print_, &argument_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Quiet::~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, argument_); }

void fail(const std::string& action, const std::string& path) {
  throw Error{ErrorCode::storage_failure,
              "cannot " + action + ' ' + path + ": HDF5: " + error_stack()};
}

}  // namespace iocomp::formats::h5
