// SPDX-License-Identifier: BSD-3-Clause
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/guard.h"
#include "api/handles.h"
#include "array/element_type.h"
#include "base/error.h"
#include "session/session.h"

using iocomp::Error;
using iocomp::ErrorCode;
using iocomp::api::guarded;
using iocomp::api::If;
using iocomp::api::require;
using iocomp::session::Counter;
using iocomp::session::Timer;
using iocomp::session::What;

namespace {

iocomp::session::Client& client_of(iocomp_session* session, const char* call) {
  require(session, call, "the session, file, variable or ticket");
  if (session->session->role() == iocomp::session::Role::server) {
    throw Error{ErrorCode::invalid_argument,
                std::string{call} + ": this rank is a server; only compute ranks have files"};
  }
  session->session->begin_call();
  return session->session->client();
}

iocomp::session::File& file_of(iocomp_file* file, const char* call) {
  require(file, call, "the file");
  return *file->file;
}

/// Run the body of a call that counts as time inside iocomp.
template <typename Body>
int timed(iocomp_session* session, const char* call, Counter counter, Body&& body,
          If held = If::limited) noexcept {
  return guarded(
      [&] {
        auto& counters = client_of(session, call).link().counters();
        const Timer all{counters, Counter::call_seconds, What::call, {.text = call}};
        if (counter == Counter::call_seconds) {
          body();
        } else {
          const Timer part{counters, counter};
          body();
        }
      },
      held);
}

iocomp::array::ElementType type_of(int type, const char* call) {
  const auto known = iocomp::array::element_type(type);
  if (!known) {
    throw Error{ErrorCode::invalid_argument,
                std::string{call} + ": there is no element type " + std::to_string(type) +
                    "; allowed are IOCOMP_INT8 (1) to IOCOMP_CHAR (14)"};
  }
  return *known;
}

iocomp::session::State state_of(iocomp_state state, const char* call) {
  if (state < IOCOMP_HANDED_OVER || state > IOCOMP_DURABLE) {
    throw Error{ErrorCode::invalid_argument, std::string{call} + ": there is no state " +
                                                 std::to_string(static_cast<int>(state))};
  }
  return static_cast<iocomp::session::State>(state);
}

int open_file(iocomp_session* session, MPI_Comm comm, const char* name, iocomp_kind kind,
              int64_t after, const char* options, iocomp_file** file) {
  if (file != nullptr) {
    *file = nullptr;
  }
  return timed(session, "open", Counter::call_seconds, [&] {
    require(name, "open", "the name");
    require(file, "open", "the place for the file");
    if (kind != IOCOMP_SERIES && kind != IOCOMP_CHECKPOINT) {
      throw Error{ErrorCode::invalid_argument,
                  "open: there is no kind " + std::to_string(static_cast<int>(kind))};
    }
    auto opened = std::make_unique<iocomp_file>();
    opened->session = session;
    opened->file = session->session->client().open(
        comm, name, kind == IOCOMP_CHECKPOINT ? "checkpoint" : "series", after,
        options == nullptr ? "" : options);
    *file = opened.get();
    session->files.push_back(std::move(opened));
  });
}

int set_attribute(iocomp_file* file, int variable, const char* name, iocomp_type type,
                  int64_t count, const void* values) {
  return timed(file == nullptr ? nullptr : file->session, "attribute", Counter::call_seconds, [&] {
    require(name, "attribute", "the name");
    iocomp::session::Attribute attribute;
    attribute.type = type_of(type, "attribute");
    if (count < 0 || count > (int64_t{1} << 20)) {
      throw Error{ErrorCode::invalid_argument,
                  "attribute \"" + std::string{name} + "\": " + std::to_string(count) +
                      " values; allowed are 0 to 1048576 (put larger things as variables)"};
    }
    if (count > 0) {
      require(values, "attribute", "the values");
      attribute.values.resize(static_cast<std::size_t>(count) *
                              iocomp::array::size_bytes(attribute.type));
      std::memcpy(attribute.values.data(), values, attribute.values.size());
    }
    if (attribute.type == iocomp::array::ElementType::character) {  // text, up to its zeros
      attribute.type = iocomp::array::ElementType::uint8;
      attribute.is_text = true;
      const auto end = std::ranges::find(attribute.values, std::byte{0});
      if (std::any_of(end, attribute.values.end(), [](std::byte b) { return b != std::byte{0}; })) {
        throw Error{ErrorCode::invalid_argument,
                    "attribute \"" + std::string{name} +
                        "\": its text has a zero inside, at byte " +
                        std::to_string(end - attribute.values.begin()) + ", where it would end"};
      }
      attribute.values.erase(end, attribute.values.end());
    }
    file_of(file, "attribute").set_attribute(variable, name, std::move(attribute));
  });
}

int set_text(iocomp_file* file, int variable, const char* name, const char* text) {
  return timed(file == nullptr ? nullptr : file->session, "attribute", Counter::call_seconds, [&] {
    require(name, "attribute", "the name");
    require(text, "attribute", "the text");
    iocomp::session::Attribute attribute;
    attribute.is_text = true;
    const auto bytes = std::as_bytes(std::span{text, std::strlen(text)});
    attribute.values.assign(bytes.begin(), bytes.end());
    file_of(file, "attribute").set_attribute(variable, name, std::move(attribute));
  });
}

int put(iocomp_var* var, const iocomp::session::PutArguments& arguments, iocomp_ticket* ticket) {
  iocomp_session* const session = var == nullptr ? nullptr : var->file->session;
  return timed(
      session, "put", Counter::put_seconds,
      [&] {
        const std::uint64_t number = var->file->file->put(var->id, arguments);
        if (ticket != nullptr) {
          *ticket = {session, number};
        }
      },
      If::known_limited);
}

}  // namespace

