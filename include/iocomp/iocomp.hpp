// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file iocomp.hpp
 * The C interface for C++20: owning handles, typed variables, spans, exceptions. Header only, no
 * logic of its own: what a call does, and which ranks must call it, stands in iocomp.h at the
 * function of the same name.
 *
 *     iocomp::Session io{MPI_COMM_WORLD};
 *     iocomp::File out = io.open("fields", IOCOMP_SERIES);
 *     auto u = out.define<double>("u", {nx, ny});
 *
 *     iocomp::Ticket ticket = u.put({x0, 0}, {count, ny}, values);  // std::vector, std::span, ...
 *
 *     out.end_step();
 *
 *     compute();
 *
 *     ticket.wait();  // values may change from here on
 *
 *     out.close();
 *
 *     io.finalize();  // before MPI_Finalize
 *
 * Every call throws iocomp::Error when the C function fails. Destructors never throw: they do what
 * was not done explicitly and print a failure to stderr, so call close() and finalize() where
 * failures matter.
 */
#ifndef IOCOMP_IOCOMP_HPP
#define IOCOMP_IOCOMP_HPP

#if __cplusplus < 202002L
#error "iocomp.hpp needs C++20: compile with -std=c++20, or include iocomp.h"
#elif defined(IOCOMP_API_0_2)
#error "iocomp.hpp has no names of 0.2: compile its users without IOCOMP_API_0_2"
#else

#include <iocomp/iocomp.h>

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace iocomp::inline v1 {

/// A call that failed. what() is the whole story: file, variable, step, server and cause.
class Error : public std::runtime_error {
 public:
  Error(int code, const std::string& story) : std::runtime_error{story}, code_{code} {}
  /// A value of iocomp_code.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// Turn a return value of the C interface into an exception.
/// @throws Error unless `code` is IOCOMP_OK.
inline void check(int code) {
  if (code != IOCOMP_OK) {
    throw Error{code, iocomp_error()};
  }
}

namespace detail {

// The C interface would take only the text before a zero.
// @throws Error{IOCOMP_INVALID_ARGUMENT} if the text has one.
inline const char* c_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) {
    throw Error{IOCOMP_INVALID_ARGUMENT, "the text \"" + std::string{text.c_str()} +
                                             "...\" has a zero inside, where it would end"};
  }
  return text.c_str();
}

inline std::vector<const char*> c_texts(std::span<const std::string> texts) {
  std::vector<const char*> all;
  for (const auto& text : texts) {
    all.push_back(c_text(text));
  }
  return all;
}

template <typename T>
consteval iocomp_type integer_type() {
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return is_signed ? IOCOMP_INT8 : IOCOMP_UINT8;
    case 2:
      return is_signed ? IOCOMP_INT16 : IOCOMP_UINT16;
    case 4:
      return is_signed ? IOCOMP_INT32 : IOCOMP_UINT32;
    default:
      return is_signed ? IOCOMP_INT64 : IOCOMP_UINT64;
  }
}

// An object may be made and end inside a destructor that an exception calls.
class Life {
 public:
  [[nodiscard]] bool is_ended_by_exception() const noexcept {
    return std::uncaught_exceptions() > at_begin_;
  }

 private:
  int at_begin_ = std::uncaught_exceptions();
};

// Wide characters are no numbers: a file would not give them back as what they were. A char is a
// byte of text, a bool has a type of its own.
template <typename T, typename... Others>
inline constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);
template <typename T>
concept Integer =
    std::integral<T> && !is_one_of<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

// An array that ends with the call.
template <typename Values>
concept Temporary = std::ranges::contiguous_range<Values> && !std::ranges::borrowed_range<Values>;

}  // namespace detail

/// The element type of a C++ type. Specialise it for a type of your own with the same bytes, such
/// as a half: `template <> struct iocomp::ElementType<half> { static constexpr iocomp_type value =
/// IOCOMP_FLOAT16; };`
template <typename T>
struct ElementType {};
template <detail::Integer T>
struct ElementType<T> {
  static constexpr iocomp_type value = detail::integer_type<T>();
};
template <>
struct ElementType<float> {
  static constexpr iocomp_type value = IOCOMP_FLOAT32;
};
template <>
struct ElementType<double> {
  static constexpr iocomp_type value = IOCOMP_FLOAT64;
};
template <>
struct ElementType<std::complex<float>> {
  static constexpr iocomp_type value = IOCOMP_COMPLEX64;
};
template <>
struct ElementType<std::complex<double>> {
  static constexpr iocomp_type value = IOCOMP_COMPLEX128;
};

template <>
struct ElementType<char> {
  static constexpr iocomp_type value = IOCOMP_CHAR;
};
template <>
struct ElementType<bool> {
  static_assert(sizeof(bool) == 1);
  static constexpr iocomp_type value = IOCOMP_BOOL;
};

/// A type whose values a variable can hold.
template <typename T>
concept Element = std::is_trivially_copyable_v<T> && requires {
  { ElementType<T>::value } -> std::convertible_to<iocomp_type>;
};

/// Several of them in a row: a vector, an array, a span.
template <typename T>
concept ElementRange = std::ranges::contiguous_range<T> && std::ranges::sized_range<T> &&
                       Element<std::ranges::range_value_t<T>>;

