// Backends of a Windows build. See select.h.
#include "backend/iocp.h"
#include "backend/select.h"

namespace nephrite {

std::unique_ptr<Backend> make_backend(std::string_view name,
                                      const std::shared_ptr<PollerMemory>& memory) {
  if (name == "iocp") return std::make_unique<IocpBackend>(memory);
  return nullptr;
}

}  // namespace nephrite
