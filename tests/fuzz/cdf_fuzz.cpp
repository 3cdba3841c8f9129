// SPDX-License-Identifier: BSD-3-Clause
// CDF-5: the headers that iocomp encodes, read by netCDF; and what is made of headers that others
// encode.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "contents/catalogue.h"
#include "contents/description.h"
#include "contents/rules.h"
#include "contents/variable.h"
#include "formats/cdf/types.h"
#include "formats/netcdf/source.h"
#include "formats/pnetcdf/header.h"
#include "formats/pnetcdf/layout.h"
#include "formats/rules.h"
#include "fuzz/target.h"
#include "unit/temporary_folder.h"

namespace iocomp::fuzz {
namespace {

std::mutex library;  // of netCDF

using contents::Attribute;
using contents::Event;
using contents::Inventory;
using contents::Variable;

std::string path() {
  static const TemporaryFolder folder;
  return folder / "fuzz.nc";
}

void write(std::span<const std::byte> bytes, std::int64_t size) {
  const Descriptor file{::open(path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  require(file.is_open(), "no file");
  require(::write(file.raw(), bytes.data(), bytes.size()) == std::ssize(bytes), "a short write");
  require(::ftruncate(file.raw(), size) == 0, "no size");
}

void check(const Inventory& inventory) {
  require(std::ranges::is_sorted(inventory.steps), "steps that do not ascend");
  for (const auto& placed : inventory.contents) {
    require(placed.step >= 0 && placed.variable.bytes() >= 0, "a size below nothing");
  }
  for (const auto& [name, attribute] : inventory.attributes) {
    require(attribute.count() >= 0, "an attribute below nothing");
  }
}

array::ElementType some_type(Material& material) {
  return *array::element_type(1 + material.up_to(13));
}

Event some_event(Material& material, int variables) {
  Event event;
  event.step = material.up_to(1) * material.up_to(3);
  const int what = material.up_to(3);
  if (what <= 1) {
    event.what = Event::What::define;
    event.name = material.text('\0');
    event.type = some_type(material);
    array::Extents extents{};
    const int dimensions = material.up_to(4);
    for (int d = 0; d < dimensions; ++d) {
      const bool is_large = material.up_to(15) == 0;
      extents.at(static_cast<std::size_t>(d)) =
          is_large ? std::int64_t{material.number<std::uint32_t>()} : material.up_to(9);
    }
    event.shape = array::make_shape(dimensions, extents.data());
    return event;
  }
  event.what = Event::What::attribute;
  event.variable = material.up_to(variables) - 1;
  const int which = material.up_to(3);
  event.name = which == 0 ? "dimensions" : which == 1 ? "_FillValue" : material.text('\0');
  event.attribute.is_text = material.up_to(1) == 0 || which == 0;
  event.attribute.type = event.attribute.is_text ? array::ElementType::uint8 : some_type(material);
  if (event.attribute.is_text) {
    const auto text = material.text('\0');
    const auto bytes = std::as_bytes(std::span{text});
    event.attribute.values.assign(bytes.begin(), bytes.end());
  } else {
    const auto bytes = material.take(static_cast<std::size_t>(material.up_to(4)) *
                                     array::size_bytes(event.attribute.type));
    event.attribute.values.assign(bytes.begin(), bytes.end());
    event.attribute.values.resize(bytes.size() / array::size_bytes(event.attribute.type) *
                                  array::size_bytes(event.attribute.type));
  }
  return event;
}

// As netCDF tells it: text is an attribute of characters.
void check_attributes(const contents::Attributes& written, const contents::Attributes& found) {
  require(written.size() == found.size(), "another number of attributes");
  for (const auto& [name, attribute] : written) {
    const auto same = found.find(name);
    require(same != found.end(), "an attribute that is not there");
    require(same->second.values == attribute.values, "an attribute with other values");
    const bool is_text = attribute.is_text || attribute.type == array::ElementType::character;
    require(same->second.is_text == is_text && (is_text || same->second.type == attribute.type),
            "an attribute of another type");
  }
}

void check_written(const formats::cdf::Header& header, const Inventory& found) {
  check_attributes(header.attributes, found.attributes);
  std::map<std::string, const contents::Placed*> first;
  for (const auto& placed : found.contents) {
    first.try_emplace(placed.variable.name, &placed);
  }
  for (const auto& variable : header.variables) {
    if (!variable.dimensions.empty() && header.dimensions[variable.dimensions[0]].length == 0 &&
        header.records == 0) {
      continue;  // it is in no step
    }
    const auto same = first.find(variable.name);
    require(same != first.end(), "a variable that is not there");
    const Variable& is = same->second->variable;
    require(is.type == variable.type, "a variable of another type");
    require(is.bytes() == variable.bytes, "a variable of another size");
    check_attributes(variable.attributes, found.of_variable.at(variable.name));
  }
}

void check_own(Material& material) {
  const bool one_step = material.up_to(1) == 1;
  contents::Catalogue catalogue{formats::rules::pnetcdf, 1, !one_step};
  contents::Contents contents;
  formats::cdf::PnetcdfLayout layout{4, material.up_to(3) * 256, one_step};
  std::int64_t step = 0;
  std::int64_t end = 0;
  while (!material.is_empty()) {
    const int what = material.up_to(4);
    if (what == 0) {
      step += one_step ? 0 : 1;
    } else if (what == 1 && catalogue.variables() > 0) {
      (void)accepts([&] {
        const int id = material.up_to(std::min(catalogue.variables(), 200) - 1);
        if (layout.defined() < catalogue.variables()) {
          layout.define(catalogue.all_variables(step));
        }
        const auto variable = catalogue.variable(id, step);
        const auto offset = layout.place(variable, step);
        require(offset >= -1, "a variable before the file");
        end = std::max(end, offset + variable.bytes());
        contents.add(step, id, offset);
      });
    } else {
      (void)accepts([&] { catalogue.apply(some_event(material, catalogue.variables())); });
    }
  }
  formats::cdf::Header header;
  std::int64_t size = 0;
  std::vector<std::byte> bytes;
  const bool has_header = accepts([&] {
    const auto description = contents.describe(catalogue, 0, step);
    std::set<int> put;
    std::int64_t records = 0;
    for (const auto& placed : description.contents) {
      put.insert(placed.variable.id);
      if (layout.is_record(placed.variable.id)) {
        records = std::max(records, placed.step + 1);
      }
    }
    header = layout.header(description, put);
    header.records = records;
    bytes = formats::cdf::encode(header);
    size = layout.file_bytes(header.records);
  });
  if (!has_header || std::ssize(bytes) > layout.header_bytes() || header.variables.empty()) {
    return;
  }
  require(size >= end, "a variable behind the end of the file");
  if (size > std::int64_t{1} << 40) {
    return;  // not every file system takes it
  }
  write(bytes, size);
  must("netCDF refuses a header", [&] {
    check_written(header, formats::cdf::open_netcdf(Path{path()}, library)->inventory());
  });
}

// Headers that netCDF can read (it does not survive all others), and that claim anything.
formats::cdf::Header some_header(Material& material) {
  formats::cdf::Header header;
  const auto some_length = [&] {
    return material.up_to(3) == 0 ? material.number<std::int64_t>() : material.up_to(9);
  };
  header.records = some_length();
  const int dimensions = 1 + material.up_to(11);
  for (int number = 0; number < dimensions; ++number) {
    const std::string name = number == 1 ? "time" : "d" + std::to_string(number);
    header.dimensions.push_back({name, number == 0 ? 0 : some_length()});
  }
  const int variables = 1 + material.up_to(2);
  for (int number = 0; number < variables; ++number) {
    formats::cdf::Header::Variable variable;
    variable.name = "v" + std::to_string(number);
    double elements = 1;
    for (int left = material.up_to(11); left > 0; --left) {
      const auto dimension = static_cast<std::size_t>(material.up_to(dimensions - 1));
      elements *= std::fabs(static_cast<double>(header.dimensions[dimension].length)) + 1;
      if (elements < 0x1p62) {  // beyond, netCDF 4.9 divides by zero
        variable.dimensions.push_back(dimension);
      }
    }
    variable.type = *formats::cdf::type_of(1 + material.up_to(10));
    variable.bytes = some_length() & -formats::cdf::padding;  // rounded, as `encode` wants it
    variable.begin = some_length();
    header.variables.push_back(std::move(variable));
  }
  return header;
}

void check_foreign(Material& material) {
  const auto header = some_header(material);
  const auto bytes = formats::cdf::encode(header);
  write(bytes, std::ssize(bytes) + 16 * material.up_to(255));
  (void)accepts([&] { check(formats::cdf::open_netcdf(Path{path()}, library)->inventory()); });
}

}  // namespace
}  // namespace iocomp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iocomp;
  fuzz::Material material{data, size};
  const bool is_own = material.up_to(1) == 0;
  // netCDF reads in buffers of its own.
  const fuzz::MemoryLimit limit{(std::size_t{32} << 20) + 512 * size};
  if (is_own) {
    fuzz::check_own(material);
  } else {
    fuzz::check_foreign(material);
  }
  return 0;
}
