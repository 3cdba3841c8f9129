// SPDX-License-Identifier: BSD-3-Clause
// Writes the inputs that a corpus begins with, by the project's own encoders: fuzz_seeds FOLDER
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "array/element_type.h"
#include "array/run_list.h"
#include "base/error.h"
#include "base/path.h"
#include "commit/commit.h"
#include "commit/manifest.h"
#include "commit/step_lines.h"
#include "contents/catalogue.h"
#include "contents/description.h"
#include "contents/variable.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "reading/committed.h"
#include "steps/coordinator.h"
#include "unit/commit/unsealed.h"
#include "unit/temporary_folder.h"

namespace {

using namespace iocomp;
using array::ElementType;
using protocol::Bytes;
using protocol::Kind;

class Corpus {
 public:
  Corpus(const std::filesystem::path& folder, const std::string& target)
      : folder_{folder / target} {
    std::filesystem::create_directories(folder_);
  }
  void add(std::string_view text) {
    std::ofstream{folder_ / std::to_string(++number_), std::ios::binary} << text;
  }
  void add(char before, std::span<const std::byte> bytes) {
    add(before + std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

 private:
  std::filesystem::path folder_;
  int number_ = 0;
};

contents::Attribute text_attribute(const std::string& words) {
  contents::Attribute made;
  made.is_text = true;
  const auto bytes = std::as_bytes(std::span{words});
  made.values.assign(bytes.begin(), bytes.end());
  return made;
}

contents::Attribute values(ElementType type, std::size_t count) {
  contents::Attribute made;
  made.type = type;
  made.values.assign(count * array::size_bytes(type), std::byte{0x3c});
  return made;
}

contents::Placed placed(std::int64_t step, int id, const std::string& name, ElementType type,
                        const std::vector<std::int64_t>& extents, std::int64_t offset) {
  return {step,
          {id, name, type, array::make_shape(static_cast<int>(extents.size()), extents.data())},
          offset};
}

contents::Description description(std::int64_t step) {
  contents::Description made;
  made.contents = {placed(step, 0, "u", ElementType::float64, {4, 5}, 0),
                   placed(step, 1, "deep/t", ElementType::complex64, {}, 4096)};
  made.contents[0].sums = std::make_shared<const std::vector<contents::BlockSum>>(
      std::vector<contents::BlockSum>{{{.dimensions = 2, .start = {2, 0}, .count = {2, 5}}, 1}});
  made.attributes = {{"title", text_attribute("Wien, \"1\"\n")}};
  for (int type = 1; const auto known = array::element_type(type); ++type) {
    made.attributes[std::string{array::name(*known)}] = values(*known, 2);
  }
  made.of_variable = {{{"dimensions", text_attribute("y x")}},
                      {{"range", values(ElementType::float32, 2)}}};
  return made;
}

void manifests(const std::filesystem::path& folder) {
  Corpus corpus{folder, "manifest"};
  const TemporaryFolder temporary;
  const auto add = [&](const commit::ManifestHead& head, const contents::Description& contents) {
    const auto names = commit::target_names(Path{temporary / "fields.bin"}, -1, "seed");
    commit::write_manifest(names, head, contents);
    corpus.add(
        commit::unsealed(text_of(names.manifest.text())));  // else each change is refused at once
  };
  commit::ManifestHead head;
  head.name = "fields";
  head.format = "posix";
  head.kind = "series";
  add(head, {});
  head.steps = 4;
  head.absent = {0, 3};
  head.bytes = 8192;
  auto two = description(1);
  const auto next = description(2);
  two.contents.insert(two.contents.end(), next.contents.begin(), next.contents.end());
  add(head, two);
  // The second step in a line: listed, and as one more of the first.
  for (const bool has_sums : {true, false}) {
    auto first = description(1);
    auto second = description(2);
    if (!has_sums) {
      first.contents[0].sums = second.contents[0].sums = nullptr;
    }
    commit::StepLines earlier;
    earlier.add(first);
    auto all = earlier;
    all.add(second);
    commit::StepLines fresh;
    fresh.add(second);
    add(head, first);
    const auto names = commit::target_names(Path{temporary / "fields.bin"}, -1, "seed");
    corpus.add(commit::unsealed(text_of(names.manifest.text())) +
               commit::manifest_line(head, all.continued(earlier), fresh));
  }
  head.kind = "checkpoint";
  head.format = "hdf5";
  head.first_step = 7;
  head.steps = 1;
  head.absent = {};
  auto one = description(7);
  one.contents[0].offset = -1;
  add(head, one);
}

array::RunList runs() {
  array::RunList made;
  made.append({2, 3});
  made.append({7, 1});
  return made;
}

std::vector<steps::PutRecord> puts() {
  array::Box box;
  box.dimensions = 2;
  box.start = {1, 2};
  box.count = {3, 4};
  steps::PutRecord one{0, 1, {box, 0, 12}};
  steps::PutRecord other{1, 2, {std::make_shared<const array::RunList>(runs()), 0, 4}};
  return {one, other};
}

Bytes body(const Bytes& message) {
  const auto body = protocol::body(message);
  return {body.begin(), body.end()};
}

Bytes framed(const Bytes& message) {
  WireWriter writer;
  writer.put_bytes(message);
  return writer.take();
}

reading::Committed committed() {
  reading::Committed made;
  contents::Inventory inventory;
  const auto what = description(3);
  inventory.steps = {3};
  inventory.contents = what.contents;
  inventory.attributes = {{"title", text_attribute("t")}};
  inventory.of_variable = {{"u", what.of_variable[0]}};
  made.add({"out/fields.000003.bin", "posix"}, inventory);
  made.torn = {{4, "it is torn"}};
  return made;
}

std::vector<contents::Event> events() {
  contents::Event define;
  define.what = contents::Event::What::define;
  define.name = "u";
  define.shape = array::make_shape(2, std::vector<std::int64_t>{4, 5}.data());
  contents::Event shape = define;
  shape.what = contents::Event::What::set_shape;
  shape.name.clear();
  shape.variable = 0;
  shape.step = 1;
  contents::Event attribute;
  attribute.what = contents::Event::What::attribute;
  attribute.name = "units";
  attribute.variable = 0;
  attribute.attribute = text_attribute("m");
  return {define, shape, attribute};
}

// In the order of the decoders of messages_fuzz.cpp.
std::vector<std::vector<Bytes>> all_bodies() {
  const Outcome failure{ErrorCode::storage_failure, "no space left on device"};
  const Bytes inside(24, std::byte{0x5a});
  protocol::Piece piece;
  piece.box = puts()[0].part.region.box;
  piece.count = 12;
  piece.chunk_elements = 4;
  piece.element_bytes = 8;
  protocol::Piece small = piece;
  small.count = 3;
  small.chunk_elements = 0;
  small.inside = inside;
  protocol::StepCounts counts{2,
                              1,
                              1,
                              {{0, 5}, {3, 7}},
                              {{1, {.elements = 10, .print = 99}}},
                              {{1, {{.dimensions = 1, .start = {4}, .count = {10}}, 7}}}};
  using About = protocol::Notice::About;
  const auto list = std::make_shared<const array::RunList>(runs());
  const auto known = encode(0, Kind::run_list, protocol::NumberedRuns{7, *list});
  const auto forgotten = protocol::encode(0, Kind::forget_run_list, std::uint64_t{7});
  auto news = framed(known);
  const auto rest = framed(forgotten);
  news.insert(news.end(), rest.begin(), rest.end());
  std::vector<Bytes> definitions;
  for (const auto& event : events()) {
    definitions.push_back(contents::encode(event));
  }
  return {
      {protocol::message(Kind::bye, 5, {}), known},
      {body(encode(1, Kind::open, protocol::Open{"fields", "layout=flat", 1, 2, 3, 4, 4096}))},
      {body(encode(1, Kind::event, protocol::Event{0, 1, definitions[0]}))},
      {body(encode(1, Kind::piece, piece)), body(encode(1, Kind::piece, small))},
      {body(encode(1, Kind::end_step, counts))},
      {body(encode(1, Kind::placed, protocol::StepNote{1, 2, 3, failure, 4}))},
      {body(encode(1, Kind::action,
                   protocol::ActionNote{protocol::Action::create, 1, 2, 100, 3, failure}))},
      {body(encode(1, Kind::opened, protocol::Opened{failure, 4096}))},
      {body(encode(1, Kind::closed, failure))},
      {body(encode(1, Kind::notices,
                   std::vector<protocol::Notice>{{About::written, 1, 2, {}},
                                                 {About::file_failed, 1, 2, failure}}))},
      {body(protocol::encode(0, Kind::all_bye, protocol::Counters{1, 2.5}))},
      {body(known)},
      {body(forgotten)},
      {body(encode(1, Kind::put_report, protocol::PutReport{3, puts()}))},
      {body(encode(1, Kind::own_written, protocol::OwnWritten{3, failure, puts()}))},
      {body(encode(1, Kind::expect, protocol::Expectation{3, 4, {0, 1}}))},
      {body(encode(1, Kind::fill, protocol::FillOrder{3, {{0, list}, {1, list}}}))},
      definitions,
      {reading::encode(committed())},
      {framed(known), news},
  };
}

// Reports of a file with one variable that two writers have: kind, length, body, as
// reports_fuzz.cpp takes them.
void reports(const std::filesystem::path& folder) {
  Corpus corpus{folder, "reports"};
  const auto report = [](char which, const Bytes& message) {
    const auto content = body(message);
    const auto size = static_cast<std::uint16_t>(content.size());
    std::string made{which};
    made += std::string{reinterpret_cast<const char*>(&size), sizeof size};
    return made + std::string{reinterpret_cast<const char*>(content.data()), content.size()};
  };
  const auto definition = contents::encode(events()[0]);
  const auto cover = array::cover_of_all(events()[0].shape);
  const auto event = [&](int caller) {
    return encode(1, Kind::event, protocol::Event{0, caller, definition});
  };
  const protocol::StepCounts end{0, 1, 1, {{0, 2}}, {{0, cover}}};
  const protocol::StepCounts close{1, 1, 1, {}, {}};
  const auto done = encode(1, Kind::step_done, protocol::StepNote{0, -1, 1, {}, 0});
  const auto ended = encode(1, Kind::end_step, end);
  const auto closed = encode(1, Kind::close, close);
  const std::string of_home = report(6, event(0)) + report(6, event(1)) + report(7, ended) +
                              report(7, ended) + report(10, done) + report(10, done);
  const std::string of_lead = report(0, event(0)) + report(1, ended) + report(4, done) +
                              report(2, closed) + report(5, done);
  auto part_of_it = cover;
  part_of_it.elements = 12;
  const protocol::StepCounts part{0, 1, 1, {{0, 2}}, {{0, part_of_it}}};
  const std::string unsure =
      report(0, event(0)) + report(1, encode(1, Kind::end_step, part)) +
      report(3, encode(1, Kind::put_report, protocol::PutReport{0, puts()})) + report(4, done);
  const std::string settings{"\0\0\0\0\0\1\0", 7};
  corpus.add(settings + '\0' + of_lead);
  corpus.add(settings + '\0' + unsure);
  corpus.add(settings + '\1' + of_home);
  const auto many =
      encode(1, Kind::step_done,
             protocol::StepNote{0, -1, std::numeric_limits<std::int64_t>::max(), {}, 0});
  corpus.add(settings + '\1' + report(10, many) + report(10, many));
  corpus.add(std::string{"\1\1\0\1\0\0\1", 7} + '\1' + of_home + of_lead);
  // As many steps as may wait are dropped at once.
  constexpr std::int64_t last = steps::Coordinator::most_unsettled;
  const Outcome failure{ErrorCode::storage_failure, "the disk is full"};
  corpus.add(settings + '\0' +
             report(1, encode(1, Kind::end_step, protocol::StepCounts{last, 0, 1, {}, {}})) +
             report(5, encode(1, Kind::file_failed, protocol::StepNote{0, -1, 0, failure, 0})) +
             report(2, encode(1, Kind::close, protocol::StepCounts{last + 1, 0, 1, {}, {}})));
}

void messages(const std::filesystem::path& folder) {
  Corpus corpus{folder, "messages"};
  char decoder = 0;
  for (const auto& bodies : all_bodies()) {
    for (const auto& one : bodies) {
      corpus.add(decoder, one);
    }
    ++decoder;
  }
}

void names(const std::filesystem::path& folder) {
  Corpus corpus{folder, "names"};
  const auto add = [&](std::int64_t step, const std::string& rest) {
    corpus.add(std::string{reinterpret_cast<const char*>(&step), sizeof step} + rest);
  };
  add(3, "out/fields.h5\nhost-12\nfields.000003.h5");
  add(1234567, "ckpt\nhost-12\nckpt.1234567");
  add(-1, "fields.bin\nhost-12\n.fields.bin.iocomp-HOST-99999999");
  add(-1, "fields.bin\nhost-12\n.fields.bin.iocomp-HOST-99999999.old");
  add(-1, "fields.bin\nhost-12\n.fields.bin.iocomp-HOST-99999999.server.json");
}

void settings(const std::filesystem::path& folder) {
  Corpus corpus{folder, "settings"};
  corpus.add(std::string{'\0'} +
             "mode = \"sync\"\nlog = \"info\"\n[staging]\nmemory = \"2 GiB\"\nspill_limit = 4096\n"
             "[placement]\nservers = [1, 3]\npolicy = \"auto\"\n[wait]\ndeadline = 1.5\n"
             "[files.default]\nbackend = \"hdf5\"\n[files.fields]\nexisting = 'replace'\n"
             "layout = \"time\"\ncompression = \"deflate\"\nchunk = \"1 MiB\"\n");
  corpus.add(std::string{'\0'} + "files.a.hints = \"a=b;c=d\"\nfiles.\"a.b\".keep = 3\n");
  corpus.add(std::string{'\1'} +
             "IOCOMP_MODE=sync\nIOCOMP_FILES_BACKEND=hdf5\nIOCOMP_FILES_A_B_CHUNK=1 MiB\n"
             "IOCOMP_PLACEMENT_SERVERS=1,2\n");
  corpus.add(std::string{'\2'} + "files.fields.backend\thdf5\tprogram\nmode\tsync\tit\\n\n");
  for (const char* value : {"12", "1, -2 3", "1.5 GiB", "10mb", "on", "0x1p3", "1e300"}) {
    corpus.add(std::string{'\3'} + value);
  }
}

void maps(const std::filesystem::path& folder) {
  Corpus corpus{folder, "map"};
  for (const char* mapping : {"sequential", "consecutive", "hyperthread", "oversubscribe", "l3",
                              "numa", "node", "nodes"}) {
    corpus.add(std::string{"\1--mapping\n"} + mapping +
               "\n--topology\n2*pack:2 numa:2 l3:2 core:2 pu:2\n--ranks\n24");
  }
  corpus.add("\1--mapping\nconsecutive\n--topology\npack:2 core:4 pu:1\n--node-size\n4");
  corpus.add("\1--mapping\nl3\n--topology\narcher2\n--cpus\n0-15,128-143\n--ratio\n7:2");
  corpus.add("\1--mapping\nnodes\n--topology\n3*pu:4\n--topology\n3*pu:8\n--every\n3");
  corpus.add("\1--policy\nlist\n--servers\n1,3\n--ranks\n8\n--topology\ncore:4 pu:2");
  corpus.add("\1--policy\ntail\n--ranks\n9\n--nodes\n2\n--topology\npu:8\n--launcher\nopenmpi");
  corpus.add(
      "\1--policy\nspread\n--ranks\n9\n--servers-per-node\n2\n--topology\npu:8\n--hosts\na,b");
  corpus.add("\1--cost\n--grid\n8x4\n--aggregators\n2\n--topology\n2*pack:2 core:8 pu:1");
  corpus.add(
      "\1--topology\n[numa(memory=1GB)] pack:2 core:4(indexes=2*2:1*2) pu:2(indexes=core:pack)");
  corpus.add(std::string{'\0'} + "0-15,128-143,7");
}

// Numbers as cdf_fuzz.cpp takes them.
void cdf(const std::filesystem::path& folder) {
  Corpus corpus{folder, "cdf"};
  const std::string two_by_three{"\2\1\2\1\3", 5};
  const std::string define = std::string{"\2\0\0u", 4} + '\0' + "\12" + two_by_three;
  const std::string text = std::string{"\2\0\0\2\1\0", 6} + "y x" + '\0';
  const std::string put{"\1\0", 2};
  corpus.add(std::string{'\0', '\0', '\1'} + define + text + put + '\0' + put);
  corpus.add(std::string{'\0', '\1', '\0'} + define + put);
  corpus.add(std::string{"\1\1\3\3\1\5\1\4\1\7\0\2\0\2\5\1\4\1\0\1\1\5\1\3\1\3\1\4\2", 30});
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    (void)std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 2;
  }
  manifests(words[1]);
  messages(words[1]);
  reports(words[1]);
  names(words[1]);
  settings(words[1]);
  maps(words[1]);
  cdf(words[1]);
  return 0;
}
