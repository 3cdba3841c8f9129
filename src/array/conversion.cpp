// SPDX-License-Identifier: BSD-3-Clause
#include "array/conversion.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "array/element_type.h"
#include "array/float16.h"
#include "array/real_number.h"
#include "array/with_element_type.h"
#include "base/error.h"

namespace iocomp::array {
namespace {

constexpr std::size_t looked_at_once = 65536;  // numbers

template <typename T>
T number_at(const std::byte* from, std::size_t i) noexcept {
  T number;
  std::memcpy(&number, from + i * sizeof number, sizeof number);
  return number;
}

template <typename T>
auto value_of(T number) noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    return from_float16(number.bits);
  } else {
    return number;
  }
}

template <typename To, typename Value>
To made_of(Value value) noexcept {
  if constexpr (std::is_same_v<To, Half>) {
    return {to_float16(static_cast<double>(value))};
  } else {
    return static_cast<To>(value);
  }
}

// The least number that is rounded to infinity: halfway from the largest one to the next power of
// two.
template <typename To>
constexpr double infinite_from() noexcept {
  return std::is_same_v<To, Half> ? 65520 : 0x1.ffffffp127;
}

// True of a floating-point number that is an integer, and that To holds. The limit is a power of
// two, so it is exact.
template <typename To>
bool is_whole_in_range(double value) noexcept {
  const double above = std::ldexp(1.0, std::numeric_limits<To>::digits);
  const double least = std::is_signed_v<To> ? -above : 0;
  return value >= least && value < above && std::trunc(value) == value;
}

template <typename From, typename To>
bool is_unfit(From number) noexcept {
  const auto value = value_of(number);
  using Value = decltype(value);
  constexpr bool from_integer = std::is_integral_v<std::remove_const_t<Value>>;
  if constexpr (std::is_integral_v<To>) {
    if constexpr (from_integer) {
      return !std::in_range<To>(value);
    } else {
      return !is_whole_in_range<To>(static_cast<double>(value));
    }
  } else if constexpr (std::is_same_v<To, Half> || (!from_integer && sizeof(To) < sizeof(Value))) {
    const double size = std::abs(static_cast<double>(value));
    return size >= infinite_from<To>() && size <= std::numeric_limits<double>::max();
  } else {
    return false;
  }
}

// True if some of these numbers may be too large for To. The bits of a number without its sign grow
// with its size, and those of infinity and NaN are the largest. So this compares integers, which
// takes no longer than reading them. Memory is read faster at four places in turn than at one.
template <typename From, typename To>
bool may_be_unfit(const std::byte* from, std::size_t numbers) noexcept {
  using Bits =
      std::conditional_t<sizeof(From) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
  constexpr int sign = std::numeric_limits<Bits>::digits - 1;
  constexpr Bits largest = std::bit_cast<Bits>(static_cast<From>(infinite_from<To>())) - 1;
  constexpr std::size_t places = 4;
  constexpr std::size_t at_once = 8;
  Bits beyond = 0;
  const auto look = [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      beyond |= largest - (number_at<Bits>(from, i) & ~(Bits{1} << sign));
    }
  };
  const std::size_t part = numbers / (places * at_once) * at_once;
  for (std::size_t done = 0; done < part; done += at_once) {
    for (std::size_t place = 0; place < places; ++place) {
      look(place * part + done, at_once);
    }
  }
  look(places * part, numbers - places * part);
  return beyond >> sign != 0;
}

template <typename From, typename To>
struct Plain {
  static void convert(const Packing& /*packing*/, const std::byte* from, std::size_t numbers,
                      std::byte* to) noexcept {
    for (std::size_t i = 0; i < numbers; ++i) {
      const To made = made_of<To>(value_of(number_at<From>(from, i)));
      std::memcpy(to + i * sizeof made, &made, sizeof made);
    }
  }
  static bool has_unfit(const Packing& /*packing*/, const std::byte* from,
                        std::size_t numbers) noexcept {
    if constexpr (std::is_floating_point_v<From> && sizeof(To) < sizeof(From) &&
                  !std::is_integral_v<To>) {
      if (!may_be_unfit<From, To>(from, numbers)) {
        return false;
      }
    }
    bool has = false;
    for (std::size_t i = 0; i < numbers; ++i) {
      has |= is_unfit<From, To>(number_at<From>(from, i));
    }
    return has;
  }
};

template <typename Stored>
bool is_missing(const Packing& packing, Stored stored) noexcept {
  const auto is = [stored](std::int64_t value) { return stored == static_cast<Stored>(value); };
  return (packing.fill && is(*packing.fill)) || std::ranges::any_of(packing.missing, is);
}

