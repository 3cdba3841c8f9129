// SPDX-License-Identifier: BSD-3-Clause
#include "formats/adios2/engine.h"

#include <adios2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/format.h"

namespace iocomp::formats::bp {
namespace {

// With other values of these, data would be written later than EndStep says, or somewhere else.
constexpr std::array<std::string_view, 4> ours{"AsyncWrite", "AsyncOpen", "BurstBufferPath",
                                               "IdleH5Writer"};

}  // namespace

bool is_same_word(std::string_view one, std::string_view other) {
  const auto lower = [](unsigned char letter) { return std::tolower(letter); };
  return std::ranges::equal(one, other, {}, lower, lower);
}

void have_home() {
  static const int done = ::setenv("HOME", "/", 0);  // NOLINT(concurrency-mt-unsafe)
  (void)done;
}

adios2::Params parameters_of(const Storage& storage) {
  return {storage.operator_parameters.begin(), storage.operator_parameters.end()};
}

// ADIOS2 ends the program where a variable gets an operator that it does not have; here it throws.
void check_operators(Kind kind, const FormatOptions& options) {
  for (const Storage& storage : options.storages) {
    const std::string what = "operator = \"" + storage.operator_name + "\": ";
    if (storage.operator_name.empty()) {
      continue;
    }
    if (kind == Kind::hdf5) {
      throw Error{ErrorCode::invalid_setting,
                  what + "the engine HDF5 of adios2 has no operators; BP4 and BP5 have"};
    }
    if (kind == Kind::bp4 && is_same_word(storage.operator_name, "bzip2")) {
      throw Error{
          ErrorCode::invalid_setting,
          what + "with BP4 it ends the program where a block does not shrink; BP5 tells it"};
    }
    try {
      have_home();
      adios2::ADIOS adios;
      (void)adios.DefineOperator("iocomp", storage.operator_name, parameters_of(storage));
    } catch (const std::exception& failure) {
      throw Error{ErrorCode::invalid_setting,
                  what + "the installed ADIOS2 has no such operator: " + failure.what()};
    }
  }
}

const char* name(Kind kind) noexcept {
  return kind == Kind::bp4 ? "BP4" : kind == Kind::bp5 ? "BP5" : "HDF5";
}

adios2::Params parameters(Kind kind, const FormatOptions& options, int writers) {
  adios2::Params chosen{{"Profile", "Off"}};
  if (kind == Kind::hdf5) {
    // All variables of a step are made together: then a writer may have nothing of some of them.
    chosen["IdleH5Writer"] = "true";
  }
  if (kind == Kind::bp5) {
    chosen["AsyncWrite"] = "Sync";
    chosen["AsyncOpen"] = "false";
  }
  if (options.aggregators > 0) {
    chosen["NumAggregators"] = std::to_string(std::min(options.aggregators, writers));
  }
  // If writers gathered through shared memory, one that fails would leave the others waiting in
  // ADIOS2.
  if (options.aggregators == 0 || options.aggregators >= writers) {
    chosen["AggregationType"] = "EveryoneWrites";
  }
  for (const auto& [key, value] : options.hints) {
    const auto is_this = [&key](std::string_view other) { return is_same_word(key, other); };
    if (std::ranges::any_of(ours, is_this)) {
      throw Error{ErrorCode::invalid_setting,
                  "hints: " + key +
                      " is set by iocomp, which writes asynchronously itself and must know when a "
                      "step is written; remove it"};
    }
    std::erase_if(chosen, [&](const auto& set) { return is_this(set.first); });
    chosen[key] = value;
  }
  return chosen;
}

}  // namespace iocomp::formats::bp
