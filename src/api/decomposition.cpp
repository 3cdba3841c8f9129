// SPDX-License-Identifier: BSD-3-Clause
#include "array/decomposition.h"

#include <iocomp/iocomp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "api/guard.h"
#include "api/handles.h"
#include "array/box.h"
#include "base/error.h"
#include "session/session.h"

using iocomp::Error;
using iocomp::ErrorCode;
using iocomp::api::guarded;
using iocomp::api::require;
namespace array = iocomp::array;

namespace {

std::span<const std::int64_t> list(const int64_t* values, int64_t size) {
  if (size < 0) {
    throw Error{ErrorCode::invalid_argument,
                "decompose: " + std::to_string(size) + " is no number of runs"};
  }
  if (size > 0) {
    require(values, "decompose", "runs");
  }
  return {values, static_cast<std::size_t>(size)};
}

}  // namespace

int iocomp_decompose(iocomp_session* session, int ndims, const int64_t* shape, int64_t nruns,
                     const int64_t* first, const int64_t* count, iocomp_decomp** decomp) {
  if (decomp != nullptr) {
    *decomp = nullptr;
  }
  return guarded([&] {
    require(session, "decompose", "the session");
    require(decomp, "decompose", "the place for the decomposition");
    auto made = std::make_unique<iocomp_decomp>();
    made->session = session;
    const auto firsts = list(first, nruns);
    const auto counts = count == nullptr ? firsts.first(0) : list(count, nruns);
    try {
      made->decomposition = array::decompose(array::make_shape(ndims, shape), firsts, counts);
    } catch (const Error& error) {
      throw Error{error.code(), std::string{"decompose: "} + error.what()};
    }
    *decomp = session->decompositions.add(std::move(made));
  });
}

int iocomp_decomp_free(iocomp_decomp* decomp) {
  return guarded([&] {
    if (decomp == nullptr) {
      return;
    }
    if (decomp->is_freed) {
      throw Error{ErrorCode::invalid_argument, "decomp_free: the decomposition was freed before"};
    }
    iocomp_session* const session = decomp->session;
    if (session->session->role() != iocomp::session::Role::server) {
      session->session->client().forget(decomp->decomposition);
    }
    decomp->decomposition = {};
    decomp->is_freed = true;
    session->decompositions.give_back(decomp);
  });
}
