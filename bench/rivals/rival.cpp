// SPDX-License-Identifier: BSD-3-Clause
#include "rivals/rival.h"

namespace iocomp::bench {

const std::vector<std::pair<std::string, Rival>>& rival_names() {
  static const std::vector<std::pair<std::string, Rival>> names{{"iwrite", Rival::iwrite},
                                                                {"bp5-naive", Rival::bp5_naive},
                                                                {"bp5-guided", Rival::bp5_guided}};
  return names;
}

std::unique_ptr<RivalFile> open_rival(Rival rival, const RivalTarget& target) {
  if (rival == Rival::iwrite) return open_iwrite(target);
  return open_bp5(target, rival == Rival::bp5_guided);
}

}  // namespace iocomp::bench
