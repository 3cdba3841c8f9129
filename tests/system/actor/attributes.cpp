// `attribute FILE NAME VALUE [of=variable] [type=float64]`: text, in which + stands for a blank, or
// numbers with commas between them.
#include <iocomp/iocomp.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "stage.h"

namespace actor {

void Stage::attribute(const Line& line) {
  if (file(line).handle == nullptr) {
    return;
  }
  const std::string& name = line.argument(1);
  std::string text = line.argument(2);
  const auto type = line.option("type", "text");
  const auto of = line.option("of", "");
  iocomp_file* whole = file(line).handle;
  iocomp_var* part = of.empty() ? nullptr : file(line).variables.at(of).handle;
  const double began = now_seconds();
  int code = IOCOMP_OK;
  if (type == "text") {
    std::replace(text.begin(), text.end(), '+', ' ');
    code = part == nullptr ? iocomp_set_attribute_text(whole, name.c_str(), text.c_str())
                           : iocomp_set_var_attribute_text(part, name.c_str(), text.c_str());
  } else {
    std::vector<double> values;
    std::istringstream stream{text};
    for (std::string value; std::getline(stream, value, ',');) {
      values.push_back(std::stod(value));
    }
    const auto count = static_cast<std::int64_t>(values.size());
    code = part == nullptr
               ? iocomp_set_attribute(whole, name.c_str(), IOCOMP_FLOAT64, count, values.data())
               : iocomp_set_var_attribute(part, name.c_str(), IOCOMP_FLOAT64, count, values.data());
  }
  tell(line, code, began, {{"file", line.argument(0)}});
}

}  // namespace actor
