// SPDX-License-Identifier: BSD-3-Clause
// Zarr stores: the metadata of an array, the index of a shard, and chunks of all codecs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "compress/bench.h"
#include "compress/zstd.h"
#include "contents/json_elements.h"
#include "formats/format.h"
#include "formats/zarr/array.h"
#include "formats/zarr/blosc.h"
#include "formats/zarr/codec.h"
#include "formats/zarr/shard_index.h"
#include "fuzz/target.h"

namespace iocomp::fuzz {
namespace {

using namespace formats;
using formats::zarr::Array;

constexpr std::size_t most_in_chunk = std::size_t{64} << 10;

void check_metadata(const std::string& text) {
  (void)accepts([&] {
    const Array array = zarr::array_from(contents::parse_json(text));
    require(array.chunk_bytes() > 0 && array.chunks_in_shard() > 0, "a chunk below nothing");
    const auto told = zarr::json(array);
    must("own metadata are refused",
         [&] { require(zarr::json(zarr::array_from(told)) == told, "it reads as another array"); });
  });
}

void check_index(Material& material) {
  const std::int64_t file_bytes = material.number<std::uint16_t>();
  const auto index = material.take(material.size() / 16 * 16 + 4);
  if (index.size() < sizeof(std::uint32_t)) {
    return;
  }
  (void)accepts([&] {
    for (const auto& chunk : zarr::chunks_from(index, file_bytes)) {
      require(chunk.bytes < 0 || chunk.offset + chunk.bytes <= file_bytes,
              "a chunk behind the end of the file");
    }
  });
}

// Whatever a chunk has, its elements fill the room that its array says, or there is an error.
void check_foreign(Material& material) {
  Array array;
  array.type = array::ElementType::uint8;
  array.chunk = array.shard = array.shape = {1 + material.number<std::uint16_t>()};
  array.has_checksums = material.up_to(3) == 0;
  array.compression.method = static_cast<Compression::Method>(material.up_to(2));
  array.compression.shuffle = material.up_to(1) == 0;
  const auto stored = material.take(material.size());
  (void)accepts([&] {
    require(std::ssize(zarr::decoded(array, stored)) == array.chunk_bytes(), "another length");
  });
}

void check_own(Material& material) {
  const std::size_t element = std::size_t{1} << static_cast<unsigned>(material.up_to(4));
  const auto left = material.bytes_left();
  const auto chunk = left.first(std::min(left.size(), most_in_chunk) / element * element);
  compress::Bench bench;
  std::vector<std::byte> stored;
  std::vector<std::byte> back(chunk.size());
  must("an own chunk is refused", [&] {
    zarr::blosc(chunk, element, {.method = Compression::Method::zstd, .level = 1}, bench, stored);
    zarr::unblosc(stored, back);
  });
  require(std::ranges::equal(back, chunk), "a chunk has other elements");
}

}  // namespace
}  // namespace iocomp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iocomp;
  fuzz::Material material{data, size};
  const int what = material.up_to(3);
  // The libraries that compress have tables of some size.
  const fuzz::MemoryLimit limit{(std::size_t{32} << 20) + 512 * size};
  if (what == 0) {
    fuzz::check_metadata(std::string{material.text_left()});
  } else if (what == 1) {
    fuzz::check_index(material);
  } else if (what == 2) {
    fuzz::check_foreign(material);
  } else if (compress::has_zstd()) {
    fuzz::check_own(material);
  }
  return 0;
}
