// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/ranks.h"

namespace iocomp::bench {
namespace {

/// Writes as one would by hand: it returns when the page cache has the data, or the disk.
class PwriteWriter : public Writer {
 public:
  PwriteWriter(std::string path, bool is_direct)
      : path_{std::move(path)},
        piece_bytes_{is_direct ? largest_call_bytes : slice_bytes},
        file_{open(path_.c_str(),
                   O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | (is_direct ? O_DIRECT : 0), 0644)} {
    if (file_ < 0) fail("open");
  }

  void put(int step, std::span<const double> values) override {
    const auto bytes = std::as_bytes(values);
    const auto begin = static_cast<off_t>(bytes.size()) * step;
    for (std::size_t done = 0; done < bytes.size();) {
      const std::size_t count = std::min(piece_bytes_, bytes.size() - done);
      const ssize_t written =
          pwrite(file_, bytes.data() + done, count, begin + static_cast<off_t>(done));
      if (written <= 0) fail("pwrite");
      done += static_cast<std::size_t>(written);
    }
  }

  void wait(int /*step*/) override {}

  void close() override {
    if (fsync(file_) != 0) fail("fsync");
    if (::close(file_) != 0) fail("close");
  }

 private:
  static constexpr std::size_t slice_bytes = std::size_t{8} << 20;
  static constexpr std::size_t largest_call_bytes = std::size_t{1} << 30;

  [[noreturn]] void fail(const char* call) const {
    throw std::system_error(errno, std::generic_category(), std::string{call} + " of " + path_);
  }

  std::string path_;
  std::size_t piece_bytes_;
  int file_;
};

/// As one would by hand: a thread writes while the rank computes.
class ThreadWriter : public Writer {
 public:
  explicit ThreadWriter(std::string path) : file_{std::move(path), true} {}

  void put(int step, std::span<const double> values) override {
    const std::scoped_lock lock{mutex_};
    puts_.emplace_back(step, values);
    changed_.notify_all();
  }

  void wait(int step) override {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return written_ > step; });
  }

  void close() override {
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return puts_.empty(); });
    }
    file_.close();
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (changed_.wait(lock, stop, [this] { return !puts_.empty(); })) {
      const auto [step, values] = puts_.front();
      lock.unlock();
      file_.put(step, values);
      lock.lock();
      puts_.pop_front();
      written_ = step + 1;
      changed_.notify_all();
    }
  }

  PwriteWriter file_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::pair<int, std::span<const double>>> puts_;  // that are not written
  int written_ = 0;                                           // number of written puts
  std::jthread thread_{[this](const std::stop_token& stop) { work(stop); }};
};

class IocompWriter : public Writer {
 public:
  IocompWriter(const apps::Session& session, std::size_t elements, int puts)
      : count_{static_cast<std::int64_t>(elements)},
        start_{count_ * apps::rank_in(session.comm())},
        tickets_(static_cast<std::size_t>(puts)) {
    const std::int64_t shape = count_ * apps::size_of(session.comm());
    apps::check(iocomp_open(session.handle(), "overlap", IOCOMP_SERIES, nullptr, &file_),
                "iocomp_open");
    apps::check(iocomp_define(file_, "u", IOCOMP_FLOAT64, 1, &shape, &variable_), "iocomp_define");
  }

  void put(int step, std::span<const double> values) override {
    apps::check(iocomp_put(variable_, &start_, &count_, values.data(), &ticket(step)),
                "iocomp_put");
  }
  void end_step() override { apps::check(iocomp_end_step(file_), "iocomp_end_step"); }
  void wait(int step) override {
    apps::check(iocomp_wait(&ticket(step), IOCOMP_REUSABLE), "iocomp_wait");
  }
  void close() override { apps::check(iocomp_close(file_), "iocomp_close"); }

 private:
  iocomp_ticket& ticket(int step) { return tickets_[static_cast<std::size_t>(step)]; }

  std::int64_t count_;
  std::int64_t start_;
  std::vector<iocomp_ticket> tickets_;
  iocomp_file* file_ = nullptr;
  iocomp_var* variable_ = nullptr;
};

/// Two puts are open at a time, as there are two buffers.
class RivalWriter : public Writer {
 public:
  RivalWriter(const Options& options, MPI_Comm comm)
      : file_{open_rival(options.rival, {.path = options.file,
                                         .comm = comm,
                                         .variables = {"u"},
                                         .elements = options.elements(),
                                         .slots = 2})} {}

  void put(int step, std::span<const double> values) override { file_->put(0, slot(step), values); }
  void end_step() override { file_->end_step(); }
  void wait(int step) override { file_->wait(slot(step)); }
  void begin_computing() override { file_->begin_computing(); }
  void end_computing() override { file_->end_computing(); }
  void close() override { file_->close(); }

 private:
  static std::size_t slot(int step) { return static_cast<std::size_t>(step % 2); }

  std::unique_ptr<RivalFile> file_;
};

}  // namespace

std::unique_ptr<Writer> make_writer(const Options& options, const apps::Session* session,
                                    MPI_Comm comm) {
  switch (options.mode) {
    case Mode::pwrite:
    case Mode::pwrite_direct:
      return std::make_unique<PwriteWriter>(
          options.file + "." + std::to_string(apps::rank_in(comm)),
          options.mode == Mode::pwrite_direct);
    case Mode::thread:
      return std::make_unique<ThreadWriter>(options.file + "." +
                                            std::to_string(apps::rank_in(comm)));
    case Mode::iocomp:
      return std::make_unique<IocompWriter>(*session, options.elements(), options.puts);
    case Mode::rival:
      return std::make_unique<RivalWriter>(options, comm);
    default:
      return nullptr;
  }
}

}  // namespace iocomp::bench
