// SPDX-License-Identifier: BSD-3-Clause
#include "formats/adios2/earlier_dataset.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/plain_io.h"
#include "formats/adios2/index.h"

namespace iocomp::formats::bp {

EarlierDataset::EarlierDataset(std::shared_ptr<const OpenFolder> folder, std::int64_t steps)
    : folder_{std::move(folder)} {
  const auto content = folder_->read("md.idx");
  if (!content) {
    throw failure("read", folder_->text("md.idx"), ENOENT);
  }
  const auto bytes = std::as_bytes(std::span{*content});
  const Index whole = look_at_index(bytes, std::numeric_limits<std::int64_t>::max());
  const Index kept = look_at_index(bytes, steps);
  if (kept.steps == 0) {
    throw Error{ErrorCode::unsupported,
                "no step of it holds anything, so ADIOS2 cannot go on with it; remove it"};
  }
  steps_ = kept.steps;
  index_bytes_ = kept.bytes;
  metadata_bytes_ = kept.metadata_bytes;
  cut("md.idx", whole.bytes);
  cut("md.0", whole.metadata_bytes);
}

void EarlierDataset::drop_others() const {
  cut("md.idx", index_bytes_);
  cut("md.0", metadata_bytes_);
}

void EarlierDataset::cut(const std::string& file, std::int64_t bytes) const {
  const std::string path = folder_->text(file);
  const Descriptor opened = folder_->open(file, O_RDWR);
  const std::int64_t found = length_of(opened, path);
  if (found < bytes) {
    throw Error{ErrorCode::storage_failure,
                path + " is shorter than the index of the dataset says: it is torn"};
  }
  if (found > bytes) {
    set_length(opened, bytes, path);
    make_durable(opened, path);
  }
}

}  // namespace iocomp::formats::bp
