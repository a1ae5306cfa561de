// Submission ring, consumer side: the poller's half of lib/ring/submission_ring.ts.
// Owner: one poller, on the producer's own thread: plain loads, since TypeScript moves the tail
// between calls into the addon and never during one.
// Invariants: the head is private and only copied out; the tail and the entries are untrusted.
// Not here: what an entry means (poller/poller.cc).
#pragma once

#include <cstdint>

#include "abi/layout.h"

namespace nephrite {

class SubmissionRing {
 public:
  // SAFETY: header and entries belong to one ring memory that outlives this object.
  SubmissionRing(abi::Header* header, const abi::SubmissionEntry* entries, std::uint32_t capacity)
      : header_(header), entries_(entries), capacity_(capacity) {}

  // Entries to read; more than capacity means the tail cannot be right.
  std::uint32_t available_count() const { return header_->submission_tail - head_; }
  bool is_corrupt() const { return available_count() > capacity_; }
  // A copy: what is checked is what is used. The caller knows that one is available.
  abi::SubmissionEntry take() { return entries_[head_++ & (capacity_ - 1)]; }
  // Gives the room back to the producer.
  void publish_head() { header_->submission_head = head_; }

 private:
  abi::Header* header_;
  const abi::SubmissionEntry* entries_;
  std::uint32_t capacity_;
  std::uint32_t head_ = 0;
};

}  // namespace nephrite
