#include "stage.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "values.h"

namespace actor {
namespace {

iocomp_state state_of(const std::string& name) {
  static const std::map<std::string, iocomp_state> states{{"handed_over", IOCOMP_HANDED_OVER},
                                                          {"written", IOCOMP_WRITTEN},
                                                          {"durable", IOCOMP_DURABLE}};
  return states.at(name);
}

}  // namespace

Stage::Stage(Journal& journal) : journal_{journal} {
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  processes_.resize(static_cast<std::size_t>(size));
  const pid_t mine = ::getpid();
  static_assert(sizeof(pid_t) == sizeof(int));
  MPI_Allgather(&mine, 1, MPI_INT, processes_.data(), 1, MPI_INT, MPI_COMM_WORLD);
}

const std::map<std::string, Stage::Act>& Stage::acts() {
  static const std::map<std::string, Act> all{{"init", &Stage::init},
                                              {"open", &Stage::open},
                                              {"define", &Stage::define},
                                              {"set_shape", &Stage::set_shape},
                                              {"attribute", &Stage::attribute},
                                              {"fill", &Stage::fill},
                                              {"put", &Stage::put},
                                              {"put_runs", &Stage::put_runs},
                                              {"put_text", &Stage::put_text},
                                              {"end_step", &Stage::end_step},
                                              {"wait", &Stage::wait},
                                              {"test", &Stage::test},
                                              {"wait_step", &Stage::wait_step},
                                              {"progress", &Stage::progress},
                                              {"close", &Stage::close},
                                              {"read", &Stage::read},
                                              {"finalize", &Stage::finalize_now},
                                              {"group", &Stage::group},
                                              {"barrier", &Stage::barrier},
                                              {"pause", &Stage::pause},
                                              {"kill", &Stage::kill},
                                              {"leave", &Stage::leave},
                                              {"stop", &Stage::stop},
                                              {"go_on", &Stage::go_on},
                                              {"measure_cpu", &Stage::measure_cpu},
                                              {"limit_file_size", &Stage::limit_file_size},
                                              {"pin", &Stage::pin},
                                              {"fault", &Stage::fault},
                                              {"remove_tree", &Stage::remove_tree},
                                              {"rename", &Stage::rename},
                                              {"make_folder", &Stage::make_folder},
                                              {"settings", &Stage::settings}};
  return all;
}

void Stage::perform(const Line& line) {
  const auto act = acts().find(line.word);
  if (act == acts().end()) {
    throw std::runtime_error{"line " + std::to_string(line.number) + ": there is no word \"" +
                             line.word + '"'};
  }
  if (line.concerns(rank_)) {
    (this->*act->second)(line);
  }
}

int Stage::tell(const Line& line, int code, double began, nlohmann::json more) {
  more["call"] = line.word;
  more["line"] = line.number;
  more["code"] = code;
  more["seconds"] = now_seconds() - began;
  if (code != IOCOMP_OK) {
    more["story"] = iocomp_error();
  }
  journal_.write(std::move(more));
  return code;
}

Stage::File& Stage::file(const Line& line) { return files_[line.argument(0)]; }

void Stage::init(const Line& line) {
  const double began = now_seconds();
  const int code = iocomp_init(MPI_COMM_WORLD, nullptr, &session_);
  if (code == IOCOMP_OK) {
    role_ = iocomp_role(session_);
    const MPI_Comm compute = iocomp_comm(session_);
    if (compute != MPI_COMM_NULL) {
      MPI_Comm_rank(compute, &rank_);
      journal_.set_compute_rank(rank_);
    }
  }
  tell(line, code, began, {{"role", static_cast<int>(role_)}});
}

void Stage::open(const Line& line) {
  File& opening = file(line);
  opening = {};
  const auto kind = line.argument(1) == "checkpoint" ? IOCOMP_CHECKPOINT : IOCOMP_SERIES;
  const auto group = line.option("on", "");
  opening.members = group.empty() ? iocomp_comm(session_) : groups_.at(group);
  const double began = now_seconds();
  const int code = group.empty()
                       ? iocomp_open(session_, line.argument(0).c_str(), kind, &opening.handle)
                       : iocomp_open_on(session_, opening.members, line.argument(0).c_str(), kind,
                                        &opening.handle);
  tell(line, code, began, {{"file", line.argument(0)}});
}

void Stage::define(const Line& line) {
  File& defining = file(line);
  if (defining.handle == nullptr) {
    return;
  }
  Variable& variable = defining.variables[line.argument(1)];
  variable.type = type_of(line.argument(2));
  const std::string& shape = line.argument(3);
  variable.shape = shape == "scalar" ? std::vector<std::int64_t>{} : numbers(shape, 'x');
  const double began = now_seconds();
  const int code = iocomp_define(defining.handle, line.argument(1).c_str(), variable.type,
                                 static_cast<int>(variable.shape.size()), variable.shape.data(),
                                 &variable.handle);
  tell(line, code, began, {{"file", line.argument(0)}, {"variable", line.argument(1)}});
}

void Stage::set_shape(const Line& line) {
  if (file(line).handle == nullptr) {
    return;
  }
  Variable& variable = file(line).variables.at(line.argument(1));
  variable.shape = numbers(line.argument(2), 'x');
  const double began = now_seconds();
  const int code = iocomp_set_shape(variable.handle, variable.shape.data());
  tell(line, code, began, {{"file", line.argument(0)}, {"variable", line.argument(1)}});
}

void Stage::end_step(const Line& line) {
  if (file(line).handle == nullptr) {
    return;
  }
  const std::int64_t step = iocomp_current_step(file(line).handle);
  const double began = now_seconds();
  const int code = iocomp_end_step(file(line).handle);
  tell(line, code, began, {{"file", line.argument(0)}, {"step", step}});
}

void Stage::wait(const Line& line) {
  File& of = file(line);
  const auto state = state_of(line.argument(1));
  bool all_well = true;
  for (const auto& put : std::exchange(of.puts, {})) {
    const double began = now_seconds();
    const int code = iocomp_wait(&put.ticket, state);
    all_well = all_well && code == IOCOMP_OK;
    tell(line, code, began,
         {{"file", line.argument(0)}, {"variable", put.variable}, {"step", put.step}});
  }
  if (all_well) {
    of.buffers.clear();
  }
}

void Stage::test(const Line& line) {
  const auto state = state_of(line.argument(1));
  for (const auto& put : file(line).puts) {
    int reached = 0;
    const double began = now_seconds();
    const int code = iocomp_test(&put.ticket, state, &reached);
    tell(line, code, began, {{"file", line.argument(0)}, {"step", put.step}, {"reached", reached}});
  }
}

void Stage::wait_step(const Line& line) {
  if (file(line).handle == nullptr) {
    return;
  }
  const std::int64_t step = std::stoll(line.argument(1));
  const double began = now_seconds();
  const int code = iocomp_wait_step(file(line).handle, step);
  tell(line, code, began, {{"file", line.argument(0)}, {"step", step}});
}

void Stage::progress(const Line& line) {
  const double began = now_seconds();
  tell(line, iocomp_progress(session_), began);
}

void Stage::close(const Line& line) {
  File& closing = file(line);
  if (closing.handle == nullptr) {
    return;
  }
  const std::int64_t step = iocomp_current_step(closing.handle);
  const double began = now_seconds();
  const int code = iocomp_close(closing.handle);
  closing.handle = nullptr;
  tell(line, code, began, {{"file", line.argument(0)}, {"step", step}});
}

void Stage::finalize_now(const Line& line) {
  const double began = now_seconds();
  tell(line, iocomp_finalize(session_), began);
  session_ = nullptr;
}

void Stage::finalize() {
  Line line;
  line.word = "finalize";
  finalize_now(line);
}

}  // namespace actor
