// Backends of a Linux build. See select.h.
#include "backend/epoll.h"
#include "backend/io_uring.h"
#include "backend/select.h"

namespace nephrite {

std::unique_ptr<Backend> make_backend(std::string_view name,
                                      const std::shared_ptr<PollerMemory>& memory) {
  if (name == "io_uring") return std::make_unique<IoUringBackend>(memory);
  if (name == "epoll") return std::make_unique<EpollBackend>(memory);
  return nullptr;
}

}  // namespace nephrite
