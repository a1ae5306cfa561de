// Drives a real Poller as lib/ring does it: writes entries, enters, reads completions, parks in
// loop_watch.h where libuv would. Owner: the driver; one thread.
// Invariants: a slot is used again only after its completion; a wait that never ends is reported as
// lost, by a time limit far above what a loaded machine needs.
// Not here: expectations (the tests).
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "backend/select.h"
#include "loop_watch.h"
#include "poller/poller.h"

namespace test {

using nephrite::abi::CompletionEntry;
using nephrite::abi::Opcode;
using nephrite::abi::SubmissionEntry;

class PollerDriver {
 public:
  static constexpr int kLostMs = 20'000;
  static constexpr std::uint32_t kBytesPerSlot = 64 * 1024;

  explicit PollerDriver(std::string_view backend_name, std::uint32_t slot_count = 64)
      : answers_(slot_count), is_used_(slot_count), generations_(slot_count) {
    auto memory = nephrite::PollerMemory::allocate(slot_count, slot_count);
    CHECK(memory != nullptr);
    arena_id_ =
        static_cast<std::uint16_t>(memory->add_arena(std::size_t{slot_count} * kBytesPerSlot));
    auto backend = nephrite::make_backend(backend_name, memory);
    CHECK(backend != nullptr);
    poller = std::make_unique<nephrite::Poller>(memory, std::move(backend), nullptr);
    nephrite::BackendOptions options;
    options.slot_capacity = slot_count;
    watch_.connect(options);
    opened = poller->open(options);
  }

  // A fresh entry in a free slot; goes out with submit().
  SubmissionEntry entry(Opcode opcode) {
    std::uint32_t slot = 0;
    while (is_used_[slot]) CHECK_LT(++slot, static_cast<std::uint32_t>(is_used_.size()));
    is_used_[slot] = true;
    SubmissionEntry entry{};
    entry.opcode = static_cast<std::uint8_t>(opcode);
    entry.slot = slot;
    entry.generation = ++generations_[slot];
    entry.fd = -1;
    entry.offset = nephrite::abi::kOffsetPosition;
    return entry;
  }
  SubmissionEntry with_path(Opcode opcode, std::string_view path, std::string_view path2 = "") {
    SubmissionEntry made = entry(opcode);
    char* base = reinterpret_cast<char*>(poller->memory().scratch());
    made.path_offset = made.slot * nephrite::abi::kScratchBytes + nephrite::abi::kScratchPathOffset;
    CHECK_LE(path.size() + path2.size() + 2, nephrite::abi::kScratchPathBytes);
    made.path_bytes = static_cast<std::uint16_t>(path.size());
    made.path2_bytes = static_cast<std::uint16_t>(path2.size());
    char* at = base + made.path_offset;
    std::memcpy(at, path.data(), path.size());
    at[path.size()] = '\0';
    std::memcpy(at + path.size() + 1, path2.data(), path2.size());
    at[path.size() + 1 + path2.size()] = '\0';
    made.flags |= nephrite::abi::kEntryHasPath;
    return made;
  }
  SubmissionEntry with_buffer(Opcode opcode, int fd, std::uint32_t bytes) {
    CHECK_LE(bytes, kBytesPerSlot);
    SubmissionEntry made = entry(opcode);
    made.fd = fd;
    made.arena = arena_id_;
    made.buffer_offset = made.slot * kBytesPerSlot;
    made.buffer_bytes = bytes;
    made.flags |= nephrite::abi::kEntryHasBuffer;
    return made;
  }
  char* buffer_of(const SubmissionEntry& of) {
    std::byte* base = poller->memory().arena(arena_id_)->data();
    return reinterpret_cast<char*>(base) + of.slot * kBytesPerSlot;
  }
  SubmissionEntry write_text(int fd, std::string_view text) {
    SubmissionEntry made = with_buffer(Opcode::kWrite, fd, static_cast<std::uint32_t>(text.size()));
    std::memcpy(buffer_of(made), text.data(), text.size());
    return made;
  }

  void submit(const SubmissionEntry& entry) {
    nephrite::abi::Header& header = poller->memory().header();
    auto* entries = const_cast<SubmissionEntry*>(poller->memory().submission_entries());
    entries[header.submission_tail & (header.submission_capacity - 1)] = entry;
    header.submission_tail++;
  }
  void enter() {
    do {
      poller->enter(nephrite::abi::kEnterSubmit | nephrite::abi::kEnterCollect);
      collect();
    } while ((poller->memory().header().status & nephrite::abi::kStatusMore) != 0);
  }
  // The completion, if it is there already.
  std::optional<CompletionEntry> peek(const SubmissionEntry& of) { return answers_[of.slot]; }
  // Enters and parks until it is there; empty when no wake came.
  std::optional<CompletionEntry> wait(const SubmissionEntry& of) {
    enter();
    while (!answers_[of.slot].has_value()) {
      if (poller->park()) {
        if (!is_woken(kLostMs)) return {};
        acknowledge();
      }
      enter();
    }
    const CompletionEntry answer = *answers_[of.slot];
    answers_[of.slot].reset();
    is_used_[of.slot] = false;
    CHECK_EQ(answer.generation, of.generation);
    return answer;
  }
  // Result of one operation from start to end; kLost when no wake came.
  static constexpr std::int32_t kLost = -100'000;
  std::int32_t run(const SubmissionEntry& entry) {
    submit(entry);
    return result_of(entry);
  }
  std::int32_t result_of(const SubmissionEntry& entry) {
    const auto answer = wait(entry);
    return answer.has_value() ? answer->result : kLost;
  }
  std::int32_t cancel(const SubmissionEntry& target) {
    SubmissionEntry made = entry(Opcode::kCancel);
    made.value0 = static_cast<std::uint64_t>(target.generation) << 32 | target.slot;
    return run(made);
  }
  // True when a wake comes within the limit, or has come and was not acknowledged.
  bool is_woken(int timeout_ms) { return watch_.wait(poller->backend(), timeout_ms); }
  void acknowledge() {
    watch_.acknowledge();
    poller->acknowledge();
  }

 private:
  LoopWatch watch_;  // outlives the poller

 public:
  std::unique_ptr<nephrite::Poller> poller;
  nephrite::OpenResult opened;

 private:
  void collect() {
    nephrite::abi::Header& header = poller->memory().header();
    while (header.completion_head != header.completion_tail) {
      const CompletionEntry entry =
          poller->memory()
              .completion_entries()[header.completion_head & (header.completion_capacity - 1)];
      header.completion_head++;
      CHECK_LT(entry.slot, static_cast<std::uint32_t>(answers_.size()));
      CHECK(!answers_[entry.slot].has_value());
      answers_[entry.slot] = entry;
    }
  }

  std::vector<std::optional<CompletionEntry>> answers_;
  std::vector<bool> is_used_;
  std::vector<std::uint32_t> generations_;
  std::uint16_t arena_id_ = 0;
};

}  // namespace test
