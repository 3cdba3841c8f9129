#include "formats/netcdf/source.h"

#include <netcdf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "formats/cdf/source.h"
#include "formats/source.h"

namespace iocomp::formats::cdf {
namespace {

/// The calls of netCDF.
struct Library {
  using Count = std::size_t;
  static constexpr int global = NC_GLOBAL;
  using Name = std::array<char, NC_MAX_NAME + 1>;

  static int open(const std::string& path, int* file) {
    return nc_open(path.c_str(), NC_NOWRITE, file);
  }
  static void close(int file) { nc_close(file); }
  static std::string text(int code) { return std::string{"netCDF: "} + nc_strerror(code); }
  static int find(int file, const char* name, int* number) {
    return nc_inq_varid(file, name, number);
  }
  static int count(int file, int* variables) { return nc_inq_nvars(file, variables); }
  static int look(int file, int number, std::string& name, int& type,
                  std::vector<int>& dimensions) {
    int used = 0;
    int code = nc_inq_varndims(file, number, &used);
    if (code != NC_NOERR) {
      return code;
    }
    dimensions.resize(static_cast<std::size_t>(used));
    Name found{};
    code = nc_inq_var(file, number, found.data(), &type, nullptr, dimensions.data(), nullptr);
    name = found.data();
    return code;
  }
  static int dimension(int file, int number, std::string& name, Count& length) {
    Name found{};
    const int code = nc_inq_dim(file, number, found.data(), &length);
    name = found.data();
    return code;
  }
  static bool grows(int file, int dimension) {
    int number = -1;
    return nc_inq_unlimdim(file, &number) == NC_NOERR && number == dimension;
  }
  static int attributes(int file, int number) {
    int count = 0;
    return nc_inq_varnatts(file, number, &count) == NC_NOERR ? count : 0;
  }
  static int attribute(int file, int number, int index, std::string& name, int& type,
                       Count& length) {
    Name found{};
    const int code = nc_inq_attname(file, number, index, found.data());
    name = found.data();
    return code != NC_NOERR ? code : nc_inq_att(file, number, found.data(), &type, &length);
  }
  static int values(int file, int number, const char* name, std::byte* to) {
    return nc_get_att(file, number, name, to);
  }
  static int get(int file, int number, const Count* start, const Count* count, std::byte* to,
                 std::int64_t /*elements*/, array::ElementType /*type*/) {
    return nc_get_vara(file, number, start, count, to);
  }
};

}  // namespace

std::unique_ptr<Source> open_netcdf(const std::string& path) {
  return std::make_unique<CdfSource<Library>>(path);
}

}  // namespace iocomp::formats::cdf
