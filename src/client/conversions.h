// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/conversion.h"
#include "array/element_type.h"
#include "contents/catalogue.h"
#include "contents/variable.h"

namespace iocomp::client {

/// The types of a file's variables as the program has defined them, and the conversions of their
/// values to the types of the file.
class Conversions {
 public:
  /// The type that a file keeps of a variable.
  using KeptType = std::function<array::ElementType(const contents::Variable&)>;
  /// @param kept_type  null: the file keeps the type of the definition.
  explicit Conversions(KeptType kept_type = nullptr) : kept_type_{std::move(kept_type)} {}

  /// The type in the file of a variable that is going to be defined.
  /// @param said  the variable, with the type that the program wants in the file.
  /// @param put   the type of the values that are put.
  /// @throws Error{invalid_argument} if these values cannot be converted; Error{invalid_setting}.
  [[nodiscard]] array::ElementType in_file(const contents::Variable& said,
                                           array::ElementType put) const;
  /// The next variable is defined.
  void defined(array::ElementType put) { put_types_.push_back(put); }
  /// The type of its definition.
  [[nodiscard]] array::ElementType put_type(int variable) const {
    return put_types_.at(static_cast<std::size_t>(variable));
  }
  /// The conversion of values of a type to those of the variable in the file; null if they are put
  /// as they are. Integers are numbers to pack if the definition has floating-point numbers, else
  /// stored values.
  /// @throws Error{invalid_argument} if they cannot be converted.
  [[nodiscard]] std::shared_ptr<const array::Conversion> find(const contents::Catalogue& catalogue,
                                                              const contents::Variable& variable,
                                                              std::int64_t step,
                                                              array::ElementType type);
  /// A value of the definition's type, converted to that of the file. Nothing is packed.
  /// @throws Error{invalid_argument} if the file cannot hold it.
  [[nodiscard]] std::vector<std::byte> element(const contents::Variable& variable,
                                               const void* value) const;
  /// Attributes have changed.
  void forget() { known_.clear(); }

 private:
  KeptType kept_type_;
  std::vector<array::ElementType> put_types_;  // by variable
  std::map<std::pair<int, array::ElementType>, std::shared_ptr<const array::Conversion>> known_;
};

}  // namespace iocomp::client
