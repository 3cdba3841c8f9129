// SPDX-License-Identifier: BSD-3-Clause
#include "compress/deflate.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "base/error.h"
#include "compress/bench.h"

namespace iocomp::compress {
namespace {

constexpr int largest_window = 15;
constexpr int window_of_gzip = largest_window + 16;  // with the header of gzip
constexpr int usual_memory = 8;
constexpr std::size_t most_at_once = std::size_t{1} << 30;  // zlib counts in 32 bits

using Stream = std::unique_ptr<z_stream, int (*)(z_stream*)>;

void check(int result, const char* what) {
  if (result == Z_MEM_ERROR) {
    throw std::bad_alloc{};
  }
  if (result != Z_OK) {
    throw Error{ErrorCode::storage_failure, std::string{what} + ": zlib: " + zError(result)};
  }
}

// Feeds the stream part by part until it ends. @return the bytes that came out, or nothing unless
// it has taken all.
template <typename Call>
std::size_t run(z_stream& stream, std::span<const std::byte> from, std::span<std::byte> to,
                const char* what, Call call) {
  std::size_t taken = 0;
  std::size_t made = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    const std::size_t given = std::min(from.size() - taken, most_at_once);
    const std::size_t room = std::min(to.size() - made, most_at_once);
    stream.next_in = reinterpret_cast<z_const Bytef*>(const_cast<std::byte*>(from.data() + taken));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(to.data() + made);
    stream.avail_out = static_cast<uInt>(room);
    result = call(&stream, taken + given == from.size() ? Z_FINISH : Z_NO_FLUSH);
    taken += given - stream.avail_in;
    made += room - stream.avail_out;
  }
  check(result == Z_STREAM_END ? Z_OK : result, what);
  return taken == from.size() ? made : 0;
}

}  // namespace

bool has_deflate() noexcept { return true; }

std::span<const std::byte> pack_deflate(std::span<const std::byte> bytes, int level,
                                        Wrapping wrapping, Bench& bench) {
  constexpr const char* what = "cannot compress a chunk";
  const int window = wrapping == Wrapping::gzip ? window_of_gzip : largest_window;
  z_stream state{};
  check(deflateInit2(&state, level, Z_DEFLATED, window, usual_memory, Z_DEFAULT_STRATEGY), what);
  const Stream stream{&state, &deflateEnd};
  const auto room = bench.packed.room(deflateBound(stream.get(), bytes.size()));
  return room.first(run(*stream, bytes, room, what, deflate));
}

void unpack_gzip(std::span<const std::byte> packed, std::span<std::byte> to) {
  constexpr const char* what = "cannot decompress a chunk";
  z_stream state{};
  check(inflateInit2(&state, window_of_gzip), what);
  const Stream stream{&state, &inflateEnd};
  const auto made = run(*stream, packed, to, what, [](z_stream* one, int /*flush*/) {
    return inflate(one, Z_NO_FLUSH);  // there may be more to come than fits into one part
  });
  if (made != to.size()) {
    throw Error{ErrorCode::storage_failure, "a chunk holds " + std::to_string(made) +
                                                " bytes where " + std::to_string(to.size()) +
                                                " are expected"};
  }
}

}  // namespace iocomp::compress
