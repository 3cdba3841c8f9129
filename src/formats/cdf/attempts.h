#pragma once

#include <exception>

namespace iocomp::formats::cdf {

/// Of several collective calls that all writers make, whatever fails: what failed first.
class Attempts {
 public:
  template <typename Action>
  void operator()(const Action& action) {
    try {
      action();
    } catch (...) {
      first_ = first_ ? first_ : std::current_exception();
    }
  }
  void rethrow() const {
    if (first_) {
      std::rethrow_exception(first_);
    }
  }

 private:
  std::exception_ptr first_;
};

}  // namespace iocomp::formats::cdf