int iocomp_open(iocomp_session* session, const char* name, iocomp_kind kind, iocomp_file** file) {
  return open_file(session, MPI_COMM_NULL, name, kind, IOCOMP_LAST_STEP, nullptr, file);
}

int iocomp_open_after(iocomp_session* session, const char* name, iocomp_kind kind, int64_t after,
                      iocomp_file** file) {
  return open_file(session, MPI_COMM_NULL, name, kind, after, nullptr, file);
}

int iocomp_open_on(iocomp_session* session, MPI_Comm comm, const char* name, iocomp_kind kind,
                   iocomp_file** file) {
  return iocomp_open_with(session, comm, name, kind, IOCOMP_LAST_STEP, nullptr, file);
}

int iocomp_open_with(iocomp_session* session, MPI_Comm comm, const char* name, iocomp_kind kind,
                     int64_t after, const char* options, iocomp_file** file) {
  if (comm == MPI_COMM_NULL && iocomp_comm(session) != MPI_COMM_NULL) {
    return guarded([] {
      throw Error{ErrorCode::invalid_argument,
                  "open: the communicator is MPI_COMM_NULL; that of all compute ranks is what "
                  "iocomp_comm returns"};
    });
  }
  return open_file(session, comm, name, kind, after, options, file);
}

int iocomp_define(iocomp_file* file, const char* name, iocomp_type type, int ndims,
                  const int64_t* shape, iocomp_var** var) {
  if (var != nullptr) {
    *var = nullptr;
  }
  return timed(file == nullptr ? nullptr : file->session, "define", Counter::call_seconds, [&] {
    require(name, "define", "the name");
    require(var, "define", "the place for the variable");
    const int id = file->file->define(name, type_of(type, "define"), ndims, shape);
    file->variables.push_back({file, id});
    *var = &file->variables.back();
  });
}

int iocomp_set_shape(iocomp_var* var, const int64_t* shape) {
  return timed(var == nullptr ? nullptr : var->file->session, "set_shape", Counter::call_seconds,
               [&] { var->file->file->set_shape(var->id, shape); });
}

int iocomp_set_rows(int nvars, iocomp_var* const* vars, const int64_t* rows, int64_t* first,
                    int64_t* total) {
  iocomp_var* const one = nvars > 0 && vars != nullptr ? vars[0] : nullptr;
  return timed(one == nullptr ? nullptr : one->file->session, "set_rows", Counter::wait_seconds,
               [&] {
                 require(rows, "set_rows", "the numbers of rows");
                 std::vector<int> ids;
                 for (iocomp_var* const var : std::span{vars, static_cast<std::size_t>(nvars)}) {
                   require(var, "set_rows", "a variable");
                   require(var->file == one->file ? var : nullptr, "set_rows",
                           "a variable of the first one's file");
                   ids.push_back(var->id);
                 }
                 const auto found = one->file->session->session->client().set_rows(
                     one->file->file, ids, {rows, ids.size()});
                 if (first != nullptr) {
                   std::ranges::copy(found.first, first);
                 }
                 if (total != nullptr) {
                   std::ranges::copy(found.total, total);
                 }
               });
}

int iocomp_put_rows(iocomp_var* var, const int64_t* count, const void* values, int buffered,
                    int64_t* first, int64_t* total, iocomp_ticket* ticket) {
  int64_t start[IOCOMP_MAX_DIMS] = {};
  const int placed = iocomp_set_rows(1, &var, count, start, total);
  if (placed != IOCOMP_OK) {
    return placed;
  }
  if (first != nullptr) {
    *first = start[0];
  }
  return put(var, {.start = start, .count = count, .values = values, .buffered = buffered != 0},
             ticket);
}

int iocomp_set_attribute(iocomp_file* file, const char* name, iocomp_type type, int64_t count,
                         const void* values) {
  return set_attribute(file, -1, name, type, count, values);
}

int iocomp_set_attribute_text(iocomp_file* file, const char* name, const char* text) {
  return set_text(file, -1, name, text);
}

