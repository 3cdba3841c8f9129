// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/header.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace iocomp::protocol {

std::vector<std::byte> message(Kind kind, std::uint64_t file, std::span<const std::byte> body) {
  const Header header{magic, version, kind, body.size(), file};
  std::vector<std::byte> bytes(sizeof header + body.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!body.empty()) {
    std::memcpy(bytes.data() + sizeof header, body.data(), body.size());
  }
  return bytes;
}

Header check_header(std::span<const std::byte> message, int sender) {
  const auto refuse = [&](const std::string& what) {
    throw Error{ErrorCode::internal, "a message of " + std::to_string(message.size()) +
                                         " bytes from rank " + std::to_string(sender) + what};
  };
  Header header;
  if (message.size() < sizeof header) {
    refuse(" is shorter than a header");
  }
  std::memcpy(&header, message.data(), sizeof header);
  if (header.magic != magic) {
    refuse(" is not one of iocomp");
  }
  if (header.version != version) {
    refuse(" has version " + std::to_string(header.version) + ", this rank speaks version " +
           std::to_string(version));
  }
  if (header.body_bytes != message.size() - sizeof header) {
    refuse(" claims a body of " + std::to_string(header.body_bytes) + " bytes");
  }
  return header;
}

std::span<const std::byte> body(std::span<const std::byte> message) noexcept {
  return message.subspan(sizeof(Header));
}

}  // namespace iocomp::protocol
