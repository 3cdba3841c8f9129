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

// The time when the job ends, if anybody says so.
std::optional<double> end_of_job(const config::Settings& settings) {
  if (!settings.text("stop.at").empty()) {
    const auto end = moment(settings.text("stop.at"));
    if (!end) {
      refuse(settings, "stop.at",
             "allowed are a local time such as 2026-11-23T18:00, and seconds since 1970");
    }
    return end;
  }
  const char* const slurm = std::getenv("SLURM_JOB_END_TIME");  // NOLINT(concurrency-mt-unsafe)
  return slurm == nullptr ? std::nullopt : config::parse_real(slurm);
}

std::optional<double> moment_to_stop(const config::Settings& settings, bool warns) {
  const double before = settings.seconds("stop.before");
  const auto end = end_of_job(settings);
  if (before == 0 && settings.text("stop.at").empty()) {
    return std::nullopt;
  }
  if (!end && warns) {
    log::warning(
        "stop.before is set, but nobody says when the job ends: there is no SLURM_JOB_END_TIME, "
        "and "
        "stop.at is not set");
  }
  return end ? std::optional{*end - before} : std::nullopt;
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
  return moment_ && time_of_day() >= *moment_ ? "the job ends soon (stop.before)" : "";
}

}  // namespace iocomp::session
