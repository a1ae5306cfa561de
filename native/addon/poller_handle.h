// PollerHandle: one poller inside one Node environment: its place in the event loop, its functions
// in JavaScript, its end. Owner: the environment; freed by the cleanup hook after its libuv
// handles have closed. Environment's thread only.
// Invariants: the poll handle is referenced exactly while operations are in flight, so they keep
// the process alive and nothing else does; before the loop may block the poller is parked or the
// loop is kept turning; after close() no JavaScript is called.
// Not here: what a poller does (poller/), option checking (lib/backend/native_backend.ts).
#pragma once

#include <napi.h>
#include <uv.h>

#include <memory>

#include "poller/poller.h"

namespace nephrite {

class PollerHandle {
 public:
  // Opens the backend that options.backend names; on failure `result` tells the stage and errno and
  // null is returned.
  static PollerHandle* open(Napi::Env env, const Napi::Object& options, OpenResult* result);

  // { ring, enter, addArena, releaseArena, wake, close, describe }
  Napi::Object exports(Napi::Env env);

 private:
  explicit PollerHandle(napi_env env) : env_(env) {}
  ~PollerHandle() = default;

  bool attach_to_loop();
  void update_reference();
  void update_preparing();
  void call_on_wake();
  void park_before_waiting();
  void close();
  void close_loop_handles();

  static napi_value enter(napi_env env, napi_callback_info info);
  static napi_value add_arena(napi_env env, napi_callback_info info);
  static napi_value release_arena(napi_env env, napi_callback_info info);
  static napi_value wake(napi_env env, napi_callback_info info);
  static napi_value close_callback(napi_env env, napi_callback_info info);
  static napi_value describe(napi_env env, napi_callback_info info);
  static void cleanup(napi_async_cleanup_hook_handle hook, void* data);

  napi_env env_;
  std::unique_ptr<Poller> poller_;
  napi_ref on_wake_ = nullptr;
  napi_ref clock_ = nullptr;  // keeps the clock's SharedArrayBuffer while the poller writes to it
  napi_async_context async_context_ = nullptr;
  napi_async_cleanup_hook_handle cleanup_hook_ = nullptr;
  uv_poll_t poll_{};        // the backend's wait handle is readable
  uv_prepare_t prepare_{};  // just before the loop may block: park
  uv_idle_t idle_{};        // completions wait that could not be parked on: do not block
  int open_handle_count_ = 0;
  bool is_referenced_ = false;
  bool is_preparing_ = false;
  bool is_cleaning_up_ = false;
  bool is_closed_ = false;
};

}  // namespace nephrite