/// Extents or indices, one 64-bit entry per dimension: `{nx, ny}`, a vector, an array, a span; `{}`
/// for a scalar. A view for use as a parameter: it does not own its entries.
class Extents {
 public:
  Extents() noexcept = default;
  Extents(std::initializer_list<std::int64_t> entries) noexcept
      : entries_{entries.begin(), entries.size()} {}
  template <typename Range>
    requires(!std::same_as<std::remove_cvref_t<Range>, Extents> &&
             std::convertible_to<const Range&, std::span<const std::int64_t>>)
  Extents(const Range& range) : entries_{range} {}

  [[nodiscard]] const std::int64_t* data() const noexcept { return entries_.data(); }
  [[nodiscard]] int ndims() const noexcept { return static_cast<int>(entries_.size()); }
  /// The number of elements of a box with these extents; 1 for a scalar.
  [[nodiscard]] std::int64_t product() const noexcept {
    std::int64_t elements = 1;
    for (const std::int64_t extent : entries_) {
      elements *= extent;
    }
    return elements;
  }

 private:
  std::span<const std::int64_t> entries_;
};

/// The result of a put. It is small and free to copy, and can be asked until the session is
/// finalized. An empty one belongs to no put.
class Ticket {
 public:
  Ticket() noexcept = default;
  explicit Ticket(const iocomp_ticket& raw) noexcept : raw_{raw} {}

  /// Has the put come as far as `state`? Local. @throws Error the failure of the put.
  [[nodiscard]] bool test(iocomp_state state = IOCOMP_REUSABLE) const {
    int reached = 0;
    check(iocomp_test(&raw_, state, &reached));
    return reached != 0;
  }
  /// Sleep until the put has come as far as `state`. Local. @throws Error the failure of the put,
  /// each time.
  void wait(iocomp_state state = IOCOMP_REUSABLE) const { check(iocomp_wait(&raw_, state)); }

  [[nodiscard]] const iocomp_ticket& raw() const noexcept { return raw_; }

 private:
  iocomp_ticket raw_{};
};

/// The part that this rank has of arrays of one shape that are not cut into boxes. Movable, not
/// copyable. Must end before the session does.
class Decomp {
 public:
  Decomp() noexcept = default;
  /// @param values  elements that the rank has in memory.
  Decomp(iocomp_decomp* raw, std::int64_t values, std::weak_ptr<void> session) noexcept
      : raw_{raw}, values_{values}, session_{std::move(session)} {}
  Decomp(const Decomp&) = delete;
  Decomp& operator=(const Decomp&) = delete;
  Decomp(Decomp&& other) noexcept
      : raw_{std::exchange(other.raw_, nullptr)},
        values_{other.values_},
        session_{std::move(other.session_)} {}
  Decomp& operator=(Decomp&& other) noexcept {
    if (this != &other) {
      leave();
      raw_ = std::exchange(other.raw_, nullptr);
      values_ = other.values_;
      session_ = std::move(other.session_);
    }
    return *this;
  }
  ~Decomp() { leave(); }

  /// Elements that a put by it reads.
  [[nodiscard]] std::int64_t values() const noexcept { return values_; }
  [[nodiscard]] const iocomp_decomp* raw() const noexcept { return raw_; }

 private:
  void leave() noexcept {
    if (raw_ != nullptr && !session_.expired()) {
      static_cast<void>(iocomp_decomp_free(raw_));
    }
  }

  iocomp_decomp* raw_ = nullptr;
  std::int64_t values_ = 0;
  std::weak_ptr<void> session_;
};

/// The first row of a rank among those of all, and the number of all: an entry for each variable.
struct Rows {
  std::vector<std::int64_t> first{};
  std::vector<std::int64_t> total{};
};

/// A typed N-dimensional global array in a file. A reference: free to copy, valid as long as its
/// file.
template <Element T>
class Variable {
 public:
  Variable() noexcept = default;
  Variable(iocomp_var* raw, int ndims) noexcept : raw_{raw}, ndims_{ndims} {}

  /// Put one block into the current step. Local: any number per rank, in any order.
  /// @param start   first global index, one entry per dimension.
  /// @param count   extents of the block, one entry per dimension.
  /// @param values  product(count) elements, row-major; keep them unchanged until the ticket is
  /// IOCOMP_REUSABLE.
  /// @throws Error{IOCOMP_INVALID_ARGUMENT} when the sizes do not fit each other.
  Ticket put(Extents start, Extents count, std::span<const T> values) const {
    fits(start, count, values, count.product());
    iocomp_ticket ticket{};
    check(iocomp_put(raw_, start.data(), count.data(), values.data(), &ticket));
    return Ticket{ticket};
  }
  /// The same with flags: with IOCOMP_BUFFERED the library copies the block, so that `values` is
  /// reusable on return. May wait for buffer memory.
  Ticket put(Extents start, Extents count, std::span<const T> values, int flags) const {
    fits(start, count, values, count.product());
    iocomp_block block = block_of(values, flags);
    block.start = start.data();
    block.count = count.data();
    return put_block(block);
  }

  /// Put what this rank has by a decomposition.
  /// @param values  in the order of its runs or map.
  /// @throws Error{IOCOMP_INVALID_ARGUMENT} when there are more or fewer.
  Ticket put(const Decomp& part, std::span<const T> values, int flags = 0) const {
    if (!std::cmp_equal(values.size(), part.values())) {
      throw Error{IOCOMP_INVALID_ARGUMENT, "got " + std::to_string(values.size()) +
                                               " values for a decomposition of " +
                                               std::to_string(part.values()) + " elements"};
    }
    iocomp_block block = block_of(values, flags);
    block.decomp = part.raw();
    return put_block(block);
  }

