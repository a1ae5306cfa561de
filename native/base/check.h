// CHECK: assertions for programmer errors. They stay on in release builds and print both values.
// Owner: none, stateless. Operating errors (a failed system call, bad input) never come here.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace nephrite {

[[noreturn]] inline void check_failed(const char* file, int line, const char* what, long long left,
                                      long long right) {
  std::fprintf(stderr, "nephrite: invariant broken at %s:%d: %s (%lld, %lld)\n", file, line, what,
               left, right);
  std::abort();
}

}  // namespace nephrite

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) [[unlikely]]                                    \
      ::nephrite::check_failed(__FILE__, __LINE__, #condition, 0, 0); \
  } while (false)

#define CHECK_OP(left, op, right)                                            \
  do {                                                                       \
    const auto check_left = (left);                                          \
    const auto check_right = (right);                                        \
    if (!(check_left op check_right)) [[unlikely]]                           \
      ::nephrite::check_failed(__FILE__, __LINE__, #left " " #op " " #right, \
                               static_cast<long long>(check_left),           \
                               static_cast<long long>(check_right));         \
  } while (false)

#define CHECK_EQ(left, right) CHECK_OP(left, ==, right)
#define CHECK_LE(left, right) CHECK_OP(left, <=, right)
#define CHECK_LT(left, right) CHECK_OP(left, <, right)