int iocomp_set_var_attribute(iocomp_var* var, const char* name, iocomp_type type, int64_t count,
                             const void* values) {
  return set_attribute(var == nullptr ? nullptr : var->file, var == nullptr ? -1 : var->id, name,
                       type, count, values);
}

int iocomp_set_var_attribute_text(iocomp_var* var, const char* name, const char* text) {
  return set_text(var == nullptr ? nullptr : var->file, var == nullptr ? -1 : var->id, name, text);
}

int iocomp_set_fill(iocomp_var* var, const void* value) {
  return timed(var == nullptr ? nullptr : var->file->session, "set_fill", Counter::call_seconds,
               [&] {
                 require(value, "set_fill", "the value");
                 var->file->file->set_fill(var->id, value);
               });
}

int iocomp_put(iocomp_var* var, const int64_t* start, const int64_t* count, const void* values,
               iocomp_ticket* ticket) {
  return put(var, {.start = start, .count = count, .values = values}, ticket);
}

int iocomp_put_buffered(iocomp_var* var, const int64_t* start, const int64_t* count,
                        const void* values, iocomp_ticket* ticket) {
  return put(var, {.start = start, .count = count, .values = values, .buffered = true}, ticket);
}

int iocomp_put_from(iocomp_var* var, const int64_t* start, const int64_t* count, const void* values,
                    const int64_t* memory_shape, const int64_t* memory_start, int buffered,
                    iocomp_ticket* ticket) {
  return put(var,
             {.start = start,
              .count = count,
              .values = values,
              .memory_shape = memory_shape,
              .memory_start = memory_start,
              .buffered = buffered != 0},
             ticket);
}

int iocomp_put_decomp(iocomp_var* var, const iocomp_decomp* decomp, const void* values,
                      int buffered, iocomp_ticket* ticket) {
  if (decomp == nullptr) {
    return guarded([] { require(nullptr, "put_decomp", "the decomposition"); });
  }
  return put(var,
             {.decomposition = &decomp->decomposition, .values = values, .buffered = buffered != 0},
             ticket);
}

int iocomp_end_step(iocomp_file* file) {
  return timed(file == nullptr ? nullptr : file->session, "end_step", Counter::call_seconds,
               [&] { file->file->end_step(); });
}

int iocomp_begin_step(iocomp_file* file, int64_t number, double time) {
  return timed(file == nullptr ? nullptr : file->session, "begin_step", Counter::call_seconds,
               [&] { file_of(file, "begin_step").begin_step(number, time); });
}

int64_t iocomp_current_step(const iocomp_file* file) {
  return file == nullptr ? -1 : file->file->current_step();
}

int iocomp_test(const iocomp_ticket* ticket, iocomp_state state, int* reached) {
  return timed(
      ticket == nullptr ? nullptr : ticket->session, "test", Counter::call_seconds,
      [&] {
        require(reached, "test", "the place for the answer");
        *reached = 0;
        *reached = ticket->session->session->client().test(ticket->number, state_of(state, "test"))
                       ? 1
                       : 0;
      },
      If::known_limited);
}

int iocomp_wait(const iocomp_ticket* ticket, iocomp_state state) {
  return timed(ticket == nullptr ? nullptr : ticket->session, "wait", Counter::wait_seconds, [&] {
    ticket->session->session->client().wait(ticket->number, state_of(state, "wait"));
  });
}

int iocomp_wait_puts(iocomp_file* file, iocomp_state state) {
  iocomp_session* const session = file == nullptr ? nullptr : file->session;
  return timed(session, "wait_puts", Counter::wait_seconds, [&] {
    session->session->client().wait_puts(*file->file, state_of(state, "wait_puts"));
  });
}

int iocomp_after(iocomp_file* file, const char* name) {
  iocomp_session* const session = file == nullptr ? nullptr : file->session;
  return timed(session, "after", Counter::call_seconds, [&] {
    require(name, "after", "the name");
    session->session->client().come_after(file->file, name);
  });
}

int iocomp_wait_step(iocomp_file* file, int64_t step) {
  return timed(file == nullptr ? nullptr : file->session, "wait_step", Counter::wait_seconds,
               [&] { file->file->wait_step(step); });
}

int iocomp_close(iocomp_file* file) {
  return timed(file == nullptr ? nullptr : file->session, "close", Counter::close_seconds, [&] {
    iocomp_session* const session = file->session;
    iocomp::session::File* const closing = file->file;
    std::erase_if(session->files, [file](const auto& open) { return open.get() == file; });
    session->session->client().close(closing);
  });
}

int iocomp_close_later(iocomp_file* file, iocomp_ticket* ticket) {
  return timed(
      file == nullptr ? nullptr : file->session, "close_later", Counter::close_seconds, [&] {
        iocomp_session* const session = file->session;
        iocomp::session::File* const closing = file->file;
        std::erase_if(session->files, [file](const auto& open) { return open.get() == file; });
        const auto number = session->session->client().close_later(closing);
        if (ticket != nullptr) {
          *ticket = {session, number};
        }
      });
}
