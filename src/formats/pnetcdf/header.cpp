// SPDX-License-Identifier: BSD-3-Clause
#include "formats/pnetcdf/header.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/byte_order.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/plain_io.h"
#include "formats/cdf/types.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {
namespace {

constexpr std::int32_t magic = 0x43444600;  // "CDF", and the version
constexpr int own_version = 5;
constexpr std::int32_t of_dimensions = 10;
constexpr std::int32_t of_variables = 11;
constexpr std::int32_t of_attributes = 12;

class Writer {
 public:
  void put(std::int32_t value) { put_number(static_cast<std::uint32_t>(value), 4); }
  void put(std::int64_t value) { put_number(static_cast<std::uint64_t>(value), 8); }
  void put_count(std::size_t count) { put(static_cast<std::int64_t>(count)); }
  void put_list(std::int32_t tag, std::size_t count) {
    put(count == 0 ? 0 : tag);
    put_count(count);
  }
  void put_padded(std::span<const std::byte> values) {
    bytes_.insert(bytes_.end(), values.begin(), values.end());
    bytes_.resize(static_cast<std::size_t>(padded(std::ssize(bytes_))));
  }
  void put_name(const std::string& name) {
    put_count(name.size());
    put_padded(std::as_bytes(std::span{name}));
  }
  void put_attributes(const Attributes& attributes) {
    put_list(of_attributes, attributes.size());
    for (const auto& [name, attribute] : attributes) {
      put_name(name);
      put(attribute.is_text ? text_number : type_number(attribute.type));
      put(attribute.count());
      auto values = attribute.values;
      if constexpr (std::endian::native == std::endian::little) {
        array::swap_bytes(values, array::size_bytes(attribute.type));
      }
      put_padded(values);
    }
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void put_number(std::uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      bytes_.push_back(static_cast<std::byte>(value >> shift & 0xffU));
    }
  }

  std::vector<std::byte> bytes_;
};

Error damaged(const std::string& what) {
  return Error{ErrorCode::storage_failure, "the header of a CDF file is damaged: " + what};
}

// Reads a header. Behind the end of the bytes everything reads as zero, and `is_at_end` is true.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_{bytes} {}

  // @return of the file.
  int version() {
    const auto found = static_cast<int>(number(4) - magic);
    if (found != 1 && found != 2 && found != own_version && !is_at_end_) {
      throw damaged("it does not begin with CDF and 1, 2 or 5");
    }
    size_bytes_ = found == own_version ? 8 : 4;
    offset_bytes_ = found == 1 ? 4 : 8;
    return found;
  }
  std::int64_t size() { return number(size_bytes_); }
  std::int64_t offset() { return number(offset_bytes_); }
  [[nodiscard]] bool is_at_end() const noexcept { return is_at_end_; }
  std::int64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (const auto byte : take(bytes)) {
      value = value << 8U | std::to_integer<std::uint64_t>(byte);
    }
    return static_cast<std::int64_t>(value);
  }
  // A number of things each of which takes at least one byte.
  std::size_t count() {
    const std::int64_t found = size();
    if (found < 0) {
      throw damaged("a length is negative");
    }
    is_at_end_ = is_at_end_ || found > std::ssize(left_);
    return is_at_end_ ? 0 : static_cast<std::size_t>(found);
  }
  std::size_t list(std::int32_t tag) {
    const std::int64_t found = number(4);
    const std::size_t entries = count();
    if (found != tag && (found != 0 || entries != 0)) {
      throw damaged("a list has the tag " + std::to_string(found));
    }
    return entries;
  }
  std::span<const std::byte> padded_bytes(std::size_t bytes) {
    const auto all = take(static_cast<std::size_t>(padded(static_cast<std::int64_t>(bytes))));
    return all.first(std::min(bytes, all.size()));
  }
  std::string name() {
    const auto bytes = padded_bytes(count());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  array::ElementType type() {
    const std::int64_t found = number(4);
    const auto type = type_of(static_cast<int>(found));
    if (!type && !is_at_end_) {
      throw damaged("there is no type " + std::to_string(found));
    }
    return type.value_or(array::ElementType::uint8);
  }
  Attributes attributes() {
    Attributes all;
    for (std::size_t left = list(of_attributes); left > 0 && !is_at_end_; --left) {
      const std::string key = name();
      Attribute attribute;
      attribute.type = type();
      attribute.is_text = attribute.type == array::ElementType::character;
      if (attribute.is_text) {
        attribute.type = array::ElementType::uint8;
      }
      const std::size_t element = array::size_bytes(attribute.type);
      const auto values = padded_bytes(count() * element);
      attribute.values.assign(values.begin(), values.end());
      if constexpr (std::endian::native == std::endian::little) {
        array::swap_bytes(attribute.values, is_at_end_ ? 1 : element);
      }
      all.insert_or_assign(key, std::move(attribute));
    }
    return all;
  }

 private:
  std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > left_.size()) {
      is_at_end_ = true;
      return {};
    }
    const auto taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }

  std::span<const std::byte> left_;
  bool is_at_end_ = false;
  std::size_t size_bytes_ = 8;
  std::size_t offset_bytes_ = 8;
};

