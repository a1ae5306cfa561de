// PollerHandle: the poller's life in libuv and its functions in JavaScript. See poller_handle.h.
#include "addon/poller_handle.h"

#include <cerrno>

#include "addon/arguments.h"
#include "backend/select.h"
#include "base/check.h"

namespace nephrite {

namespace {

// Deliveries in a row before the loop gets its turn again (DESIGN 4: the pump is budgeted).
constexpr int kWakeRoundsMax = 4;

// Gives JavaScript a view of memory that it cannot free: the finalizer drops one reference.
template <typename Owner>
napi_value expose(napi_env env, void* data, std::size_t bytes, std::shared_ptr<Owner> owner) {
  auto* hint = new std::shared_ptr<Owner>(std::move(owner));
  napi_value buffer = nullptr;
  const napi_status status = napi_create_external_arraybuffer(
      env, data, bytes,
      [](napi_env, void*, void* pointer) { delete static_cast<std::shared_ptr<Owner>*>(pointer); },
      hint, &buffer);
  if (status == napi_ok) return buffer;
  // Electron's memory cage: napi_no_external_buffers_allowed. The caller falls back.
  delete hint;
  return nullptr;
}

}  // namespace

PollerHandle* PollerHandle::open(Napi::Env env, const Napi::Object& options, OpenResult* result) {
  const BackendOptions backend_options = read_backend_options(options);
  // Read before anything is opened: in a worker that is being terminated every read of a property
  // fails, and comes back empty.
  const Napi::Value on_wake = options.Get("onWake");
  if (!on_wake.IsFunction()) {
    *result = {ECANCELED, "reading the options"};
    return nullptr;
  }
  std::shared_ptr<PollerMemory> memory =
      PollerMemory::allocate(backend_options.ring_entries, backend_options.slot_capacity);
  if (memory == nullptr) {
    *result = {ENOMEM, "mmap of the ring memory"};
    return nullptr;
  }
  std::unique_ptr<Backend> backend = make_backend(read_string(options, "backend"), memory);
  if (backend == nullptr) {
    *result = {ENOSYS, "this build has no such backend"};
    return nullptr;
  }
  auto* handle = new PollerHandle(env);
  double* clock_cell = nullptr;
  const Napi::Value clock = options.Get("clock");
  if (clock.IsTypedArray()) {
    clock_cell = static_cast<double*>(typed_array_data(env, clock, sizeof(double)));
    CHECK(napi_create_reference(env, clock, 1, &handle->clock_) == napi_ok);
  }
  handle->poller_ = std::make_unique<Poller>(std::move(memory), std::move(backend), clock_cell);
  *result = handle->poller_->open(backend_options);
  if (result->error == 0 && !handle->attach_to_loop()) *result = {EIO, "uv_poll on the eventfd"};
  if (result->error != 0) {
    if (handle->clock_ != nullptr) napi_delete_reference(env, handle->clock_);
    handle->poller_->close();
    delete handle;  // attach_to_loop leaves nothing in the loop when it fails
    return nullptr;
  }
  CHECK(napi_create_reference(env, on_wake, 1, &handle->on_wake_) == napi_ok);
  CHECK(napi_async_init(env, nullptr, Napi::String::New(env, "NEPHRITE"),
                        &handle->async_context_) == napi_ok);
  CHECK(napi_add_async_cleanup_hook(env, &cleanup, handle, &handle->cleanup_hook_) == napi_ok);
  return handle;
}

// --- the event loop ---------------------------------------------------------------------------

bool PollerHandle::attach_to_loop() {
  uv_loop_t* loop = nullptr;
  if (napi_get_uv_event_loop(env_, &loop) != napi_ok) return false;
  if (uv_poll_init(loop, &poll_, poller_->backend().wait_handle()) != 0) return false;
  CHECK_EQ(uv_prepare_init(loop, &prepare_), 0);
  CHECK_EQ(uv_idle_init(loop, &idle_), 0);
  open_handle_count_ = 3;
  poll_.data = prepare_.data = idle_.data = this;
  CHECK_EQ(uv_poll_start(&poll_, UV_READABLE,
                         // A level-triggered watch: acknowledge() empties it.
                         [](uv_poll_t* poll, int, int) {
                           auto* self = static_cast<PollerHandle*>(poll->data);
                           self->poller_->acknowledge();
                           self->call_on_wake();
                         }),
           0);
  uv_unref(reinterpret_cast<uv_handle_t*>(&poll_));
  uv_unref(reinterpret_cast<uv_handle_t*>(&prepare_));
  uv_unref(reinterpret_cast<uv_handle_t*>(&idle_));
  return true;
}

// Called after every enter(): what is in flight keeps the loop alive, unless all of it is of the
// kind that does not (an aborted open of a FIFO still waits in its thread).
void PollerHandle::update_reference() {
  const bool has_work = poller_->in_flight_count() > poller_->unreferenced_count();
  if (has_work == is_referenced_) return;
  is_referenced_ = has_work;
  if (!has_work) {
    uv_unref(reinterpret_cast<uv_handle_t*>(&poll_));
    return;
  }
  uv_ref(reinterpret_cast<uv_handle_t*>(&poll_));
}

// While anything is in flight, referenced or not, the loop parks before it blocks. The prepare
// handle stops itself, so that busy phases do not toggle it.
void PollerHandle::update_preparing() {
  if (is_preparing_ || poller_->in_flight_count() == 0) return;
  is_preparing_ = true;
  uv_prepare_start(&prepare_, [](uv_prepare_t* prepare) {
    static_cast<PollerHandle*>(prepare->data)->park_before_waiting();
  });
}

// The loop is about to block. Park, or deliver what is there and look again.
void PollerHandle::park_before_waiting() {
  for (int round = 0; round < kWakeRoundsMax && !is_closed_; round++) {
    if (poller_->in_flight_count() == 0) {
      uv_prepare_stop(&prepare_);
      uv_idle_stop(&idle_);
      is_preparing_ = false;
      return;
    }
    if (poller_->is_parked() || poller_->park()) {
      uv_idle_stop(&idle_);
      return;
    }
    call_on_wake();
  }
  // Still busy: an idle handle makes the loop poll without blocking and come back here.
  if (!is_closed_) uv_idle_start(&idle_, [](uv_idle_t*) {});
}

void PollerHandle::call_on_wake() {
  if (is_closed_) return;
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env_, &scope) != napi_ok) return;
  napi_value callback = nullptr;
  napi_value receiver = nullptr;
  if (napi_get_reference_value(env_, on_wake_, &callback) == napi_ok && callback != nullptr &&
      napi_get_global(env_, &receiver) == napi_ok) {
    // MakeCallback: microtasks and process.nextTick run before it returns.
    napi_make_callback(env_, async_context_, receiver, callback, 0, nullptr, nullptr);
    // A throw out of a libuv callback is an uncaught exception, never lost. While a worker is
    // being terminated there is no exception to take and nothing to report.
    bool is_pending = false;
    napi_value exception = nullptr;
    if (napi_is_exception_pending(env_, &is_pending) == napi_ok && is_pending &&
        napi_get_and_clear_last_exception(env_, &exception) == napi_ok && exception != nullptr) {
      napi_fatal_exception(env_, exception);
    }
  }
  napi_close_handle_scope(env_, scope);
}

