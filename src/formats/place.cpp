#include "formats/place.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "contents/catalogue.h"
#include "formats/format.h"

namespace iocomp::formats {

std::int64_t place(Target& target, const contents::Catalogue& catalogue, int variable,
                   std::int64_t step) {
  if (target.defined() < catalogue.variables()) {
    std::int64_t bytes = 0;
    std::int64_t count = 0;
    const auto add = [&](const Attributes& attributes) {
      for (const auto& [name, attribute] : attributes) {
        bytes += std::ssize(name) + std::ssize(attribute.values);
        ++count;
      }
    };
    add(catalogue.attributes(step));
    std::ranges::for_each(catalogue.variable_attributes(step), add);
    target.know_attributes(bytes, count);
    target.know(catalogue.all_variables(step));
  }
  return target.place(catalogue.variable(variable, step), step);
}

}  // namespace iocomp::formats
