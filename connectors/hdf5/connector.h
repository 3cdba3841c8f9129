// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "config/settings.h"
#include "hdf5/dataset.h"
#include "hdf5/identifier.h"
#include "hdf5/output.h"
#include "hdf5/report.h"
#include "hdf5/writer.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "trace/counters.h"

namespace iocomp::hdf5 {

/// The files and datasets that the program has open in this process. HDF5's own objects are handed
/// out as they are; this is kept beside them. Used by one thread at a time, as HDF5 is.
class Connector {
 public:
  /// @throws Error{invalid_setting, unsupported}.
  Connector();
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  /// Finishes the writes that are on their way.
  ~Connector();

  // Files.
  /// The program opens a file for writing, and HDF5 has: null where it could not. Collective over
  /// the ranks of the access list, whatever became of it.
  void file_opened(void* file, const std::string& name, bool is_new, hid_t access_list);
  /// The same file was opened again.
  void file_reopened(void* file, void* again);
  /// An open file; null for one that is left to HDF5.
  [[nodiscard]] std::shared_ptr<Output> find_file(void* file) const;
  /// Before HDF5 closes it: everything is durable, or the failure of some rank, once. Collective
  /// over the ranks of the file.
  [[nodiscard]] Outcome before_close(Output& output);
  /// HDF5 has closed it: what it wrote meanwhile is made durable, too.
  void closed(void* file);
  /// Give the figures to the first rank. Collective over the ranks of the file.
  void hand_in(const Output& output);
  /// The file that an object of this type lies in; null for one that is left to HDF5.
  [[nodiscard]] std::shared_ptr<Output> file_of(void* object, H5I_type_t type) const;
  /// Everything that was written is durable, on all ranks. Collective over the ranks of the file.
  /// @param with_mounted  so are all files that are mounted on others, or have others on them.
  /// @return the first failure of these files.
  [[nodiscard]] Outcome make_durable(Output& output, bool with_mounted);
  /// HDF5 is about to give storage of the file back, and may use it for something else. Collective
  /// over the ranks of the file. @param output  may be null. @return its failure.
  [[nodiscard]] Outcome before_freeing(Output* output);
  /// The same, of objects that are open: their storage goes when they are closed.
  void leave_datasets_of(const Output& output);
  void forget_places_of(const Output& output);

  /// Wait until all ranks have made a call of HDF5. Collective over the ranks of the file.
  void meet_after_call(const Output& output);

  /// True if no link leads to an object of this type, which lies in a file that is not left to
  /// HDF5.
  [[nodiscard]] bool has_no_links(void* object, H5I_type_t type) const;

  // Datasets.
  void dataset_opened(void* dataset);
  [[nodiscard]] Dataset* find(void* dataset) const;
  void dataset_closed(void* dataset) { datasets_.erase(dataset); }
  /// True if the storage of this dataset goes back when it is closed: no link leads to it, and the
  /// program has it open only once.
  [[nodiscard]] bool goes_when_closed(void* dataset) const;
  /// True if this call and all later collective writes of the dataset are left to HDF5, since the
  /// runs of all ranks are short. Collective over the ranks of the file.
  [[nodiscard]] bool leaves_short_runs(Dataset& dataset, const Dataset::Request& write);

  /// Everything is written: HDF5 may look at any file.
  void finish_all() { writer_.finish_all(); }
  /// The same of one file. @return its failure.
  [[nodiscard]] Outcome finish(const Output& output);
  /// The failure of the file that an object of this type lies in; of any, for a virtual dataset.
  [[nodiscard]] Outcome failure_at(void* object, H5I_type_t type) const;

  [[nodiscard]] Writer& writer() noexcept { return writer_; }
  [[nodiscard]] Report& report() noexcept { return report_; }

  /// A transfer list like this one, for native calls that this process makes alone. HDF5 looks at
  /// the first one of a program's call once more when that returns. So a list lives until the next
  /// one is made: once for each call of the program.
  [[nodiscard]] hid_t independent(hid_t transfer_list);

 private:
  [[nodiscard]] mpi::Communicator ranks_of(hid_t access_list) const;
  [[nodiscard]] bool has_files() const;
  [[nodiscard]] std::shared_ptr<Output> file_numbered(unsigned long number) const;

  config::Settings settings_;
  mpi::WaitPolicy policy_;
  Report report_;
  Writer writer_;
  // By HDF5's number: also the files that the program has closed, and whose datasets it has open.
  std::map<unsigned long, std::weak_ptr<Output>> by_number_;
  std::map<void*, std::shared_ptr<Output>> files_;
  std::map<void*, std::unique_ptr<Dataset>> datasets_;
  hid_t transfer_list_ = H5I_INVALID_HID;
};

}  // namespace iocomp::hdf5
