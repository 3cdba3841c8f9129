// SPDX-License-Identifier: BSD-3-Clause
#include "stream/options.h"

#include <CLI/CLI.hpp>
#include <map>

#include "common/one_of.h"

namespace iocomp::apps::stream {
namespace {

// STREAM's arrays grow 15-fold in every loop; 15^260 is the last power that a double holds.
constexpr int most_loops = 250;

}  // namespace

void declare(CLI::App& app, Options& options) {
  const std::map<std::string, bool> on_off{{"on", true}, {"off", false}};
  const std::map<std::string, Pattern> patterns{{"stream", Pattern::stream},
                                                {"index", Pattern::index}};
  app.add_option("--size", options.bytes, "bytes per array and rank, such as 128MiB")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(sizeof(double), std::size_t{1} << 46U))
      ->capture_default_str();
  app.add_option("--loops", options.loops, "loops over the four kernels")
      ->check(CLI::Range(1, most_loops))
      ->capture_default_str();
  app.add_option("--write-every", options.write_every, "write in every so manieth loop; 0: never")
      ->check(CLI::Range(0, most_loops))
      ->capture_default_str();
  app.add_option("--progress", options.progress,
                 "call iocomp_progress inside the kernels: on or off")
      ->transform(OneOf(on_off));
  app.add_option("--progress-stride", options.progress_bytes,
                 "bytes of the array a kernel writes between two such calls")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(sizeof(double), std::size_t{1} << 46U))
      ->capture_default_str();
  CLI::Option* const pattern =
      app.add_option(
             "--pattern", options.pattern,
             "stream, or index: every element tells its global index and when it was written")
          ->transform(OneOf(patterns));
  app.add_flag("--in-turn", options.in_turn,
               "go on with another set of arrays after a loop that writes, so that what is written "
               "is left alone; not with --pattern index or --verify")
      ->excludes(pattern);
  apps::declare(app, static_cast<ClientOptions&>(options));
  app.get_option("--in-turn")->excludes(app.get_option("--verify"));
}

}  // namespace iocomp::apps::stream