Header::Variable variable(Reader& reader, const std::vector<Header::Dimension>& dimensions) {
  Header::Variable variable;
  variable.name = reader.name();
  for (std::size_t left = reader.count(); left > 0 && !reader.is_at_end(); --left) {
    variable.dimensions.push_back(static_cast<std::size_t>(reader.size()));
  }
  variable.attributes = reader.attributes();
  variable.type = reader.type();
  variable.bytes = static_cast<std::int64_t>(array::size_bytes(variable.type));
  for (const auto number : variable.dimensions) {
    if (number >= dimensions.size()) {
      throw damaged("there is no dimension " + std::to_string(number));
    }
    const std::int64_t length = dimensions[number].length;  // 0: of the records
    if (__builtin_mul_overflow(variable.bytes, length == 0 ? 1 : length, &variable.bytes)) {
      throw damaged("a variable has more bytes than 63 bits count");
    }
  }
  (void)reader.size();
  variable.begin = reader.offset();
  return variable;
}

}  // namespace

std::optional<Header> decode(std::span<const std::byte> bytes) {
  Reader reader{bytes};
  Header header;
  header.version = reader.version();
  header.records = reader.size();
  for (std::size_t left = reader.list(of_dimensions); left > 0 && !reader.is_at_end(); --left) {
    const std::string name = reader.name();
    header.dimensions.push_back({name, reader.size()});
  }
  header.attributes = reader.attributes();
  for (std::size_t left = reader.list(of_variables); left > 0 && !reader.is_at_end(); --left) {
    header.variables.push_back(variable(reader, header.dimensions));
  }
  const auto is_negative = [](std::int64_t value) { return value < 0; };
  if (header.records < 0 ||
      std::ranges::any_of(header.dimensions, is_negative, &Header::Dimension::length) ||
      std::ranges::any_of(header.variables, is_negative, &Header::Variable::begin)) {
    throw damaged("a length is negative");
  }
  return reader.is_at_end() ? std::nullopt : std::optional{std::move(header)};
}

std::optional<Header> read_header(const Descriptor& file, const std::string& path) {
  constexpr std::int64_t first_bytes = std::int64_t{256} << 10;
  const std::int64_t all = length_of(file, path);
  for (std::int64_t wanted = first_bytes;; wanted *= 2) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(wanted, all)));
    const std::int64_t got = read_at(file, 0, bytes);
    if (got < 0) {
      throw failure("read the header of", path, static_cast<int>(-got));
    }
    bytes.resize(static_cast<std::size_t>(got));
    auto header = decode(bytes);
    if (header || wanted >= all) {
      return header;
    }
  }
}

namespace {

bool has_records(const Header& header, const Header::Variable& variable) {
  return !variable.dimensions.empty() && header.dimensions[variable.dimensions.front()].length == 0;
}

// Returns nothing if the length is beyond 63 bits.
std::optional<std::int64_t> record_bytes(const Header& header) {
  const auto with_records = std::ranges::count_if(
      header.variables, [&](const auto& variable) { return has_records(header, variable); });
  std::int64_t record = 0;
  for (const auto& variable : header.variables) {
    const auto part = with_records == 1 ? variable.bytes : padded(variable.bytes);
    if (has_records(header, variable) && __builtin_add_overflow(record, part, &record)) {
      return std::nullopt;
    }
  }
  return record;
}

std::optional<std::int64_t> begin_of(const Header& header, const Header::Variable& variable,
                                     std::int64_t record) {
  const auto bytes = record_bytes(header);
  std::int64_t before = 0;
  std::int64_t begin = 0;
  if (!has_records(header, variable)) {
    return variable.begin;
  }
  return !bytes || __builtin_mul_overflow(record, *bytes, &before) ||
                 __builtin_add_overflow(variable.begin, before, &begin)
             ? std::nullopt
             : std::optional{begin};
}

}  // namespace

std::int64_t begin_of(const Header& header, const std::string& variable, std::int64_t record,
                      const std::string& path) {
  const auto found = std::ranges::find(header.variables, variable, &Header::Variable::name);
  const auto begin =
      found == header.variables.end() ? std::nullopt : begin_of(header, *found, record);
  if (!begin) {
    throw Error{ErrorCode::storage_failure, "cannot read " + path +
                                                ": its header does not say where the variable \"" +
                                                variable + "\" lies"};
  }
  return *begin;
}

std::optional<std::int64_t> end_of_elements(const Header& header) {
  std::int64_t end = 0;
  for (const auto& variable : header.variables) {
    if (has_records(header, variable) && header.records == 0) {
      continue;
    }
    const auto begin = begin_of(header, variable, header.records - 1);
    std::int64_t last = 0;
    if (!begin || __builtin_add_overflow(*begin, variable.bytes, &last)) {
      return std::nullopt;
    }
    end = std::max(end, last);
  }
  return end;
}

std::vector<std::byte> encode_number(std::int64_t number) {
  const auto bytes = std::as_bytes(std::span{&number, 1});
  std::vector<std::byte> big{bytes.begin(), bytes.end()};
  if constexpr (std::endian::native == std::endian::little) {
    array::swap_bytes(big, sizeof(number));
  }
  return big;
}

std::vector<std::byte> encode(const Header& header) {
  Writer writer;
  writer.put(magic + own_version);
  writer.put(header.records);
  writer.put_list(of_dimensions, header.dimensions.size());
  for (const auto& dimension : header.dimensions) {
    writer.put_name(dimension.name);
    writer.put(dimension.length);
  }
  writer.put_attributes(header.attributes);
  writer.put_list(of_variables, header.variables.size());
  for (const auto& variable : header.variables) {
    writer.put_name(variable.name);
    writer.put_count(variable.dimensions.size());
    for (const auto number : variable.dimensions) {
      writer.put_count(number);
    }
    writer.put_attributes(variable.attributes);
    writer.put(type_number(variable.type));
    writer.put(padded(variable.bytes));
    writer.put(variable.begin);
  }
  return writer.take();
}

}  // namespace iocomp::formats::cdf
