// SPDX-License-Identifier: BSD-3-Clause
#include "steps/council.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/wire.h"
#include "steps/tree.h"

namespace iocomp::steps {

/// One message for writers with consecutive numbers.
struct Council::Order {
  Tree::Branch writers;
  std::span<const std::byte> message;

  [[nodiscard]] bool is_for(const Tree::Branch& some) const noexcept {
    return writers.first < some.end && some.first < writers.end;
  }
};

void Council::to_all(Message message) { to_all(std::span{&message, 1}); }

void Council::to_all(std::span<const Message> messages) {
  std::vector<Order> orders;
  for (const auto& message : messages) {
    orders.push_back({{0, tree_.size()}, message});
  }
  send(orders);
}

void Council::to_each(std::vector<Message> messages) {
  std::vector<Order> orders;
  for (int writer = 0; writer < writers(); ++writer) {
    const std::span<const std::byte> message{messages.at(static_cast<std::size_t>(writer))};
    if (!orders.empty() && std::ranges::equal(orders.back().message, message)) {
      ++orders.back().writers.end;
    } else {
      orders.push_back({{writer, writer + 1}, message});
    }
  }
  send(orders);
}

// Messages go down first, because the writers below are farther away.
void Council::send(const std::vector<Order>& orders) {
  for (const auto& branch : tree_.below()) {
    WireWriter bundle;
    for (const auto& order : orders) {
      if (order.is_for(branch)) {
        bundle.put(std::int32_t{order.writers.first});
        bundle.put(std::int32_t{order.writers.end});
        bundle.put_bytes(order.message);
      }
    }
    send_down(branch.first, bundle.bytes());
  }
  for (const auto& order : orders) {
    if (order.writers.has(tree_.number())) {
      take_order({order.message.begin(), order.message.end()});
    }
  }
}

void Council::pass_down(std::span<const std::byte> bundle) {
  std::vector<Order> orders;
  for (WireReader reader{bundle}; reader.bytes_left() > 0;) {
    Order order;
    order.writers.first = reader.get<std::int32_t>();
    order.writers.end = reader.get<std::int32_t>();
    order.message = reader.get_bytes();
    if (!order.is_for(tree_.here())) {
      throw Error{ErrorCode::internal, "an order for writers " +
                                           std::to_string(order.writers.first) + " to " +
                                           std::to_string(order.writers.end - 1) +
                                           " came to writer " + std::to_string(tree_.number())};
    }
    orders.push_back(order);
  }
  send(orders);
}

}  // namespace iocomp::steps