  // A temporary would be gone before it is written. Give it a name, or put it with IOCOMP_BUFFERED.
  template <detail::Temporary Values>
  Ticket put(Extents start, Extents count, Values&& values) const = delete;
  template <detail::Temporary Values>
  Ticket put(const Decomp& part, Values&& values) const = delete;
  template <detail::Temporary Values>
  Ticket put_block(Extents start, Extents count, Values&& values, Extents memory_shape,
                   Extents memory_start) const = delete;

  /// Put the value of a scalar (a variable without dimensions). Copied.
  Ticket put(const T& value) const {
    return put({}, {}, std::span<const T>{&value, 1}, IOCOMP_BUFFERED);
  }

  /// Put a block that lies inside a larger local array, as arrays with halos do.
  /// @param values        the whole local array: product(memory_shape) elements, row-major.
  /// @param memory_shape  extents of the local array, one entry per dimension.
  /// @param memory_start  where the block begins in the local array, one entry per dimension.
  Ticket put_block(Extents start, Extents count, std::span<const T> values, Extents memory_shape,
                   Extents memory_start, int flags = 0) const {
    has_dims("memory_shape", memory_shape);
    has_dims("memory_start", memory_start);
    fits(start, count, values, memory_shape.product());
    iocomp_block block = block_of(values, flags);
    block.start = start.data();
    block.count = count.data();
    block.memory_shape = memory_shape.data();
    block.memory_start = memory_start.data();
    return put_block(block);
  }

  /// Give the variable another shape from the current step on. Called by all members in the same
  /// order.
  void set_shape(Extents shape) const {
    has_dims("shape", shape);
    check(iocomp_set_shape(raw_, shape.data()));
  }

  /// Set the value of elements that nobody puts, from the current step on. Called by all members in
  /// the same order, before the first put of the step.
  void set_fill(const T& value) const { check(iocomp_set_fill(raw_, &value)); }

  /// Attach an attribute. Called by all members in the same order; setting a name again replaces
  /// the value.
  template <ElementRange Values>
    requires(!std::same_as<std::ranges::range_value_t<Values>, char>)  // which is text
  void set_attribute(const std::string& name, const Values& values) const {
    check(iocomp_set_attribute(
        nullptr, raw_, detail::c_text(name), ElementType<std::ranges::range_value_t<Values>>::value,
        static_cast<std::int64_t>(std::ranges::size(values)), std::ranges::data(values)));
  }
  template <Element A>
  void set_attribute(const std::string& name, const A& value) const {
    set_attribute(name, std::span<const A>{&value, 1});
  }
  template <Element A>
    requires(!std::same_as<A, char>)
  void set_attribute(const std::string& name, std::initializer_list<A> values) const {
    set_attribute(name, std::span<const A>{values});
  }
  void set_attribute(const std::string& name, const std::string& text) const {
    check(iocomp_set_attribute(nullptr, raw_, detail::c_text(name), IOCOMP_CHAR, -1,
                               detail::c_text(text)));
  }
  void set_attribute(const std::string& name, const std::vector<std::string>& texts) const {
    const auto all = detail::c_texts(texts);
    check(iocomp_set_attribute(nullptr, raw_, detail::c_text(name), IOCOMP_STRING, std::ssize(all),
                               all.data()));
  }
  void set_attribute(const std::string& name, std::initializer_list<std::string> texts) const {
    set_attribute(name, std::vector<std::string>{texts});
  }

  [[nodiscard]] int ndims() const noexcept { return ndims_; }
  [[nodiscard]] iocomp_var* raw() const noexcept { return raw_; }

 private:
  static iocomp_block block_of(std::span<const T> values, int flags) {
    iocomp_block block{};
    block.size = sizeof block;
    block.values = values.data();
    block.flags = flags;
    return block;
  }
  Ticket put_block(const iocomp_block& block) const {
    iocomp_ticket ticket{};
    check(iocomp_put_block(raw_, &block, &ticket));
    return Ticket{ticket};
  }

  // The C functions see bare pointers; only here are the lengths known.
  void has_dims(const char* what, Extents extents) const {
    if (extents.ndims() != ndims_) {
      throw Error{IOCOMP_INVALID_ARGUMENT,
                  std::string{what} + " has " + std::to_string(extents.ndims()) +
                      " entries, the variable has " + std::to_string(ndims_) + " dimensions"};
    }
  }
  void fits(Extents start, Extents count, std::span<const T> values, std::int64_t needed) const {
    has_dims("start", start);
    has_dims("count", count);
    if (!std::cmp_equal(values.size(), needed)) {
      throw Error{IOCOMP_INVALID_ARGUMENT, "got " + std::to_string(values.size()) +
                                               " values for a box of " + std::to_string(needed) +
                                               " elements"};
    }
  }

  iocomp_var* raw_ = nullptr;
  int ndims_ = 0;
};

/// A number of rows of a variable, see set_rows().
struct RowsOf {
  template <Element T>
  RowsOf(const Variable<T>& variable, std::int64_t count) noexcept
      : raw{variable.raw()}, rows{count} {}
  iocomp_var* raw;
  std::int64_t rows;
};

