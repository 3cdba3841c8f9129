// SPDX-License-Identifier: BSD-3-Clause
#include "formats/netcdf/source.h"

#include <netcdf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "contents/description.h"
#include "contents/dimensions.h"
#include "contents/variable.h"
#include "formats/cdf/types.h"
#include "formats/library_file.h"
#include "formats/netcdf/look.h"
#include "formats/padded_texts.h"
#include "formats/pnetcdf/header.h"
#include "formats/source.h"
#include "formats/sub_boxes.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {
namespace {

// More elements overflow where netCDF counts in 32 bits.
constexpr std::size_t most_per_call = std::size_t{1} << 30;  // bytes

bool is_unlimited(int file, int dimension) {
  int number = -1;
  return nc_inq_unlimdim(file, &number) == NC_NOERR && number == dimension;
}

// A first dimension that is called "time", or grows, counts the steps.
class NetcdfSource : public Source {
 public:
  NetcdfSource(const Path& path, std::mutex& library) : path_{path.text()}, library_{library} {
    const std::lock_guard lock{library_};
    opened_.emplace(path, LibraryFile::Calls{
                              [this](const Descriptor& file) {
                                check(nc_open(name_of(file).c_str(), NC_NOWRITE, &file_), "open");
                              },
                              [this] { nc_close(file_); }});
  }
  ~NetcdfSource() override {
    const std::lock_guard lock{library_};
    opened_.reset();
  }

  void read(const Placed& where, const array::Box& box, const Destination& to) override {
    if (array::elements(box) == 0) {
      return;
    }
    const std::lock_guard lock{library_};
    opened_->look([&] { read_by_library(where, box, to); });
  }

  Whereabouts whereabouts(const Placed& where) override {
    const std::lock_guard lock{library_};
    Whereabouts told;
    opened_->look([&] { told = find(where); });
    return told;
  }

  bool is_whole(std::span<const Placed> /*contents*/) override {
    const std::lock_guard lock{library_};
    bool is_so = false;
    opened_->look([&] { is_so = has_all_bytes(); });
    return is_so;
  }

  Inventory look_through() override {
    const std::lock_guard lock{library_};
    Inventory inventory;
    opened_->look([&] { inventory = list(); });
    return inventory;
  }

 private:
  void read_by_library(const Placed& where, const array::Box& box, const Destination& to) {
    const std::string action = "read the variable \"" + where.variable.name + "\" from";
    int number = -1;
    check(nc_inq_varid(file_, where.variable.name.c_str(), &number), action);
    const Found found = look_at(number, array::is_complex(where.variable.type));
    if (found.variable.type != where.variable.type ||
        found.variable.shape != where.variable.shape) {
      throw Error{ErrorCode::storage_failure,
                  "cannot " + action + ' ' + path_ +
                      ": it does not have the expected type and shape " +
                      array::text(where.variable.shape)};
    }
    const std::size_t element = array::size_bytes(where.variable.type);
    DenseBlock block{to, element};
    if (found.has_texts) {
      const auto whole =
          pad_texts(texts(number, found, where.step).all(), length_of(found.variable));
      block.scatter_of(whole.data(), found.variable.shape, box);
      return;
    }
    auto* values = block.bytes();
    const auto most = static_cast<std::int64_t>(most_per_call / element);
    const std::int64_t all = array::elements(box);
    for (std::int64_t first = 0; first < all; first += most) {
      for (const auto& part : sub_boxes(box, first, std::min(most, all - first))) {
        check(get(number, found, where.step, part, values), action);
        values += static_cast<std::size_t>(array::elements(part)) * element;
      }
    }
    block.scatter();
  }

  Whereabouts find(const Placed& where) {
    const std::string& name = where.variable.name;
    int number = -1;
    check(nc_inq_varid(file_, name.c_str(), &number), "find the variable \"" + name + "\" in");
    const Found found = look_at(number, array::is_complex(where.variable.type));
    const auto record = record_of(found, where.step);
    if (has_chunks()) {
      return {.dataset = '/' + name, .record = found.steps ? record : -1};
    }
    if (!header_) {
      header_ = read_header(opened_->file(), path_).value_or(Header{});
    }
    const auto in_fixed = found.has_records ? 0 : record * where.variable.bytes();
    return {.dataset = {},
            .offset = begin_of(*header_, name, record, path_) + in_fixed,
            .byte_order = std::endian::big};
  }

