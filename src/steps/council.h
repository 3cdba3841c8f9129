// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "steps/tree.h"

namespace iocomp::steps {

/// Carries the orders of a file's lead to those who write it, down a tree of them; each gets what
/// is for it in the order in which it was sent. Nobody sends more messages for an order than there
/// are right below it. How messages get from one to the next is the business of those who write.
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
  /// One after the other, for as much as one costs.
  void to_all(std::span<const Message> messages);
  /// @param messages  one for each writer. Neighbours with the same message cost as much as one.
  void to_each(std::vector<Message> messages);

  /// A bundle has come from above.
  /// @throws Error{internal} for one that this one cannot have been sent.
  void pass_down(std::span<const std::byte> bundle);

 protected:
  /// Send a bundle to one right below.
  virtual void send_down(int writer, std::span<const std::byte> bundle) = 0;
  /// An order for this writer itself.
  virtual void take_order(Message order) = 0;

 private:
  struct Order;
  void send(const std::vector<Order>& orders);

  Tree tree_;
};

}  // namespace iocomp::steps