/// Say how many rows this rank has of some variables of a file from the current step on: they
/// follow those of the ranks before it. Collective over the members, before their first put of the
/// step: `auto [first, total] = iocomp::set_rows({{x, n}, {id, n}});`
inline Rows set_rows(std::span<const RowsOf> all) {
  std::vector<iocomp_var*> variables;
  std::vector<std::int64_t> rows;
  for (const RowsOf& one : all) {
    variables.push_back(one.raw);
    rows.push_back(one.rows);
  }
  Rows found{std::vector<std::int64_t>(all.size()), std::vector<std::int64_t>(all.size())};
  check(iocomp_set_rows(static_cast<int>(all.size()), variables.data(), rows.data(),
                        found.first.data(), found.total.data()));
  return found;
}
inline Rows set_rows(std::initializer_list<RowsOf> all) {
  return set_rows(std::span<const RowsOf>{all.begin(), all.size()});
}

/// An open output. Movable, not copyable.
class File {
 public:
  File() noexcept = default;
  /// @param session  expires when the session is finalized, which ends the file too.
  File(iocomp_file* raw, std::string name, std::weak_ptr<void> session) noexcept
      : raw_{raw}, name_{std::move(name)}, session_{std::move(session)} {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&& other) noexcept
      : raw_{std::exchange(other.raw_, nullptr)},
        name_{std::move(other.name_)},
        session_{std::move(other.session_)} {}
  File& operator=(File&& other) noexcept {
    if (this != &other) {
      leave();
      raw_ = std::exchange(other.raw_, nullptr);
      name_ = std::move(other.name_);
      session_ = std::move(other.session_);
    }
    return *this;
  }
  /// Closes the file if close() was not called. A failure is printed to stderr. If an exception
  /// ends the file, it waits for nobody: the session's finalize closes it, and drops a step that
  /// was not ended.
  ~File() { leave(); }

  /// Define a variable. Called by all members in the same order; waits for nobody.
  /// @param shape  global extents, one entry per dimension (at most IOCOMP_MAX_DIMS); `{}` for a
  /// scalar.
  /// @param dims  names of the dimensions, one for each; without them they have none. A variable
  /// that has values in each step of a series has "time" in front of them.
  /// @tparam Stored  type of the variable in the file, if it is another one: `define<double,
  /// float>`.
  template <Element T, Element Stored = T>
  [[nodiscard]] Variable<T> define(const std::string& name, Extents shape,
                                   const std::vector<std::string>& dims = {}) {
    std::vector<const char*> names;
    for (const std::string& each : dims) {
      names.push_back(detail::c_text(each));
    }
    const bool has_time = std::cmp_equal(dims.size(), shape.ndims() + 1) && dims.front() == "time";
    if (has_time) {
      names.erase(names.begin());
    }
    if (!dims.empty() && std::cmp_not_equal(names.size(), shape.ndims())) {
      throw Error{IOCOMP_INVALID_ARGUMENT,
                  "define(\"" + name + "\"): " + std::to_string(dims.size()) + " names for " +
                      std::to_string(shape.ndims()) + " dimensions"};
    }
    iocomp_definition definition{};
    definition.name = detail::c_text(name);
    definition.ndims = shape.ndims();
    definition.shape = shape.data();
    definition.dims = dims.empty() ? nullptr : names.data();
    definition.has_time = has_time ? 1 : 0;
    return define_as<T, Stored>(definition);
  }
  /// Define a scalar that is put in one step only.
  template <Element T, Element Stored = T>
  [[nodiscard]] Variable<T> define_once(const std::string& name) {
    const char* const none = nullptr;
    iocomp_definition definition{};
    definition.name = detail::c_text(name);
    definition.dims = &none;
    return define_as<T, Stored>(definition);
  }

  /// Attach an attribute. Called by all members in the same order; setting a name again replaces
  /// the value.
  template <ElementRange Values>
    requires(!std::same_as<std::ranges::range_value_t<Values>, char>)  // which is text
  void set_attribute(const std::string& name, const Values& values) {
    check(iocomp_set_attribute(live(), nullptr, detail::c_text(name),
                               ElementType<std::ranges::range_value_t<Values>>::value,
                               static_cast<std::int64_t>(std::ranges::size(values)),
                               std::ranges::data(values)));
  }
  template <Element A>
  void set_attribute(const std::string& name, const A& value) {
    set_attribute(name, std::span<const A>{&value, 1});
  }
  template <Element A>
    requires(!std::same_as<A, char>)
  void set_attribute(const std::string& name, std::initializer_list<A> values) {
    set_attribute(name, std::span<const A>{values});
  }
  void set_attribute(const std::string& name, const std::string& text) {
    check(iocomp_set_attribute(live(), nullptr, detail::c_text(name), IOCOMP_CHAR, -1,
                               detail::c_text(text)));
  }
  void set_attribute(const std::string& name, const std::vector<std::string>& texts) {
    const auto all = detail::c_texts(texts);
    check(iocomp_set_attribute(live(), nullptr, detail::c_text(name), IOCOMP_STRING,
                               std::ssize(all), all.data()));
  }
  void set_attribute(const std::string& name, std::initializer_list<std::string> texts) {
    set_attribute(name, std::vector<std::string>{texts});
  }

