#include "formats/format.h"

#include <mpi.h>

#include <memory>
#include <string>
#include <variant>

#include "base/error.h"
#include "formats/source.h"
#include "formats/words.h"

namespace iocomp::formats {

void finish(const Target& target, const Description& description) {
  std::visit(
      [&description](const auto& any) {
        if (any) {
          any->finish(description);
        }
      },
      target);
}

Whereabouts Format::whereabouts(const Placed& /*placed*/, const FormatOptions& /*options*/) const {
  return {};
}

Target Format::create(const std::string& /*path*/, const FormatOptions& /*options*/,
                      MPI_Comm /*writers*/) const {
  return {};
}

std::unique_ptr<Source> Format::open(const std::string& path) const {
  throw Error{ErrorCode::unsupported, "cannot read " + path + ": the back-end \"" +
                                          std::string{traits_.name} + "\" writes only"};
}

}  // namespace iocomp::formats
