#pragma once

#include <cstddef>
#include <vector>

namespace iocomp::steps {

/// Carries the orders of a file's lead to those who write it; each gets what is for it in the order
/// in which it was sent. How reports come to the lead is the business of those who write.
class Council {
 public:
  Council() = default;
  Council(const Council&) = delete;
  Council& operator=(const Council&) = delete;
  virtual ~Council() = default;

  [[nodiscard]] virtual int writers() const = 0;
  virtual void to_all(std::vector<std::byte> message) = 0;
  virtual void to_writer(int writer, std::vector<std::byte> message) = 0;
};

}  // namespace iocomp::steps
