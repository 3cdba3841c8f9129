#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "formats/cdf/dimensions.h"
#include "formats/cdf/types.h"
#include "formats/source.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// Reads netCDF files, those of others too, through a library whose calls `Library` names: PnetCDF
/// or netCDF. A first dimension that is called "time", or grows, counts the steps.
template <typename Library>
class CdfSource : public Source {
 public:
  /// @throws Error{storage_failure}.
  explicit CdfSource(std::string path) : path_{std::move(path)} {
    check(Library::open(path_, &file_), "open");
  }
  ~CdfSource() override {
    if (file_ >= 0) {
      Library::close(file_);
    }
  }

  void read(const Placed& where, const array::Box& box, const Destination& to) override {
    if (array::elements(box) == 0) {
      return;
    }
    const std::string action = "read the variable \"" + where.variable.name + "\" from";
    int number = -1;
    check(Library::find(file_, where.variable.name.c_str(), &number), action);
    const Found found = look_at(number);
    if (found.variable.type != where.variable.type ||
        found.variable.shape != where.variable.shape) {
      throw Error{ErrorCode::storage_failure,
                  "cannot " + action + ' ' + path_ + ": it has not the type and the shape " +
                      array::text(where.variable.shape) + " that are expected"};
    }
    Places start{};
    Places count{};
    std::size_t d = 0;
    if (found.steps) {
      start.at(d) = static_cast<typename Library::Count>(found.has_records ? where.step : 0);
      count.at(d++) = 1;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(box.dimensions); ++i) {
      start.at(d) = static_cast<typename Library::Count>(box.start[i]);
      count.at(d++) = static_cast<typename Library::Count>(box.count[i]);
    }
    DenseBlock block{to, array::size_bytes(where.variable.type)};
    check(Library::get(file_, number, start.data(), count.data(), block.bytes(),
                       array::elements(box), where.variable.type),
          action);
    block.scatter();
  }

  Inventory inventory() override {
    Inventory inventory;
    int variables = 0;
    check(Library::count(file_, &variables), "look through");
    std::int64_t steps = 1;
    std::vector<Found> all;
    for (int number = 0; number < variables; ++number) {
      all.push_back(look_at(number));
      steps = std::max(steps, all.back().steps.value_or(1));
    }
    for (std::int64_t step = 0; step < steps; ++step) {
      inventory.steps.push_back(step);
      for (const auto& found : all) {
        if (found.has_type && step < found.steps.value_or(1)) {
          inventory.contents.push_back({step, found.variable, -1});
        }
      }
    }
    inventory.attributes = attributes(Library::global, Library::attributes(file_, Library::global));
    for (int number = 0; number < variables; ++number) {
      inventory.of_variable[all[static_cast<std::size_t>(number)].variable.name] =
          attributes(number, Library::attributes(file_, number));
    }
    return inventory;
  }

 private:
  using Places = std::array<typename Library::Count, array::max_dimensions + 1>;
  struct Found {
    Variable variable;
    bool has_type = false;              // one of iocomp's, and not too many dimensions
    std::optional<std::int64_t> steps;  // where its first dimension counts them
    bool has_records = false;
  };

  void check(int code, const std::string& action) const {
    if (code != 0) {
      throw Error{ErrorCode::storage_failure,
                  "cannot " + action + ' ' + path_ + ": " + Library::text(code)};
    }
  }

  Found look_at(int number) const {
    const std::string action = "look at the variables of";
    Found found;
    int type = 0;
    std::vector<int> dimensions;
    check(Library::look(file_, number, found.variable.name, type, dimensions), action);
    const auto element = type_of(type);
    found.has_type = element && dimensions.size() <= array::max_dimensions + 1;
    found.variable.type = element.value_or(array::ElementType::uint8);
    std::size_t d = 0;
    for (std::size_t i = 0; found.has_type && i < dimensions.size(); ++i) {
      std::string name;
      typename Library::Count length = 0;
      check(Library::dimension(file_, dimensions[i], name, length), action);
      const bool grows = Library::grows(file_, dimensions[i]);
      if (i == 0 && (grows || name == time_name)) {
        found.steps = static_cast<std::int64_t>(length);
        found.has_records = grows;
      } else if (d < array::max_dimensions) {
        found.variable.shape.extent.at(d++) = static_cast<std::int64_t>(length);
      } else {
        found.has_type = false;
      }
    }
    found.variable.shape.dimensions = static_cast<int>(d);
    return found;
  }

  Attributes attributes(int number, int count) const {
    const std::string action = "read the attributes of";
    Attributes all;
    for (int i = 0; i < count; ++i) {
      std::string name;
      int type = 0;
      typename Library::Count length = 0;
      check(Library::attribute(file_, number, i, name, type, length), action);
      Attribute attribute;
      attribute.is_text = type == text_number;
      const auto element = attribute.is_text ? array::ElementType::uint8 : type_of(type);
      if (!element) {
        continue;
      }
      attribute.type = *element;
      attribute.values.resize(static_cast<std::size_t>(length) * array::size_bytes(*element));
      if (!attribute.values.empty()) {
        check(Library::values(file_, number, name.c_str(), attribute.values.data()), action);
      }
      all.emplace(name, std::move(attribute));
    }
    return all;
  }

  std::string path_;
  int file_ = -1;
};

}  // namespace iocomp::formats::cdf
