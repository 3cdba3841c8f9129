// `put_text FILE VARIABLE WORDS [row=N] [pad=blank]`: words with commas between them, + for a
// blank, one in each row of an array of characters, from row N; a scalar has one letter. Padded
// with zeros, or with blanks as Fortran does.
#include <iocomp/iocomp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "stage.h"
#include "values.h"

namespace actor {
namespace {

std::vector<std::string> words_of(std::string text) {
  std::replace(text.begin(), text.end(), '+', ' ');
  std::vector<std::string> words;
  std::istringstream stream{text};
  for (std::string word; std::getline(stream, word, ',');) {
    words.push_back(word);
  }
  return words;
}

}  // namespace

void Stage::put_text(const Line& line) {
  File& into = file(line);
  if (into.handle == nullptr) {
    return;
  }
  const Variable& variable = into.variables.at(line.argument(1));
  const auto words = words_of(line.argument(2));
  std::vector<std::int64_t> start(variable.shape.size(), 0);
  std::vector<std::int64_t> count = variable.shape;
  if (count.size() > 1) {
    start.front() = std::stoll(line.option("row", "0"));
    count.front() = static_cast<std::int64_t>(words.size());
  }
  const auto length = static_cast<std::size_t>(count.empty() ? 1 : count.back());
  const char padding = line.option("pad", "zero") == "blank" ? ' ' : '\0';
  Bytes values(words.size() * length, static_cast<std::byte>(padding));
  for (std::size_t row = 0; row < words.size(); ++row) {
    std::memcpy(values.data() + row * length, words[row].data(),
                std::min(length, words[row].size()));
  }
  into.buffers.push_back(std::move(values));
  Put put{{}, iocomp_current_step(into.handle), line.argument(1)};
  const double began = now_seconds();
  const int code = iocomp_put(variable.handle, start.data(), count.data(),
                              into.buffers.back().data(), &put.ticket);
  tell(line, code, began,
       {{"file", line.argument(0)}, {"variable", put.variable}, {"step", put.step}});
  if (code == IOCOMP_OK) {
    into.puts.push_back(std::move(put));
  }
}

}  // namespace actor
