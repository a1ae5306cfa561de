// Tests of the harness itself: it must see a failure, count it, and refuse a test that checks
// nothing. Method: the failing cases are run by hand with the counters saved, so that they fail in
// here and not in the report.
#include "harness.h"

namespace {

struct Outcome {
  std::uint64_t checks;
  std::uint64_t failures;
};

Outcome outcome_of(void (*body)()) {
  const std::uint64_t checks_before = harness::checks;
  const std::uint64_t failures_before = harness::failures;
  harness::checks = 0;
  harness::failures = 0;
  body();
  const Outcome outcome{harness::checks, harness::failures};
  harness::checks = checks_before;
  harness::failures = failures_before;
  return outcome;
}

}  // namespace

TEST("harness: counts a broken expectation as a failure and goes on") {
  const Outcome outcome = outcome_of([] {
    EXPECT_EQ(1, 2);
    EXPECT_TRUE(false);
    EXPECT_NE(3, 3);
  });
  EXPECT_EQ(outcome.checks, 3);
  EXPECT_EQ(outcome.failures, 3);
}

TEST("harness: a broken requirement leaves the test") {
  const Outcome outcome = outcome_of([] {
    REQUIRE_EQ(1, 2);
    EXPECT_EQ(1, 2);
  });
  EXPECT_EQ(outcome.checks, 1);
  EXPECT_EQ(outcome.failures, 1);
}

TEST("harness: compares integers by value across signedness") {
  EXPECT_EQ(5u, 5);
  EXPECT_NE(-1, 0xffffffffu);
  EXPECT_EQ(std::uint64_t{1} << 40, 1099511627776LL);
}

TEST("harness: the same seed gives the same numbers") {
  harness::Random first(harness::seed());
  harness::Random second(harness::seed());
  for (int i = 0; i < 100; ++i) REQUIRE_EQ(first.next(), second.next());
  EXPECT_TRUE(harness::Random(1).next() != harness::Random(2).next());
}
