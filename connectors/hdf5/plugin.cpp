// SPDX-License-Identifier: BSD-3-Clause
// The callbacks of the connector, in the order of HDF5's table. HDF5's native connector always gets
// its call; our work comes before and after it. A failure of ours is told when the native call has
// been made: others may be waiting for this rank in it.

#include <H5PLextern.h>
#include <H5VLconnector.h>
#include <H5VLconnector_passthru.h>
#include <H5VLnative.h>
#include <hdf5.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/our_words.h"
#include "hdf5/connector.h"
#include "hdf5/dataset.h"
#include "hdf5/error_stack.h"
#include "hdf5/event.h"
#include "hdf5/identifier.h"
#include "hdf5/layout.h"
#include "hdf5/native.h"
#include "hdf5/output.h"
#include "hdf5/passed_on.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/span.h"

namespace iocomp::hdf5 {
namespace {

// Null in a process that was forked: writes on their way are its parent's. Never destroyed but by
// HDF5, whose own end comes after that of static objects.
Connector* connector = nullptr;

// Calls of the connector that run, in any thread.
std::atomic<int> running_calls = 0;

herr_t failed(const std::string& story) {
  H5Epush2(H5E_DEFAULT, __FILE__, "iocomp", __LINE__, H5E_ERR_CLS, H5E_IO, H5E_WRITEERROR,
           "iocomp: %s", story.c_str());
  return -1;
}

/// Run `body`, which may throw. Its outcome.
template <typename Body>
Outcome tried(Body&& body) noexcept {
  Outcome outcome;
  ++running_calls;
  try {
    outcome = std::forward<Body>(body)();
  } catch (...) {
    outcome.code = code_of_current_exception(outcome.story);
  }
  --running_calls;
  return outcome;
}

/// The result of a native call, and a failure of ours before or after it.
herr_t told(herr_t native_result, const Outcome& ours) {
  return ours.ok() ? native_result : failed(ours.story);
}

trace::Timeline* timeline() {
  return connector == nullptr ? nullptr : connector->report().counters().timeline();
}

/// A call of the program, in the figures and in the timeline.
class Call {
 public:
  /// @param part  of the time in calls. @param file  null for one that is left to HDF5.
  Call(const char* name, std::optional<trace::Counter> part, const Output* file) {
    if (connector == nullptr) {
      return;
    }
    auto& counters = connector->report().counters();
    all_.emplace(
        counters, trace::Counter::call_seconds, trace::What::call,
        trace::Subject{.file = file == nullptr ? std::string_view{} : file->name(), .text = name});
    if (part) {
      part_.emplace(counters, *part);
    }
  }

