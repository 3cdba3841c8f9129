#include "back_end.h"

#include <string>
#include <vector>

#include "storage/format.h"
#include "storage/registry.h"

namespace iocomp::storage {

FormatOptions BackEnd::options() const {
  FormatOptions options;
  options.library_path = library_path;
  options.engine = engine;
  return options;
}

const Format& BackEnd::format() const { return storage::format(name, folder).chosen(options()); }

bool BackEnd::is_plain() const { return format().access(options()) == Access::plain_file; }

std::vector<BackEnd> back_ends() {
  std::vector<BackEnd> all{{"posix", false, {}},
                           {"mpiio", false, {}},
                           {"example_format", false, IOCOMP_EXAMPLE_MODULES}};
#ifdef IOCOMP_TESTS_HDF5
  all.push_back({"hdf5", false, {}});
  all.push_back({"hdf5", true, {}});
#endif
#ifdef IOCOMP_TESTS_ADIOS2
  for (const char* engine : {"BP4", "BP5", "HDF5"}) {
    all.push_back({"adios2", false, {}, engine});
  }
#endif
  return all;
}

std::string label(const BackEnd& back_end) {
  return back_end.name + (back_end.library_path ? "_library" : "") +
         (back_end.engine.empty() ? "" : '_' + back_end.engine);
}

}  // namespace iocomp::storage
