// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "hdf5/native.h"

namespace iocomp::hdf5 {

/// A callback that passes its arguments on to a function of HDF5, which also takes the native
/// connector, as argument number `Place`.
template <auto Function, std::size_t Place>
struct PassedOn {
  template <typename Result, typename... Arguments>
  using Callback = Result (*)(Arguments...);

  template <typename Result, typename... Arguments>
  // NOLINTNEXTLINE(google-explicit-constructor): the members of HDF5's tables choose the type
  operator Callback<Result, Arguments...>() const {
    return [](Arguments... arguments) -> Result {
      return call(std::tuple<Arguments...>(arguments...), std::make_index_sequence<Place>{},
                  std::make_index_sequence<sizeof...(Arguments) - Place>{});
    };
  }

 private:
  template <typename... Arguments, std::size_t... Before, std::size_t... Behind>
  static auto call(const std::tuple<Arguments...>& all, std::index_sequence<Before...> /*before*/,
                   std::index_sequence<Behind...> /*behind*/) {
    return Function(std::get<Before>(all)..., native::id(), std::get<Place + Behind>(all)...);
  }
};

}  // namespace iocomp::hdf5