  Inventory list() {
    Inventory inventory;
    int variables = 0;
    check(nc_inq_nvars(file_, &variables), "look through");
    std::int64_t steps = 1;
    std::vector<Found> all;
    for (int number = 0; number < variables; ++number) {
      all.push_back(look_at(number, true));
      if (!all.back().has_type) {
        inventory.not_read.emplace(all.back().variable.name, why_not_read(number));
      }
      steps = std::max(steps, all.back().steps.value_or(1));
    }
    note_groups(inventory);
    check_steps(all);
    if (!has_all_bytes()) {
      throw Error{ErrorCode::storage_failure,
                  "cannot read " + path_ + ": it is shorter than its header says"};
    }
    for (std::int64_t step = 0; step < steps; ++step) {
      inventory.steps.push_back(step);
      for (const auto& found : all) {
        if (found.has_type && step < found.steps.value_or(1)) {
          inventory.contents.push_back({step, found.variable, -1});
        }
      }
    }
    inventory.attributes = attributes_in(file_, NC_GLOBAL, path_);
    for (int number = 0; number < variables; ++number) {
      const Variable& variable = all[static_cast<std::size_t>(number)].variable;
      auto attributes = attributes_in(file_, number, path_);
      if (const auto fill = own_fill_value(variable.type, attributes);
          fill && array::is_complex(variable.type)) {
        attributes.insert_or_assign(contents::fill_attribute, *fill);
      }
      contents::note_dimensions(attributes, variable,
                                all[static_cast<std::size_t>(number)].dimensions);
      inventory.of_variable[variable.name] = std::move(attributes);
    }
    return inventory;
  }

  using Places = std::array<std::size_t, array::max_dimensions + 2>;
  struct Found {
    Variable variable;
    bool has_type = false;  // one of iocomp's, and neither dimensions nor bytes too many
    std::optional<std::int64_t> steps;  // where its first dimension counts them
    bool has_records = false;
    contents::Dimensions dimensions{};
    bool has_texts = false;  // of any length; the last dimension is that of the longest
  };

  // Texts of any length as netCDF hands them out, freed with this.
  class Texts {
   public:
    explicit Texts(std::size_t count) : texts_(count) {}
    Texts(Texts&&) noexcept = default;
    Texts(const Texts&) = delete;
    Texts& operator=(const Texts&) = delete;
    Texts& operator=(Texts&&) = delete;
    ~Texts() {
      if (!texts_.empty()) {
        nc_free_string(texts_.size(), texts_.data());
      }
    }
    [[nodiscard]] char** data() noexcept { return texts_.data(); }
    [[nodiscard]] std::span<char* const> all() const noexcept { return texts_; }

   private:
    std::vector<char*> texts_;
  };

  static std::size_t length_of(const Variable& variable) noexcept {
    return static_cast<std::size_t>(
        variable.shape.extent[static_cast<std::size_t>(variable.shape.dimensions) - 1]);
  }

  // The texts of a step. The variable may lack its last dimension, which is found by them.
  [[nodiscard]] Texts texts(int number, const Found& found, std::int64_t step) const {
    const int dimensions = found.variable.shape.dimensions - (found.has_texts ? 1 : 0);
    array::Box box{dimensions, {}, {}};
    for (int d = 0; d < dimensions; ++d) {
      const auto at = static_cast<std::size_t>(d);
      box.count[at] = found.variable.shape.extent[at];
    }
    const auto count = array::elements(box);
    if (are_too_many(count)) {
      throw Error{ErrorCode::unsupported, too_many_texts()};
    }
    Texts all{static_cast<std::size_t>(count)};
    if (count > 0) {
      check(get(number, found, step, box, static_cast<void*>(all.data())), "read texts from");
    }
    return all;
  }

  [[nodiscard]] std::string why_not_read(int number) const {
    int type = 0;
    check(nc_inq_vartype(file_, number, &type), "look through");
    if (type == NC_STRING) {
      return too_many_texts();
    }
    if (stored_type(type)) {
      return "more dimensions or bytes than a variable can have";
    }
    switch (user_type(type).kind) {
      case NC_VLEN:
        return "sequences of any length";
      case NC_OPAQUE:
        return "opaque elements";
      case NC_COMPOUND:
        return "a compound in each element";
      default:
        return "elements of a type that iocomp does not have";
    }
  }

