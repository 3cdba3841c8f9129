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
#include <string_view>
#include <utility>
#include <vector>

#include "api/guard.h"
#include "api/handles.h"
#include "api/open_options.h"
#include "array/element_type.h"
#include "base/error.h"
#include "session/session.h"

using iocomp::Error;
using iocomp::ErrorCode;
using iocomp::api::given_type;
using iocomp::api::guarded;
using iocomp::api::If;
using iocomp::api::memory_start_of;
using iocomp::api::OpenOptions;
using iocomp::api::require;
using iocomp::api::struct_of;
using iocomp::api::type_of;
using iocomp::session::Attribute;
using iocomp::session::Counter;
using iocomp::session::list_attribute;
using iocomp::session::PutArguments;
using iocomp::session::text_attribute;
using iocomp::session::Timer;
using iocomp::session::What;

namespace {

/// The session and the file of a handle that the caller gives, and the words for that handle.
struct Handle {
  iocomp_session* session;
  const char* words;
  const iocomp_file* file = nullptr;
};

Handle handle(iocomp_session* session) { return {session, "the session"}; }
Handle handle(const iocomp_file* file) {
  return {file == nullptr ? nullptr : file->session, "the file", file};
}
Handle handle(const iocomp_var* var) {
  Handle found = handle(var == nullptr ? nullptr : var->file);
  found.words = "the variable";
  return found;
}
Handle handle(const iocomp_ticket* ticket) {
  return {ticket == nullptr ? nullptr : ticket->session, "the ticket"};
}

iocomp::session::Client& client_of(const Handle& given, const char* call) {
  iocomp_session* const session = given.session;
  require(session, call, given.words);
  if (given.file != nullptr && given.file->file == nullptr) {
    throw Error{ErrorCode::invalid_argument,
                std::string{call} + ": the file \"" + given.file->name + "\" was closed"};
  }
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
int timed(const Handle& given, const char* call, Counter counter, Body&& body,
          If held = If::limited) noexcept {
  return guarded(
      [&] {
        auto& counters = client_of(given, call).link().counters();
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

iocomp::session::State state_of(iocomp_state state, const char* call) {
  if (state < IOCOMP_REUSABLE || state > IOCOMP_DURABLE) {
    throw Error{ErrorCode::invalid_argument,
                std::string{call} + ": there is no state " +
                    std::to_string(static_cast<int>(state)) +
                    "; allowed are IOCOMP_REUSABLE, IOCOMP_WRITTEN and IOCOMP_DURABLE"};
  }
  return static_cast<iocomp::session::State>(state);
}

// The names of dimensions as the attribute has them.
std::string dimension_names(const iocomp_definition& told) {
  std::string names = told.has_time != 0 ? iocomp::session::time_dimension : "";
  for (int d = 0; d < std::min(told.ndims, IOCOMP_MAX_DIMS); ++d) {  // more are refused
    const char* const name = told.dims[d];
    require(name, "define", "the name of a dimension");
    if (*name == '\0' || std::strpbrk(name, " \t\n") != nullptr) {
      throw Error{ErrorCode::invalid_argument,
                  "define(\"" + std::string{told.name} + "\"): \"" + name +
                      "\" is no name of a dimension; it must not be empty or have blanks"};
    }
    if (name == std::string_view{iocomp::session::time_dimension}) {
      throw Error{ErrorCode::invalid_argument,
                  "define(\"" + std::string{told.name} +
                      "\"): dims has \"time\", which is no dimension of the shape; for a variable "
                      "with values in each step set has_time instead"};
    }
    names += (names.empty() ? "" : " ") + std::string{name};
  }
  return names;
}

template <typename Told>
int define(iocomp_file* file, iocomp_var** var, Told&& tell) {
  if (var != nullptr) {
    *var = nullptr;
  }
  return timed(handle(file), "define", Counter::call_seconds, [&] {
    const iocomp_definition told = tell();
    require(told.name, "define", "the name");
    require(var, "define", "the place for the variable");
    const auto type = type_of(told.type, "define");
    if (told.file_type != 0 && told.file_type != told.type &&
        (told.type == IOCOMP_BOOL || told.file_type == IOCOMP_BOOL)) {
      throw Error{ErrorCode::invalid_argument,
                  "define: truth values are not converted: give IOCOMP_BOOL as the type, and no "
                  "other file_type"};
    }
    const std::string names = told.dims == nullptr ? "" : dimension_names(told);
    const int id = file->file->define({.name = told.name,
                                       .type = type,
                                       .file_type = given_type(told.file_type, "define"),
                                       .dimensions = told.ndims,
                                       .shape = told.shape,
                                       .names = names});
    file->variables.push_back({file, id, told.type == IOCOMP_BOOL});
    if (told.type == IOCOMP_BOOL) {
      file->file->set_attribute(id, iocomp::session::dtype_attribute, text_attribute("bool"));
    }
    // Without names a scalar has no time either, where formats have names.
    if (!names.empty() || (told.dims != nullptr && file->file->names_dimensions())) {
      file->file->set_attribute(id, iocomp::session::dimensions_attribute, text_attribute(names));
    }
    *var = &file->variables.back();
  });
}

// The owner of an attribute: a variable, or the file.
class AttributeOwner {
 public:
  AttributeOwner(iocomp_file* file, const iocomp_var* var)
      : file_{file == nullptr && var != nullptr ? var->file : file}, var_{var} {}
  [[nodiscard]] Handle given() const { return handle(file_); }
  void set(const char* name, Attribute&& value) const {
    require(var_ == nullptr || var_->file == file_ ? file_ : nullptr, "set_attribute",
            "a file that has the variable");
    file_->file->set_attribute(var_ == nullptr ? -1 : var_->id, name, std::move(value));
  }

 private:
  iocomp_file* file_;
  const iocomp_var* var_;
};

constexpr int64_t most_attribute_values = int64_t{1} << 20;

[[noreturn]] void refuse_count(const char* name, int64_t count, const char* allowed) {
  throw Error{ErrorCode::invalid_argument, "set_attribute \"" + std::string{name} +
                                               "\": " + std::to_string(count) + ' ' + allowed +
                                               " to " + std::to_string(most_attribute_values) +
                                               " (put larger things as variables)"};
}

Attribute list_of(const char* name, int64_t count, const char* const* values) {
  if (count < 1 || count > most_attribute_values) {
    refuse_count(name, count, "texts; allowed are 1");
  }
  require(values, "set_attribute", "the texts");
  std::vector<std::string> texts;
  for (int64_t i = 0; i < count; ++i) {
    require(values[i], "set_attribute", "each of the texts");
    texts.emplace_back(values[i]);
  }
  return list_attribute(texts);
}

int set_attribute(const AttributeOwner& owner, const char* name, iocomp_type type, int64_t count,
                  const void* values) {
  return timed(owner.given(), "set_attribute", Counter::call_seconds, [&] {
    require(name, "set_attribute", "the name");
    if (type == IOCOMP_STRING) {
      owner.set(name, list_of(name, count, static_cast<const char* const*>(values)));
      return;
    }
    Attribute attribute;
    attribute.type = type_of(type, "set_attribute");
    if (type == IOCOMP_CHAR && count == -1) {
      require(values, "set_attribute", "the text");
      count = static_cast<int64_t>(std::strlen(static_cast<const char*>(values)));
    }
    if (count < 0 || count > most_attribute_values) {
      refuse_count(name, count, "values; allowed are 0");
    }
    if (count > 0) {
      require(values, "set_attribute", "the values");
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
                    "set_attribute \"" + std::string{name} +
                        "\": its text has a zero inside, at byte " +
                        std::to_string(end - attribute.values.begin()) + ", where it would end"};
      }
      attribute.values.erase(end, attribute.values.end());
    }
    owner.set(name, std::move(attribute));
  });
}

// Checks a block and turns it into the arguments of a put.
PutArguments arguments_of(const iocomp_var* var, const iocomp_block& block) {
  const auto refuse = [](const std::string& why) {
    throw Error{ErrorCode::invalid_argument, "put_block: " + why};
  };
  if ((block.flags & ~IOCOMP_BUFFERED) != 0) {
    refuse("there are no flags " + std::to_string(block.flags) +
           "; allowed is IOCOMP_BUFFERED (1)");
  }
  if (var->is_truth && block.type != 0 && block.type != IOCOMP_BOOL && block.type != IOCOMP_INT8) {
    refuse("the variable holds truth values; its blocks are IOCOMP_BOOL, bytes of 0 or 1");
  }
  const bool is_box = block.start != nullptr || block.count != nullptr ||
                      block.memory_shape != nullptr || block.memory_start != nullptr;
  if (block.decomp != nullptr && block.decomp->is_freed) {
    refuse("the decomposition was freed");
  }
  if (block.decomp != nullptr && is_box) {
    refuse("a decomposition has no start, count, memory_shape or memory_start");
  }
  return {.start = block.start,
          .count = block.count,
          .decomposition = block.decomp == nullptr ? nullptr : &block.decomp->decomposition,
          .values = block.values,
          .type = given_type(block.type, "put_block"),
          .memory_shape = block.memory_shape,
          .memory_start = memory_start_of(block.memory_shape, block.memory_start, "put_block"),
          .buffered = (block.flags & IOCOMP_BUFFERED) != 0};
}

template <typename Arguments>
int put(iocomp_var* var, Arguments&& arguments, iocomp_ticket* ticket) {
  return timed(
      handle(var), "put", Counter::put_seconds,
      [&] {
        const std::uint64_t number = var->file->file->put(var->id, arguments());
        if (ticket != nullptr) {
          *ticket = {var->file->session, number};
        }
      },
      If::known_limited);
}

}  // namespace

int iocomp_open(iocomp_session* session, const char* name, iocomp_kind kind,
                const iocomp_open_options* options, iocomp_file** file) {
  if (file != nullptr) {
    *file = nullptr;
  }
  return timed(handle(session), "open", Counter::call_seconds, [&] {
    require(name, "open", "the name");
    require(file, "open", "the place for the file");
    if (kind != IOCOMP_SERIES && kind != IOCOMP_CHECKPOINT) {
      throw Error{ErrorCode::invalid_argument,
                  "open: there is no kind " + std::to_string(static_cast<int>(kind)) +
                      "; allowed are IOCOMP_SERIES and IOCOMP_CHECKPOINT"};
    }
    const OpenOptions told{options, "open"};
    auto opened = std::make_unique<iocomp_file>(iocomp_file{.session = session, .name = name});
    opened->file = session->session->client().open(
        told.comm, name, kind == IOCOMP_CHECKPOINT ? "checkpoint" : "series",
        told.after.value_or(iocomp::session::behind_the_last), told.settings);
    *file = session->files.add(std::move(opened));
  });
}

int iocomp_define(iocomp_file* file, const char* name, iocomp_type type, int ndims,
                  const int64_t* shape, iocomp_var** var) {
  return define(file, var, [&] {
    return iocomp_definition{.size = sizeof(iocomp_definition),
                             .name = name,
                             .type = type,
                             .ndims = ndims,
                             .shape = shape,
                             .dims = nullptr};
  });
}

int iocomp_define_with(iocomp_file* file, const iocomp_definition* definition, iocomp_var** var) {
  return define(file, var, [&] { return struct_of(definition, "define", "iocomp_definition"); });
}

int iocomp_set_shape(iocomp_var* var, const int64_t* shape) {
  return timed(handle(var), "set_shape", Counter::call_seconds,
               [&] { var->file->file->set_shape(var->id, shape); });
}

int iocomp_set_rows(int nvars, iocomp_var* const* vars, const int64_t* rows, int64_t* first,
                    int64_t* total) {
  if (nvars < 1) {
    return guarded([] {
      throw Error{ErrorCode::invalid_argument, "set_rows: there is no variable; one is needed"};
    });
  }
  iocomp_var* const one = vars != nullptr ? vars[0] : nullptr;
  return timed(handle(one), "set_rows", Counter::wait_seconds, [&] {
    std::vector<int> ids;
    const iocomp::Outcome given = iocomp::outcome_of([&] {  // the other ranks hear of it
      for (iocomp_var* const var : std::span{vars, static_cast<std::size_t>(nvars)}) {
        require(var, "set_rows", "a variable");
        require(var->file == one->file ? var : nullptr, "set_rows",
                "a variable of the first one's file");
        ids.push_back(var->id);
      }
      require(rows, "set_rows", "the numbers of rows");
    });
    const auto found = one->file->session->session->client().set_rows(
        one->file->file, ids, {rows, rows == nullptr ? 0 : ids.size()}, given);
    if (first != nullptr) {
      std::ranges::copy(found.first, first);
    }
    if (total != nullptr) {
      std::ranges::copy(found.total, total);
    }
  });
}

int iocomp_set_attribute(iocomp_file* file, iocomp_var* var, const char* name, iocomp_type type,
                         int64_t count, const void* values) {
  return set_attribute({file, var}, name, type, count, values);
}

int iocomp_set_fill(iocomp_var* var, const void* value) {
  return timed(handle(var), "set_fill", Counter::call_seconds, [&] {
    require(value, "set_fill", "the value");
    var->file->file->set_fill(var->id, value);
  });
}

int iocomp_put(iocomp_var* var, const int64_t* start, const int64_t* count, const void* values,
               iocomp_ticket* ticket) {
  return put(
      var, [&] { return PutArguments{.start = start, .count = count, .values = values}; }, ticket);
}

int iocomp_put_block(iocomp_var* var, const iocomp_block* block, iocomp_ticket* ticket) {
  return put(
      var, [&] { return arguments_of(var, struct_of(block, "put_block", "iocomp_block")); },
      ticket);
}

int iocomp_end_step(iocomp_file* file) {
  return timed(handle(file), "end_step", Counter::call_seconds, [&] { file->file->end_step(); });
}

int iocomp_begin_step(iocomp_file* file, int64_t number, double time) {
  return timed(handle(file), "begin_step", Counter::call_seconds, [&] {
    auto& given = file_of(file, "begin_step");
    number == IOCOMP_DROP_STEP ? given.drop_step() : given.begin_step(number, time);
  });
}

int64_t iocomp_current_step(const iocomp_file* file) {
  return file == nullptr || file->file == nullptr ? -1 : file->file->current_step();
}

int iocomp_test(const iocomp_ticket* ticket, iocomp_state state, int* reached) {
  return timed(
      handle(ticket), "test", Counter::call_seconds,
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
  return timed(handle(ticket), "wait", Counter::wait_seconds, [&] {
    ticket->session->session->client().wait(ticket->number, state_of(state, "wait"));
  });
}

int iocomp_wait_puts(iocomp_file* file, iocomp_state state) {
  return timed(handle(file), "wait_puts", Counter::wait_seconds, [&] {
    file->session->session->client().wait_puts(*file->file, state_of(state, "wait_puts"));
  });
}

int iocomp_after(iocomp_file* file, const char* name) {
  return timed(handle(file), "after", Counter::call_seconds, [&] {
    require(name, "after", "the name");
    file->session->session->client().come_after(file->file, name);
  });
}

int iocomp_wait_step(iocomp_file* file, int64_t step) {
  return timed(handle(file), "wait_step", Counter::wait_seconds,
               [&] { file->file->wait_step(step); });
}

int iocomp_close(iocomp_file* file) {
  return timed(handle(file), "close", Counter::close_seconds, [&] {
    iocomp_session* const session = file->session;
    session->files.give_back(file);
    session->session->client().close(std::exchange(file->file, nullptr));
  });
}

int iocomp_close_later(iocomp_file* file, iocomp_ticket* ticket) {
  return timed(handle(file), "close_later", Counter::close_seconds, [&] {
    iocomp_session* const session = file->session;
    session->files.give_back(file);
    const auto number = session->session->client().close_later(std::exchange(file->file, nullptr));
    if (ticket != nullptr) {
      *ticket = {session, number};
    }
  });
}
