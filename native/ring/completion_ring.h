// Completion ring, producer side: the poller's half of lib/ring/completion_ring.ts.
// Owner: one poller, on the consumer's own thread. Invariants: the tail is private and copied out
// by publish_tail(); the poller takes an entry only while its completion has room.
// Not here: who completes (poller/poller.cc).
#pragma once

#include <cstdint>

#include "abi/layout.h"

namespace nephrite {

class CompletionRing {
 public:
  // SAFETY: header and entries belong to one ring memory that outlives this object.
  CompletionRing(abi::Header* header, abi::CompletionEntry* entries, std::uint32_t capacity)
      : header_(header), entries_(entries), capacity_(capacity) {}

  void push(const abi::CompletionEntry& entry) { entries_[tail_++ & (capacity_ - 1)] = entry; }
  std::uint32_t unread_count() const { return tail_ - header_->completion_head; }
  std::uint32_t tail() const { return tail_; }
  void publish_tail() { header_->completion_tail = tail_; }

 private:
  abi::Header* header_;
  abi::CompletionEntry* entries_;
  std::uint32_t capacity_;
  std::uint32_t tail_ = 0;
};

}  // namespace nephrite
