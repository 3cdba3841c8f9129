// SPDX-License-Identifier: BSD-3-Clause
// The module that makes files of links with HDF5. Datasets of other HDF5 files are linked as
// virtual datasets. Plain elements are one external dataset for each file and type, and virtual
// datasets take pieces of it.
#include <hdf5.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "array/element_type.h"
#include "contents/variable.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/library.h"
#include "formats/hdf5/types.h"
#include "formats/link_file.h"

namespace iocomp::formats::h5 {
namespace {

constexpr const char* raw_group = "iocomp_raw";
constexpr std::size_t grows_by = std::size_t{1} << 16;

template <typename Result>
Result check(Result result) {
  return h5::check(result, "make links in", "memory");
}

std::vector<hsize_t> extents(const Extent& extent) { return {extent.begin(), extent.end()}; }

std::int64_t elements(const Extent& extent) {
  return std::accumulate(extent.begin(), extent.end(), std::int64_t{1}, std::multiplies<>{});
}

Space part_of(const Extent& extent, const Extent& start, const Extent& count) {
  Space space = space_of(extent);
  check(H5Sselect_hyperslab(space.raw(), H5S_SELECT_SET, extents(start).data(), nullptr,
                            extents(count).data(), nullptr));
  return space;
}

Type type_in_file(array::ElementType type, std::endian order) {
  Type stored = element_type(type);
  check(H5Tset_order(stored.raw(), order == std::endian::big ? H5T_ORDER_BE : H5T_ORDER_LE));
  return stored;
}

Properties with_parents() {
  Properties properties{check(H5Pcreate(H5P_LINK_CREATE))};
  check(H5Pset_create_intermediate_group(properties.raw(), 1));
  return properties;
}

// HDF5 takes %b in names of sources for the number of a block.
std::string without_blocks(const std::string& name) {
  std::string all;
  for (const char letter : name) {
    all += letter == '%' ? std::string_view{"%%"} : std::string_view{&letter, 1};
  }
  return all;
}

class Maker {
 public:
  explicit Maker(const LinkFile& described) {
    const Properties in_memory{check(H5Pcreate(H5P_FILE_ACCESS))};
    check(H5Pset_fapl_core(in_memory.raw(), grows_by, 0));
    file_ = File{check(H5Fcreate("links", H5F_ACC_TRUNC, H5P_DEFAULT, in_memory.raw()))};
    for (const auto& [path, attributes] : described.groups) {
      const Object group{
          check(H5Gcreate2(file_.raw(), path.c_str(), parents_.raw(), H5P_DEFAULT, H5P_DEFAULT))};
      for (const auto& [name, values] : attributes) {
        set(group.raw(), name, values);
      }
    }
    for (const auto& dataset : described.datasets) {
      note_raw(dataset);
    }
    for (int number = 0; auto& [raw, all] : raw_) {
      all.path = '/' + std::string{raw_group} + '/' + std::to_string(number++);
    }
    for (const auto& dataset : described.datasets) {
      dataset.links.empty() ? put(dataset) : link(dataset);
    }
    make_raw();
  }

  [[nodiscard]] std::vector<std::byte> image() const {
    check(H5Fflush(file_.raw(), H5F_SCOPE_LOCAL));
    std::vector<std::byte> bytes(
        static_cast<std::size_t>(check(H5Fget_file_image(file_.raw(), nullptr, 0))));
    check(H5Fget_file_image(file_.raw(), bytes.data(), bytes.size()));
    return bytes;
  }

 private:
  /// Plain elements of one type in a file, whose first byte is a multiple of their size behind that
  /// one.
  struct Raw {
    std::string file;
    array::ElementType type;
    std::endian order;
    std::int64_t first;

    [[nodiscard]] auto key() const { return std::tie(file, type, order, first); }
    friend bool operator<(const Raw& left, const Raw& right) { return left.key() < right.key(); }
  };
  struct Elements {
    std::string path;
    std::int64_t count = 0;
  };

  static Raw raw_of(const Link& link) {
    const auto size = static_cast<std::int64_t>(array::size_bytes(link.type));
    return {link.file, link.type, link.where.byte_order, link.where.offset % size};
  }
  static std::int64_t index_of(const Raw& raw, const Link& link) {
    return (link.where.offset - raw.first) / static_cast<std::int64_t>(array::size_bytes(raw.type));
  }