// Converts numbers to the integers that stand for them.
template <typename From, typename To>
struct Pack {
  static double stored(const Packing& packing, From number) noexcept {
    return std::nearbyint((static_cast<double>(value_of(number)) - packing.offset) / packing.scale);
  }
  static void convert(const Packing& packing, const std::byte* from, std::size_t numbers,
                      std::byte* to) noexcept {
    const To fill = static_cast<To>(packing.fill.value_or(0));
    for (std::size_t i = 0; i < numbers; ++i) {
      const double made = stored(packing, number_at<From>(from, i));
      const To value = is_whole_in_range<To>(made) ? static_cast<To>(made) : fill;
      std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
  }
  // A number that would be read as missing cannot be held either.
  static bool has_unfit(const Packing& packing, const std::byte* from,
                        std::size_t numbers) noexcept {
    for (std::size_t i = 0; i < numbers; ++i) {
      const double made = stored(packing, number_at<From>(from, i));
      if (std::isnan(made)
              ? !packing.fill.has_value()
              : !is_whole_in_range<To>(made) || is_missing(packing, static_cast<To>(made))) {
        return true;
      }
    }
    return false;
  }
};

// Converts such integers to floating-point numbers.
template <typename From, typename To>
struct Unpack {
  static double number(const Packing& packing, From stored) noexcept {
    return is_missing(packing, stored)
               ? std::numeric_limits<double>::quiet_NaN()
               : static_cast<double>(stored) * packing.scale + packing.offset;
  }
  static void convert(const Packing& packing, const std::byte* from, std::size_t numbers,
                      std::byte* to) noexcept {
    for (std::size_t i = 0; i < numbers; ++i) {
      const To made = made_of<To>(number(packing, number_at<From>(from, i)));
      std::memcpy(to + i * sizeof made, &made, sizeof made);
    }
  }
  static bool has_unfit(const Packing& packing, const std::byte* from,
                        std::size_t numbers) noexcept {
    for (std::size_t i = 0; i < numbers; ++i) {
      if (is_unfit<double, To>(number(packing, number_at<From>(from, i)))) {
        return true;
      }
    }
    return false;
  }
};

// Call `action` with the type that numbers of a real type have in this file.
template <typename Action>
void with_number(ElementType type, const Action& action) {
  with_element_type(type, [&]<typename T>(std::type_identity<T> identity) {
    if constexpr (is_plain_number<T> || std::is_same_v<T, Half>) {
      action(identity);
    }
  });
}

}  // namespace

bool Conversion::exists(ElementType from, ElementType to) noexcept {
  return from != ElementType::character && to != ElementType::character &&
         is_complex(from) == is_complex(to);
}

Conversion::Conversion(ElementType from, ElementType to, const std::optional<Packing>& packing)
    : from_{from},
      to_{to},
      packs_{packing && (is_integer(from) || is_integer(to))},
      packing_{packing.value_or(Packing{})},
      parts_{is_complex(from) ? 2U : 1U},
      from_bytes_{size_bytes(from) / parts_} {
  const auto choose = [&]<typename Way>(std::type_identity<Way> /*way*/) {
    convert_ = Way::convert;
    has_unfit_ = Way::has_unfit;
  };
  with_number(part_of(from), [&]<typename From>(std::type_identity<From> /*from*/) {
    with_number(part_of(to), [&]<typename To>(std::type_identity<To> /*to*/) {
      if (!packs_) {
        choose(std::type_identity<Plain<From, To>>{});
      } else if constexpr (std::is_integral_v<To>) {
        choose(std::type_identity<Pack<From, To>>{});
      } else if constexpr (std::is_integral_v<From>) {
        choose(std::type_identity<Unpack<From, To>>{});
      }
    });
  });
  if (convert_ == nullptr) {
    throw Error{ErrorCode::internal, "no values of type " + std::string{name(to)} +
                                         " are made of type " + std::string{name(from)}};
  }
}

std::optional<std::int64_t> Conversion::first_unfit(std::span<const std::byte> values) const {
  const std::size_t all = values.size() / from_bytes_;
  for (std::size_t first = 0; first < all; first += looked_at_once) {
    const std::size_t behind = std::min(all, first + looked_at_once);
    const std::byte* const begin = values.data() + first * from_bytes_;
    if (has_unfit_(packing_, begin, behind - first)) {
      while (!has_unfit_(packing_, values.data() + first * from_bytes_, 1)) {
        ++first;
      }
      return static_cast<std::int64_t>(first / parts_);
    }
  }
  return std::nullopt;
}

std::string Conversion::story(const std::byte* value) const {
  std::string numbers;
  for (std::size_t part = 0; part < parts_; ++part) {
    const ElementType type = part_of(from_);
    const std::byte* const at = value + part * from_bytes_;
    char text[32];
    if (is_floating(type)) {
      const double number = real_number(type, at).value_or(0);
      std::snprintf(text, sizeof text, "%.9g", std::isnan(number) ? std::fabs(number) : number);
    } else if (type == ElementType::uint64) {
      std::snprintf(text, sizeof text, "%llu",
                    static_cast<unsigned long long>(number_at<std::uint64_t>(at, 0)));
    } else {
      std::int64_t number = 0;
      Conversion{type, ElementType::int64}.convert({at, from_bytes_},
                                                   reinterpret_cast<std::byte*>(&number));
      std::snprintf(text, sizeof text, "%lld", static_cast<long long>(number));
    }
    numbers += (part == 0 ? "" : " and ") + std::string{text};
  }
  return numbers + ", which " + std::string{name(to_)} + " cannot hold" +
         (packs_ ? " when it is packed by scale_factor and add_offset" : "");
}

void Conversion::convert(std::span<const std::byte> values, std::byte* to) const noexcept {
  convert_(packing_, values.data(), values.size() / from_bytes_, to);
}

}  // namespace iocomp::array
