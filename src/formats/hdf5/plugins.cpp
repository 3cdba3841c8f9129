// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/plugins.h"

#include <H5PLextern.h>
#include <dlfcn.h>
#include <hdf5.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/plain_io.h"
#include "base/small_files.h"

namespace iocomp::formats::h5 {
namespace {

/// A library that is loaded. It stays so, once it is registered.
class Loaded {
 public:
  explicit Loaded(const std::string& path)
      : handle_{::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)} {}
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() {
    if (handle_ != nullptr) {
      ::dlclose(handle_);
    }
  }
  template <typename Function>
  [[nodiscard]] Function* function(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(handle_, name));
  }
  void stay() noexcept { handle_ = nullptr; }

 private:
  void* handle_;
};

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

using Initialise = int(const char* library);

const H5Z_class2_t* filter_in(const Loaded& plugin) {
  const auto type = plugin.function<H5PL_type_t()>("H5PLget_plugin_type");
  const auto info = plugin.function<const void*()>("H5PLget_plugin_info");
  return type == nullptr || info == nullptr || type() != H5PL_TYPE_FILTER
             ? nullptr
             : static_cast<const H5Z_class2_t*>(info());
}

std::vector<std::string> folders() {
  unsigned count = 0;
  std::vector<std::string> all;
  (void)H5PLsize(&count);
  for (unsigned i = 0; i < count; ++i) {
    const auto length = H5PLget(i, nullptr, 0);
    std::string folder(static_cast<std::size_t>(std::max<ssize_t>(length, 0)) + 1, '\0');
    (void)H5PLget(i, folder.data(), folder.size());
    folder.pop_back();
    all.push_back(std::move(folder));
  }
  return all;
}

std::vector<std::string> libraries() {
  std::vector<std::string> all;
  for (const auto& folder : folders()) {
    (void)outcome_of([&] {  // HDF5 too goes on with the next one
      for (const auto& name : names_in(folder)) {
        if (name.ends_with(".so")) {
          all.push_back(folder + '/' + name);
        }
      }
    });
  }
  return all;
}

// Returns true if the plug-in is registered now. The copy stays open, since the loader knows it by
// the number of its descriptor.
bool register_copy(const std::string& path, Descriptor& copy) {
  const auto bytes = read_file(path, most_bytes);
  copy = Descriptor{::memfd_create("iocomp-filter", MFD_CLOEXEC)};
  if (!bytes || copy.raw() < 0) {
    return false;
  }
  write_plainly(copy, 0, std::as_bytes(std::span{*bytes}), path);
  Loaded plugin{"/proc/self/fd/" + std::to_string(copy.raw())};
  const auto initialise = plugin.function<Initialise>("init_filter");
  const auto* const filter = filter_in(plugin);
  Dl_info own{};
  if (initialise == nullptr || filter == nullptr ||
      ::dladdr(reinterpret_cast<const void*>(&H5open), &own) == 0 ||
      initialise(own.dli_fname) < 0 || H5Zregister(filter) < 0) {
    return false;
  }
  plugin.stay();
  return true;
}

}  // namespace

void register_plugin_that_asks(int filter) {
  static std::map<int, Descriptor> registered;  // by filter: its copy
  if (registered.contains(filter)) {
    return;
  }
  for (const auto& path : libraries()) {
    bool asks = false;
    {
      const Loaded plugin{path};
      const auto* const found = filter_in(plugin);
      asks = found != nullptr && found->id == filter &&
             plugin.function<Initialise>("init_filter") != nullptr;
    }
    if (Descriptor copy; asks && register_copy(path, copy)) {
      registered.emplace(filter, std::move(copy));
      return;
    }
  }
}

}  // namespace iocomp::formats::h5
