// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/wire.h"
#include "contents/description.h"
#include "contents/variable.h"

namespace iocomp::contents {

// A record lists its fields once, for both directions:
//   void fields(auto& io, Is<StepNote> auto& note) { io(note.step, note.variable); }
// `io` is a FieldWriter and the record is constant, or it is a FieldReader.

/// A record that is written, or the same that is read.
template <typename T, typename Record>
concept Is = std::same_as<std::remove_const_t<T>, Record>;

template <typename T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Writes fields one after the other.
class FieldWriter {
 public:
  explicit FieldWriter(WireWriter& to) : to_{to} {}

  template <typename... Field>
  void operator()(const Field&... field) {
    (put(field), ...);
  }
  /// The number of elements, and `fields_of(*this, element)` of each.
  template <typename List, typename FieldsOf>
  void each(const List& list, const FieldsOf& fields_of) {
    to_.put(static_cast<std::uint64_t>(list.size()));
    to_.reserve(to_.bytes().size() + list.size() * sizeof(*list.begin()));
    for (const auto& element : list) {
      fields_of(*this, element);
    }
  }

 private:
  template <typename Trivial>
  void put(const Trivial& field) {
    to_.put(field);
  }
  void put(const std::string& text) { to_.put_text(text); }
  template <Number T>
  void put(const std::vector<T>& numbers) {
    to_.put_bytes(std::as_bytes(std::span{numbers}));
  }
  void put(const std::vector<std::byte>& bytes) { to_.put_bytes(bytes); }
  void put(const std::span<const std::byte>& bytes) { to_.put_bytes(bytes); }
  void put(const Outcome& outcome) { (*this)(outcome.code, outcome.story); }
  void put(const FolderAddress& address) {
    (*this)(address.path, address.device, address.inode, address.system);
  }
  void put(const Attribute& attribute) {
    (*this)(attribute.type, attribute.is_text, attribute.is_list, attribute.values);
  }
  void put(const array::Shape& shape) { (*this)(shape.dimensions, shape.extent); }
  /// Dimensions that the box does not have are left out.
  void put(const BlockSum& sum) {
    put(static_cast<std::int8_t>(sum.box.dimensions));
    for (std::size_t d = 0; d < static_cast<std::size_t>(sum.box.dimensions); ++d) {
      (*this)(sum.box.start[d], sum.box.count[d]);
    }
    put(sum.checksum);
  }

  WireWriter& to_;
};

/// A record that is written needs no check.
void check(const FieldWriter& /*io*/, const auto& /*record*/) {}

/// Reads them. What is too short or impossible is an Error{internal}.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> from) : from_{from} {}

  template <typename... Field>
  void operator()(Field&... field) {
    (get(field), ...);
  }
  /// The number of things that follow, each of which takes at least so many bytes.
  [[nodiscard]] std::size_t count(std::size_t least_bytes) { return from_.get_count(least_bytes); }
  template <typename List, typename FieldsOf>
  void each(List& list, const FieldsOf& fields_of) {
    for (auto left = count(1); left > 0; --left) {
      if constexpr (requires { list.emplace_back(); }) {
        fields_of(*this, list.emplace_back());
      } else {
        auto element = element_of(list);
        fields_of(*this, element);
        list.insert(std::move(element));
      }
    }
  }

 private:
  template <typename Trivial>
  void get(Trivial& field) {
    field = from_.get<Trivial>();
  }
  void get(bool& truth) { truth = from_.get_truth(); }
  void get(array::ElementType& type) {
    const int value = from_.get<std::uint8_t>();
    const auto found = array::element_type(value);
    if (!found) {
      throw Error{ErrorCode::internal,
                  "a message has " + std::to_string(value) + " where the type of elements is"};
    }
    type = *found;
  }
  void get(std::string& text) { text = from_.get_text(); }
  template <Number T>
  void get(std::vector<T>& numbers) {
    const auto bytes = from_.get_bytes();
    if (bytes.size() % sizeof(T) != 0) {
      throw Error{ErrorCode::internal, "a message ends within a number"};
    }
    numbers.resize(bytes.size() / sizeof(T));
    if (!bytes.empty()) {
      std::memcpy(numbers.data(), bytes.data(), bytes.size());
    }
  }
  void get(std::vector<std::byte>& bytes) {
    const auto found = from_.get_bytes();
    bytes.assign(found.begin(), found.end());
  }
  void get(std::span<const std::byte>& bytes) { bytes = from_.get_bytes(); }
  void get(Outcome& outcome) { (*this)(outcome.code, outcome.story); }
  void get(FolderAddress& address) {
    (*this)(address.path, address.device, address.inode, address.system);
  }
  void get(Attribute& attribute) {
    (*this)(attribute.type, attribute.is_text, attribute.is_list, attribute.values);
    if (attribute.values.size() % array::size_bytes(attribute.type) != 0) {
      throw Error{ErrorCode::internal,
                  "a message has an attribute of " + std::to_string(attribute.values.size()) +
                      " bytes, of type " + std::string{array::name(attribute.type)}};
    }
  }
  void get(array::Shape& shape) {
    (*this)(shape.dimensions, shape.extent);
    shape = array::make_shape(shape.dimensions, shape.extent.data());
  }
  void get(BlockSum& sum) {
    sum.box.dimensions = from_.get<std::int8_t>();
    for (int d = 0; d < std::min(sum.box.dimensions, array::max_dimensions); ++d) {
      (*this)(sum.box.start.at(static_cast<std::size_t>(d)),
              sum.box.count.at(static_cast<std::size_t>(d)));
    }
    array::check(sum.box);
    get(sum.checksum);
  }

  template <typename List>
  static auto element_of(const List& /*list*/) {
    if constexpr (requires { typename List::mapped_type; }) {
      return std::pair<typename List::key_type, typename List::mapped_type>{};
    } else {
      return typename List::key_type{};
    }
  }

  WireReader from_;
};

}  // namespace iocomp::contents
