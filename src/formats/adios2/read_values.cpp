// SPDX-License-Identifier: BSD-3-Clause
#include "formats/adios2/read_values.h"

#include <adios2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "contents/variable.h"
#include "formats/adios2/engine.h"
#include "formats/adios2/failure.h"
#include "formats/adios2/values.h"
#include "formats/adios2/with_type.h"
#include "formats/rules.h"
#include "formats/words.h"

namespace iocomp::formats::bp {
namespace {

using array::ElementType;

std::string name_of(ElementType type) {
  std::string name;
  with_type(type, [&]<typename T>(std::type_identity<T>) { name = adios2::GetType<T>(); });
  return name;
}

std::optional<ElementType> type_called(const std::string& name) {
  for (int value = 1; array::element_type(value); ++value) {
    const auto type = *array::element_type(value);
    if (rules::of_adios2.has(type) && name_of(type) == name) {
      return type;
    }
  }
  return std::nullopt;
}

array::Shape shape_of(const adios2::Dims& dims) {
  std::vector<std::int64_t> extents(dims.begin(), dims.end());
  return array::make_shape(static_cast<int>(extents.size()), extents.data());
}

adios2::Dims first(const array::Extents& extents, int dimensions) {
  return {extents.begin(), extents.begin() + dimensions};
}

Attribute attribute(adios2::IO& io, const std::string& name, ElementType type) {
  Attribute found;
  found.type = type;
  with_type(type, [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_arithmetic_v<T>) {
      const std::vector<T> values = io.InquireAttribute<T>(name).Data();
      found.values.resize(values.size() * sizeof(T));
      std::memcpy(found.values.data(), values.data(), found.values.size());
    }
  });
  return found;
}

Attribute text(adios2::IO& io, const std::string& name) {
  const auto found = io.InquireAttribute<std::string>(name);
  const std::vector<std::string> values = found.Data();
  if (!found.IsValue() && !values.empty()) {
    return contents::list_attribute(values);
  }
  return contents::text_attribute(values.empty() ? std::string_view{} : values.front());
}

// `<variable>/<name>` belongs to a variable, if a step has one of that name.
Inventory attributes_in(adios2::IO& io) {
  Inventory found;
  const auto variables = io.AvailableVariables(true);
  for (const auto& [name, about] : io.AvailableAttributes()) {
    const std::string type_name = io.AttributeType(name);
    const auto type = type_called(type_name);
    if (!type && type_name != "string") {
      continue;
    }
    const auto slash = name.rfind('/');
    const bool has_owner = slash != std::string::npos && variables.contains(name.substr(0, slash));
    auto& owner = has_owner ? found.of_variable[name.substr(0, slash)] : found.attributes;
    owner.insert_or_assign(has_owner ? name.substr(slash + 1) : name,
                           type ? attribute(io, name, *type) : text(io, name));
  }
  return found;
}

// ADIOS2 tells no shape of a local array, as of a scalar, and a read gives all of it.
// @return why a variable cannot be read; empty if it can.
template <typename T>
std::string why_not_read(const adios2::Variable<T>& variable) {
  if (variable.ShapeID() == adios2::ShapeID::LocalArray) {
    return "a local array: each writer has its own";
  }
  const auto dimensions = variable.Shape().size();
  return dimensions <= array::max_dimensions
             ? ""
             : "an array of " + std::to_string(dimensions) + " dimensions";
}

}  // namespace

void get(adios2::IO& io, adios2::Engine& engine, const Variable& variable, const array::Box& box,
         std::byte* values) {
  with_type(stored_type(variable), [&]<typename T>(std::type_identity<T>) {
    adios2::Variable<T> found = io.InquireVariable<T>(variable.name);
    if (!found) {
      throw Error{ErrorCode::storage_failure, "there is no \"" + variable.name + "\" of type " +
                                                  std::string{array::name(variable.type)} +
                                                  " in that step"};
    }
    if (const std::string why = why_not_read(found); !why.empty()) {
      throw Error{ErrorCode::storage_failure, "\"" + variable.name + "\" is " + why};
    }
    const array::Shape shape = shape_of(found.Shape());
    if (shape != variable.shape) {
      throw Error{ErrorCode::storage_failure, "\"" + variable.name + "\" is " + array::text(shape) +
                                                  " there, not " + array::text(variable.shape)};
    }
    if (box.dimensions > 0) {
      found.SetSelection({first(box.start, box.dimensions), first(box.count, box.dimensions)});
    }
    engine.Get(found, reinterpret_cast<T*>(values), adios2::Mode::Sync);
  });
}

std::vector<Variable> variables_in(adios2::IO& io, std::map<std::string, std::string>& not_read) {
  std::vector<Variable> found;
  for (const auto& [name, about] : io.AvailableVariables(true)) {
    const std::string type_name = io.VariableType(name);
    const auto type = type_called(type_name);
    if (name == empty_step) {
      continue;
    }
    std::string why = type ? "" : "its type is " + type_name;
    Variable variable;
    variable.name = name;
    if (type) {
      variable.type = *type;
      with_type(*type, [&]<typename T>(std::type_identity<T>) {
        const auto known = io.InquireVariable<T>(name);
        why = why_not_read(known);
        variable.shape = why.empty() ? shape_of(known.Shape()) : array::Shape{};
      });
    }
    if (why.empty()) {
      found.push_back(variable);
    } else {
      not_read.emplace(name, why);
    }
  }
  return found;
}

Inventory attributes_of_all_steps(const std::string& name) {
  try {
    have_home();
    adios2::ADIOS adios;
    adios2::IO io = adios.DeclareIO("iocomp");
    io.SetEngine("BPFile");
    adios2::Engine engine = io.Open(name, adios2::Mode::ReadRandomAccess);
    Inventory found = attributes_in(io);
    engine.Close();
    return found;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw failure_of_adios2("read the attributes", error);
  }
}

}  // namespace iocomp::formats::bp
