// IOCP backend: descriptors, transfers, turns, cancellation and teardown. See iocp.h.
#include "backend/iocp.h"

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "backend/windows_errors.h"
#include "backend/windows_open.h"
#include "base/check.h"
#include "base/clock.h"

namespace nephrite {

namespace {

using windows::CompletionPort;
using windows::Packet;

// Packets of so many batches per enter bound the time the thread spends here.
constexpr int kBatchCountMax = 16;
// Teardown waits so long for what does not react to its cancellation.
constexpr std::uint64_t kCloseNsMax = 2'000'000'000;
constexpr std::int64_t kCloseSliceNs = 20'000'000;
constexpr std::uint32_t kWaitMsMax = 60'000;
// As on POSIX: more would not fit a result.
constexpr std::uint32_t kTransferBytesMax = 0x7ffff000;

static_assert(sizeof(OVERLAPPED) <= sizeof(Operation::storage));
static_assert(alignof(OVERLAPPED) <= alignof(std::uint64_t));

OVERLAPPED* overlapped_of(Operation& operation) {
  return std::launder(reinterpret_cast<OVERLAPPED*>(operation.storage));
}

bool takes_turns(const Operation& operation) {
  return operation.entry.offset == abi::kOffsetPosition;
}

// What is no error to the caller: the end of the file or pipe, a message larger than the buffer.
std::int32_t result_of(const Operation& operation, DWORD error, DWORD bytes) {
  const bool is_read = operation.opcode() == abi::Opcode::kRead;
  if (is_read && (error == ERROR_HANDLE_EOF || error == ERROR_BROKEN_PIPE)) return 0;
  if (is_read && error == ERROR_MORE_DATA) return static_cast<std::int32_t>(bytes);
  // The descriptor was not opened for this direction; the handle is fine.
  if (error == ERROR_ACCESS_DENIED) return -EBADF;
  return windows::negative_errno(error);
}

}  // namespace

IocpBackend::IocpBackend(std::shared_ptr<PollerMemory> memory) : memory_(std::move(memory)) {}

OpenResult IocpBackend::open(const BackendOptions& options, CompletionSink& sink) {
  sink_ = &sink;
  const OpenResult result = port_.open(options.signal_loop, options.signal_context);
  is_open_ = result.error == 0;
  return result;
}

void IocpBackend::start(Operation& operation) {
  operation.stage = kStarted;
  switch (operation.opcode()) {
    case abi::Opcode::kNop:
      return finish(operation, 0);
    case abi::Opcode::kOpen:
      return finish(operation, open_file(operation));
    case abi::Opcode::kClose:
      return finish(operation, close_file(operation.entry.fd));
    case abi::Opcode::kRead:
    case abi::Opcode::kWrite:
      return start_transfer(operation);
    default:
      return finish(operation, -ENOSYS);
  }
}

// The last touch of an operation: its record may be in use again when this returns.
void IocpBackend::finish(Operation& operation, std::int32_t result) {
  operation.stage = kStarted;
  sink_->complete(operation, result, operation.result_flags);
}

// --- descriptors ------------------------------------------------------------------------------

IocpBackend::File* IocpBackend::find(std::int32_t fd) {
  if (fd < 0 || static_cast<std::size_t>(fd) >= files_.size()) return nullptr;
  File& file = files_[static_cast<std::size_t>(fd)];
  return file.handle != INVALID_HANDLE_VALUE ? &file : nullptr;
}

std::int32_t IocpBackend::open_file(Operation& operation) {
  File file;
  counters_.syscall_count += 3;
  std::int32_t error = windows::open_file(operation, &file.handle);
  if (error < 0) return error;
  error = port_.associate(file.handle);
  if (error < 0) {
    CloseHandle(file.handle);
    return error;
  }
  // Read it before the descriptor exists: afterwards somebody else could close it.
  operation.result_flags = windows::describe_file(file.handle);
  file.has_position = GetFileType(file.handle) == FILE_TYPE_DISK;
  file.skips_port =
      SetFileCompletionNotificationModes(
          file.handle, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS | FILE_SKIP_SET_EVENT_ON_HANDLE) != 0;
  const int mode = O_BINARY | static_cast<int>(operation.entry.argument0 & O_APPEND);
  const int fd = _open_osfhandle(reinterpret_cast<std::intptr_t>(file.handle), mode);
  if (fd < 0) {
    CloseHandle(file.handle);
    return -EMFILE;
  }
  const auto index = static_cast<std::size_t>(fd);
  if (index >= files_.size()) files_.resize(index + 64);
  files_[index] = file;
  return fd;
}

// The poller starts it when nothing is pending on the descriptor.
std::int32_t IocpBackend::close_file(std::int32_t fd) {
  File* file = find(fd);
  if (file == nullptr) return -EBADF;
  CHECK(file->turn_head == nullptr);
  *file = File{};
  counters_.syscall_count++;
  return _close(fd) == 0 ? 0 : -errno;
}

// --- transfers --------------------------------------------------------------------------------

void IocpBackend::start_transfer(Operation& operation) {
  const abi::SubmissionEntry& entry = operation.entry;
  File* file = find(entry.fd);
  if (file == nullptr) return finish(operation, -EBADF);
  if (entry.offset < abi::kOffsetPosition) return finish(operation, -EINVAL);
  if (!takes_turns(operation) || !file->has_position) {
    const std::optional<std::int32_t> result = issue(*file, operation);
    if (result.has_value()) finish(operation, *result);
    return;
  }
  operation.stage = kWaitingTurn;
  operation.next = nullptr;
  const bool is_first = file->turn_head == nullptr;
  (is_first ? file->turn_head : file->turn_tail->next) = &operation;
  file->turn_tail = &operation;
  if (is_first) serve_turns(entry.fd);
}

// Hands it to the system. A value: done, no packet comes. Empty: a packet will.
std::optional<std::int32_t> IocpBackend::issue(File& file, Operation& operation) {
  const abi::SubmissionEntry& entry = operation.entry;
  const bool is_write = operation.opcode() == abi::Opcode::kWrite;
  const std::int64_t offset = takes_turns(operation) ? file.position_bytes : entry.offset;
  auto* overlapped = new (operation.storage) OVERLAPPED{};
  overlapped->Offset = static_cast<DWORD>(offset);
  overlapped->OffsetHigh = static_cast<DWORD>(offset >> 32);
  const DWORD bytes = std::min(entry.buffer_bytes, kTransferBytesMax);
  operation.stage = kSystem;
  counters_.syscall_count++;
  const BOOL is_done = is_write
                           ? WriteFile(file.handle, operation.buffer, bytes, nullptr, overlapped)
                           : ReadFile(file.handle, operation.buffer, bytes, nullptr, overlapped);
  const DWORD error = is_done ? ERROR_SUCCESS : GetLastError();
  if (is_done && file.skips_port) {
    counters_.inline_count++;
    return static_cast<std::int32_t>(overlapped->InternalHigh);
  }
  if (is_done || error == ERROR_IO_PENDING) {
    system_count_++;
    return std::nullopt;
  }
  return result_of(operation, error, static_cast<DWORD>(overlapped->InternalHigh));
}

// Starts the turns that wait on `fd`, until one is with the system.
void IocpBackend::serve_turns(std::int32_t fd) {
  // Looked up anew: a completion may have closed the descriptor.
  for (File* file = find(fd); file != nullptr && file->turn_head != nullptr; file = find(fd)) {
    Operation& operation = *file->turn_head;
    if (operation.stage == kSystem) return;
    const std::optional<std::int32_t> result = issue(*file, operation);
    if (!result.has_value()) return;
    finish_transfer(operation, *result);
  }
}

// Ends an operation that was with the system, and its turn.
void IocpBackend::finish_transfer(Operation& operation, std::int32_t result) {
  File* file = find(operation.entry.fd);
  CHECK(file != nullptr);
  if (file->turn_head == &operation) {
    if (result > 0) file->position_bytes += result;
    file->turn_head = operation.next;
    if (file->turn_head == nullptr) file->turn_tail = nullptr;
  }
  finish(operation, result);
}

// --- the hot call -----------------------------------------------------------------------------

void IocpBackend::enter(std::int64_t timeout_ns) {
  const std::int64_t timeout_ms = (timeout_ns + 999'999) / 1'000'000;
  auto wait_ms = static_cast<std::uint32_t>(std::clamp<std::int64_t>(timeout_ms, 0, kWaitMsMax));
  for (int round = 0; round < kBatchCountMax; round++) {
    if (wait_ms == 0 && system_count_ == 0 && !port_.has_taken()) break;
    Packet packets[CompletionPort::kBatchMax];
    const std::uint32_t count = port_.take(packets, wait_ms);
    for (std::uint32_t index = 0; index < count; index++) handle_packet(packets[index]);
    if (count < CompletionPort::kBatchMax) break;
    wait_ms = 0;
  }
  counters_.syscall_count += std::exchange(port_.syscall_count, 0);
}

// Anybody who uses the descriptor's handle with an OVERLAPPED of his own sends packets here: only
// an address that is exactly that of a record in flight is followed.
Operation* IocpBackend::operation_of(const OVERLAPPED* overlapped) {
  const auto address = reinterpret_cast<std::uintptr_t>(overlapped);
  const auto first = reinterpret_cast<std::uintptr_t>(memory_->operation(0).storage);
  if (address < first || (address - first) % sizeof(Operation) != 0) return nullptr;
  const std::uintptr_t slot = (address - first) / sizeof(Operation);
  if (slot >= memory_->slot_capacity()) return nullptr;
  Operation& operation = memory_->operation(static_cast<std::uint32_t>(slot));
  const bool is_ours = operation.state == Operation::State::kInFlight && operation.stage == kSystem;
  return is_ours ? &operation : nullptr;
}

void IocpBackend::handle_packet(const Packet& packet) {
  Operation* operation = operation_of(packet.lpOverlapped);
  if (operation == nullptr) return;
  CHECK_LT(0u, system_count_);
  system_count_--;
  const std::int32_t fd = operation->entry.fd;
  File* file = find(fd);
  CHECK(file != nullptr);
  auto result = static_cast<std::int32_t>(packet.dwNumberOfBytesTransferred);
  DWORD bytes = 0;
  // The system call is made for errors only: it turns the status into a Win32 error code.
  if (overlapped_of(*operation)->Internal != 0 &&
      GetOverlappedResult(file->handle, overlapped_of(*operation), &bytes, FALSE) == 0) {
    result = result_of(*operation, GetLastError(), bytes);
  }
  finish_transfer(*operation, result);
  serve_turns(fd);
}

// --- cancelling and teardown ------------------------------------------------------------------

std::int32_t IocpBackend::cancel(Operation& operation) {
  File* file = find(operation.entry.fd);
  if (file == nullptr) return -EALREADY;
  if (operation.stage == kSystem) {
    counters_.syscall_count++;
    // Not found: it has completed, its packet is on its way.
    return CancelIoEx(file->handle, overlapped_of(operation)) != 0 ? 0 : -EALREADY;
  }
  if (operation.stage != kWaitingTurn) return -EALREADY;
  Operation* previous = nullptr;
  for (Operation* item = file->turn_head; item != nullptr; previous = item, item = item->next) {
    if (item != &operation) continue;
    (previous != nullptr ? previous->next : file->turn_head) = item->next;
    if (file->turn_tail == item) file->turn_tail = previous;
    break;
  }
  finish(operation, -ECANCELED);
  return 0;
}

void IocpBackend::cancel_everything() {
  for (std::uint32_t slot = 0; slot < memory_->slot_capacity(); slot++) {
    Operation& operation = memory_->operation(slot);
    if (operation.state != Operation::State::kInFlight || operation.is_cancelled) continue;
    if (operation.stage == kStarted) continue;
    operation.is_cancelled = true;
    cancel(operation);
  }
}

std::uint32_t IocpBackend::close() {
  if (!is_open_) return 0;
  is_open_ = false;
  cancel_everything();
  const std::uint64_t deadline_ns = monotonic_now_ns() + kCloseNsMax;
  while (system_count_ > 0 && monotonic_now_ns() < deadline_ns) enter(kCloseSliceNs);
  port_.close();
  return system_count_;
}

}  // namespace nephrite