  void note_raw(const formats::Dataset& dataset) {
    for (const auto& link : dataset.links) {
      if (link.where.dataset.empty()) {
        const Raw raw = raw_of(link);
        auto& all = raw_[raw];
        all.count = std::max(all.count, index_of(raw, link) + elements(link.source));
      }
    }
  }

  void make_raw() {
    for (const auto& [raw, all] : raw_) {
      const auto bytes = all.count * static_cast<std::int64_t>(array::size_bytes(raw.type));
      const Properties created{check(H5Pcreate(H5P_DATASET_CREATE))};
      check(
          H5Pset_external(created.raw(), raw.file.c_str(), raw.first, static_cast<hsize_t>(bytes)));
      create(all.path, type_in_file(raw.type, raw.order), space_of(Extent{all.count}), created);
    }
  }

  Dataset create(const std::string& path, const Type& type, const Space& space,
                 const Properties& created) {
    return Dataset{check(H5Dcreate2(file_.raw(), path.c_str(), type.raw(), space.raw(),
                                    parents_.raw(), created.raw(), H5P_DEFAULT))};
  }

  void put(const formats::Dataset& dataset) {
    const Type type = element_type(dataset.type);
    const Properties created{check(H5Pcreate(H5P_DATASET_CREATE))};
    const Dataset made = create(dataset.path, type, space_of(dataset.extent), created);
    check(H5Dwrite(made.raw(), type.raw(), H5S_ALL, H5S_ALL, H5P_DEFAULT, dataset.values.data()));
  }

  void link(const formats::Dataset& dataset) {
    const Properties created{check(H5Pcreate(H5P_DATASET_CREATE))};
    if (array::is_floating(dataset.type)) {
      check(H5Pset_fill_value(created.raw(), H5T_NATIVE_DOUBLE, &dataset.missing));
    }
    for (const auto& link : dataset.links) {
      const Space there = part_of(dataset.extent, link.start, link.count);
      if (link.where.dataset.empty()) {
        const Raw raw = raw_of(link);
        const auto& all = raw_.at(raw);
        const Space source = part_of({all.count}, {index_of(raw, link)}, {elements(link.source)});
        check(H5Pset_virtual(created.raw(), there.raw(), ".", all.path.c_str(), source.raw()));
        continue;
      }
      Extent extent = link.source;
      Extent start(extent.size(), 0);
      Extent count = extent;
      if (link.where.record >= 0) {
        extent.insert(extent.begin(), link.where.record + 1);
        start.insert(start.begin(), link.where.record);
        count.insert(count.begin(), 1);
      }
      const Space source = part_of(extent, start, count);
      check(H5Pset_virtual(created.raw(), there.raw(), without_blocks(link.file).c_str(),
                           without_blocks(link.where.dataset).c_str(), source.raw()));
    }
    const auto order = dataset.links.front().where.byte_order;
    (void)create(dataset.path, type_in_file(dataset.type, order), space_of(dataset.extent),
                 created);
  }

  // Readers of VTK take text of a fixed length only.
  static void set(hid_t group, const std::string& name, const contents::Attribute& values) {
    Type type = element_type(values.type);
    Space space{H5Screate(H5S_SCALAR)};
    if (values.is_text) {
      type = Type{check(H5Tcopy(H5T_C_S1))};
      check(H5Tset_size(type.raw(), values.values.size()));
      check(H5Tset_strpad(type.raw(), H5T_STR_NULLPAD));
    } else if (values.count() > 1) {
      space = space_of(Extent{values.count()});
    }
    const Attribute made{
        check(H5Acreate2(group, name.c_str(), type.raw(), space.raw(), H5P_DEFAULT, H5P_DEFAULT))};
    check(H5Awrite(made.raw(), type.raw(), values.values.data()));
  }

  Properties parents_ = with_parents();
  File file_;
  std::map<Raw, Elements> raw_;
};

std::vector<std::byte> image(const LinkFile& file) {
  static const std::string checked = library_version();
  const Quiet quiet;
  return Maker{file}.image();
}

}  // namespace
}  // namespace iocomp::formats::h5

extern "C" __attribute__((visibility("default")))
const iocomp_links_entry iocomp_links{iocomp_links_interface_version, &iocomp::formats::h5::image};
