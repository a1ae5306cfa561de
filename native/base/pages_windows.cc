// Pages on Windows: reserved and committed in one call. See pages.h. Committed memory counts
// against the commit limit at once, physical memory is taken at first touch, as elsewhere.
#include <windows.h>

#include "base/check.h"
#include "base/pages.h"

namespace nephrite {

Pages Pages::allocate(std::size_t bytes) {
  SYSTEM_INFO system{};
  GetSystemInfo(&system);
  const std::size_t page = system.dwPageSize;
  const std::size_t rounded = (bytes + page - 1) / page * page;
  Pages pages;
  if (rounded < bytes || rounded == 0) return pages;
  void* data = VirtualAlloc(nullptr, rounded, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (data == nullptr) return pages;
  pages.data_ = static_cast<std::byte*>(data);
  pages.bytes_ = rounded;
  return pages;
}

Pages::~Pages() {
  if (data_ != nullptr) CHECK(VirtualFree(data_, 0, MEM_RELEASE) != 0);
}

}  // namespace nephrite
