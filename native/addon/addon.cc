// The addon: what JavaScript can call. Owner: nothing; state lives in PollerHandle objects, one per
// poller, so the addon may be loaded by many workers and twice in one process. It is linked with
// -z nodelete: a pool thread may still be in its code after the last environment has ended.
// Not here: finding and loading this file (lib/addon/load.ts).
#include <napi.h>

#include "abi/layout.h"
#include "addon/arguments.h"
#include "addon/poller_handle.h"
#include "base/clock.h"

namespace nephrite {
namespace {

// open({ backend, abiVersion, ringEntries, slotCapacity, ioWorkersMax, sqpoll, iopoll, clock,
// onWake })
//   -> the poller's functions, or { error: errno, stage } when it cannot be opened
Napi::Value open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Napi::Object failure = Napi::Object::New(env);
  if (!info[0].IsObject() || !info[0].As<Napi::Object>().Get("onWake").IsFunction()) {
    Napi::TypeError::New(env, "open() takes { backend, onWake, ... }").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  OpenResult result;
  PollerHandle* handle = PollerHandle::open(env, info[0].As<Napi::Object>(), &result);
  if (handle == nullptr) {
    failure.Set("error", Napi::Number::New(env, result.error));
    failure.Set("stage", Napi::String::New(env, result.stage));
    return failure;
  }
  return handle->exports(env);
}

// Advances the master clock's cell (a Float64Array over shared memory) and returns the time in ns.
Napi::Value advance_clock(const Napi::CallbackInfo& info) {
  const std::uint64_t now_ns = monotonic_now_ns();
  void* cell = info[0].IsTypedArray() ? typed_array_data(info.Env(), info[0], 8) : nullptr;
  if (cell != nullptr) MasterClock(static_cast<double*>(cell)).advance(now_ns);
  return Napi::Number::New(info.Env(), static_cast<double>(now_ns));
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  // The load handshake: TypeScript refuses an addon whose layout is not its own.
  exports.Set("abiVersion", Napi::Number::New(env, abi::kAbiVersion));
  exports.Set("submissionBytes", Napi::Number::New(env, sizeof(abi::SubmissionEntry)));
  exports.Set("completionBytes", Napi::Number::New(env, sizeof(abi::CompletionEntry)));
  exports.Set("headerBytes", Napi::Number::New(env, sizeof(abi::Header)));
  exports.Set("open", Napi::Function::New(env, open, "open"));
  exports.Set("advanceClock", Napi::Function::New(env, advance_clock, "advanceClock"));
  return exports;
}

}  // namespace
}  // namespace nephrite

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  return nephrite::init(env, exports);
}

NODE_API_MODULE(nephrite, Init)
