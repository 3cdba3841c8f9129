// Raw bytes at the offsets of the layout and nothing else: what the file contains is told by its
// manifest.
#include <mpi.h>

#include <memory>
#include <string>
#include <string_view>

#include "formats/format.h"
#include "formats/plain_source.h"
#include "formats/plain_target.h"

namespace iocomp::formats {
namespace {

class Posix : public Format {
 public:
  [[nodiscard]] std::string_view name() const override { return "posix"; }
  [[nodiscard]] std::string_view extension() const override { return ".bin"; }
  [[nodiscard]] std::string version() const override { return "POSIX.1-2008"; }
  [[nodiscard]] Access access(const FormatOptions& /*options*/) const override {
    return Access::plain_file;
  }
  [[nodiscard]] bool offsets_by_layout() const override { return true; }
  [[nodiscard]] bool readable_while_open() const override { return true; }
  [[nodiscard]] bool xdmf_can_describe() const override { return true; }
  void check(const Variable& /*variable*/) const override {}
  [[nodiscard]] std::unique_ptr<Target> create(const std::string& path,
                                               const FormatOptions& /*options*/,
                                               MPI_Comm /*writers*/) const override {
    return std::make_unique<PlainTarget>(path);
  }
  [[nodiscard]] std::unique_ptr<Source> open(const std::string& path,
                                             const FormatOptions& /*options*/) const override {
    return std::make_unique<PlainSource>(path);
  }
};

const Format* posix() {
  static const Posix format;
  return &format;
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default")))
const iocomp_format_entry iocomp_format{iocomp_format_interface_version, &iocomp::formats::posix};
