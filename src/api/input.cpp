// SPDX-License-Identifier: BSD-3-Clause
#include <iocomp/iocomp.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/guard.h"
#include "api/handles.h"
#include "api/open_options.h"
#include "base/error.h"
#include "session/session.h"

using iocomp::Error;
using iocomp::ErrorCode;
using iocomp::api::given_type;
using iocomp::api::guarded;
using iocomp::api::HandedOut;
using iocomp::api::memory_start_of;
using iocomp::api::OpenOptions;
using iocomp::api::require;
using iocomp::api::struct_of;
using iocomp::session::Attribute;
using iocomp::session::Attributes;
using iocomp::session::Counter;
using iocomp::session::Input;
using iocomp::session::ReadArguments;
using iocomp::session::Timer;
using iocomp::session::What;

namespace {

const Input& input_of(const iocomp_input* input, const char* call) {
  require(input, call, "the input");
  if (input->input == nullptr) {
    throw Error{ErrorCode::invalid_argument, std::string{call} + ": the input was closed"};
  }
  return *input->input;
}

const Attributes& attributes_of(const iocomp_input* input, const char* variable) {
  const Input& opened = input_of(input, "input_attribute");
  return variable == nullptr ? opened.committed().attributes
                             : opened.variable(opened.find(variable)).attributes;
}

std::string owner(const iocomp_input* input, const char* variable) {
  return variable == nullptr ? "file \"" + input->input->name() + '"'
                             : "the variable \"" + std::string{variable} + '"';
}

const Attribute& attribute_of(const iocomp_input* input, const char* variable, const char* name) {
  require(name, "input_attribute", "the name");
  const Attributes& all = attributes_of(input, variable);
  const auto found = all.find(name);
  if (found == all.end()) {
    std::string there;
    for (const auto& [other, attribute] : all) {
      there += (there.empty() ? "" : ", ") + other;
    }
    throw Error{ErrorCode::not_found, owner(input, variable) + " has no attribute \"" + name +
                                          "\"; it has: " + (there.empty() ? "none" : there)};
  }
  return found->second;
}

template <typename T>
void give(T* place, T value) {
  if (place != nullptr) {
    *place = value;
  }
}

/// A list, to the places that are wanted.
template <typename T>
void give(int64_t* count, const T** places, const std::vector<T>& list) {
  give(count, static_cast<int64_t>(list.size()));
  give(places, list.data());
}

template <typename Arguments>
int read(iocomp_input* input, const char* variable, int64_t step, Arguments&& arguments_of) {
  return guarded([&] {
    (void)input_of(input, "read");
    require(variable, "read", "the variable's name");
    const ReadArguments arguments = arguments_of();
    const Timer timer{input->session->session->client().link().counters(),
                      Counter::read_seconds,
                      What::call,
                      {.text = "read"}};
    auto& link = input->session->session->client().link();
    if (arguments.values != nullptr && link.gpu_memory().is_there(arguments.values)) {
      throw Error{ErrorCode::unsupported,
                  "read of \"" + std::string{variable} +
                      "\": the place for the values is in the memory of a GPU; read into memory of "
                      "the CPU, and copy it there"};
    }
    input->input->read(variable, step, arguments);
  });
}

}  // namespace

int iocomp_open_input(iocomp_session* session, const char* name, const iocomp_open_options* options,
                      iocomp_input** input) {
  return guarded([&] {
    require(input, "open_input", "the place for the input");
    *input = nullptr;
    require(session, "open_input", "the session");
    require(name, "open_input", "the name");
    if (session->session->role() == iocomp::session::Role::server) {
      throw Error{ErrorCode::invalid_argument,
                  "open_input: this rank is a server; only compute ranks read"};
    }
    const OpenOptions told{options, "open_input"};
    if (told.after) {
      throw Error{ErrorCode::invalid_argument,
                  "open_input: an input has no option `after`; only outputs go on behind a step"};
    }
    session->session->begin_call();
    auto& client = session->session->client();
    const Timer timer{
        client.link().counters(), Counter::read_seconds, What::call, {.text = "open_input"}};
    auto found = client.open_input(told.comm, name, told.settings);
    HandedOut out{*found};
    auto opened = std::make_unique<iocomp_input>(session, std::move(found), std::move(out));
    *input = session->inputs.add(std::move(opened));
  });
}

