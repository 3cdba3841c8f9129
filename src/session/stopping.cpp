// SPDX-License-Identifier: BSD-3-Clause
#include "session/stopping.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iomanip>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "config/parse.h"
#include "config/settings.h"

namespace iocomp::session {
namespace {

[[noreturn]] void refuse(const config::Settings& settings, const char* key, const char* allowed) {
  const auto value = settings.value(key);
  throw Error{ErrorCode::invalid_setting,
              std::string{key} + " = \"" + value.text + "\" (" + value.origin + "): " + allowed};
}

std::vector<int> signals_in(const config::Settings& settings) {
  std::string text = settings.text("stop.signals");
  std::ranges::replace(text, ',', ' ');
  std::istringstream words{text};
  std::vector<int> signals;
  for (std::string word; words >> word;) {
    const auto signal = signal_named(word);
    if (!signal) {
      refuse(settings, "stop.signals",
             "allowed are HUP, INT, QUIT, USR1, USR2, TERM, XCPU, URG and CONT, with or without "
             "SIG, commas between");
    }
    signals.push_back(*signal);
  }
  return signals;
}

// The time that Slurm says, if it does.
std::optional<double> end_of_job() {
  const char* const slurm = std::getenv("SLURM_JOB_END_TIME");  // NOLINT(concurrency-mt-unsafe)
  return slurm == nullptr ? std::nullopt : config::parse_real(slurm);
}

std::optional<double> moment_to_stop(const config::Settings& settings, bool warns) {
  constexpr std::string_view minus = " - ";
  const auto text = settings.text("stop.at");
  if (text.empty()) {
    return std::nullopt;
  }
  const auto dash = text.find(minus);
  const auto before = dash == std::string::npos
                          ? std::optional{0.0}
                          : config::parse_duration(text.substr(dash + minus.size()));
  const auto end = text.substr(0, dash);
  const auto when = end == "end" ? end_of_job() : moment(end);
  if (!before || (!when && end != "end")) {
    refuse(settings, "stop.at",
           "allowed are end (of the Slurm job), a local time such as 2026-11-23T18:00, and seconds "
           "since 1970, each also with a duration, as in \"end - 10 min\"");
  }
  if (!when && warns) {
    log::warning("stop.at = \"" + text +
                 "\", but nobody says when the job ends: there is no SLURM_JOB_END_TIME");
  }
  return when ? std::optional{*when - *before} : std::nullopt;
}

double time_of_day() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::optional<double> moment(const std::string& text) {
  if (const auto seconds = config::parse_real(text)) {
    return seconds;
  }
  for (const char* const form : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M"}) {
    std::tm parts{};
    std::istringstream stream{text};
    stream >> std::get_time(&parts, form);
    if (!stream.fail() && stream.peek() == std::istringstream::traits_type::eof()) {
      parts.tm_isdst = -1;
      return static_cast<double>(std::mktime(&parts));
    }
  }
  return std::nullopt;
}

Stopping::Stopping(const config::Settings& settings, bool warns)
    : signals_{signals_in(settings)},
      signal_names_{settings.text("stop.signals")},
      moment_{moment_to_stop(settings, warns)} {}

std::string Stopping::reason() const {
  if (signals_.has_come()) {
    return "a signal of stop.signals (" + signal_names_ + ") has come";
  }
  return moment_ && time_of_day() >= *moment_ ? "the job ends soon (stop.at)" : "";
}

}  // namespace iocomp::session
