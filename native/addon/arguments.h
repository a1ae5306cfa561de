// Reading of options that TypeScript has already validated (lib/backend/native_backend.ts).
// Owner: stateless. Invariants: what cannot be read gives the default, never an abort: in a worker
// that is being terminated every read fails, and node-addon-api dies of a method called on the
// empty value that it returns then. So the C functions are used, whose status can be looked at.
#pragma once

#include <napi.h>

#include <string>

#include "backend/backend.h"

namespace nephrite {

// Null when it cannot be read.
inline napi_value read_property(const Napi::Object& object, const char* name) {
  napi_value value = nullptr;
  return napi_get_named_property(object.Env(), object, name, &value) == napi_ok ? value : nullptr;
}

// At most 31 bytes: names of backends.
inline std::string read_string(const Napi::Object& object, const char* name) {
  char text[32];
  std::size_t length = 0;
  const napi_value value = read_property(object, name);
  const napi_status status =
      napi_get_value_string_utf8(object.Env(), value, text, sizeof(text), &length);
  return status == napi_ok ? std::string(text, length) : std::string();
}

inline std::uint32_t read_uint32(const Napi::Object& object, const char* name,
                                 std::uint32_t fallback) {
  std::uint32_t number = 0;
  const napi_value value = read_property(object, name);
  return napi_get_value_uint32(object.Env(), value, &number) == napi_ok ? number : fallback;
}

inline bool read_bool(const Napi::Object& object, const char* name) {
  bool is_set = false;
  const napi_value value = read_property(object, name);
  return napi_get_value_bool(object.Env(), value, &is_set) == napi_ok && is_set;
}

// Powers of two within these bounds, or the default: capacities size memory and masks.
inline std::uint32_t power_of_two(std::uint32_t value, std::uint32_t least, std::uint32_t most,
                                  std::uint32_t fallback) {
  const bool is_fit = value >= least && value <= most && (value & (value - 1)) == 0;
  return is_fit ? value : fallback;
}

inline BackendOptions read_backend_options(const Napi::Object& object) {
  BackendOptions options;
  options.ring_entries = power_of_two(read_uint32(object, "ringEntries", 256), 8, 4096, 256);
  options.slot_capacity =
      power_of_two(read_uint32(object, "slotCapacity", 1024), 16, abi::kSlotCapacityMax, 1024);
  options.io_workers_max = read_uint32(object, "ioWorkersMax", options.io_workers_max);
  options.use_sqpoll = read_bool(object, "sqpoll");
  options.use_iopoll = read_bool(object, "iopoll");
  options.denied_opcodes_low = read_uint32(object, "deniedOpcodesLow", 0);
  options.denied_opcodes_high = read_uint32(object, "deniedOpcodesHigh", 0);
  return options;
}

// Address of a typed array's first element, null when it is shorter than `bytes`. Works on views of
// a SharedArrayBuffer too, where napi_get_arraybuffer_info does not (Node 20).
inline void* typed_array_data(napi_env env, napi_value value, std::size_t bytes) {
  napi_typedarray_type type;
  std::size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr) != napi_ok) {
    return nullptr;
  }
  const std::size_t element_bytes = type == napi_float64_array ? 8 : 1;
  return length * element_bytes >= bytes ? data : nullptr;
}

}  // namespace nephrite