  void note_groups(Inventory& inventory) const {
    int groups = 0;
    check(nc_inq_grps(file_, &groups, nullptr), "look through");
    std::vector<int> numbers(static_cast<std::size_t>(groups));
    check(nc_inq_grps(file_, nullptr, numbers.data()), "look through");
    for (const int number : numbers) {
      std::array<char, NC_MAX_NAME + 1> name{};
      check(nc_inq_grpname(number, name.data()), "look through");
      inventory.not_read.emplace(name.data(), "a group: variables of the root alone are read");
    }
  }

  struct UserType {
    int kind = 0;
    int base = NC_NAT;
  };
  [[nodiscard]] UserType user_type(int type) const {
    UserType user;
    return nc_inq_user_type(file_, type, nullptr, nullptr, &user.base, nullptr, &user.kind) ==
                   NC_NOERR
               ? user
               : UserType{};
  }

  // The type of complex numbers that a compound is: two numbers "r..." and "i...", without gaps.
  // netCDF4-python writes them so.
  [[nodiscard]] std::optional<array::ElementType> complex_compound(int type) const {
    std::size_t bytes = 0;
    std::size_t fields = 0;
    if (nc_inq_compound(file_, type, nullptr, &bytes, &fields) != NC_NOERR || fields != 2) {
      return std::nullopt;
    }
    std::optional<array::ElementType> found;
    for (int field = 0; field < 2; ++field) {
      std::array<char, NC_MAX_NAME + 1> name{};
      std::size_t offset = 0;
      int part = NC_NAT;
      int dimensions = 0;
      check(nc_inq_compound_field(file_, type, field, name.data(), &offset, &part, &dimensions,
                                  nullptr),
            "look at the types of");
      const auto number = type_of(part).value_or(array::ElementType::uint8);
      const auto complex = array::complex_of(number);
      const bool is_part = std::tolower(static_cast<unsigned char>(name[0])) == "ri"[field] &&
                           offset == static_cast<std::size_t>(field) * array::size_bytes(number);
      if (!complex || dimensions != 0 || !is_part || (found && found != complex)) {
        return std::nullopt;
      }
      found = complex;
    }
    return bytes == array::size_bytes(*found) ? found : std::nullopt;
  }

  // Named values (enumerations) are the integers that they are stored as.
  [[nodiscard]] std::optional<array::ElementType> stored_type(int type) const {
    if (type == NC_STRING) {
      return array::ElementType::character;
    }
    const auto user = type < NC_FIRSTUSERTYPEID ? UserType{} : user_type(type);
    return user.kind == NC_COMPOUND ? complex_compound(type)
                                    : type_of(user.kind == NC_ENUM ? user.base : type);
  }

  // A file of one step has that in its only place, whatever its number.
  static std::int64_t record_of(const Found& found, std::int64_t step) {
    return found.has_records || found.steps.value_or(1) > 1 ? step : 0;
  }

  [[nodiscard]] int get(int number, const Found& found, std::int64_t step, const array::Box& box,
                        void* values) const {
    Places start{};
    Places count{};
    std::size_t d = 0;
    if (found.steps) {
      start.at(d) = static_cast<std::size_t>(record_of(found, step));
      count.at(d++) = 1;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(box.dimensions); ++i) {
      start.at(d) = static_cast<std::size_t>(box.start[i]);
      count.at(d++) = static_cast<std::size_t>(box.count[i]);
    }
    count.at(d) = 2;  // the parts of complex numbers; netCDF takes no more than it has dimensions
    return nc_get_vara(file_, number, start.data(), count.data(), values);
  }

  void check(int code, const std::string& action) const { check_netcdf(code, action, path_); }

  // True for NetCDF-4, which is HDF5.
  [[nodiscard]] bool has_chunks() const {
    int format = 0;
    check(nc_inq_format(file_, &format), "look at the format of");
    return format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC;
  }

  // HDF5 opens no file that ends early; netCDF reads zeros behind the end of others.
  [[nodiscard]] bool has_all_bytes() const {
    if (has_chunks()) {
      return true;
    }
    const auto header = read_header(opened_->file(), path_);
    const auto end = header ? end_of_elements(*header) : std::nullopt;
    return end && *end <= opened_->bytes();
  }

