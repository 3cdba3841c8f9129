// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "commit/lead.h"
#include "config/file_settings.h"
#include "formats/format.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "server/home.h"
#include "server/served_file.h"

namespace iocomp::server {

/// The files of a server, each in up to three roles (writer, home, lead). It finds the role that a
/// message about a file is for.
class OpenFiles {
 public:
  /// An action of the lead that all servers carry out together, in its order.
  using Order = std::function<void(std::uint64_t file, protocol::ActionNote note)>;
  OpenFiles(Context& context, Order order) : context_{context}, order_{std::move(order)} {}

  void from_client(const protocol::Header& header, int client, std::span<const std::byte> body);
  /// @param sender  session rank.
  void from_server(const protocol::Header& header, int sender, std::span<const std::byte> body);
  /// A client of this server will say nothing more.
  void client_left(int client);
  /// Carry out an ordered action and answer it.
  void perform(std::uint64_t key, protocol::ActionNote note);

  /// The writer of a file, or nothing before this server knows it.
  [[nodiscard]] ServedFile* writer(std::uint64_t key) const;
  /// True if no lead, of this server or another, has anything more to order.
  [[nodiscard]] bool are_closed() const;
  void for_each_writer(const std::function<void(ServedFile&)>& visit) const;
  /// Forget the files that are over in all roles.
  void forget_finished();
  /// Go on with files that wait for others. @return true if anything moved.
  bool advance_leads();
  /// Open files that wait for the end of a failed file of the same path. @return true if there were
  /// any.
  bool open_held();
  [[nodiscard]] bool holds_opens() const noexcept { return !held_.empty(); }
  /// Give up the ownership: others may write the files of this server.
  void release();

 private:
  struct Entry {
    std::unique_ptr<ServedFile> file;
    std::unique_ptr<HomeFile> home;
    std::unique_ptr<commit::Lead> lead;
    bool is_closed = false;  // the lead has nothing more to order
    // Flushes that members of other homes sent before this server knew the file.
    std::vector<std::pair<int, protocol::StepNote>> early_flushes;
  };
  void tell_who_left(HomeFile& home);
  void to_home(HomeFile& home, const protocol::Header& header, int client,
               std::span<const std::byte> body);
  void pass_up(protocol::Bytes message);
  void to_lead(const protocol::Header& header, std::span<const std::byte> body);
  void to_writer(const protocol::Header& header, std::span<const std::byte> body);
  void begin_lead(std::uint64_t key, const protocol::Open& open);
  void begin_new_lead(std::uint64_t key, const protocol::Open& open);
  [[nodiscard]] std::string path_of(const protocol::Open& open) const;
  [[nodiscard]] bool has_failed_file(const std::string& path) const;
  [[nodiscard]] std::unique_ptr<commit::Lead> make_lead(std::uint64_t key,
                                                        const protocol::Open& open,
                                                        const config::FileSettings& settings,
                                                        const formats::Format& format);
  void know_file(std::uint64_t key, const protocol::Open& open);
  [[nodiscard]] HomeFile& home_of(Entry& entry, std::uint64_t key);

  Context& context_;
  Order order_;
  std::unordered_map<std::uint64_t, Entry> files_;
  struct Held {
    std::string path;
    std::vector<protocol::Open> opens;
    double until = 0;
  };
  std::map<std::uint64_t, Held> held_;
  // all are told; one who asks later does not try again
  std::vector<int> left_;  // clients that have said goodbye
  std::unordered_set<std::uint64_t> refused_;
};

}  // namespace iocomp::server
