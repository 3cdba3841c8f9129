// SPDX-License-Identifier: BSD-3-Clause
#include "plan_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "disk.h"
#include "system.h"

namespace simulation {
namespace {

using iocomp::array::ElementType;

// The names of values, by their numbers.
template <typename Enum>
constexpr std::array<std::string_view, 0> names_of{};
template <>
constexpr std::array<std::string_view, 3> names_of<Mode>{"synchronous", "kernel", "servers"};
template <>
constexpr std::array<std::string_view, 4> names_of<Mistake>{"none", "other_shape", "step_less",
                                                            "overlap"};
template <>
constexpr std::array<std::string_view, 4> names_of<Await>{"nothing", "handed_over", "written",
                                                          "durable"};
template <>
constexpr std::array<std::string_view, 3> names_of<System::Rings>{"none", "old", "full"};

// The fields of each part of a plan.
template <typename T>
struct Fields;

template <>
struct Fields<Put> {
  static void each(auto&& field) {
    field("rank", &Put::rank);
    field("start", &Put::start);
    field("count", &Put::count);
    field("buffered", &Put::is_buffered);
    field("strided", &Put::is_strided);
    field("scattered", &Put::is_scattered);
    field("allocated", &Put::is_allocated);
    field("aligned", &Put::is_aligned);
    field("polled", &Put::is_polled);
    field("await", &Put::await);
  }
};
template <>
struct Fields<Variable> {
  static void each(auto&& field) {
    field("name", &Variable::name);
    field("type", &Variable::type);
    field("fill", &Variable::fill);
  }
};
template <>
struct Fields<StepOfVariable> {
  static void each(auto&& field) {
    field("shape", &StepOfVariable::shape);
    field("put", &StepOfVariable::puts);
  }
};
template <>
struct Fields<Step> {
  static void each(auto&& field) {
    field("variable", &Step::variables);
    field("waits_for", &Step::waits_for);
    field("sets_attributes", &Step::sets_attributes);
    field("asks_tickets", &Step::asks_tickets);
    field("computes", &Step::computes);
    field("skipped", &Step::is_skipped);
  }
};
template <>
struct Fields<PlannedFile> {
  static void each(auto&& field) {
    field("name", &PlannedFile::name);
    field("backend", &PlannedFile::backend);
    field("checkpoint", &PlannedFile::is_checkpoint);
    field("replaces", &PlannedFile::replaces);
    field("exists_before", &PlannedFile::exists_before);
    field("goes_on", &PlannedFile::goes_on);
    field("leaves_close_to_finalize", &PlannedFile::leaves_close_to_finalize);
    field("closes_later", &PlannedFile::closes_later);
    field("synchronous", &PlannedFile::is_synchronous);
    field("file_per_step", &PlannedFile::has_file_per_step);
    field("grows_along_time", &PlannedFile::grows_along_time);
    field("compressed", &PlannedFile::is_compressed);
    field("attributes", &PlannedFile::has_attributes);
    field("attribute_type", &PlannedFile::attribute_type);
    field("times", &PlannedFile::has_times);
    field("defines_time", &PlannedFile::defines_time);
    field("sums", &PlannedFile::has_sums);
    field("may_overlap", &PlannedFile::may_overlap);
    field("fails_when_full", &PlannedFile::fails_when_full);
    field("spills", &PlannedFile::spills);
    field("limited", &PlannedFile::is_limited);
    field("guarded", &PlannedFile::is_guarded);
    field("keeps", &PlannedFile::keeps);
    field("alignment_bytes", &PlannedFile::alignment_bytes);
    field("steps_in_flight", &PlannedFile::steps_in_flight);
    field("members", &PlannedFile::members);
    field("rows", &PlannedFile::has_rows);
    field("comes_after", &PlannedFile::comes_after);
    field("mistake", &PlannedFile::mistake);
    field("mistaken_rank", &PlannedFile::mistaken_rank);
    field("variable", &PlannedFile::variables);
    field("step", &PlannedFile::steps);
  }
};
template <>
struct Fields<Disk::Faults> {
  static void each(auto&& field) {
    field("capacity_bytes", &Disk::Faults::capacity_bytes);
    field("failing_write", &Disk::Faults::failing_write);
    field("failing_writes", &Disk::Faults::failing_writes);
    field("failing_sync", &Disk::Faults::failing_sync);
    field("writes_are_short", &Disk::Faults::writes_are_short);
  }
};
template <>
struct Fields<PlannedFaults> {
  static void each(auto&& field) {
    field("disk", &PlannedFaults::disk);
    field("disk_slowness", &PlannedFaults::disk_slowness);
    field("folder_goes", &PlannedFaults::folder_goes);
    field("folder_is_gone_for", &PlannedFaults::folder_is_gone_for);
    field("power_losses", &PlannedFaults::power_losses);
    field("stopped_process", &PlannedFaults::stopped_process);
    field("stopped_at", &PlannedFaults::stopped_at);
    field("stopped_at_call", &PlannedFaults::stopped_at_call);
    field("stopped_for", &PlannedFaults::stopped_for);
    field("killed_at", &PlannedFaults::killed_at);
    field("spares_servers", &PlannedFaults::spares_servers);
    field("killed_server", &PlannedFaults::killed_server);
    field("killed_at_sync", &PlannedFaults::killed_at_sync);
    field("server_killed_after", &PlannedFaults::server_killed_after);
    field("second_job_at", &PlannedFaults::second_job_at);
  }
};
template <>
struct Fields<NextJob> {
  static void each(auto&& field) {
    field("mode", &NextJob::mode);
    field("servers", &NextJob::servers);
    field("shares_memory", &NextJob::shares_memory);
    field("nodes", &NextJob::nodes);
    field("follows_power_loss", &NextJob::follows_power_loss);
    field("goes_back", &NextJob::goes_back);
    field("faults", &NextJob::faults);
  }
};
template <>
struct Fields<System> {
  static void each(auto&& field) {
    field("pulls", &System::pulls);
    field("opens_others", &System::opens_others);
    field("memfd", &System::has_memfd);
    field("process_descriptors", &System::has_process_descriptors);
    field("processors", &System::has_processors);
    field("shared_bytes", &System::shared_bytes);
    field("rings", &System::rings);
    field("threads_call_mpi", &System::threads_call_mpi);
    field("ends_threads", &System::ends_threads);
  }
};
template <>
struct Fields<Plan> {
  static void each(auto&& field) {
    field("seed", &Plan::seed);
    field("ranks", &Plan::ranks);
    field("servers", &Plan::servers);
    field("mode", &Plan::mode);
    field("staging_bytes", &Plan::staging_bytes);
    field("buffer_bytes", &Plan::buffer_bytes);
    field("stripe_bytes", &Plan::stripe_bytes);
    field("inline_bytes", &Plan::inline_bytes);
    field("chunk_bytes", &Plan::chunk_bytes);
    field("credits", &Plan::credits);
    field("kernel_from_bytes", &Plan::kernel_from_bytes);
    field("writing_threads", &Plan::writing_threads);
    field("shares_memory", &Plan::shares_memory);
    field("nodes", &Plan::nodes);
    field("way", &Plan::way);
    field("system", &Plan::system);
    field("are_files_in_turn", &Plan::are_files_in_turn);
    field("file", &Plan::files);
    field("faults", &Plan::faults);
    field("next", &Plan::next);
    field("damages", &Plan::damages);
  }
};

template <typename T>
concept Part = requires { Fields<T>::each([](auto...) {}); };

// Told on one line.
template <typename T>
concept Small = std::same_as<T, Put> || std::same_as<T, Variable>;

template <typename T>
concept Number = std::integral<T> || std::is_enum_v<T>;

// One value without blanks.

template <Number T>
std::string word_of(T value) {
  if constexpr (std::is_same_v<T, ElementType>) {
    return std::string{iocomp::array::name(value)};
  } else if constexpr (std::is_enum_v<T>) {
    return std::string{names_of<T>.at(static_cast<std::size_t>(value))};
  } else {
    return std::to_string(value);
  }
}
std::string word_of(const std::string& value) { return value; }
template <typename T>
std::string word_of(const std::optional<T>& value) {
  return value ? word_of(*value) : "-";
}
template <typename T>
  requires(!Part<T>)
std::string word_of(const std::vector<T>& values) {
  std::string text;
  for (const auto& value : values) {
    text += (text.empty() ? "" : ",") + word_of(value);
  }
  return text;
}

[[noreturn]] void refuse(std::string_view what) {
  throw std::invalid_argument{"a plan cannot have " + std::string{what}};
}

template <Number T>
void take_word(std::string_view word, T& value) {
  if constexpr (std::is_same_v<T, ElementType>) {
    const auto type = iocomp::array::element_type(word);
    value = type ? *type : (refuse(word), ElementType{});
  } else if constexpr (std::is_enum_v<T>) {
    const auto found = std::ranges::find(names_of<T>, word);
    if (found == names_of<T>.end()) {
      refuse(word);
    }
    value = static_cast<T>(found - names_of<T>.begin());
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    Wide number = 0;
    const auto [end, error] = std::from_chars(word.begin(), word.end(), number);
    if (end != word.end() || error != std::errc{}) {
      refuse(word);
    }
    value = static_cast<T>(number);
  }
}
void take_word(std::string_view word, std::string& value) { value = word; }
template <typename T>
void take_word(std::string_view word, std::optional<T>& value) {
  value.reset();
  if (word != "-") {
    take_word(word, value.emplace());
  }
}
template <typename T>
  requires(!Part<T>)
void take_word(std::string_view word, std::vector<T>& values) {
  values.clear();
  while (!word.empty()) {
    const std::size_t end = std::min(word.find(','), word.size());
    T value{};
    take_word(word.substr(0, end), value);
    values.push_back(std::move(value));
    word.remove_prefix(std::min(end + 1, word.size()));
  }
}

// Parts: { name = value ... }

template <Part T>
void add_fields(const T& part, const std::string& indent, std::string& text);

template <typename T>
void add(std::string_view name, const T& value, const T& usual, const std::string& indent,
         std::string& text) {
  const std::string word = word_of(value);
  if (word != word_of(usual)) {
    text += indent + std::string{name} + " = " + word + '\n';
  }
}
template <Part T>
void add_part(std::string_view name, const T& part, const std::string& indent, std::string& text) {
  std::string inner;
  add_fields(part, indent + "  ", inner);
  text += indent + std::string{name} + (inner.empty() ? " { }\n" : " {\n" + inner + indent + "}\n");
}
template <Part T>
void add(std::string_view name, const T& part, const T& /*usual*/, const std::string& indent,
         std::string& text) {
  std::string inner;
  add_fields(part, indent, inner);
  if (!inner.empty()) {
    add_part(name, part, indent, text);
  }
}
template <Part T>
  requires(!Small<T>)
void add(std::string_view name, const std::vector<T>& parts, const std::vector<T>& /*usual*/,
         const std::string& indent, std::string& text) {
  for (const T& part : parts) {
    add_part(name, part, indent, text);
  }
}
template <Small T>
void add(std::string_view name, const std::vector<T>& parts, const std::vector<T>& /*usual*/,
         const std::string& indent, std::string& text) {
  for (const T& part : parts) {
    std::string inner;
    add_fields(part, " ", inner);
    std::ranges::replace(inner, '\n', ' ');
    text += indent + std::string{name} + " {" + inner + "}\n";
  }
}

template <Part T>
void add_fields(const T& part, const std::string& indent, std::string& text) {
  const T usual{};
  Fields<T>::each([&](std::string_view name, auto member) {
    add(name, part.*member, usual.*member, indent, text);
  });
}

// Reading.

using Words = std::span<const std::string_view>;

std::string_view next(Words& words) {
  if (words.empty()) {
    refuse("an end here");
  }
  const std::string_view word = words.front();
  words = words.subspan(1);
  return word;
}

void expect(Words& words, std::string_view wanted) {
  if (const auto found = next(words); found != wanted) {
    refuse('"' + std::string{found} + "\" where \"" + std::string{wanted} + "\" belongs");
  }
}

template <Part T>
void take_fields(Words& words, std::string_view end, T& part);

template <typename T>
void take(Words& words, T& value) {
  expect(words, "=");
  take_word(next(words), value);
}
template <Part T>
void take(Words& words, T& part) {
  expect(words, "{");
  take_fields(words, "}", part);
}
template <Part T>
void take(Words& words, std::vector<T>& parts) {
  take(words, parts.emplace_back());
}

template <Part T>
void take_fields(Words& words, std::string_view end, T& part) {
  for (std::string_view name = next(words); name != end; name = next(words)) {
    bool is_known = false;
    Fields<T>::each([&](std::string_view field, auto member) {
      if (!is_known && field == name) {
        is_known = true;
        take(words, part.*member);
      }
    });
    if (!is_known) {
      refuse(name);
    }
  }
}

}  // namespace

std::string as_text(const Plan& plan) {
  std::string text;
  add_fields(plan, "", text);
  return text;
}

Plan read_plan(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    while (!line.starts_with('#')) {
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      if (line.empty()) {
        break;
      }
      words.push_back(line.substr(0, line.find(' ')));
      line.remove_prefix(words.back().size());
    }
  }
  words.emplace_back();  // the end
  Plan plan;
  Words left{words};
  take_fields(left, "", plan);
  if (plan.files.empty()) {
    throw std::invalid_argument{"a plan needs a file"};
  }
  return plan;
}

}  // namespace simulation
