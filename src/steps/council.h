// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "steps/tree.h"

namespace iocomp::steps {

/// Carries the orders of a file's lead to its writers, down a tree. Each writer gets its orders in
/// the order in which they were sent. For one call, a writer sends one message to each writer right
/// below it. Derived classes do the sending.
class Council {
 public:
  using Message = std::vector<std::byte>;
  explicit Council(Tree tree) : tree_{std::move(tree)} {}
  Council(const Council&) = delete;
  Council& operator=(const Council&) = delete;
  virtual ~Council() = default;

  [[nodiscard]] int writers() const noexcept { return tree_.size(); }
  [[nodiscard]] const Tree& tree() const noexcept { return tree_; }

  // Orders of the lead. @pre tree().number() == 0
  void to_all(Message message);
  /// Send several messages, in this order, at the cost of one.
  void to_all(std::span<const Message> messages);
  /// @param messages  one for each writer. Equal messages of neighbours cost as much as one.
  void to_each(std::vector<Message> messages);

  /// Take a bundle that has come from above.
  /// @throws Error{internal} if an order in it is for other writers.
  void pass_down(std::span<const std::byte> bundle);

 protected:
  /// Send a bundle to a writer right below.
  virtual void send_down(int writer, std::span<const std::byte> bundle) = 0;
  /// Take an order for this writer itself.
  virtual void take_order(Message order) = 0;

 private:
  struct Order;
  void send(const std::vector<Order>& orders);

  Tree tree_;
};

}  // namespace iocomp::steps
