// SPDX-License-Identifier: BSD-3-Clause
#include "array/decomposition.h"

#include <iocomp/iocomp.h>

#include <algorithm>
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

std::span<const std::int64_t> list(const int64_t* values, int64_t size, const char* call,
                                   const char* what) {
  if (size < 0) {
    throw Error{ErrorCode::invalid_argument,
                std::string{call} + ": " + std::to_string(size) + " is no number of " + what};
  }
  if (size > 0) {
    require(values, call, what);
  }
  return {values, static_cast<std::size_t>(size)};
}

template <typename Make>
int make(iocomp_session* session, const char* call, int ndims, const int64_t* shape,
         iocomp_decomp** decomp, Make&& decompose) {
  if (decomp != nullptr) {
    *decomp = nullptr;
  }
  return guarded([&] {
    require(session, call, "the session");
    require(decomp, call, "the place for the decomposition");
    auto made = std::make_unique<iocomp_decomp>();
    made->session = session;
    try {
      made->decomposition = decompose(array::make_shape(ndims, shape));
    } catch (const Error& error) {
      throw Error{error.code(), std::string{call} + ": " + error.what()};
    }
    *decomp = made.get();
    session->decompositions.push_back(std::move(made));
  });
}

}  // namespace

int iocomp_decomp_runs(iocomp_session* session, int ndims, const int64_t* shape, int64_t nruns,
                       const int64_t* first, const int64_t* count, iocomp_decomp** decomp) {
  return make(session, "decomp_runs", ndims, shape, decomp, [&](const array::Shape& of) {
    return array::decompose_runs(of, list(first, nruns, "decomp_runs", "runs"),
                                 list(count, nruns, "decomp_runs", "runs"));
  });
}

int iocomp_decomp_map(iocomp_session* session, int ndims, const int64_t* shape, int64_t nelements,
                      const int64_t* map, iocomp_decomp** decomp) {
  return make(session, "decomp_map", ndims, shape, decomp, [&](const array::Shape& of) {
    return array::decompose_map(of, list(map, nelements, "decomp_map", "elements"));
  });
}

int iocomp_decomp_free(iocomp_decomp* decomp) {
  return guarded([&] {
    if (decomp == nullptr) {
      return;
    }
    iocomp_session* const session = decomp->session;
    const auto mine = [decomp](const auto& one) { return one.get() == decomp; };
    const auto found =
        std::find_if(session->decompositions.begin(), session->decompositions.end(), mine);
    const std::unique_ptr<iocomp_decomp> freed = std::move(*found);
    session->decompositions.erase(found);
    if (session->session->role() != iocomp::session::Role::server) {
      session->session->client().forget(freed->decomposition);
    }
  });
}
