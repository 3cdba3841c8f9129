#include "client/exchange_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "array/runs.h"

namespace iocomp::client {

std::int64_t Windows::end(std::int64_t window) const noexcept {
  return std::min(begin(window) + elements, domains.begin(number + 1));
}

void cut(const ExchangedPiece& piece, const array::Region& region, std::size_t number,
         const array::Shape& shape, const Windows& windows, std::vector<ExchangedPart>& parts) {
  const std::int64_t all = piece.first + piece.count;
  for (std::int64_t first = piece.first; first < all;) {
    array::RunCursor cursor{shape, region, first, 1};
    array::Run run;
    (void)cursor.next(run);
    const std::int64_t window = (run.index - windows.begin(0)) / windows.elements;
    const std::int64_t end =
        std::min(all, array::elements_below(shape, region, windows.end(window)));
    parts.push_back({piece.variable, window, number, first, end - first});
    first = end;
  }
}

void sort(std::vector<ExchangedPart>& parts) {
  std::ranges::stable_sort(parts, {}, [](const ExchangedPart& part) {
    return std::tuple{part.variable, part.window, part.piece};
  });
}

}  // namespace iocomp::client