 private:
  std::optional<trace::Timer> all_;
  std::optional<trace::Timer> part_;
};

// HDF5 may look at any file. A failure is that of the file that the object lies in.
Outcome finish_all(void* object, H5I_type_t type) {
  return tried([&] {
    if (connector == nullptr) {
      return Outcome{};
    }
    connector->finish_all();
    return connector->failure_at(object, type);
  });
}

Outcome finish_file_of(void* dataset) {
  return tried([dataset] {
    const Dataset* const known = connector == nullptr ? nullptr : connector->find(dataset);
    return known == nullptr ? Outcome{} : connector->finish(known->output());
  });
}

// Storage of the file that the object lies in goes back.
Outcome before_freeing(void* object, H5I_type_t type) {
  return tried([&] {
    if (connector == nullptr) {
      return Outcome{};
    }
    const auto output = connector->file_of(object, type);
    const Outcome outcome = connector->before_freeing(output.get());
    if (output) {
      connector->leave_datasets_of(*output);
    }
    return outcome;
  });
}

// ---- files

// HDF5 without threads of MPI keeps pieces of contiguous datasets in memory, in its sieve buffer.
// With MPI it may write metadata collectively at any time: MPI-IO may write what lies between them,
// too.
PropertyList native_access(hid_t access_list) {
  PropertyList list{H5Pcopy(access_list)};
  H5Pset_vol(list.raw(), native::id(), nullptr);
  H5Pset_sieve_buf_size(list.raw(), 0);
  H5Pset_coll_metadata_write(list.raw(), false);
  return list;
}

void* opened(void* file, const char* name, bool is_new, hid_t access_list) {
  const Outcome outcome = tried([&] {
    if (connector != nullptr) {
      connector->file_opened(file, name, is_new, access_list);
    }
    return Outcome{};
  });
  if (!outcome.ok()) {
    failed(outcome.story);
  }
  return file;
}

void* file_create(const char* name, unsigned flags, hid_t creation_list, hid_t access_list,
                  hid_t transfer_list, void** request) {
  ErrorStack errors;
  const PropertyList list = native_access(access_list);
  void* const file =
      errors.after(H5VLfile_create(name, flags, creation_list, list.raw(), transfer_list, request));
  return (flags & H5F_ACC_SWMR_WRITE) != 0 ? file : opened(file, name, true, list.raw());
}

void* file_open(const char* name, unsigned flags, hid_t access_list, hid_t transfer_list,
                void** request) {
  ErrorStack errors;
  const PropertyList list = native_access(access_list);
  void* const file = errors.after(H5VLfile_open(name, flags, list.raw(), transfer_list, request));
  const bool is_ours = (flags & H5F_ACC_RDWR) != 0 && (flags & H5F_ACC_SWMR_WRITE) == 0;
  return is_ours ? opened(file, name, false, list.raw()) : file;
}

herr_t flush_natively(void* object, H5I_type_t type, hid_t transfer_list, void** request) {
  H5VL_file_specific_args_t arguments{};
  arguments.op_type = H5VL_FILE_FLUSH;
  arguments.args.flush.obj_type = type;
  arguments.args.flush.scope = H5F_SCOPE_LOCAL;
  return H5VLfile_specific(object, native::id(), &arguments, transfer_list, request);
}

// A failure is told before HDF5 closes the file, on all ranks alike, and the file stays open: what
// HDF5 has closed it must not be asked to close again. The next close has success.
herr_t file_close(void* file, hid_t transfer_list, void** request) {
  const auto output = connector == nullptr ? nullptr : connector->find_file(file);
  if (!output) {
    return H5VLfile_close(file, native::id(), transfer_list, request);
  }
  std::optional<Call> call{std::in_place, "H5Fclose", trace::Counter::close_seconds, output.get()};
  const Outcome outcome = tried([&] {
    connector->writer().finish(*output);
    static_cast<void>(flush_natively(file, H5I_FILE, transfer_list, request));
    return connector->before_close(*output);
  });
  if (!outcome.ok()) {
    return failed(outcome.story);
  }
  const herr_t result = H5VLfile_close(file, native::id(), transfer_list, request);
  const Outcome closed = tried([&] {
    if (result >= 0) {
      connector->closed(file);
    }
    call.reset();
    connector->hand_in(*output);
    return Outcome{};
  });
  if (!closed.ok()) {
    log::error(closed.story);
  }
  return result;
}

herr_t with_native_access(hid_t& access_list, void* file, H5VL_file_specific_args_t* arguments,
                          hid_t transfer_list, void** request) {
  ErrorStack errors;
  const PropertyList list = native_access(access_list);
  const hid_t given = std::exchange(access_list, list.raw());
  const herr_t result =
      errors.after(H5VLfile_specific(file, native::id(), arguments, transfer_list, request));
  access_list = given;
  return result;
}

herr_t flush(void* object, H5VL_file_specific_args_t* arguments, hid_t transfer_list,
             void** request) {
  const auto output =
      connector == nullptr ? nullptr : connector->file_of(object, arguments->args.flush.obj_type);
  const Call call{"H5Fflush", trace::Counter::wait_seconds, output.get()};
  Outcome outcome = finish_all(object, arguments->args.flush.obj_type);
  const herr_t result = H5VLfile_specific(object, native::id(), arguments, transfer_list, request);
  if (output) {
    const bool with_mounted = arguments->args.flush.scope == H5F_SCOPE_GLOBAL;
    const Outcome durable = tried([&] { return connector->make_durable(*output, with_mounted); });
    outcome = outcome.ok() ? durable : outcome;
  }
  return told(result, outcome);
}

herr_t file_specific(void* file, H5VL_file_specific_args_t* arguments, hid_t transfer_list,
                     void** request) {
  switch (arguments->op_type) {
    case H5VL_FILE_IS_ACCESSIBLE:
      return with_native_access(arguments->args.is_accessible.fapl_id, file, arguments,
                                transfer_list, request);
    case H5VL_FILE_DELETE:
      return with_native_access(arguments->args.del.fapl_id, file, arguments, transfer_list,
                                request);
    case H5VL_FILE_FLUSH:
      return flush(file, arguments, transfer_list, request);
    default:
      break;
  }
  const herr_t result = H5VLfile_specific(file, native::id(), arguments, transfer_list, request);
  if (arguments->op_type == H5VL_FILE_REOPEN && result >= 0 && connector != nullptr) {
    connector->file_reopened(file, *arguments->args.reopen.file);
  }
  return result;
}

herr_t file_optional(void* file, H5VL_optional_args_t* arguments, hid_t transfer_list,
                     void** request) {
  if (arguments->op_type == H5VL_NATIVE_FILE_POST_OPEN) {
    return H5VLfile_optional(file, native::id(), arguments, transfer_list, request);
  }
  // Others read without a flush between.
  const bool leaves = arguments->op_type == H5VL_NATIVE_FILE_START_SWMR_WRITE ||
                      arguments->op_type == H5VL_NATIVE_FILE_SET_MPI_ATOMICITY;
  const Outcome outcome = leaves ? before_freeing(file, H5I_FILE) : finish_all(file, H5I_FILE);
  if (leaves && connector != nullptr) {
    if (const auto output = connector->file_of(file, H5I_FILE)) {
      output->is_left = true;
    }
  }
  return told(H5VLfile_optional(file, native::id(), arguments, transfer_list, request), outcome);
}

// ---- datasets

void* dataset_opened(void* dataset) {
  const Outcome outcome = tried([&] {
    if (dataset != nullptr && connector != nullptr) {
      connector->dataset_opened(dataset);
    }
    return Outcome{};
  });
  if (!outcome.ok()) {
    failed(outcome.story);
  }
  return dataset;
}

// HDF5 with MPI finds places for chunks at once, but the creation list does not say so.
PropertyList with_places(hid_t creation_list, const Output& output) {
  if (H5Pget_layout(creation_list) != H5D_CHUNKED || output.chunks == Chunks::left ||
      H5Pget_nfilters(creation_list) != 0) {
    return {};
  }
  PropertyList list{H5Pcopy(creation_list)};
  H5Pset_alloc_time(list.raw(), H5D_ALLOC_TIME_EARLY);
  return list;
}

void* dataset_create(void* object, const H5VL_loc_params_t* location, const char* name,
                     hid_t link_list, hid_t type, hid_t space, hid_t creation_list,
                     hid_t access_list, hid_t transfer_list, void** request) {
  const auto output =
      connector == nullptr ? nullptr : connector->file_of(object, location->obj_type);
  ErrorStack errors;
  const PropertyList list = output ? with_places(creation_list, *output) : PropertyList{};
  return dataset_opened(errors.after(H5VLdataset_create(
      object, location, native::id(), name, link_list, type, space,
      list.is_valid() ? list.raw() : creation_list, access_list, transfer_list, request)));
}

void* dataset_open(void* object, const H5VL_loc_params_t* location, const char* name,
                   hid_t access_list, hid_t transfer_list, void** request) {
  return dataset_opened(
      H5VLdataset_open(object, location, native::id(), name, access_list, transfer_list, request));
}

// Everything is written, and the failure of one of these datasets.
Outcome finish_all(const std::span<void*> datasets) {
  Outcome outcome;
  for (void* const dataset : datasets) {
    if (outcome.ok()) {
      outcome = finish_all(dataset, H5I_DATASET);
    }
  }
  return outcome;
}

// A virtual dataset reads from others.
herr_t dataset_read(std::size_t count, void* datasets[], hid_t memory_types[],
                    hid_t memory_spaces[], hid_t file_spaces[], hid_t transfer_list, void* memory[],
                    void** request) {
  const trace::Span span{timeline(), trace::What::call, {.text = "H5Dread"}};
  const Outcome outcome = finish_all({datasets, count});
  return told(H5VLdataset_read(count, datasets, native::id(), memory_types, memory_spaces,
                               file_spaces, transfer_list, memory, request),
              outcome);
}

/// The writes of one call, some of which are left to HDF5.
struct Writes {
  std::vector<void*> datasets;
  std::vector<hid_t> memory_types;
  std::vector<hid_t> memory_spaces;
  std::vector<hid_t> file_spaces;
  std::vector<const void*> memory;
};

herr_t pass_on(void* dataset, Dataset::Request write, void** request) {
  return H5VLdataset_write(1, &dataset, native::id(), &write.memory_type, &write.memory_space,
                           &write.file_space, write.transfer_list, &write.memory, request);
}

/// This process cannot take its part, others perhaps can. So not all ranks make the native call.
/// @param alone  the transfer list of such calls: one for all datasets of a call of the program.
herr_t write_alone(void* dataset, Dataset::Request write, std::optional<hid_t>& alone,
                   void** request) {
  if (!alone) {
    alone = connector->independent(write.transfer_list);
  }
  write.transfer_list = *alone;
  return pass_on(dataset, write, request);
}

herr_t write_one(Dataset& known, void* dataset, const Dataset::Request& write,
                 std::optional<hid_t>& alone, void** request) {
  bool is_taken = false;
  Outcome outcome = known.output().failure();
  if (outcome.ok()) {
    outcome = tried([&] {
      is_taken = known.write(write, connector->writer());
      if (!is_taken) {
        known.finish(connector->writer());
      }
      return known.output().failure();
    });
  }
  if (is_taken || !outcome.ok()) {
    connector->report().counters().add(trace::Counter::puts, is_taken ? 1 : 0);
    return told(0, outcome);
  }
  connector->report().left();
  return known.output().is_shared() ? write_alone(dataset, write, alone, request)
                                    : pass_on(dataset, write, request);
}

bool is_collective(hid_t transfer_list) {
  H5FD_mpio_xfer_t mode = H5FD_MPIO_INDEPENDENT;
  return transfer_list != H5P_DATASET_XFER_DEFAULT && H5Pget_dxpl_mpio(transfer_list, &mode) >= 0 &&
         mode == H5FD_MPIO_COLLECTIVE;
}

// All ranks are in this call. What another rank writes for this one is written before it goes on.
herr_t write_together(const Dataset& known, void* dataset, const Dataset::Request& write,
                      void** request) {
  Outcome outcome = tried([&] { return connector->finish(known.output()); });
  connector->report().left();
  const herr_t result = pass_on(dataset, write, request);
  const Outcome met = tried([&] {
    connector->meet_after_call(known.output());
    return Outcome{};
  });
  return told(result, outcome.ok() ? met : outcome);
}

// A virtual dataset writes into others. MPI-IO may read what lies between the runs of all ranks,
// and write that once more.
herr_t write_natively(Writes& rest, hid_t transfer_list, void** request) {
  if (rest.datasets.empty()) {
    return 0;
  }
  Outcome outcome;
  if (connector != nullptr) {
    connector->report().left();
    if (is_collective(transfer_list) || std::ranges::any_of(rest.datasets, native::is_virtual)) {
      outcome = finish_all(rest.datasets);
    }
  }
  const herr_t result =
      H5VLdataset_write(rest.datasets.size(), rest.datasets.data(), native::id(),
                        rest.memory_types.data(), rest.memory_spaces.data(),
                        rest.file_spaces.data(), transfer_list, rest.memory.data(), request);
  return told(result, outcome);
}

herr_t dataset_write(std::size_t count, void* datasets[], hid_t memory_types[],
                     hid_t memory_spaces[], hid_t file_spaces[], hid_t transfer_list,
                     const void* memory[], void** request) {
  const Call call{"H5Dwrite", std::nullopt, nullptr};
  ErrorStack errors;
  Writes rest;
  std::optional<hid_t> alone;
  herr_t result = 0;
  const auto event = request == nullptr ? nullptr : std::make_shared<Event>();
  const bool is_together = is_collective(transfer_list);
  const bool are_all_here = count == 1 && is_together;
  for (std::size_t i = 0; i < count; ++i) {
    Dataset* const known = connector == nullptr ? nullptr : connector->find(datasets[i]);
    if (known == nullptr) {
      rest.datasets.push_back(datasets[i]);
      rest.memory_types.push_back(memory_types[i]);
      rest.memory_spaces.push_back(memory_spaces[i]);
      rest.file_spaces.push_back(file_spaces[i]);
      rest.memory.push_back(memory[i]);
      continue;
    }
    const trace::Timer timer{connector->report().counters(), trace::Counter::put_seconds};
    trace::describe_span(timeline(), {.file = known->output().name()});
    const Dataset::Request one{.memory_type = memory_types[i],
                               .memory_space = memory_spaces[i],
                               .file_space = file_spaces[i],
                               .transfer_list = transfer_list,
                               .is_collective = is_together,
                               .memory = memory[i],
                               .event = event};
    bool is_left = false;
    const Outcome agreed = tried([&] {
      is_left = are_all_here && connector->leaves_short_runs(*known, one);
      return Outcome{};
    });
    const herr_t written = is_left ? write_together(*known, datasets[i], one, request)
                                   : write_one(*known, datasets[i], one, alone, request);
    if (errors.after(told(written, agreed)) < 0) {
      result = -1;
    }
  }
  if (errors.after(write_natively(rest, transfer_list, request)) < 0) {
    result = -1;
  }
  // HDF5 does not look at the event of a call that has failed.
  if (event && result >= 0) {
    *request = new std::shared_ptr<Event>{event};
  } else if (event) {
    static_cast<void>(finish_all({datasets, count}));
  }
  return result;
}

herr_t set_extent(void* dataset, H5VL_dataset_specific_args_t* arguments, hid_t transfer_list,
                  void** request) {
  Dataset* const known = connector == nullptr ? nullptr : connector->find(dataset);
  if (known == nullptr) {
    return H5VLdataset_specific(dataset, native::id(), arguments, transfer_list, request);
  }
  const bool frees = known->shrinks_to(arguments->args.set_extent.size);
  Outcome outcome;
  if (frees) {
    outcome = tried([&] { return connector->before_freeing(&known->output()); });
  }
  ErrorStack errors;
  const herr_t result =
      errors.after(H5VLdataset_specific(dataset, native::id(), arguments, transfer_list, request));
  if (frees) {
    connector->forget_places_of(known->output());
  }
  const Outcome looked = tried([known] {
    known->look_together();
    return Outcome{};
  });
  return told(result, outcome.ok() ? looked : outcome);
}

// The length of a dataset's storage grows with each chunk that HDF5 gets.
herr_t dataset_get(void* dataset, H5VL_dataset_get_args_t* arguments, hid_t transfer_list,
                   void** request) {
  const bool looks_at_storage = arguments->op_type == H5VL_DATASET_GET_STORAGE_SIZE ||
                                arguments->op_type == H5VL_DATASET_GET_SPACE_STATUS;
  const Outcome outcome = looks_at_storage ? finish_file_of(dataset) : Outcome{};
  return told(H5VLdataset_get(dataset, native::id(), arguments, transfer_list, request), outcome);
}

herr_t dataset_specific(void* dataset, H5VL_dataset_specific_args_t* arguments, hid_t transfer_list,
                        void** request) {
  if (arguments->op_type == H5VL_DATASET_SET_EXTENT) {
    return set_extent(dataset, arguments, transfer_list, request);
  }
  const Outcome outcome = finish_file_of(dataset);
  return told(H5VLdataset_specific(dataset, native::id(), arguments, transfer_list, request),
              outcome);
}

herr_t dataset_optional(void* dataset, H5VL_optional_args_t* arguments, hid_t transfer_list,
                        void** request) {
  const Outcome outcome = finish_file_of(dataset);
  return told(H5VLdataset_optional(dataset, native::id(), arguments, transfer_list, request),
              outcome);
}

// HDF5 ends: it closes datasets until none is open, and then their files.
bool hdf5_ends() {
  hbool_t ends = false;
  return H5is_library_terminating(&ends) < 0 || ends;
}

// The last object of a file that was closed closes it. HDF5 must not be asked twice to close an
// object, so a failure is logged.
herr_t dataset_close(void* dataset, hid_t transfer_list, void** request) {
  std::shared_ptr<Output> left;
  bool stays_open = false;
  const Outcome outcome = tried([&] {
    Dataset* const known = connector == nullptr ? nullptr : connector->find(dataset);
    if (known == nullptr) {
      return Outcome{};
    }
    if (connector->goes_when_closed(dataset)) {
      static_cast<void>(connector->before_freeing(&known->output()));
    }
    if (known->output().opened == 0) {
      left = known->shared_output();
      connector->writer().finish(*left);
    } else if (hdf5_ends()) {
      known->finish(connector->writer());
    }
    stays_open = known->stays_open();
    connector->dataset_closed(dataset);
    return Outcome{};
  });
  if (stays_open) {
    return told(0, outcome);
  }
  const herr_t result = H5VLdataset_close(dataset, native::id(), transfer_list, request);
  if (left) {
    left->sync();
  }
  return told(result, outcome);
}

// ---- other objects, whose calls give storage back or look at it

herr_t group_specific(void* group, H5VL_group_specific_args_t* arguments, hid_t transfer_list,
                      void** request) {
  const Outcome outcome = finish_all(group, H5I_GROUP);
  if (arguments->op_type == H5VL_GROUP_MOUNT && connector != nullptr) {
    for (const auto& output : {connector->file_of(group, H5I_GROUP),
                               connector->find_file(arguments->args.mount.child_file)}) {
      if (output) {
        output->is_mounted = true;
      }
    }
  }
  return told(H5VLgroup_specific(group, native::id(), arguments, transfer_list, request), outcome);
}

// A group that no link leads to goes when it is closed, and what it holds goes with it.
herr_t group_close(void* group, hid_t transfer_list, void** request) {
  if (connector != nullptr && connector->has_no_links(group, H5I_GROUP)) {
    static_cast<void>(before_freeing(group, H5I_GROUP));
  }
  return H5VLgroup_close(group, native::id(), transfer_list, request);
}

herr_t link_specific(void* object, const H5VL_loc_params_t* location,
                     H5VL_link_specific_args_t* arguments, hid_t transfer_list, void** request) {
  const Outcome outcome = arguments->op_type == H5VL_LINK_DELETE
                              ? before_freeing(object, location->obj_type)
                              : Outcome{};
  return told(H5VLlink_specific(object, location, native::id(), arguments, transfer_list, request),
              outcome);
}

void* object_open(void* object, const H5VL_loc_params_t* location, H5I_type_t* type,
                  hid_t transfer_list, void** request) {
  void* const found = H5VLobject_open(object, location, native::id(), type, transfer_list, request);
  return found != nullptr && *type == H5I_DATASET ? dataset_opened(found) : found;
}

herr_t object_copy(void* from, const H5VL_loc_params_t* from_location, const char* from_name,
                   void* to, const H5VL_loc_params_t* to_location, const char* to_name,
                   hid_t copy_list, hid_t link_list, hid_t transfer_list, void** request) {
  Outcome outcome = finish_all(from, from_location->obj_type);
  if (outcome.ok()) {
    outcome = finish_all(to, to_location->obj_type);
  }
  return told(H5VLobject_copy(from, from_location, from_name, to, to_location, to_name,
                              native::id(), copy_list, link_list, transfer_list, request),
              outcome);
}

herr_t object_specific(void* object, const H5VL_loc_params_t* location,
                       H5VL_object_specific_args_t* arguments, hid_t transfer_list,
                       void** request) {
  Outcome outcome;
  if (arguments->op_type == H5VL_OBJECT_CHANGE_REF_COUNT) {
    outcome = before_freeing(object, location->obj_type);
  } else if (arguments->op_type == H5VL_OBJECT_FLUSH || arguments->op_type == H5VL_OBJECT_REFRESH) {
    outcome = finish_all(object, location->obj_type);
  }
  return told(
      H5VLobject_specific(object, location, native::id(), arguments, transfer_list, request),
      outcome);
}

herr_t object_optional(void* object, const H5VL_loc_params_t* location,
                       H5VL_optional_args_t* arguments, hid_t transfer_list, void** request) {
  const Outcome outcome = finish_all(object, location->obj_type);
  return told(
      H5VLobject_optional(object, location, native::id(), arguments, transfer_list, request),
      outcome);
}

// ---- events of asynchronous calls: HDF5 holds a pointer that is shared with the writer

const Event& event_of(void* request) { return **static_cast<std::shared_ptr<Event>*>(request); }

/// A look of HDF5 at the events of a set, from the oldest on. Once the last event has left a set
/// before an older one, HDF5 loses those that come later: it keeps a pointer to the one that left
/// (`H5ES__list_remove` of 1.14.6 and 2.0). So behind an event that is under way all are.
class Look {
 public:
  bool finds_done(const Event& event, std::uint64_t nanoseconds) {
    // Another look begins, perhaps at another set.
    if (event.number() <= last_ || nanoseconds > left_) {
      is_one_under_way_ = false;
    }
    last_ = event.number();
    left_ = nanoseconds;
    is_one_under_way_ = is_one_under_way_ || !event.is_done();
    return !is_one_under_way_;
  }

