{
  # Install from source and prebuilds. CMakeLists.txt builds the same sources for tests and
  # sanitizers; a test compares the two lists, so a new file is added to both.
  'variables': {
    'common_sources': [
      'native/addon/addon.cc',
      'native/addon/poller_handle.cc',
      'native/backend/memory.cc',
      'native/poller/poller.cc',
    ],
    'linux_sources': [
      'native/addon/glibc_compat.cc',
      'native/backend/blocking_pool.cc',
      'native/backend/epoll.cc',
      'native/backend/epoll_readiness.cc',
      'native/backend/inbox.cc',
      'native/backend/io_uring.cc',
      'native/backend/io_uring_encode.cc',
      'native/backend/kernel_ring.cc',
      'native/backend/local_devices.cc',
      'native/backend/pool_thread.cc',
      'native/backend/posix_inline.cc',
      'native/backend/posix_ops.cc',
      'native/backend/posix_paths.cc',
      'native/backend/posix_whole_file.cc',
      'native/backend/select_linux.cc',
      'native/backend/wait_table.cc',
      'native/base/pages_posix.cc',
    ],
    'mac_sources': [
      'native/backend/blocking_pool.cc',
      'native/backend/inbox.cc',
      'native/backend/pool_thread.cc',
      'native/backend/posix_ops.cc',
      'native/backend/posix_paths.cc',
      'native/backend/posix_whole_file.cc',
      'native/base/pages_posix.cc',
    ],
    'win_sources': [
      'native/backend/completion_port.cc',
      'native/backend/iocp.cc',
      'native/backend/select_windows.cc',
      'native/backend/windows_errors.cc',
      'native/backend/windows_open.cc',
      'native/base/pages_windows.cc',
    ],
  },
  'targets': [
    {
      'target_name': 'nephrite',
      'sources': ['<@(common_sources)'],
      'include_dirs': ['native', '<!(node -p "require(\'node-addon-api\').include_dir")'],
      # The last: where JavaScript cannot run any more (a worker is being terminated), node-addon-api
      # would abort the process because it cannot throw; so it returns, and callers check.
      'defines': [
        'NAPI_VERSION=9', 'NAPI_DISABLE_CPP_EXCEPTIONS', 'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
      ],
      'cflags!': ['-fno-strict-aliasing'],
      'cflags_cc!': ['-std=gnu++14', '-std=gnu++17', '-std=gnu++20', '-fno-strict-aliasing'],
      'cflags_cc': [
        '-std=c++20', '-fno-exceptions', '-fno-rtti', '-fvisibility=hidden',
        '-fvisibility-inlines-hidden', '-ffunction-sections', '-fdata-sections',
        '-Wall', '-Wextra', '-Wno-unused-parameter',
      ],
      'xcode_settings': {
        'CLANG_CXX_LANGUAGE_STANDARD': 'c++20',
        'GCC_ENABLE_CPP_EXCEPTIONS': 'NO',
        'GCC_SYMBOLS_PRIVATE_EXTERN': 'YES',
        'MACOSX_DEPLOYMENT_TARGET': '11.0',
      },
      'msvs_settings': {
        'VCCLCompilerTool': { 'AdditionalOptions': ['/std:c++20'], 'ExceptionHandling': 0 },
      },
      'conditions': [
        ['OS=="linux"', {
          'sources': ['<@(linux_sources)'],
          'defines': ['_GNU_SOURCE', '_FILE_OFFSET_BITS=64'],
          # nodelete: threads of the blocking pools outlive every environment that loaded us.
          'ldflags': [
            '-static-libstdc++', '-static-libgcc', '-Wl,--exclude-libs,ALL', '-Wl,--gc-sections',
            '-Wl,-z,nodelete',
          ],
        }],
        ['OS=="mac"', { 'sources': ['<@(mac_sources)'] }],
        ['OS=="win"', {
          'sources': ['<@(win_sources)'],
          'defines': ['WIN32_LEAN_AND_MEAN', 'NOMINMAX'],
        }],
      ],
    },
  ],
}
