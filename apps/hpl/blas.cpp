// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/blas.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "hpl/scalapack.h"

namespace iocomp::apps::hpl {
namespace {

/// Names of kernels for processors without AVX2. OpenBLAS also takes one of them for a processor
/// that it does not know.
constexpr std::array<std::string_view, 21> cores_without_avx2{
    "Athlon",  "Atom",         "Banias",  "Barcelona",  "Bobcat",   "Bulldozer",   "Coppermine",
    "Core2",   "Dunnington",   "Generic", "Katmai",     "Nano",     "Nehalem",     "Northwood",
    "Opteron", "Opteron_SSE3", "Penryn",  "Piledriver", "Prescott", "Sandybridge", "Steamroller"};

/// The kernels that this processor can run, where OpenBLAS has chosen much slower ones; else null.
const char* better_core() {
#if defined(__x86_64__)
  const std::string_view chosen{openblas_get_corename()};
  if (std::find(cores_without_avx2.begin(), cores_without_avx2.end(), chosen) ==
      cores_without_avx2.end()) {
    return nullptr;
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

/// @return true if the environment has changed.
bool say(const char* variable, const char* value) {
  if (value == nullptr || std::getenv(variable) != nullptr) return false;
  return setenv(variable, value, 1) == 0;
}

}  // namespace

void prepare_blas(char** argv) {
  if (openblas_get_corename == nullptr) return;
  const bool threads = say("OPENBLAS_NUM_THREADS", "1");
  const bool core = say("OPENBLAS_CORETYPE", better_core());
  if (!threads && !core) return;
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  execv(self.c_str(), argv);
  if (threads && openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
}

nlohmann::json about_blas() {
  if (openblas_get_corename == nullptr) return {{"core", "unknown"}, {"threads", nullptr}};
  return {{"core", openblas_get_corename()},
          {"threads", openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 0}};
}

}  // namespace iocomp::apps::hpl