 private:
  std::uint64_t last_ = 0;
  std::uint64_t left_ = 0;  // nanoseconds
  bool is_one_under_way_ = false;
};

Look look;

H5VL_request_status_t end_of(const Event& event) {
  return event.outcome().ok() ? H5VL_REQUEST_STATUS_SUCCEED : H5VL_REQUEST_STATUS_FAIL;
}

// HDF5 gives nanoseconds, the greatest number of them for "until it is done".
herr_t request_wait(void* request, std::uint64_t nanoseconds, H5VL_request_status_t* status) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  const std::chrono::nanoseconds longest{static_cast<std::int64_t>(std::min(nanoseconds, most))};
  const Event& event = event_of(request);
  const Outcome outcome = tried([&] {
    if (connector != nullptr) {
      connector->writer().wait_for(event, longest);
    }
    return Outcome{};
  });
  *status = look.finds_done(event, nanoseconds) ? end_of(event) : H5VL_REQUEST_STATUS_IN_PROGRESS;
  return told(0, outcome);
}

// A write that has begun cannot be cancelled.
herr_t request_cancel(void* request, H5VL_request_status_t* status) {
  const Event& event = event_of(request);
  *status = look.finds_done(event, 0) ? end_of(event) : H5VL_REQUEST_STATUS_CANT_CANCEL;
  return 0;
}

herr_t request_specific(void* request, H5VL_request_specific_args_t* arguments) {
  const Event& event = event_of(request);
  if (arguments->op_type == H5VL_REQUEST_GET_EXEC_TIME) {
    *arguments->args.get_exec_time.exec_ts = event.began_at_nanoseconds();
    *arguments->args.get_exec_time.exec_time = event.took_nanoseconds();
    return 0;
  }
  failed(event.outcome().story);
  arguments->args.get_err_stack.err_stack_id = H5Eget_current_stack();
  return arguments->args.get_err_stack.err_stack_id < 0 ? -1 : 0;
}

herr_t request_free(void* request) {
  delete static_cast<std::shared_ptr<Event>*>(request);
  return 0;
}

// ---- the connector

extern const H5VL_class_t table;

// The child reads what its parent has written. A fork within a call does not wait. Neither does one
// where another thread has used HDF5: that thread may be anywhere in it, or begin a call meanwhile.
void finish_before_fork() {
  if (native::is_used_by_this_thread_alone() && connector != nullptr && running_calls == 0) {
    native::call_from_outside([] {
      static_cast<void>(tried([] {
        connector->finish_all();
        return Outcome{};
      }));
    });
  }
}

void forget_in_child() {
  connector = nullptr;
  running_calls = 0;
}

herr_t initialize(hid_t /*initialization_list*/) {
  static const bool sees_forks = pthread_atfork(finish_before_fork, nullptr, forget_in_child) == 0;
  static_cast<void>(sees_forks);
  if (!native::find()) {
    return failed("HDF5 has no native connector");
  }
  const Outcome outcome = tried([] {
    connector = new Connector;
    return Outcome{};
  });
  return told(0, outcome);
}

herr_t terminate() {
  delete std::exchange(connector, nullptr);
  return 0;
}

herr_t get_class(void* object, H5VL_get_conn_lvl_t level, const H5VL_class_t** found) {
  if (level == H5VL_GET_CONN_LVL_TERM) {
    return H5VLintrospect_get_conn_cls(object, native::id(), level, found);
  }
  *found = &table;
  return 0;
}

constexpr std::uint64_t not_offered =
    H5VL_CAP_FLAG_THREADSAFE | H5VL_CAP_FLAG_MAP_BASIC | H5VL_CAP_FLAG_MAP_MORE;

herr_t get_capabilities(const void* details, std::uint64_t* flags) {
  const herr_t result = H5VLintrospect_get_cap_flags(details, native::id(), flags);
  *flags = (*flags | H5VL_CAP_FLAG_ASYNC) & ~not_offered;
  return result;
}

constexpr unsigned connector_value = 489;          // of those that need no registration
constexpr std::uint64_t everything = 0xfffffffff;  // that the native connector may offer

const H5VL_class_t table = {
    .version = H5VL_VERSION,
    .value = connector_value,
    .name = "iocomp",
    .conn_version = 0,
    .cap_flags = everything & ~not_offered,
    .initialize = initialize,
    .terminate = terminate,
    .info_cls = {},
    .wrap_cls = {},
    .attr_cls = {PassedOn<H5VLattr_create, 2>{}, PassedOn<H5VLattr_open, 2>{},
                 PassedOn<H5VLattr_read, 1>{}, PassedOn<H5VLattr_write, 1>{},
                 PassedOn<H5VLattr_get, 1>{}, PassedOn<H5VLattr_specific, 2>{},
                 PassedOn<H5VLattr_optional, 1>{}, PassedOn<H5VLattr_close, 1>{}},
    .dataset_cls = {dataset_create, dataset_open, dataset_read, dataset_write, dataset_get,
                    dataset_specific, dataset_optional, dataset_close},
    .datatype_cls = {PassedOn<H5VLdatatype_commit, 2>{}, PassedOn<H5VLdatatype_open, 2>{},
                     PassedOn<H5VLdatatype_get, 1>{}, PassedOn<H5VLdatatype_specific, 1>{},
                     PassedOn<H5VLdatatype_optional, 1>{}, PassedOn<H5VLdatatype_close, 1>{}},
    .file_cls = {file_create, file_open, PassedOn<H5VLfile_get, 1>{}, file_specific, file_optional,
                 file_close},
    .group_cls = {PassedOn<H5VLgroup_create, 2>{}, PassedOn<H5VLgroup_open, 2>{},
                  PassedOn<H5VLgroup_get, 1>{}, group_specific, PassedOn<H5VLgroup_optional, 1>{},
                  group_close},
    .link_cls = {PassedOn<H5VLlink_create, 3>{}, PassedOn<H5VLlink_copy, 4>{},
                 PassedOn<H5VLlink_move, 4>{}, PassedOn<H5VLlink_get, 2>{}, link_specific,
                 PassedOn<H5VLlink_optional, 2>{}},
    .object_cls = {object_open, object_copy, PassedOn<H5VLobject_get, 2>{}, object_specific,
                   object_optional},
    .introspect_cls = {get_class, get_capabilities, PassedOn<H5VLintrospect_opt_query, 1>{}},
    .request_cls = {request_wait, nullptr, request_cancel, request_specific, nullptr, request_free},
    .blob_cls = {PassedOn<H5VLblob_put, 1>{}, PassedOn<H5VLblob_get, 1>{},
                 PassedOn<H5VLblob_specific, 1>{}, PassedOn<H5VLblob_optional, 1>{}},
    .token_cls = {PassedOn<H5VLtoken_cmp, 1>{}, PassedOn<H5VLtoken_to_str, 2>{},
                  PassedOn<H5VLtoken_from_str, 2>{}},
    .optional = PassedOn<H5VLoptional, 1>{},
};

}  // namespace
}  // namespace iocomp::hdf5

extern "C" {
H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_VOL; }
const void* H5PLget_plugin_info(void) { return &iocomp::hdf5::table; }
}
