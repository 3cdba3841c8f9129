// SPDX-License-Identifier: BSD-3-Clause
#include "read_adios2.h"

#include <adios2.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace iocomp::tests {
namespace {

template <typename T>
void read_variable(adios2::IO& io, adios2::Engine& engine, const std::string& name,
                   Adios2Values& found) {
  adios2::Variable<T> variable = io.InquireVariable<T>(name);
  std::size_t elements = 1;
  for (const std::size_t extent : variable.Shape()) {
    found.shape.push_back(static_cast<std::int64_t>(extent));
    elements *= extent;
  }
  found.bytes.resize(elements * sizeof(T));
  if (elements > 0) {
    if (!found.shape.empty()) {
      variable.SetSelection({adios2::Dims(found.shape.size(), 0), variable.Shape()});
    }
    engine.Get(variable, reinterpret_cast<T*>(found.bytes.data()), adios2::Mode::Sync);
  }
}

template <typename T>
void read_attribute(adios2::IO& io, const std::string& name, Adios2Values& found) {
  const std::vector<T> values = io.InquireAttribute<T>(name).Data();
  found.shape = {static_cast<std::int64_t>(values.size())};
  found.bytes.resize(values.size() * sizeof(T));
  std::memcpy(found.bytes.data(), values.data(), found.bytes.size());
}

template <>
void read_attribute<std::string>(adios2::IO& io, const std::string& name, Adios2Values& found) {
  const auto attribute = io.InquireAttribute<std::string>(name);
  const std::vector<std::string> values = attribute.Data();
  std::string text = values.empty() ? std::string{} : values.front();
  if (!attribute.IsValue()) {
    found.type = "list of strings";
    text.clear();
    for (const auto& value : values) {
      text += value + '\0';
    }
  }
  found.shape = {static_cast<std::int64_t>(values.size())};
  found.bytes.resize(text.size());
  std::memcpy(found.bytes.data(), text.data(), text.size());
}

template <typename... T, typename Read>
void with_type(const std::string& type, const Read& read) {
  (void)((type == adios2::GetType<T>() && (read.template operator()<T>(), true)) || ...);
}

Adios2Values variable_of(adios2::IO& io, adios2::Engine& engine, const std::string& name,
                         const std::string& type) {
  Adios2Values found;
  found.type = type;
  const auto read = [&]<typename T>() { read_variable<T>(io, engine, name, found); };
  with_type<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
            std::uint32_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>,
            char>(type, read);
  return found;
}

Adios2Values attribute_of(adios2::IO& io, const std::string& name, const std::string& type) {
  Adios2Values found;
  found.type = type;
  const auto read = [&]<typename T>() { read_attribute<T>(io, name, found); };
  with_type<std::string, char, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
            std::uint16_t, std::uint32_t, std::uint64_t, float, double>(type, read);
  return found;
}

}  // namespace

Adios2Dataset read_adios2(const std::string& path, const std::string& name_of_engine) {
  Adios2Dataset found;
  adios2::ADIOS adios;
  adios2::IO io = adios.DeclareIO("reader");
  io.SetEngine(name_of_engine);
  adios2::Engine engine = io.Open(path, adios2::Mode::Read);
  while (engine.BeginStep(adios2::StepMode::Read, 0.0F) == adios2::StepStatus::OK) {
    auto& step = found.steps.emplace_back();
    // Without their least and most: of files that grow, ADIOS2 2.12 reads behind the end for these.
    for (const auto& [name, about] : io.AvailableVariables(true)) {
      if (name != "iocomp_empty_step") {  // what steps of BP4 have that would have nothing
        step.emplace(name, variable_of(io, engine, name, io.VariableType(name)));
      }
    }
    found.attributes.clear();
    for (const auto& [name, about] : io.AvailableAttributes()) {
      found.attributes.emplace(name, attribute_of(io, name, about.at("Type")));
    }
    engine.EndStep();
  }
  engine.Close();
  return found;
}

}  // namespace iocomp::tests