  // The steps that its header claims are listed one by one: there must be room for them in the
  // file, as there is in all but those of HDF5, whose chunks may be compressed or missing.
  void check_steps(const std::vector<Found>& all) const {
    const bool may_be_compressed = has_chunks();
    const std::int64_t room = opened_->bytes();
    for (const auto& found : all) {
      const std::int64_t bytes = may_be_compressed || !found.has_type ? 0 : found.variable.bytes();
      const std::int64_t most = bytes > 0 ? room / bytes : contents::most_silent_steps;
      if (const auto steps = found.steps.value_or(0); steps < 0 || steps > most) {
        throw Error{ErrorCode::storage_failure,
                    "cannot read " + path_ + ": it is torn: the variable \"" + found.variable.name +
                        "\" has " + std::to_string(steps) + " steps of " + std::to_string(bytes) +
                        " bytes, and the file " + std::to_string(room) + " bytes"};
      }
    }
  }

  // The type of complex numbers whose parts lie along the last dimension, by any convention that
  // netCDF4-python knows.
  [[nodiscard]] std::optional<array::ElementType> complex_type_of(const Looked& looked) const {
    constexpr std::array<std::string_view, 3> names{contents::complex_dimension, "complex", "ri"};
    const auto part = type_of(looked.type);
    if (!part || looked.dimensions.empty()) {
      return std::nullopt;
    }
    const auto& [number, name, length] = looked.dimensions.back();
    const bool is_coordinate = name == looked.name;
    return std::ranges::find(names, name) != names.end() && length == 2 && !is_coordinate &&
                   !is_unlimited(file_, number)
               ? array::complex_of(*part)
               : std::nullopt;
  }

  // @param may_be_complex  else parts of complex numbers are real numbers.
  Found look_at(int number, bool may_be_complex) const {
    Looked looked = cdf::look_at(file_, number, path_);
    Found found;
    found.variable.name = looked.name;
    auto element = stored_type(looked.type);
    if (const auto complex = may_be_complex ? complex_type_of(looked) : std::nullopt) {
      element = complex;
      looked.dimensions.pop_back();
    }
    found.has_type = element && looked.dimensions.size() <= array::max_dimensions + 1;
    found.variable.type = element.value_or(array::ElementType::uint8);
    std::size_t d = 0;
    array::Extents extents{};
    for (std::size_t i = 0; found.has_type && i < looked.dimensions.size(); ++i) {
      const auto& dimension = looked.dimensions[i];
      const bool grows = is_unlimited(file_, dimension.number);
      if (i == 0 && (grows || dimension.name == contents::time_dimension)) {
        found.steps = dimension.length;
        found.has_records = grows;
        found.dimensions.has_time = true;
      } else if (d < array::max_dimensions) {
        found.dimensions.names.push_back(dimension.name);
        extents.at(d++) = dimension.length;
      } else {
        found.has_type = false;
      }
    }
    if (found.has_type && looked.type == NC_STRING) {
      found.has_type = add_length(number, found, d, extents);
    }
    found.has_type = found.has_type && outcome_of([&] {
                                         found.variable.shape =
                                             array::make_shape(static_cast<int>(d), extents.data());
                                         contents::check_bytes(found.variable);
                                       }).ok();
    return found;
  }

  // The length of the longest text of all steps is one more dimension. @return whether it fits.
  bool add_length(int number, Found& found, std::size_t& dimensions,
                  array::Extents& extents) const {
    if (dimensions == array::max_dimensions) {
      return false;
    }
    const auto known = lengths_.find(number);
    std::int64_t longest = known == lengths_.end() ? 1 : known->second;
    if (known == lengths_.end()) {
      const Outcome looked = outcome_of([&] {
        found.variable.shape = array::make_shape(static_cast<int>(dimensions), extents.data());
        for (std::int64_t step = 0; step < found.steps.value_or(1); ++step) {
          longest = std::max(longest, longest_of(texts(number, found, step).all()));
          if (are_too_many(array::elements(found.variable.shape), longest)) {
            throw Error{ErrorCode::unsupported, too_many_texts()};
          }
        }
      });
      if (!looked.ok()) {
        return false;
      }
      lengths_.emplace(number, longest);
    }
    extents.at(dimensions++) = longest;
    found.dimensions.names.push_back("string" + std::to_string(longest));  // as xarray calls it
    found.has_texts = true;
    return true;
  }

  std::string path_;
  std::mutex& library_;
  int file_ = -1;
  mutable std::map<int, std::int64_t> lengths_;  // of the longest texts, by the variable's number
  std::optional<LibraryFile> opened_;
  std::optional<Header> header_;  // of CDF, once somebody has asked where variables lie
};

}  // namespace

std::unique_ptr<Source> open_netcdf(const Path& path, std::mutex& library) {
  return std::make_unique<NetcdfSource>(path, library);
}

}  // namespace iocomp::formats::cdf
