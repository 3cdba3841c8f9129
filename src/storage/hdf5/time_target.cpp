#include "storage/hdf5/time_target.h"

#include <cstddef>
#include <span>

#include "base/error.h"
#include "storage/format.h"

namespace iocomp::storage::h5 {

void TimeTarget::write(const Placed& /*where*/, const Selection& /*selection*/,
                       std::span<const std::byte> /*bytes*/) {
  throw Error{ErrorCode::internal, "a plain file is not written through its target"};
}

}  // namespace iocomp::storage::h5