  /// This rank has put all it has for the current step. Called by all members in the same order.
  /// Asynchronous: waits for nobody (but see `steps_in_flight`). Synchronous: collective over the
  /// members.
  void end_step() { check(iocomp_end_step(live())); }
  /// Give the current step a number, above that of the step before, and a physical time unless that
  /// is NaN. Called by all members in the same order, before the caller's first put of the step.
  void begin_step(std::int64_t number, double time = std::numeric_limits<double>::quiet_NaN()) {
    check(iocomp_begin_step(live(), number, time));
  }
  /// From the current step on, steps of this file are committed only after the steps that its
  /// members had ended of the files called `name`; see iocomp_after. Called by all members; waits
  /// for nobody.
  void after(const std::string& name) { check(iocomp_after(live(), detail::c_text(name))); }
  /// Steps that this rank has ended so far. Local.
  [[nodiscard]] std::int64_t current_step() const noexcept { return iocomp_current_step(raw()); }
  /// Sleep until all puts of this rank since the last such call have reached `state`: see
  /// iocomp_wait_puts. Local. @throws Error the first failure of these puts.
  void wait_puts(iocomp_state state = IOCOMP_REUSABLE) { check(iocomp_wait_puts(live(), state)); }
  /// Sleep until the step is committed: complete on all members, and durable. Without servers:
  /// collective over the members.
  void wait_step(std::int64_t step) { check(iocomp_wait_step(live(), step)); }

  /// Close the file and return when all of it is durable. Called by all members in the same order.
  /// @throws Error the first failure of the file that was not told yet. The handle is gone in any
  /// case.
  void close() {
    static_cast<void>(live());
    check(iocomp_close(release()));
  }
  /// The same without waiting. The ticket is IOCOMP_DURABLE when all of the file is committed.
  /// Called by all members in the same order.
  Ticket close_later() {
    static_cast<void>(live());
    iocomp_ticket ticket{};
    check(iocomp_close_later(release(), &ticket));
    return Ticket{ticket};
  }

  [[nodiscard]] bool is_open() const noexcept { return raw() != nullptr; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] iocomp_file* raw() const noexcept { return session_.expired() ? nullptr : raw_; }

 private:
  template <Element T, Element Stored>
  Variable<T> define_as(iocomp_definition definition) {
    definition.size = sizeof definition;
    definition.type = ElementType<T>::value;
    if constexpr (!std::same_as<T, Stored>) {
      definition.file_type = ElementType<Stored>::value;
    }
    iocomp_var* variable = nullptr;
    check(iocomp_define_with(live(), &definition, &variable));
    return Variable<T>{variable, definition.ndims};
  }
  [[nodiscard]] iocomp_file* live() const {
    if (raw() == nullptr) {
      throw Error{IOCOMP_INVALID_ARGUMENT,
                  name_.empty() ? "there is no file" : "the file \"" + name_ + "\" was closed"};
    }
    return raw();
  }
  iocomp_file* release() noexcept {
    iocomp_file* const open = raw();
    raw_ = nullptr;
    return open;
  }
  void leave() noexcept {
    iocomp_file* const open = release();
    if (open == nullptr) {
      return;
    }
    if (life_.is_ended_by_exception()) {
      static_cast<void>(iocomp_begin_step(open, IOCOMP_DROP_STEP, 0));
    } else if (iocomp_close(open) != IOCOMP_OK) {
      std::fprintf(stderr, "iocomp: closing '%s': %s\n", name_.c_str(), iocomp_error());
    }
  }

  detail::Life life_;
  iocomp_file* raw_ = nullptr;
  std::string name_;
  std::weak_ptr<void> session_;
};

/// A named input, open for reading: the committed steps of a series, or of a set of checkpoints.
/// Movable, not copyable. All but opening it is local.
class Input {
 public:
  Input() noexcept = default;
  /// @param session  expires when the session is finalized, which ends the input too.
  Input(iocomp_input* raw, std::weak_ptr<void> session) noexcept
      : raw_{raw}, session_{std::move(session)} {}
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  Input(Input&& other) noexcept
      : raw_{std::exchange(other.raw_, nullptr)}, session_{std::move(other.session_)} {}
  Input& operator=(Input&& other) noexcept {
    if (this != &other) {
      close();
      raw_ = std::exchange(other.raw_, nullptr);
      session_ = std::move(other.session_);
    }
    return *this;
  }
  ~Input() { close(); }

