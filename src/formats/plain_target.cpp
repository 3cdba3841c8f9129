#include "formats/plain_target.h"

#include <fcntl.h>

#include <cerrno>
#include <string>

#include "base/descriptor.h"
#include "base/failure.h"
#include "formats/format.h"

namespace iocomp::formats {

PlainTarget::PlainTarget(const std::string& path) {
  const Descriptor created{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)};
  if (!created.is_open()) {
    throw failure("create", path, errno);
  }
}

}  // namespace iocomp::formats
