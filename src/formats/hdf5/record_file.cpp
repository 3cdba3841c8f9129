#include "formats/hdf5/record_file.h"

#include <cstdint>

#include "formats/hdf5/buffer_driver.h"

namespace iocomp::formats::h5 {

std::int64_t RecordFile::end() const { return next_allotted(file_.raw()); }

void RecordFile::extend(std::int64_t end) { (void)allot(file_.raw(), end - this->end()); }

}  // namespace iocomp::formats::h5
