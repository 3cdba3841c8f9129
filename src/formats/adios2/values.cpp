// SPDX-License-Identifier: BSD-3-Clause
#include "formats/adios2/values.h"

#include <adios2.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "formats/adios2/engine.h"
#include "formats/adios2/with_type.h"
#include "formats/words.h"

namespace iocomp::formats::bp {
namespace {

using array::ElementType;

adios2::Dims dims(const array::Extents& extents, int dimensions) {
  const auto count = static_cast<std::size_t>(dimensions);
  adios2::Dims found(count);
  for (std::size_t d = 0; d < count; ++d) {
    found[d] = static_cast<std::size_t>(extents.at(d));
  }
  return found;
}

// Others are for numbers whose last bits do not count.
bool is_lossless(std::string_view name) {
  constexpr std::array<std::string_view, 4> known{"bzip2", "blosc", "null", "plugin"};
  return std::ranges::any_of(known, [&](auto one) { return is_same_word(one, name); });
}

bool passes_operator(const Variable& variable, const Storage& storage) {
  const bool is_float =
      variable.type == ElementType::float32 || variable.type == ElementType::float64;
  return !storage.operator_name.empty() && array::elements(variable.shape) > 0 &&
         variable.shape.dimensions > 0 && (is_float || is_lossless(storage.operator_name));
}

}  // namespace

ElementType stored_type(const Variable& variable) noexcept {
  const bool is_single = variable.shape.dimensions == 0;
  return is_single && variable.type == ElementType::character ? ElementType::uint8 : variable.type;
}

void define(adios2::IO& io, const Variable& variable) {
  const adios2::Dims shape = dims(variable.shape.extent, variable.shape.dimensions);
  with_type(stored_type(variable), [&]<typename T>(std::type_identity<T>) {
    adios2::Variable<T> known = io.InquireVariable<T>(variable.name);
    if (!known) {
      const adios2::Dims none(shape.size(), 0);
      shape.empty() ? io.DefineVariable<T>(variable.name)
                    : io.DefineVariable<T>(variable.name, shape, none, none);
    } else if (!shape.empty()) {
      known.SetShape(shape);
    }
  });
}

void define(adios2::IO& io, const Variable& variable, const Storage& storage) {
  define(io, variable);
  if (!passes_operator(variable, storage)) {
    return;
  }
  with_type(stored_type(variable), [&]<typename T>(std::type_identity<T>) {
    adios2::Variable<T> known = io.InquireVariable<T>(variable.name);
    if (known.Operations().empty()) {
      known.AddOperation(storage.operator_name, parameters_of(storage));
    }
  });
}

void put(adios2::IO& io, adios2::Engine& engine, const Variable& variable, const array::Box& box,
         const std::byte* values) {
  with_type(stored_type(variable), [&]<typename T>(std::type_identity<T>) {
    adios2::Variable<T> known = io.InquireVariable<T>(variable.name);
    if (box.dimensions > 0) {
      known.SetSelection({dims(box.start, box.dimensions), dims(box.count, box.dimensions)});
    }
    engine.Put(known, reinterpret_cast<const T*>(values), adios2::Mode::Deferred);
  });
}

void define(adios2::IO& io, const std::string& variable, const std::string& name,
            const Attribute& attribute) {
  // ADIOS2 knows no variable that only an earlier job has put. The name is the same without it.
  if (!variable.empty() && io.VariableType(variable).empty()) {
    define(io, {}, variable + '/' + name, attribute);
    return;
  }
  if (attribute.is_list) {
    const auto texts = contents::texts_of(attribute);
    io.DefineAttribute<std::string>(name, texts.data(), texts.size(), variable, "/", true);
    return;
  }
  if (attribute.is_text) {
    const std::string text{contents::text_of(attribute)};
    io.DefineAttribute<std::string>(name, text, variable, "/", true);
    return;
  }
  with_type(array::part_of(attribute.type), [&]<typename T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, std::complex<float>> &&
                  !std::is_same_v<T, std::complex<double>>) {
      std::vector<T> values(attribute.values.size() / sizeof(T));
      std::memcpy(values.data(), attribute.values.data(), attribute.values.size());
      if (values.size() == 1) {
        io.DefineAttribute<T>(name, values.front(), variable, "/", true);
      } else {
        io.DefineAttribute<T>(name, values.data(), values.size(), variable, "/", true);
      }
    }
  });
}

}  // namespace iocomp::formats::bp
