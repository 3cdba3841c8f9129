// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "formats/communicator.h"
#include "formats/file_system.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "formats/rules.h"
#include "formats/write_region.h"
#include "mpi/error.h"
#include "mpi/handle.h"

namespace iocomp::formats {

namespace {

struct InfoKind {
  using Raw = MPI_Info;
  static Raw null() noexcept { return MPI_INFO_NULL; }
  static void free(Raw& info) noexcept {
    if (info != MPI_INFO_NULL) {
      MPI_Info_free(&info);
    }
  }
};

// Longer texts would call the error handler of MPI_COMM_WORLD, which aborts unless the application
// says otherwise.
void check_length(const std::string& key, const std::string& value) {
  if (key.empty() || value.empty() || key.size() >= MPI_MAX_INFO_KEY ||
      value.size() >= MPI_MAX_INFO_VAL) {
    throw Error{ErrorCode::invalid_setting,
                "the MPI-IO hint \"" + key + '=' + value + "\" is not possible: 1 to " +
                    std::to_string(MPI_MAX_INFO_KEY - 1) + " characters for the key, 1 to " +
                    std::to_string(MPI_MAX_INFO_VAL - 1) + " for the value"};
  }
}

// The hints of a file.
// @param weak  those that the options override.
// @throws Error{invalid_setting} for a hint that is too long for this MPI.
mpi::Handle<InfoKind> hints_of(const FormatOptions& options,
                               const std::vector<std::pair<std::string, std::string>>& weak) {
  for (const auto& [key, value] : options.hints) {
    check_length(key, value);
  }
  MPI_Info made = MPI_INFO_NULL;
  mpi::check(MPI_Info_create(&made));
  mpi::Handle<InfoKind> hints{made};
  const auto set = [&](const std::string& key, const std::string& value) {
    mpi::check(MPI_Info_set(hints.raw(), key.c_str(), value.c_str()));
  };
  for (const auto& [key, value] : weak) {
    set(key, value);
  }
  // Several writers fill the gaps of one another. ROMIO would read, change and write back such gaps
  // where it thinks that this saves calls; a hint of the user's can still ask for it.
  set("romio_ds_write", "disable");
  for (const auto& [key, value] : options.hints) {
    set(key, value);
  }
  return hints;
}

}  // namespace

/// The bytes of the back-end posix, written through MPI-IO: one file that all writers have open
/// together, and independent writes at the offsets of the layout.
class MpiIoTarget : public SharedTarget {
 public:
  /// Collective over `writers`.
  MpiIoTarget(const Path& path, const FormatOptions& options, MPI_Comm writers);
  /// Leaks the MPI file if it is open: closing it is collective, and the other writers may not
  /// follow.
  ~MpiIoTarget() override = default;

  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  void finish(const Description& description) override;

 private:
  void write_run(std::int64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] int grow_to(std::int64_t bytes) const noexcept;  // errno, or 0

  std::string path_;
  Descriptor plain_;  // to fsync without a collective call, and to learn why a write was short
  MPI_File file_ = MPI_FILE_NULL;
};

namespace {

constexpr std::size_t slice_bytes = std::size_t{8} << 20;  // far below what an int counts

// Turn a failure of MPI-IO into one that names the file.
void check(int code, const char* action, const std::string& path) {
  if (code != MPI_SUCCESS) {
    const mpi::Error cause{code, std::source_location::current()};
    throw Error{ErrorCode::storage_failure,
                std::string{"cannot "} + action + ' ' + path + ": " + cause.what()};
  }
}

}  // namespace

// The name differs from rank to rank, the file does not.
MpiIoTarget::MpiIoTarget(const Path& path, const FormatOptions& options, MPI_Comm writers)
    : path_{path.text()},
      plain_{open_together(path, writers, options.wait, options.earlier_steps >= 0)} {
  const auto hints = hints_of(options, file_system_hints(path.folder(), writers));
#ifdef OPEN_MPI
  const OwnName name{plain_};
#else
  const Descriptor& name = plain_;  // ROMIO may open the file as late as in a write
#endif
  check(MPI_File_open(writers, name_of(name).c_str(), MPI_MODE_WRONLY, hints.raw(), &file_), "open",
        path_);
  check(MPI_File_set_errhandler(file_, MPI_ERRORS_RETURN), "open", path_);
}

// One call per run: a file view would need fewer, but setting one is collective.
void MpiIoTarget::write(const Placed& where, const Selection& selection,
                        std::span<const std::byte> bytes) {
  for_each_run(where.variable, selection, bytes,
               [&](std::int64_t place, auto run) { write_run(where.offset + place, run); });
}

void MpiIoTarget::write_run(std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t asked = std::min(bytes.size(), slice_bytes);
    MPI_Status status{};
    const int code =
        MPI_File_write_at(file_, offset, bytes.data(), static_cast<int>(asked), MPI_BYTE, &status);
    int written = 0;
    if (code == MPI_SUCCESS) {
      // Open MPI's own MPI-IO calls a write to a full disk a success; only the count is short.
      mpi::check(MPI_Get_count(&status, MPI_BYTE, &written));
      written = std::clamp(written, 0, static_cast<int>(asked));  // MPI_UNDEFINED is negative
    }
    const auto done = static_cast<std::size_t>(written);
    if (done < asked) {
      write_plainly(plain_, offset + written, bytes.subspan(done, asked - done), path_);
    }
    offset += static_cast<std::int64_t>(asked);
    bytes = bytes.subspan(asked);
  }
}

// A manifest may count on a file that is longer: it never shrinks.
int MpiIoTarget::grow_to(std::int64_t bytes) const noexcept {
  struct stat status{};
  const bool is_done = ::fstat(plain_.raw(), &status) == 0 &&
                       (status.st_size >= bytes || ::ftruncate(plain_.raw(), bytes) == 0);
  return is_done ? 0 : errno;
}

void MpiIoTarget::finish(const Description& description) {
  // Both, whatever fails: each is collective, and the others will be in them.
  const int sync_code = MPI_File_sync(file_);
  const int close_code = MPI_File_close(&file_);
  const int size_errno = grow_to(contents::end_of(description.contents));
  const bool is_durable = ::fsync(plain_.raw()) == 0;
  const int sync_errno = errno;
  check(sync_code, "fsync", path_);
  check(close_code, "close", path_);
  if (size_errno != 0) {
    throw failure("set the size of", path_, size_errno);
  }
  if (!is_durable) {
    throw failure("fsync", path_, sync_errno);
  }
}

namespace {

std::string version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view all{text.data(), static_cast<std::size_t>(std::max(length, 0))};
  std::string first_line{
      all.substr(0, all.find_first_of(",\n"))};  // "Open MPI v4.1.4", "MPICH Version:\t4.0.2"
  std::replace(first_line.begin(), first_line.end(), '\t', ' ');
  return first_line;
}

const Format& mpiio(const FormatOptions& /*options*/) {
  static const Format format{{.rules = rules::mpiio,
                              .extension = ".bin",
                              .kind = Kind::shared,
                              .offsets_by_layout = true,
                              .goes_on = true},
                             [](const auto& path, const auto& options, const auto& writers) {
                               return std::make_unique<MpiIoTarget>(path, options, writers.raw);
                             }};
  return format;
}

}  // namespace

}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::version, &iocomp::formats::mpiio};
