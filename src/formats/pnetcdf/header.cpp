#include "formats/pnetcdf/header.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/byte_order.h"
#include "array/element_type.h"
#include "formats/cdf/types.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {
namespace {

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
      put(attribute.is_text ? text_number : type_number(attribute.type, "CDF-5", name));
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

}  // namespace

std::vector<std::byte> encode_records(std::int64_t records) {
  const auto bytes = std::as_bytes(std::span{&records, 1});
  std::vector<std::byte> big{bytes.begin(), bytes.end()};
  if constexpr (std::endian::native == std::endian::little) {
    array::swap_bytes(big, sizeof(records));
  }
  return big;
}

std::vector<std::byte> encode(const Header& header) {
  Writer writer;
  writer.put(std::int32_t{0x43444605});  // "CDF", 5
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
    writer.put(type_number(variable.type, "CDF-5", variable.name));
    writer.put(padded(variable.bytes));
    writer.put(variable.begin);
  }
  return writer.take();
}

}  // namespace iocomp::formats::cdf