  /// The numbers of the committed steps, ascending.
  [[nodiscard]] std::vector<std::int64_t> steps() const {
    std::int64_t count = 0;
    const std::int64_t* steps = nullptr;
    check(iocomp_input_steps(live(), &count, &steps));
    return {steps, steps + count};
  }
  /// Physical time of a step; NaN if none is known.
  [[nodiscard]] double time(std::int64_t step) const {
    double time = 0;
    check(iocomp_input_time(live(), step, &time));
    return time;
  }
  /// Steps whose files are torn, ascending, each with the cause.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::string>> left_out() const {
    std::int64_t count = 0;
    const std::int64_t* steps = nullptr;
    const char* const* causes = nullptr;
    check(iocomp_input_left_out(live(), &count, &steps, &causes));
    std::vector<std::pair<std::int64_t, std::string>> all;
    for (std::int64_t index = 0; index < count; ++index) {
      all.emplace_back(steps[index], causes[index]);
    }
    return all;
  }
  /// The names of the variables, in the order of definition.
  [[nodiscard]] std::vector<std::string> variables() const {
    std::int64_t count = 0;
    const char* const* names = nullptr;
    check(iocomp_input_variables(live(), &count, &names));
    return {names, names + count};
  }
  /// The type of a variable in a step; -1: in the newest step that has it.
  [[nodiscard]] iocomp_type type(const std::string& variable, std::int64_t step = -1) const {
    iocomp_type type{};
    check(iocomp_input_variable(live(), detail::c_text(variable), step, &type, nullptr, nullptr));
    return type;
  }
  [[nodiscard]] int ndims(const std::string& variable, std::int64_t step = -1) const {
    int ndims = 0;
    check(iocomp_input_variable(live(), detail::c_text(variable), step, nullptr, &ndims, nullptr));
    return ndims;
  }
  /// The global extents in a step; empty for a scalar.
  [[nodiscard]] std::vector<std::int64_t> shape(const std::string& variable,
                                                std::int64_t step) const {
    int ndims = 0;
    const std::int64_t* extents = nullptr;
    check(iocomp_input_variable(live(), detail::c_text(variable), step, nullptr, &ndims, &extents));
    return {extents, extents + ndims};
  }

  /// Read one block.
  /// @param values  room for product(count) elements, row-major.
  /// Values of another type than that of the variable are converted, as by iocomp_read_block.
  /// @throws Error{IOCOMP_INVALID_ARGUMENT} also when they cannot be, or the sizes do not fit each
  /// other.
  template <ElementRange Values>
  void read(const std::string& variable, std::int64_t step, Extents start, Extents count,
            Values&& values) const {
    fits(variable, step, {start, count}, std::ranges::size(values), count.product());
    take_block(variable, step, start, count, std::ranges::data(values));
  }
  /// The same, as a vector.
  template <Element T>
  [[nodiscard]] std::vector<T> read(const std::string& variable, std::int64_t step, Extents start,
                                    Extents count) const {
    using Read = std::conditional_t<std::same_as<T, bool>, std::int8_t, T>;  // vector<bool> is bits
    std::vector<Read> values(static_cast<std::size_t>(std::max<std::int64_t>(count.product(), 0)));
    read(variable, step, start, count, values);
    if constexpr (std::same_as<T, bool>) {
      return std::vector<bool>(values.begin(), values.end());
    } else {
      return values;
    }
  }
  /// The whole variable.
  template <Element T>
  [[nodiscard]] std::vector<T> read(const std::string& variable, std::int64_t step) const {
    const auto count = shape(variable, step);
    return read<T>(variable, step, std::vector<std::int64_t>(count.size(), 0), count);
  }
  /// Read a block into a box of a larger local array, as arrays with halos are.
  /// @param values  the whole local array: product(memory_shape) elements, row-major.
  template <ElementRange Values>
  void read_block(const std::string& variable, std::int64_t step, Extents start, Extents count,
                  Values&& values, Extents memory_shape, Extents memory_start) const {
    fits(variable, step, {start, count, memory_shape, memory_start}, std::ranges::size(values),
         memory_shape.product());
    take_block(variable, step, start, count, std::ranges::data(values), memory_shape.data(),
               memory_start.data());
  }

  /// The names of the attributes of the file, or of a variable.
  [[nodiscard]] std::vector<std::string> attributes() const { return attributes_of(nullptr); }
  [[nodiscard]] std::vector<std::string> attributes(const std::string& variable) const {
    return attributes_of(detail::c_text(variable));
  }
  /// The values of an attribute of the file, or of a variable. Truth values are those of
  /// IOCOMP_INT8.
  template <Element T>
  [[nodiscard]] std::vector<T> attribute(const std::string& name) const {
    return values_of<T>(nullptr, name);
  }
  template <Element T>
  [[nodiscard]] std::vector<T> attribute(const std::string& variable,
                                         const std::string& name) const {
    return values_of<T>(detail::c_text(variable), name);
  }
  /// The text of an attribute.
  [[nodiscard]] std::string text(const std::string& name) const { return text_of(nullptr, name); }
  [[nodiscard]] std::string text(const std::string& variable, const std::string& name) const {
    return text_of(detail::c_text(variable), name);
  }

  /// The texts of an attribute that is a list of them.
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const {
    return texts_of(nullptr, name);
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& variable,
                                               const std::string& name) const {
    return texts_of(detail::c_text(variable), name);
  }

  void close() noexcept { static_cast<void>(iocomp_close_input(release())); }

  [[nodiscard]] bool is_open() const noexcept { return raw() != nullptr; }
  [[nodiscard]] iocomp_input* raw() const noexcept { return session_.expired() ? nullptr : raw_; }

 private:
  template <Element T>
  void take_block(const std::string& variable, std::int64_t step, const Extents& start,
                  const Extents& count, T* values, const std::int64_t* memory_shape = nullptr,
                  const std::int64_t* memory_start = nullptr) const {
    iocomp_destination destination{};
    destination.size = sizeof destination;
    destination.start = start.data();
    destination.count = count.data();
    destination.values = values;
    destination.memory_shape = memory_shape;
    destination.memory_start = memory_start;
    destination.type = ElementType<T>::value;
    check(iocomp_read_block(live(), detail::c_text(variable), step, &destination));
  }
  // The C functions see bare pointers; only here are the lengths known.
  void fits(const std::string& variable, std::int64_t step, std::initializer_list<Extents> all,
            std::size_t size, std::int64_t needed) const {
    const auto refuse = [&variable](const std::string& why) {
      throw Error{IOCOMP_INVALID_ARGUMENT, "read of \"" + variable + "\": " + why};
    };
    const int dims = ndims(variable, step);
    for (const Extents& extents : all) {
      if (extents.ndims() != dims) {
        refuse(std::to_string(extents.ndims()) + " extents or indices for " + std::to_string(dims) +
               " dimensions");
      }
    }
    if (!std::cmp_equal(size, needed)) {
      refuse("memory for " + std::to_string(size) + " values, a box of " + std::to_string(needed));
    }
  }
  struct Found {
    std::int64_t count = 0;
    const void* values = nullptr;
  };
  [[nodiscard]] Found find(const char* variable, const std::string& name, iocomp_type type) const {
    iocomp_type its{};
    Found found;
    check(iocomp_input_attribute(live(), variable, detail::c_text(name), &its, &found.count,
                                 &found.values));
    if (its != type) {
      throw Error{IOCOMP_INVALID_ARGUMENT, "the attribute \"" + name + "\" has the iocomp_type " +
                                               std::to_string(its) + ", asked for were values of " +
                                               std::to_string(type)};
    }
    return found;
  }
  template <Element T>
  [[nodiscard]] std::vector<T> values_of(const char* variable, const std::string& name) const {
    using Stored = std::conditional_t<std::same_as<T, bool>, std::int8_t, T>;
    const auto [count, values] = find(variable, name, ElementType<Stored>::value);
    const auto* const first = static_cast<const Stored*>(values);
    return std::vector<T>(first, first + count);
  }
  [[nodiscard]] std::vector<std::string> attributes_of(const char* variable) const {
    std::int64_t count = 0;
    const char* const* names = nullptr;
    check(iocomp_input_attributes(live(), variable, &count, &names));
    return {names, names + count};
  }
  [[nodiscard]] std::string text_of(const char* variable, const std::string& name) const {
    const auto text = values_of<char>(variable, name);
    return {text.begin(), text.end()};
  }
  [[nodiscard]] std::vector<std::string> texts_of(const char* variable,
                                                  const std::string& name) const {
    const auto [count, values] = find(variable, name, IOCOMP_STRING);
    const auto* const first = static_cast<const char* const*>(values);
    return std::vector<std::string>(first, first + count);
  }
  [[nodiscard]] iocomp_input* live() const {
    if (raw() == nullptr) {
      throw Error{IOCOMP_INVALID_ARGUMENT, "the input was closed"};
    }
    return raw();
  }
  iocomp_input* release() noexcept {
    iocomp_input* const open = raw();
    raw_ = nullptr;
    return open;
  }

  iocomp_input* raw_ = nullptr;
  std::weak_ptr<void> session_;
};

