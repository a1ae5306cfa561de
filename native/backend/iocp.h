// IOCP backend, a skeleton: opens, reads, writes, closes and cancels through an I/O completion
// port; every other opcode is answered with -ENOSYS. It exists to keep the poller contract honest
// and is not offered to users (lib/backend/select.ts). What is missing is listed in
// native/README.md; the one place where it breaks the contract: kOpen and kClose block the poller's
// thread, since the blocking pools are not ported. Owner: one poller, its thread. Invariants: the
// OVERLAPPED of an operation lives in its record, so it lives as long as the system may write it; a
// packet that does not name an operation of ours in flight is ignored, never followed; descriptors
// are the C runtime's, and only those opened here are served (a handle belongs to one port for
// ever). Not here: the port and parking (completion_port.h), CreateFileW (windows_open.h).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backend/backend.h"
#include "backend/completion_port.h"
#include "backend/memory.h"

namespace nephrite {

class IocpBackend final : public Backend {
 public:
  explicit IocpBackend(std::shared_ptr<PollerMemory> memory);
  ~IocpBackend() override { close(); }

  OpenResult open(const BackendOptions& options, CompletionSink& sink) override;
  void start(Operation& operation) override;
  std::int32_t cancel(Operation& operation) override;
  void enter(std::int64_t timeout_ns) override;
  bool park() override { return port_.park(); }
  void unpark() override { port_.unpark(); }
  void wake() override { port_.wake(); }
  void acknowledge() override {}  // a signal leaves nothing behind
  int wait_handle() const override { return -1; }
  std::uint32_t close() override;
  Capabilities capabilities() const override { return {.name = "iocp"}; }

 private:
  enum Stage : std::uint8_t { kStarted, kSystem, kWaitingTurn };

  // An overlapped handle has no position of its own. The operations that use it take turns: the
  // first in the list is with the system, the next starts when it knows where.
  struct File {
    HANDLE handle = INVALID_HANDLE_VALUE;
    std::int64_t position_bytes = 0;
    Operation* turn_head = nullptr;
    Operation* turn_tail = nullptr;
    bool has_position = false;
    bool skips_port = false;  // what succeeds at once sends no packet
  };

  File* find(std::int32_t fd);
  std::int32_t open_file(Operation& operation);
  std::int32_t close_file(std::int32_t fd);
  void start_transfer(Operation& operation);
  std::optional<std::int32_t> issue(File& file, Operation& operation);
  void serve_turns(std::int32_t fd);
  void finish_transfer(Operation& operation, std::int32_t result);
  void finish(Operation& operation, std::int32_t result);
  void handle_packet(const windows::Packet& packet);
  Operation* operation_of(const OVERLAPPED* overlapped);
  void cancel_everything();

  std::shared_ptr<PollerMemory> memory_;
  windows::CompletionPort port_;
  CompletionSink* sink_ = nullptr;
  std::vector<File> files_;  // by descriptor: the C runtime gives out small numbers
  std::uint32_t system_count_ = 0;
  bool is_open_ = false;
};

}  // namespace nephrite
