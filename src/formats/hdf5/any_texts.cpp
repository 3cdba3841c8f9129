// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/any_texts.h"

#include <hdf5.h>

#include <cstddef>
#include <string>

#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/types.h"

namespace iocomp::formats::h5 {

AnyTexts::AnyTexts(hid_t dataset, hid_t in_file, hsize_t texts, const std::string& path)
    : type_{text_type_of(Type{H5Dget_type(dataset)}.raw())},
      in_memory_{H5Screate_simple(1, &texts, nullptr)},
      texts_(static_cast<std::size_t>(texts)) {
  check(H5Dread(dataset, type_.raw(), in_memory_.raw(), in_file, H5P_DEFAULT,
                static_cast<void*>(texts_.data())),
        "read texts from", path);
}

AnyTexts::~AnyTexts() {
  H5Dvlen_reclaim(type_.raw(), in_memory_.raw(), H5P_DEFAULT, static_cast<void*>(texts_.data()));
}

}  // namespace iocomp::formats::h5