int iocomp_input_steps(const iocomp_input* input, int64_t* count, const int64_t** steps) {
  return guarded([&] {
    (void)input_of(input, "input_steps");
    give(count, steps, input->out.steps());
  });
}

int iocomp_input_left_out(const iocomp_input* input, int64_t* count, const int64_t** steps,
                          const char* const** causes) {
  return guarded([&] {
    (void)input_of(input, "input_left_out");
    give(count, steps, input->out.left_out());
    give(causes, input->out.causes().data());
  });
}

int iocomp_input_time(iocomp_input* input, int64_t step, double* time) {
  return guarded([&] {
    require(time, "input_time", "the place for the time");
    (void)input_of(input, "input_time");
    *time = input->input->time(step);
  });
}

int iocomp_latest(iocomp_session* session, const char* name, const iocomp_open_options* options,
                  int64_t* step, double* time, iocomp_input** input) {
  if (step != nullptr) {
    *step = -1;
  }
  if (time != nullptr) {
    *time = std::numeric_limits<double>::quiet_NaN();
  }
  const int opened = iocomp_open_input(session, name, options, input);
  if (opened == IOCOMP_NOT_FOUND) {
    return IOCOMP_OK;
  }
  return opened != IOCOMP_OK ? opened : guarded([&] {
    const auto newest = (*input)->input->committed().steps.back().number;
    if (step != nullptr) {
      *step = newest;
    }
    if (time != nullptr) {
      *time = (*input)->input->time(newest);
    }
  });
}

int iocomp_input_variables(const iocomp_input* input, int64_t* count, const char* const** names) {
  return guarded([&] {
    (void)input_of(input, "input_variables");
    give(count, names, input->out.variables());
  });
}

int iocomp_input_variable(const iocomp_input* input, const char* variable, int64_t step,
                          iocomp_type* type, int* ndims, const int64_t** shape) {
  return guarded([&] {
    const Input& opened = input_of(input, "input_variable");
    require(variable, "input_variable", "the variable's name");
    const auto& place = opened.place(variable, step);
    give(type, static_cast<iocomp_type>(place.type));
    give(ndims, place.shape.dimensions);
    give(shape, place.shape.extent.data());
  });
}

int iocomp_input_attributes(const iocomp_input* input, const char* variable, int64_t* count,
                            const char* const** names) {
  return guarded([&] { give(count, names, input->out.names(attributes_of(input, variable))); });
}

int iocomp_input_attribute(const iocomp_input* input, const char* variable, const char* name,
                           iocomp_type* type, int64_t* count, const void** values) {
  return guarded([&] {
    const Attribute& attribute = attribute_of(input, variable, name);
    give(type, attribute.is_list   ? IOCOMP_STRING
               : attribute.is_text ? IOCOMP_CHAR
                                   : static_cast<iocomp_type>(attribute.type));
    give(count, attribute.count());
    give(values, attribute.is_list   ? static_cast<const void*>(input->out.texts(attribute).data())
                 : attribute.is_text ? input->out.text(attribute)
                                     : static_cast<const void*>(attribute.values.data()));
  });
}

int iocomp_read(iocomp_input* input, const char* variable, int64_t step, const int64_t* start,
                const int64_t* count, void* values) {
  return read(input, variable, step,
              [&] { return ReadArguments{.start = start, .count = count, .values = values}; });
}

int iocomp_read_block(iocomp_input* input, const char* variable, int64_t step,
                      const iocomp_destination* destination) {
  return read(input, variable, step, [&]() -> ReadArguments {
    const auto to = struct_of(destination, "read_block", "iocomp_destination");
    return {.start = to.start,
            .count = to.count,
            .values = to.values,
            .memory_shape = to.memory_shape,
            .memory_start = memory_start_of(to.memory_shape, to.memory_start, "read_block"),
            .type = given_type(to.type, "read_block")};
  });
}

int iocomp_close_input(iocomp_input* input) {
  return guarded([&] {
    if (input != nullptr) {
      (void)input_of(input, "close_input");
      input->input.reset();
      input->out = {};
      input->session->inputs.give_back(input);
    }
  });
}