/// The step from which a program restarts.
struct Latest {
  std::int64_t step = -1;  ///< -1: nothing is committed yet
  double time = std::numeric_limits<double>::quiet_NaN();
  Input input{};
};

/// The release of the library that runs: 1002003 is 1.2.3; that of the header is IOCOMP_VERSION.
[[nodiscard]] inline int version() noexcept { return iocomp_version(nullptr); }
/// The name of an iocomp_code.
[[nodiscard]] inline std::string code_name(int code) { return iocomp_code_name(code); }
[[nodiscard]] inline std::string version_text() {
  const char* text = nullptr;
  static_cast<void>(iocomp_version(&text));
  return text;
}

/// Options for one open; see iocomp_open_options.
struct Options {
  /// Settings of this file for this open, as TOML text.
  std::string settings{};
  /// For outputs: the program restarts from this step of its own state.
  std::optional<std::int64_t> after{};
  /// The communicator of the members; without one, all compute ranks are.
  std::optional<MPI_Comm> comm{};
};

/// One iocomp_init ... iocomp_finalize. Movable, not copyable. Must end before MPI_Finalize.
class Session {
 public:
  /// Split the ranks into compute ranks and servers. Collective over `comm`. A server stays in here
  /// and serves. Then it leaves the program through exit(0), unless `server.end` is "return".
  /// @param settings  settings of the program as TOML text; file and environment override them.
  explicit Session(MPI_Comm comm, const std::string& settings = {}) {
    check(iocomp_init(comm, settings.empty() ? nullptr : detail::c_text(settings), &raw_));
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Session(Session&& other) noexcept
      : raw_{std::exchange(other.raw_, nullptr)}, alive_{std::move(other.alive_)} {}
  Session& operator=(Session&& other) noexcept {
    if (this != &other) {
      leave();
      raw_ = std::exchange(other.raw_, nullptr);
      alive_ = std::move(other.alive_);
    }
    return *this;
  }
  /// True if the program should stop, because of a signal or the time (settings [stop]). The same
  /// on all compute ranks. Collective over them; call it once in a step.
  [[nodiscard]] bool should_stop() {
    int stop = 0;
    check(iocomp_should_stop(raw(), &stop));
    return stop != 0;
  }

  /// Finalizes if finalize() was not called, because the servers serve until then. Failures have
  /// been printed by the C function. Collective like finalize(). If an exception ends the session,
  /// it does nothing, because other ranks may never come: MPI_Finalize then tells what is lost.
  ~Session() { leave(); }

  /// The communicator of the compute ranks: use it where MPI_COMM_WORLD stood. MPI_COMM_NULL on a
  /// server. Local.
  [[nodiscard]] MPI_Comm comm() const noexcept { return iocomp_comm(raw_); }
  /// The role of this rank. Local.
  [[nodiscard]] iocomp_rank_role role() const noexcept { return iocomp_role(raw_); }

  /// Open a file. Path, back-end and mode come from the settings `[files.<name>]`. Collective over
  /// the compute ranks, or over the communicator of the options, in the same order.
  [[nodiscard]] File open(const std::string& name, iocomp_kind kind, const Options& options = {}) {
    iocomp_file* file = nullptr;
    const auto told = told_of(options);
    check(iocomp_open(raw_, detail::c_text(name), kind, &told, &file));
    return File{file, name, alive_};
  }

  /// Describe the part that this rank has of arrays of a shape: runs of row-major indices, in the
  /// order in which they lie in memory. Local.
  [[nodiscard]] Decomp decompose(Extents shape, std::span<const std::int64_t> first,
                                 std::span<const std::int64_t> count) {
    if (first.size() != count.size()) {
      throw Error{IOCOMP_INVALID_ARGUMENT, "got " + std::to_string(first.size()) +
                                               " first elements and " +
                                               std::to_string(count.size()) + " counts of runs"};
    }
    iocomp_decomp* made = nullptr;
    check(iocomp_decompose(raw_, shape.ndims(), shape.data(),
                           static_cast<std::int64_t>(first.size()), first.data(), count.data(),
                           &made));
    std::int64_t values = 0;
    for (const std::int64_t one : count) {
      values += one;
    }
    return {made, values, alive_};
  }
  /// The same from the index of each element that it has. Elements with a negative index are not
  /// written. Local.
  [[nodiscard]] Decomp decompose(Extents shape, std::span<const std::int64_t> map) {
    iocomp_decomp* made = nullptr;
    check(iocomp_decompose(raw_, shape.ndims(), shape.data(), static_cast<std::int64_t>(map.size()),
                           map.data(), nullptr, &made));
    return {made, static_cast<std::int64_t>(map.size()), alive_};
  }

  /// Open the files of a name, written by this job or another, for reading. Collective over the
  /// compute ranks.
  /// @throws Error{IOCOMP_NOT_FOUND} when nothing of that name is committed.
  [[nodiscard]] Input open_input(const std::string& name, const Options& options = {}) {
    iocomp_input* input = nullptr;
    const auto told = told_of(options);
    check(iocomp_open_input(raw_, detail::c_text(name), &told, &input));
    return Input{input, alive_};
  }
  /// Open the step to restart from: the newest committed one. Collective like open_input().
  [[nodiscard]] Latest latest(const std::string& name, const Options& options = {}) {
    Latest found;
    iocomp_input* input = nullptr;
    const auto told = told_of(options);
    check(iocomp_latest(raw_, detail::c_text(name), &told, &found.step, &found.time, &input));
    if (input != nullptr) {
      found.input = Input{input, alive_};
    }
    return found;
  }

  /// Memory for arrays from which puts cost least, zeroed. Local. finalize() frees what free() has
  /// not. @throws Error{IOCOMP_OUT_OF_STAGING}.
  template <Element T>
  [[nodiscard]] std::span<T> alloc(std::size_t count) {
    void* memory = nullptr;
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      throw Error{IOCOMP_OUT_OF_STAGING, "no memory has " + std::to_string(count) + " elements"};
    }
    check(iocomp_alloc(raw(), count * sizeof(T), &memory));
    return {static_cast<T*>(memory), count};
  }
  template <Element T>
  void free(std::span<T> values) {
    check(iocomp_free(raw(), values.data()));
  }

