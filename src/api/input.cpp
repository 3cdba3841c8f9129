// SPDX-License-Identifier: BSD-3-Clause
#include <iocomp/iocomp.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
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
  return *input->input;
}

int open_input(iocomp_session* session, const char* name, const iocomp_open_options* given,
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
    const OpenOptions options{given, "open_input"};
    if (options.after) {
      throw Error{ErrorCode::invalid_argument,
                  "open_input: an input has no option `after`; only outputs go on behind a step"};
    }
    session->session->begin_call();
    auto& client = session->session->client();
    const Timer timer{
        client.link().counters(), Counter::read_seconds, What::call, {.text = "open_input"}};
    auto opened = std::make_unique<iocomp_input>();
    opened->session = session;
    opened->input = client.open_input(options.comm, name, options.settings);
    *input = opened.get();
    session->inputs.push_back(std::move(opened));
  });
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

// A description of an attribute for messages.
std::string told(const Attribute& attribute) {
  return attribute.is_text ? "text"
                           : std::to_string(attribute.count()) + " of the type " +
                                 std::string{iocomp::array::name(attribute.type)};
}

template <typename T>
void give(T* place, T value) {
  if (place != nullptr) {
    *place = value;
  }
}

template <typename Arguments>
int read(iocomp_input* input, const char* variable, int64_t step, Arguments&& arguments_of) {
  return guarded([&] {
    require(input, "read", "the input");
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
  return open_input(session, name, options, input);
}

int iocomp_input_steps(const iocomp_input* input, int64_t* steps) {
  return guarded([&] {
    require(steps, "input_steps", "the place for the number");
    *steps = static_cast<int64_t>(input_of(input, "input_steps").committed().steps.size());
  });
}

int iocomp_input_step(const iocomp_input* input, int64_t index, int64_t* step) {
  return guarded([&] {
    require(step, "input_step", "the place for the step");
    const auto& steps = input_of(input, "input_step").committed().steps;
    if (index < 0 || index >= static_cast<int64_t>(steps.size())) {
      throw Error{ErrorCode::invalid_argument, "input_step: file \"" + input->input->name() +
                                                   "\" has " + std::to_string(steps.size()) +
                                                   " committed steps, none has the index " +
                                                   std::to_string(index)};
    }
    *step = steps[static_cast<std::size_t>(index)].number;
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
  const int opened = open_input(session, name, options, input);
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

int iocomp_input_left_out(const iocomp_input* input, int64_t* steps) {
  return guarded([&] {
    require(steps, "input_left_out", "the place for the number");
    *steps = static_cast<int64_t>(input_of(input, "input_left_out").committed().torn.size());
  });
}

int iocomp_input_left_out_step(const iocomp_input* input, int64_t index, int64_t* step,
                               const char** cause) {
  return guarded([&] {
    const auto& torn = input_of(input, "input_left_out_step").committed().torn;
    if (index < 0 || index >= static_cast<int64_t>(torn.size())) {
      throw Error{ErrorCode::invalid_argument,
                  "input_left_out_step: " + std::to_string(torn.size()) + " steps of file \"" +
                      input->input->name() + "\" were left out, none has the index " +
                      std::to_string(index)};
    }
    const auto& one = torn[static_cast<std::size_t>(index)];
    give(step, one.step);
    give(cause, one.story.c_str());
  });
}

int iocomp_input_variables(const iocomp_input* input, int* count) {
  return guarded([&] {
    require(count, "input_variables", "the place for the number");
    *count = static_cast<int>(input_of(input, "input_variables").committed().variables.size());
  });
}

int iocomp_input_variable(const iocomp_input* input, int index, const char** name,
                          iocomp_type* type, int* ndims) {
  return guarded([&] {
    const auto& variable = input_of(input, "input_variable").variable(index);
    const auto& newest = variable.places.back();
    give(name, variable.name.c_str());
    give(type, static_cast<iocomp_type>(newest.type));
    give(ndims, newest.shape.dimensions);
  });
}

int iocomp_input_find(const iocomp_input* input, const char* variable, int* index) {
  return guarded([&] {
    require(variable, "input_find", "the variable's name");
    require(index, "input_find", "the place for the index");
    *index = input_of(input, "input_find").find(variable);
  });
}

int iocomp_input_shape(const iocomp_input* input, const char* variable, int64_t step,
                       int64_t* shape) {
  return guarded([&] {
    require(variable, "input_shape", "the variable's name");
    const auto& place = input_of(input, "input_shape").place(variable, step);
    if (place.shape.dimensions > 0) {
      require(shape, "input_shape", "the place for the shape");
    }
    for (int d = 0; d < place.shape.dimensions; ++d) {
      shape[d] = place.shape.extent.at(static_cast<std::size_t>(d));
    }
  });
}

int iocomp_input_attributes(const iocomp_input* input, const char* variable, int* count) {
  return guarded([&] {
    require(count, "input_attributes", "the place for the number");
    *count = static_cast<int>(attributes_of(input, variable).size());
  });
}

int iocomp_input_attribute(const iocomp_input* input, const char* variable, int index,
                           const char** name, iocomp_type* type, int64_t* count, int* is_text) {
  return guarded([&] {
    const Attributes& all = attributes_of(input, variable);
    if (index < 0 || index >= static_cast<int>(all.size())) {
      throw Error{ErrorCode::invalid_argument,
                  owner(input, variable) + " has " + std::to_string(all.size()) +
                      " attributes, none has the index " + std::to_string(index)};
    }
    const auto& [its_name, attribute] = *std::next(all.begin(), index);
    give(name, its_name.c_str());
    give(type, static_cast<iocomp_type>(attribute.type));
    give(count, attribute.count());
    give(is_text, attribute.is_text ? 1 : 0);
  });
}

int iocomp_input_attribute_values(const iocomp_input* input, const char* variable, const char* name,
                                  iocomp_type type, int64_t count, void* values) {
  return guarded([&] {
    const Attribute& attribute = attribute_of(input, variable, name);
    if (attribute.is_text || static_cast<int>(attribute.type) != static_cast<int>(type) ||
        attribute.count() != count) {
      const auto known = iocomp::array::element_type(type);
      throw Error{ErrorCode::invalid_argument,
                  "the attribute \"" + std::string{name} + "\" of " + owner(input, variable) +
                      " is " + told(attribute) + ", asked for were " + std::to_string(count) +
                      " of the type " +
                      (known ? std::string{iocomp::array::name(*known)} : std::to_string(type))};
    }
    if (count > 0) {
      require(values, "input_attribute_values", "the place for the values");
      std::memcpy(values, attribute.values.data(), attribute.values.size());
    }
  });
}

int iocomp_input_attribute_text(const iocomp_input* input, const char* variable, const char* name,
                                const char** text) {
  return guarded([&] {
    require(text, "input_attribute_text", "the place for the text");
    const Attribute& attribute = attribute_of(input, variable, name);
    if (!attribute.is_text) {
      throw Error{ErrorCode::invalid_argument, "the attribute \"" + std::string{name} + "\" of " +
                                                   owner(input, variable) + " is no text, but " +
                                                   told(attribute)};
    }
    *text = input->text_of(attribute);
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
      std::erase_if(input->session->inputs,
                    [input](const auto& open) { return open.get() == input; });
    }
  });
}
