// Pages: whole pages of zeroed memory from the operating system, page-aligned (so 64-aligned too:
// kernel copies to addresses not aligned to 32 bytes cost 2 to 4 times more, DESIGN 5).
// Owner: the Pages object. Invariant: data() is null or a live mapping of bytes() bytes.
// Not here: who may read or write it (backend/memory.h).
#pragma once

#include <cstddef>
#include <utility>

namespace nephrite {

class Pages {
 public:
  Pages() = default;
  // bytes is rounded up to whole pages; data() is null when the system has no memory. Untouched
  // pages cost nothing.
  static Pages allocate(std::size_t bytes);
  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Pages& operator=(Pages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace nephrite
