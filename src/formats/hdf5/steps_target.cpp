#include "formats/hdf5/steps_target.h"

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <utility>

#include "formats/format.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"

namespace iocomp::formats::h5 {

StepsTarget::StepsTarget(std::string path, const FormatOptions& options)
    : file_{std::move(path), options} {}

std::int64_t StepsTarget::place(const Variable& variable, std::int64_t step,
                                const contents::Catalogue& /*defined*/) {
  const Quiet quiet;
  if (created_.contains({step, variable.name})) {
    unlink(file_.raw(), dataset_name(variable, step), file_.path());
  }
  const Dataset dataset = creation_.dataset(file_.raw(), variable, step, file_.path());
  created_.emplace(step, variable.name);
  if (variable.bytes() == 0) {
    return -1;
  }
  const haddr_t offset = H5Dget_offset(dataset.raw());
  if (offset == HADDR_UNDEF) {
    fail("find the offset of " + dataset_name(variable, step) + " in", file_.path());
  }
  return static_cast<std::int64_t>(offset);
}

void StepsTarget::finish(const Description& description) {
  const Quiet quiet;
  creation_.close_group();
  describe(file_.raw(), description, created_, file_.path());
  file_.close();
}

}  // namespace iocomp::formats::h5
