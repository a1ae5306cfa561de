// Test harness of the native unit tests: one executable per *_test.cc, results as TAP 14 lines.
//   TEST("submission ring: keeps order when the producer wraps") { EXPECT_EQ(a, b); }
// EXPECT_* record a failure and go on, REQUIRE_* leave the test; SKIP("reason") ends it as skipped.
// Invariants: a test without a single EXPECT fails (it could not have found anything); random tests
// use seed(), which is printed and replayed from NEPHRITE_SEED. Exit code 0 only if nothing failed.
// Owner: include it once per executable; it defines main. Not here: running all of them
// (scripts/test_native.js). Why no library: DECISIONS.md at the root.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace harness {

struct TestCase {
  const char* title;
  void (*body)();
};

inline std::vector<TestCase>& cases() {
  static std::vector<TestCase> list;
  return list;
}

struct Registration {
  Registration(const char* title, void (*body)()) { cases().push_back({title, body}); }
};

// Counted atomically: threads of a test may EXPECT too.
inline std::atomic<std::uint64_t> checks{0};
inline std::atomic<std::uint64_t> failures{0};
inline const char* skip_reason = nullptr;

inline void fail(const char* file, int line, const std::string& what) {
  failures.fetch_add(1);
  std::printf("# %s:%d: %s\n", file, line, what.c_str());
}

template <typename T>
std::string show(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_enum_v<T>) {
    out << static_cast<long long>(value);
  } else if constexpr (sizeof(T) == 1 && std::is_integral_v<T>) {
    out << static_cast<int>(value);
  } else if constexpr (std::is_null_pointer_v<T>) {
    out << "nullptr";
  } else {
    out << value;
  }
  return out.str();
}

template <typename A, typename B>
bool equal(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, bool> &&
                !std::is_same_v<B, bool>) {
    return std::cmp_equal(a, b);
  } else {
    return a == b;
  }
}

// Seed of this run: NEPHRITE_SEED if set, else from the clock; printed once.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* text = std::getenv("NEPHRITE_SEED");
    const std::uint64_t chosen =
        text != nullptr ? std::strtoull(text, nullptr, 0)
                        : static_cast<std::uint64_t>(
                              std::chrono::system_clock::now().time_since_epoch().count());
    std::printf("# NEPHRITE_SEED=%llu\n", static_cast<unsigned long long>(chosen));
    return chosen;
  }();
  return value;
}

// splitmix64: small, seedable, good enough to choose inputs.
class Random {
 public:
  explicit Random(std::uint64_t start) : state_(start) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

// Runs the cases whose title contains `filter`; returns the process exit code.
inline int run(const char* filter) {
  int number = 0;
  int failed = 0;
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);
  for (const TestCase& test : cases()) {
    if (filter != nullptr && std::strstr(test.title, filter) == nullptr) continue;
    checks = 0;
    failures = 0;
    skip_reason = nullptr;
    test.body();
    if (checks == 0 && skip_reason == nullptr) fail(test.title, 0, "no EXPECT was reached");
    ++number;
    const bool is_ok = failures == 0;
    if (!is_ok) ++failed;
    std::printf("%s %d - %s%s%s\n", is_ok ? "ok" : "not ok", number, test.title,
                skip_reason != nullptr ? " # SKIP " : "",
                skip_reason != nullptr ? skip_reason : "");
  }
  std::printf("1..%d\n", number);
  return failed == 0 && number > 0 ? 0 : 1;
}

}  // namespace harness

#define HARNESS_JOIN_(a, b) a##b
#define HARNESS_JOIN(a, b) HARNESS_JOIN_(a, b)
#define HARNESS_TEST(title, body, entry)                 \
  static void body();                                    \
  static const harness::Registration entry(title, body); \
  static void body()
#define TEST(title) \
  HARNESS_TEST(title, HARNESS_JOIN(test_body_, __LINE__), HARNESS_JOIN(test_entry_, __LINE__))

#define HARNESS_COMPARE(a, b, negate, sign, on_failure)                                            \
  do {                                                                                             \
    const auto& harness_a = (a);                                                                   \
    const auto& harness_b = (b);                                                                   \
    harness::checks.fetch_add(1);                                                                  \
    if (harness::equal(harness_a, harness_b) == (negate)) {                                        \
      harness::fail(__FILE__, __LINE__,                                                            \
                    "expected " #a " " sign " " #b ", got " + harness::show(harness_a) + " and " + \
                        harness::show(harness_b));                                                 \
      on_failure;                                                                                  \
    }                                                                                              \
  } while (false)
#define HARNESS_TRUE(condition, on_failure)                      \
  do {                                                           \
    harness::checks.fetch_add(1);                                \
    if (!(condition)) {                                          \
      harness::fail(__FILE__, __LINE__, "expected " #condition); \
      on_failure;                                                \
    }                                                            \
  } while (false)

#define EXPECT_EQ(a, b) HARNESS_COMPARE(a, b, false, "==", (void)0)
#define EXPECT_NE(a, b) HARNESS_COMPARE(a, b, true, "!=", (void)0)
#define EXPECT_TRUE(condition) HARNESS_TRUE(condition, (void)0)
#define REQUIRE_EQ(a, b) HARNESS_COMPARE(a, b, false, "==", return )
#define REQUIRE_TRUE(condition) HARNESS_TRUE(condition, return )
#define SKIP(reason)                 \
  do {                               \
    harness::skip_reason = (reason); \
    return;                          \
  } while (false)

int main(int argc, char** argv) {
  return harness::run(argc > 1 ? argv[1] : nullptr);
}