// --- functions in JavaScript ------------------------------------------------------------------

Napi::Object PollerHandle::exports(Napi::Env env) {
  Napi::Object object = Napi::Object::New(env);
  // Fails only where no JavaScript will run any more; cleanup() closes the poller then.
  const auto define = [&](const char* name, napi_callback callback) {
    napi_value function = nullptr;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, this, &function);
    if (function != nullptr) napi_set_named_property(env, object, name, function);
  };
  napi_value ring = expose(env, poller_->memory().ring_data(), poller_->memory().ring_bytes(),
                           poller_->shared_memory());
  if (ring == nullptr) {
    close();
    object.Set("error", Napi::Number::New(env, EPERM));
    object.Set("stage", Napi::String::New(env, "an ArrayBuffer over native memory (memory cage)"));
    return object;
  }
  object.Set("ring", Napi::Value(env, ring));
  define("enter", &enter);
  define("addArena", &add_arena);
  define("releaseArena", &release_arena);
  define("wake", &wake);
  define("close", &close_callback);
  define("describe", &describe);
  return object;
}

// enter(flags) -> completions published, -1 after close(). The one hot call: plain C Node-API.
napi_value PollerHandle::enter(napi_env env, napi_callback_info info) {
  napi_value argument = nullptr;
  std::size_t count = 1;
  void* data = nullptr;
  napi_get_cb_info(env, info, &count, &argument, nullptr, &data);
  auto* self = static_cast<PollerHandle*>(data);
  std::uint32_t flags = 0;
  napi_get_value_uint32(env, argument, &flags);
  std::int32_t published = -1;
  if (!self->is_closed_) {
    published = static_cast<std::int32_t>(self->poller_->enter(flags));
    self->update_reference();
    self->update_preparing();
  }
  napi_value result = nullptr;
  napi_create_int32(env, published, &result);
  return result;
}

