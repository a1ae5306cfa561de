// Which backends this build has: the only place that knows the platform. Owner: stateless.
// Order and reasons are TypeScript's business (lib/backend/select.ts).
#pragma once

#include <memory>
#include <string_view>

#include "backend/backend.h"
#include "backend/memory.h"

namespace nephrite {

// Null when this build has no backend of that name.
std::unique_ptr<Backend> make_backend(std::string_view name,
                                      const std::shared_ptr<PollerMemory>& memory);

}  // namespace nephrite
