// Keeps the prebuilt addon loadable on glibc 2.28, the oldest that Node 20's own binaries need.
// A toolchain with glibc 2.34 or newer binds pthread_create and others to versions that older
// systems do not have, in our code and in libstdc++.a alike. Each function below has the newer
// name, hidden, so every reference inside the addon binds here, and forwards to the old version of
// it. Invariants: only functions whose old and new version behave the same (glibc merged libpthread
// and libdl into libc without changing them). Empty on musl, on other systems, on older toolchains
// and on architectures not listed. What is missing here is found by
// test/integration/tarball.test.ts.
#if defined(__linux__)
#include <features.h>
#endif
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
#if __GLIBC_PREREQ(2, 34)

#include <pthread.h>

#if defined(__x86_64__)
#define BASE_VERSION "GLIBC_2.2.5"
#else
#define BASE_VERSION "GLIBC_2.17"
#endif

// glibc marks the value of pthread_setspecific as never read, which GCC 12 takes for uninitialized.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

// Declares old_<name> as <name> of the base version, and opens the definition of the newer name.
#define FORWARD(result, name, parameters)                   \
  extern "C" result old_##name parameters;                  \
  __asm__(".symver old_" #name "," #name "@" BASE_VERSION); \
  extern "C" __attribute__((visibility("hidden"))) result name parameters

FORWARD(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t* attributes, void* (*body)(void*),
         void* argument)) {
  return old_pthread_create(thread, attributes, body, argument);
}
FORWARD(int, pthread_attr_setstacksize, (pthread_attr_t * attributes, size_t bytes)) {
  return old_pthread_attr_setstacksize(attributes, bytes);
}
FORWARD(int, pthread_detach, (pthread_t thread)) {
  return old_pthread_detach(thread);
}
FORWARD(int, pthread_join, (pthread_t thread, void** result)) {
  return old_pthread_join(thread, result);
}
FORWARD(int, pthread_once, (pthread_once_t * control, void (*body)())) {
  return old_pthread_once(control, body);
}
FORWARD(int, pthread_key_create, (pthread_key_t * key, void (*destroy)(void*))) {
  return old_pthread_key_create(key, destroy);
}
FORWARD(int, __pthread_key_create, (pthread_key_t * key, void (*destroy)(void*))) {
  return old_pthread_key_create(key, destroy);
}
FORWARD(int, pthread_key_delete, (pthread_key_t key)) {
  return old_pthread_key_delete(key);
}
FORWARD(void*, pthread_getspecific, (pthread_key_t key)) {
  return old_pthread_getspecific(key);
}
FORWARD(int, pthread_setspecific, (pthread_key_t key, const void* value)) {
  return old_pthread_setspecific(key, value);
}

// Not functions of older systems at all, wanted by libstdc++.a and libgcc_eh.a of newer toolchains.
// "Not found" sends the unwinder to std::terminate, where a throw in -fno-exceptions code ends
// anyway; "not single threaded" makes libstdc++ use atomic operations always.
extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(void*, void*) {
  return -1;
}
extern "C" __attribute__((visibility("hidden"))) char __libc_single_threaded;
char __libc_single_threaded = 0;

#endif  // glibc 2.34
#endif  // glibc on x64 or arm64
