// Pages on POSIX: anonymous private mappings. See pages.h.
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/pages.h"

namespace nephrite {

Pages Pages::allocate(std::size_t bytes) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t rounded = (bytes + page - 1) / page * page;
  Pages pages;
  if (rounded < bytes || rounded == 0) return pages;
  // One page more than is shown: zeroes that nobody writes, so that a string function on a path
  // whose NUL was overwritten behind our back ends inside the mapping.
  void* data =
      mmap(nullptr, rounded + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return pages;
  pages.data_ = static_cast<std::byte*>(data);
  pages.bytes_ = rounded;
  return pages;
}

Pages::~Pages() {
  if (data_ == nullptr) return;
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  CHECK_EQ(munmap(data_, bytes_ + page), 0);
}

}  // namespace nephrite
