// A back-end to copy: variables one after another in a plain file, in the order in which they are
// placed.
//
// 1. Copy this folder, rename `Example`, and add a line `add_format(<name> SOURCES ...)` to
// storage/CMakeLists.txt.
// 2. Decide who writes. `Access::plain_file`, as here: `place` says where a variable begins, iocomp
// writes the bytes
//    there, and the target only keeps the books. `Access::mpi_file`: iocomp calls `write` (see
//    storage/mpiio).
// 3. Add the name to tests/conformance/storage: a back-end is one when that suite passes.
#include <fcntl.h>
#include <mpi.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/failure.h"
#include "formats/format.h"
#include "formats/plain_source.h"

namespace iocomp::formats {
namespace {

/// One file in the making; only the lead has one.
class ExampleTarget : public Target {
 public:
  ExampleTarget(const std::string& path, std::int64_t alignment_bytes)
      : alignment_{alignment_bytes} {
    // The file may exist already, but it is empty: other processes may open it as soon as they are
    // told an offset.
    const Descriptor created{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)};
    if (!created.is_open()) {
      throw failure("create", path, errno);
    }
  }

  std::int64_t place(const Variable& variable, std::int64_t /*step*/) override {
    if (variable.bytes() == 0) {
      return -1;
    }
    const std::int64_t offset = (end_ + alignment_ - 1) / alignment_ * alignment_;
    end_ = offset + variable.bytes();
    return offset;
  }

  // Never called for a plain file.
  void write(const Placed& /*where*/, const Selection& /*selection*/,
             std::span<const std::byte> /*bytes*/) override {
    throw Error{ErrorCode::internal, "a plain file is not written through its target"};
  }

  // A format with an index of its own would write it out here, so that the file is readable after
  // each step ...
  void flush() override {}
  // ... and here, with the attributes in `description`, for the last time.
  void finish(const Description& /*description*/) override {}

 private:
  std::int64_t alignment_;
  std::int64_t end_ = 0;
};

class Example : public Format {
 public:
  [[nodiscard]] std::string_view name() const override { return "example_format"; }
  [[nodiscard]] std::string_view extension() const override { return ".example"; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] Access access(const FormatOptions& /*options*/) const override {
    return Access::plain_file;
  }
  // True only for a file whose offsets are those of Layout; then `place` is on no data path.
  [[nodiscard]] bool offsets_by_layout() const override { return false; }
  [[nodiscard]] bool readable_while_open() const override { return true; }
  // Throw Error{unsupported}, naming type and format, for elements that the format cannot hold.
  void check(const Variable& /*variable*/) const override {}
  [[nodiscard]] std::unique_ptr<Target> create(const std::string& path,
                                               const FormatOptions& options,
                                               MPI_Comm /*writers*/) const override {
    return std::make_unique<ExampleTarget>(path, options.alignment_bytes);
  }
  // Variables lie there as they are in memory, so what reads plain files can read this one. Leave
  // `open` out and the format writes only.
  [[nodiscard]] std::unique_ptr<Source> open(const std::string& path,
                                             const FormatOptions& /*options*/) const override {
    return std::make_unique<PlainSource>(path);
  }
};

const Format* example() {
  static const Example format;
  return &format;
}

}  // namespace
}  // namespace iocomp::formats

// What the registry looks for after loading the module.
extern "C" __attribute__((visibility("default")))
const iocomp_format_entry iocomp_format{iocomp_format_interface_version, &iocomp::formats::example};