  /// Let data move, for MPIs whose messages move only inside calls. Never waits. Local.
  void progress() { check(iocomp_progress(raw_)); }
  /// The settings in force, one per line: key, value, origin. Local.
  [[nodiscard]] std::string settings() const { return iocomp_settings(raw_); }

  /// Settle all files and release the servers. Collective over the session. Files that are open are
  /// closed first; their File objects must not be used any more.
  /// @throws Error the first failure that no call has told yet.
  void finalize() {
    alive_.reset();
    check(iocomp_finalize(std::exchange(raw_, nullptr)));
  }

  [[nodiscard]] iocomp_session* raw() const noexcept { return raw_; }

 private:
  // The C struct points into the options.
  [[nodiscard]] static iocomp_open_options told_of(const Options& options) {
    iocomp_open_options told{};
    told.size = sizeof told;
    told.settings = detail::c_text(options.settings);
    told.after = options.after ? &*options.after : nullptr;
    told.comm = options.comm ? &*options.comm : nullptr;
    return told;
  }
  void leave() noexcept {
    alive_.reset();
    iocomp_session* const open = std::exchange(raw_, nullptr);
    if (open != nullptr && !life_.is_ended_by_exception()) {
      static_cast<void>(iocomp_finalize(open));  // prints what it returns
    }
  }

  detail::Life life_;
  iocomp_session* raw_ = nullptr;
  std::shared_ptr<void> alive_ = std::make_shared<char>();
};

}  // namespace iocomp::inline v1

#endif  // C++20
#endif
