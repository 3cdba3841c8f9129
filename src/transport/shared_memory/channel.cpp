// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/channel.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "transport/shared_memory/records.h"

namespace iocomp::transport {

void Channel::queue(std::vector<std::byte> bytes) {
  Frame frame{.owned = std::move(bytes), .left = {}};
  frame.left = frame.owned;  // moving a vector leaves its bytes where they are
  queue_.push_back(std::move(frame));
}

// Nothing may overtake frames that wait already.
std::size_t Channel::write(std::span<const std::byte> bytes) {
  if (!queue_.empty() || bytes.empty()) {
    return 0;
  }
  const std::size_t written = out_.write(bytes);
  has_written_ = has_written_ || written > 0;
  return written;
}

void Channel::send(RecordKind kind, std::span<const std::byte> fixed, std::vector<std::byte> rest) {
  const RecordHead head{kind, checked_cast<std::uint32_t>(fixed.size() + rest.size())};
  std::array<std::byte, sizeof head + largest_fixed_bytes> front;
  std::memcpy(front.data(), &head, sizeof head);
  std::copy(fixed.begin(), fixed.end(), front.begin() + sizeof head);
  const auto first = std::span{front}.first(sizeof head + fixed.size());
  const std::size_t written = write(first);
  if (written < first.size()) {
    queue({first.begin() + static_cast<std::ptrdiff_t>(written), first.end()});
  }
  const std::size_t of_rest = write(rest);
  if (of_rest < rest.size()) {
    queue(std::move(rest));
    queue_.back().left = queue_.back().left.subspan(of_rest);
  }
}

void Channel::send_copy(std::span<const std::byte> bytes) {
  const RecordHead head{RecordKind::copy, checked_cast<std::uint32_t>(bytes.size())};
  const auto head_bytes = std::as_bytes(std::span{&head, 1});
  queue({head_bytes.begin(), head_bytes.end()});
  queue_.push_back({.owned = {}, .left = bytes});
}

bool Channel::push() {
  bool any = std::exchange(has_written_, false);
  while (!queue_.empty()) {
    Frame& frame = queue_.front();
    const std::size_t written = out_.write(frame.left);
    any = any || written > 0;
    frame.left = frame.left.subspan(written);
    if (!frame.left.empty()) {
      break;
    }
    queue_.pop_front();
  }
  return any;
}

bool Channel::read_head(RecordSink& sink) {
  const auto head = std::as_writable_bytes(std::span{&head_, 1});
  head_have_ += in_.read(head.subspan(head_have_));
  if (head_have_ < head.size()) {
    return false;
  }
  if (head_.kind == RecordKind::copy) {
    missing_ = sink.copy_target(head_.bytes);
  } else {
    body_.resize(head_.bytes);
    missing_ = body_;
  }
  return true;
}

bool Channel::pull(RecordSink& sink) {
  while (head_have_ == sizeof head_ || read_head(sink)) {
    while (!missing_.empty()) {
      const std::size_t count = in_.read(missing_);
      if (count == 0) {
        return in_.is_producer_starved();
      }
      missing_ = missing_.subspan(count);
    }
    head_have_ = 0;
    sink.take(head_.kind, std::exchange(body_, {}));
  }
  return in_.is_producer_starved();
}

}  // namespace iocomp::transport