// addArena(bytes) -> { id, buffer } or a negative errno
napi_value PollerHandle::add_arena(napi_env env, napi_callback_info raw_info) {
  const Napi::CallbackInfo info(env, raw_info);
  auto* self = static_cast<PollerHandle*>(info.Data());
  if (self->is_closed_ || !info[0].IsNumber()) return Napi::Number::New(env, -EINVAL);
  const double bytes = info[0].As<Napi::Number>().DoubleValue();
  if (!(bytes >= 1 && bytes <= 4294967295.0)) return Napi::Number::New(env, -EINVAL);
  PollerMemory& memory = self->poller_->memory();
  const std::int32_t id = memory.add_arena(static_cast<std::size_t>(bytes));
  if (id < 0) return Napi::Number::New(env, id);
  std::shared_ptr<Arena> arena = memory.arena(static_cast<std::uint32_t>(id));
  napi_value buffer = expose(env, arena->data(), arena->bytes(), arena);
  if (buffer == nullptr) {
    memory.release_arena(static_cast<std::uint32_t>(id));
    return Napi::Number::New(env, -ENOMEM);
  }
  Napi::Object object = Napi::Object::New(env);
  object.Set("id", Napi::Number::New(env, id));
  object.Set("buffer", Napi::Value(env, buffer));
  return object;
}

napi_value PollerHandle::release_arena(napi_env env, napi_callback_info raw_info) {
  const Napi::CallbackInfo info(env, raw_info);
  auto* self = static_cast<PollerHandle*>(info.Data());
  if (!self->is_closed_ && info[0].IsNumber()) {
    self->poller_->memory().release_arena(info[0].As<Napi::Number>().Uint32Value());
  }
  return nullptr;
}

napi_value PollerHandle::wake(napi_env env, napi_callback_info raw_info) {
  const Napi::CallbackInfo info(env, raw_info);
  auto* self = static_cast<PollerHandle*>(info.Data());
  // Parked first: with nothing in flight nobody has, and only a parked poller is woken. Not parked
  // means that completions wait, and those are delivered before the loop blocks.
  if (!self->is_closed_ && self->poller_->park()) self->poller_->wake();
  return nullptr;
}

napi_value PollerHandle::close_callback(napi_env env, napi_callback_info raw_info) {
  const Napi::CallbackInfo info(env, raw_info);
  static_cast<PollerHandle*>(info.Data())->close();
  return nullptr;
}

napi_value PollerHandle::describe(napi_env env, napi_callback_info raw_info) {
  const Napi::CallbackInfo info(env, raw_info);
  auto* self = static_cast<PollerHandle*>(info.Data());
  Napi::Object object = Napi::Object::New(env);
  if (self->is_closed_) return object;
  const Capabilities capabilities = self->poller_->backend().capabilities();
  object.Set("name", Napi::String::New(env, capabilities.name));
  object.Set("kernelFlags", Napi::Number::New(env, capabilities.kernel_flags));
  object.Set("kernelFeatures", Napi::Number::New(env, capabilities.kernel_features));
  object.Set("ringEntries", Napi::Number::New(env, capabilities.ring_entries));
  const auto opcodes = capabilities.kernel_opcodes;
  object.Set("kernelOpcodesLow", Napi::Number::New(env, static_cast<std::uint32_t>(opcodes)));
  object.Set("kernelOpcodesHigh",
             Napi::Number::New(env, static_cast<std::uint32_t>(opcodes >> 32)));
  return object;
}

// --- the end ----------------------------------------------------------------------------------

// From JavaScript or from the cleanup hook; the second caller finds nothing to do.
void PollerHandle::close() {
  if (is_closed_) return;
  is_closed_ = true;
  // libuv forgets the descriptor before the poller closes it: the number may be reused at once.
  close_loop_handles();
  poller_->close();
  napi_delete_reference(env_, on_wake_);
  if (clock_ != nullptr) napi_delete_reference(env_, clock_);
  napi_async_destroy(env_, async_context_);
}

void PollerHandle::close_loop_handles() {
  const auto closed = [](uv_handle_t* handle) {
    auto* self = static_cast<PollerHandle*>(handle->data);
    if (--self->open_handle_count_ > 0) return;
    // The functions in JavaScript still name this object until the environment ends: only then is
    // it freed (cleanup_hook_ is taken by cleanup()).
    self->poller_.reset();
    if (self->cleanup_hook_ == nullptr) {
      delete self;
    } else if (self->is_cleaning_up_) {
      napi_remove_async_cleanup_hook(self->cleanup_hook_);
      delete self;
    }
  };
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), closed);
  uv_close(reinterpret_cast<uv_handle_t*>(&prepare_), closed);
  uv_close(reinterpret_cast<uv_handle_t*>(&idle_), closed);
}

// Worker terminated, process.exit() or the loop ran dry. Runs on the environment's thread, after
// which no JavaScript runs; must end by removing the hook.
void PollerHandle::cleanup(napi_async_cleanup_hook_handle hook, void* data) {
  auto* self = static_cast<PollerHandle*>(data);
  self->is_cleaning_up_ = true;
  if (self->open_handle_count_ == 0) {
    napi_remove_async_cleanup_hook(hook);
    delete self;
    return;
  }
  self->close();
}

}  // namespace nephrite
