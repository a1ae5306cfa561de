// A single Operation with its own memory, for testing what works on operations below the poller.
// Owner: the BareOperation; it must outlive whoever runs it. Not here: rings (poller_driver.h).
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "backend/operation.h"

namespace test {

struct BareOperation {
  nephrite::Operation operation;
  nephrite::abi::StatRecord stat{};
  std::string path;
  std::string path2;
  std::array<std::byte, 8192> buffer{};

  explicit BareOperation(nephrite::abi::Opcode opcode) {
    operation.entry.opcode = static_cast<std::uint8_t>(opcode);
    operation.entry.fd = -1;
    operation.entry.offset = nephrite::abi::kOffsetPosition;
    operation.stat = &stat;
    operation.state = nephrite::Operation::State::kInFlight;
  }
  BareOperation(const BareOperation&) = delete;
  BareOperation& operator=(const BareOperation&) = delete;

  BareOperation& with_path(std::string_view text) {
    path = std::string(text);
    operation.path = path.c_str();
    operation.entry.path_bytes = static_cast<std::uint16_t>(path.size());
    operation.entry.flags |= nephrite::abi::kEntryHasPath;
    return *this;
  }
  BareOperation& with_path2(std::string_view text) {
    path2 = std::string(text);
    operation.path2 = path2.c_str();
    return *this;
  }
  BareOperation& with_fd(int fd) {
    operation.entry.fd = fd;
    return *this;
  }
  BareOperation& with_buffer(std::uint32_t bytes) {
    operation.buffer = buffer.data();
    operation.entry.buffer_bytes = bytes;
    operation.entry.flags |= nephrite::abi::kEntryHasBuffer;
    return *this;
  }
  BareOperation& with_text(std::string_view text) {
    std::memcpy(buffer.data(), text.data(), text.size());
    return with_buffer(static_cast<std::uint32_t>(text.size()));
  }
  BareOperation& with_offset(std::int64_t offset) {
    operation.entry.offset = offset;
    return *this;
  }
  BareOperation& with_arguments(std::uint32_t first, std::uint32_t second = 0) {
    operation.entry.argument0 = first;
    operation.entry.argument1 = second;
    return *this;
  }
  BareOperation& with_value(std::uint64_t value) {
    operation.entry.value0 = value;
    return *this;
  }
  BareOperation& no_follow() {
    operation.entry.flags |= nephrite::abi::kEntryNoFollow;
    return *this;
  }
  std::string_view text(std::int32_t bytes) const {
    return {reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(bytes)};
  }
};

}  // namespace test
