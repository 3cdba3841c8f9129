// SPDX-License-Identifier: BSD-3-Clause
#include "formats/source.h"

#include <adios2.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "formats/adios2/engine.h"
#include "formats/adios2/failure.h"
#include "formats/adios2/read_values.h"
#include "formats/sources.h"

namespace iocomp::formats::bp {

/// Reads a dataset of BP step by step, by ADIOS2, without other ranks. Reading an earlier step than
/// the last one opens it again.
class StepSource : public Source {
 public:
  /// @throws Error{storage_failure}.
  StepSource(const Path& path, std::mutex& library);
  ~StepSource() override;

  /// Elements that nobody put are zeros.
  void read(const Placed& where, const array::Box& box, const Destination& to) override;

 private:
  [[nodiscard]] Inventory look_through() override;
  void open();
  void close() noexcept;
  /// Opens the next step. @return false if there is none.
  bool next_step();
  void go_to(std::int64_t step);

  struct Opened {
    adios2::ADIOS adios;
    adios2::IO io;
    adios2::Engine engine;
  };

  std::string path_;
  OpenFolder folder_;
  std::mutex& library_;
  std::unique_ptr<Opened> opened_;
  std::int64_t step_ = -1;  // that is open
};

namespace {

template <typename Action>
auto told(const std::string& action, const std::string& path, const Action& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw failure_of_adios2(action + ' ' + path, error);
  }
}

// ADIOS2 would wait for a program that writes into a pipe.
void refuse_pipes(const OpenFolder& dataset) {
  for (const std::string& name : dataset.names()) {
    const auto found = dataset.find(name, OpenFolder::Links::followed);
    if (found && S_ISFIFO(found->st_mode)) {
      // It is refused there.
      static_cast<void>(dataset.open(name, O_RDONLY, OpenFolder::Links::followed));
    }
  }
}

}  // namespace

StepSource::StepSource(const Path& path, std::mutex& library)
    : path_{path.text()},
      folder_{path.folder().folder(path.name(), OpenFolder::Links::followed)},
      library_{library} {
  const std::lock_guard lock{library_};
  told("open", path_, [this] { open(); });
}

StepSource::~StepSource() {
  const std::lock_guard lock{library_};
  close();
}

void StepSource::close() noexcept {
  try {
    if (opened_ && opened_->engine) {
      opened_->engine.Close();
    }
  } catch (const std::exception&) {  // nothing was written
  }
  opened_.reset();
}

void StepSource::open() {
  close();
  refuse_pipes(folder_);
  have_home();
  opened_ = std::make_unique<Opened>();
  auto& [adios, io, engine] = *opened_;
  io = adios.DeclareIO("iocomp");
  io.SetEngine("BPFile");
  io.SetParameter("OpenTimeoutSecs", "0");  // else BP5 waits an hour for a file that is missing
  engine = io.Open(name_of(folder_.descriptor()), adios2::Mode::Read);
  step_ = -1;
}

bool StepSource::next_step() {
  if (step_ >= 0) {
    opened_->engine.EndStep();
  }
  if (opened_->engine.BeginStep(adios2::StepMode::Read, 0.0F) != adios2::StepStatus::OK) {
    return false;
  }
  ++step_;
  return true;
}

void StepSource::go_to(std::int64_t step) {
  if (step < step_) {
    open();
  }
  while (step_ < step) {
    const std::int64_t before = step_;
    if (!next_step()) {
      throw Error{ErrorCode::storage_failure, "cannot read step " + std::to_string(step) + " of " +
                                                  path_ + ": it has " + std::to_string(before + 1) +
                                                  " steps"};
    }
  }
}

void StepSource::read(const Placed& where, const array::Box& box, const Destination& to) {
  const std::lock_guard lock{library_};
  told("read \"" + where.variable.name + "\" from", path_, [&] {
    const auto steps = static_cast<std::int64_t>(opened_->engine.Steps());
    go_to(steps == 1 ? 0 : where.step);  // a file of its own for each step has one
    DenseBlock block{to, array::size_bytes(where.variable.type)};
    std::memset(
        block.bytes(), 0,
        static_cast<std::size_t>(array::elements(box)) * array::size_bytes(where.variable.type));
    get(opened_->io, opened_->engine, where.variable, box, block.bytes());
    block.scatter();
  });
}

Inventory StepSource::look_through() {
  const std::lock_guard lock{library_};
  return told("read", path_, [this] {
    Inventory found;
    std::map<std::string, int> ids;
    open();
    while (next_step()) {
      found.steps.push_back(step_);
      for (auto& variable : variables_in(opened_->io, found.not_read)) {
        variable.id = ids.emplace(variable.name, static_cast<int>(ids.size())).first->second;
        found.contents.push_back({step_, variable, -1});
      }
    }
    if (!found.steps.empty()) {
      const Inventory all = attributes_of_all_steps(name_of(folder_.descriptor()));
      found.attributes = all.attributes;
      found.of_variable = all.of_variable;
    }
    open();
    return found;
  });
}

}  // namespace iocomp::formats::bp

namespace {

std::string version() { return "ADIOS2 " ADIOS2_VERSION_STR; }

std::unique_ptr<iocomp::formats::Source> open(const iocomp::Path& path, std::mutex& library) {
  return std::make_unique<iocomp::formats::bp::StepSource>(path, library);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const iocomp_source_entry iocomp_source{iocomp_source_interface_version, &version, &open};
