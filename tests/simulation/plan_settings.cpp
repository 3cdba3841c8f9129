// SPDX-License-Identifier: BSD-3-Clause
#include "plan_settings.h"

#include <concepts>
#include <cstdint>
#include <string_view>

#include "base/wire.h"
#include "machine.h"

namespace simulation {
namespace {

/// Values as ranks send them to one another: nothing else says any, and no text has to be parsed.
class Values {
 public:
  void set(std::string_view key, std::string_view value) {
    for (const std::string_view text : {key, value, std::string_view{"plan"}}) {
      sent_.put_text(text);
    }
  }
  template <std::integral Integer>
  void set(std::string_view key, Integer value) {
    set(key, std::string_view{std::to_string(value)});
  }
  [[nodiscard]] iocomp::config::Settings settings() const {
    return iocomp::config::Settings::from_wire(
        {reinterpret_cast<const char*>(sent_.bytes().data()), sent_.bytes().size()});
  }

 private:
  iocomp::WireWriter sent_;
};

// Those that say where a file is, and how it lies there.
void set_place(Values& values, const PlannedFile& file) {
  const std::string section = "files." + file.name + '.';
  values.set(section + "backend", file.backend);
  values.set(section + "path", path_of(file));
  if (file.has_file_per_step) {
    values.set(section + "kind", "file_per_step");
  }
  if (file.grows_along_time) {
    values.set(section + "layout", "time");
  }
}

}  // namespace

std::string target_name(const PlannedFile& file) {
  return file.name + (file.is_checkpoint ? "" : ".all");
}

std::string path_of(const PlannedFile& file) {
  return std::string{Machine::prefix} + target_name(file);
}

iocomp::config::Settings settings_of(const Plan& plan) {
  Values values;
  values.set("mode", plan.mode == Mode::synchronous ? "sync" : "async");
  values.set("trace.lines", "summary");
  values.set("test.stripe", plan.stripe_bytes);
  values.set("client.buffer_memory", plan.buffer_bytes);
  values.set("staging.spill", Machine::prefix.substr(0, Machine::prefix.size() - 1));
  values.set("test.inline", plan.inline_bytes);
  values.set("test.credits", plan.credits);
  values.set("test.touch", 0);
  values.set("test.way", plan.way);
  values.set("test.kernel_from", plan.kernel_from_bytes);
  values.set("writing.threads", plan.writing_threads);
  for (const auto& file : plan.files) {
    const std::string section = "files." + file.name + '.';
    set_place(values, file);
    values.set(section + "steps_in_flight", file.steps_in_flight);
    values.set(section + "alignment", file.alignment_bytes);
    values.set(section + "keep", file.keeps);
    values.set(section + "chunk", 4096);
    const auto set_if = [&](bool is_so, const char* key, const char* value) {
      if (is_so) {
        values.set(section + key, value);
      }
    };
    set_if(!file.is_guarded, "guard", "false");
    set_if(file.replaces, "existing", "replace");
    set_if(file.goes_on, "existing", "continue");
    set_if(file.is_synchronous, "mode", "sync");
    set_if(file.is_compressed, "compression", "deflate");
    set_if(file.has_sums, "checksum", "xxh3");
    set_if(file.may_overlap, "overlap", "any");
    set_if(file.fails_when_full, "when_full", "error");
    set_if(file.spills, "when_full", "spill");
    set_if(file.is_limited, "bandwidth", "1 MiB/s");
    set_if(!file.comes_after.empty(), "after", file.comes_after.c_str());
  }
  return values.settings();
}

iocomp::config::Settings settings_of_reader(const Plan& plan) {
  Values values;
  values.set("mode", "sync");
  for (const auto& file : plan.files) {
    set_place(values, file);
  }
  return values.settings();
}

}  // namespace simulation
