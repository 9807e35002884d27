-- Clock, chance, files, sockets, threads and processes are reached through base/env.h alone: no object file
-- asks for such a symbol, but for the places named below. usage: symbols.lua BUILD-DIRECTORY
package.path = "tests/tidy/?.lua;" .. package.path
local files = require "files"
local build = assert(arg[1], "usage: symbols.lua BUILD-DIRECTORY")

local may = { -- by prefix of the source
  "base/env_uv", "runtime/state/store_lmdb.c", "runtime/cli/", "runtime/chaos/",
}

local banned = {}
for name in ([[
  open open64 openat openat64 creat creat64 fopen fopen64 freopen freopen64 fdopen tmpfile tmpfile64 mkstemp
  mkstemp64 mkdtemp opendir fdopendir readdir readdir64 scandir scandir64 read pread pread64 readv preadv preadv2
  write pwrite pwrite64 writev pwritev pwritev2 pwritev64v2 fread fgets getline close lseek lseek64 ftruncate
  ftruncate64 truncate fallocate fallocate64 posix_fallocate posix_fallocate64 sync fsync fdatasync syncfs
  sync_file_range rename renameat renameat2 remove unlink unlinkat mkdir mkdirat rmdir link symlink stat stat64
  fstat fstat64 fstatat fstatat64 lstat lstat64 statx statvfs statvfs64 access chdir getcwd realpath flock lockf
  fcntl fcntl64 ioctl mmap mmap64 msync dup dup2 pipe pipe2 eventfd
  socket socketpair bind listen accept accept4 connect send sendto sendmsg sendmmsg sendfile sendfile64 recv
  recvfrom recvmsg recvmmsg shutdown setsockopt getsockopt getsockname getpeername getaddrinfo gethostbyname
  gethostname poll ppoll select pselect epoll_create epoll_create1 epoll_ctl epoll_wait io_uring_setup
  time clock clock_gettime clock_getres clock_nanosleep gettimeofday times ftime localtime localtime_r tzset
  mktime nanosleep usleep sleep alarm setitimer timer_create timer_settime timerfd_create
  rand rand_r srand random srandom random_r drand48 erand48 lrand48 mrand48 srand48 getrandom getentropy
  arc4random arc4random_uniform
  pthread_create pthread_join pthread_mutex_lock pthread_cond_wait pthread_kill thrd_create mtx_lock sem_wait
  fork vfork execv execve execvp execl execlp posix_spawn posix_spawnp system popen wait waitpid kill raise
  signal sigaction sigprocmask prctl sched_yield getpid getppid gettid syscall
  luaL_openlibs luaL_loadfilex luaopen_io luaopen_os luaopen_package luaopen_debug
]]):gmatch "%S+" do banned[name] = true end
local banned_prefixes = { "uv_", "mdb_" }

local problems, objects = {}, 0
for _, path in ipairs(files.list "^[a-z]+/.*%.c$") do
  local ours = path:match "^base/" or path:match "^broker/" or path:match "^txn/" or path:match "^udf/" or
    path:match "^runtime/"
  local allowed = not ours
  for _, prefix in ipairs(may) do allowed = allowed or path:sub(1, #prefix) == prefix end
  local object = not allowed and
    files.lines_of(("ls %s/CMakeFiles/*.dir/%s.o 2>/dev/null | head -n 1"):format(build, path))[1]
  if object then
    objects = objects + 1
    for _, line in ipairs(files.lines_of("nm -u " .. object)) do
      local symbol = line:match "U ([%w_]+)"
      local bad = symbol and banned[symbol]
      for _, prefix in ipairs(banned_prefixes) do
        bad = bad or symbol and symbol:sub(1, #prefix) == prefix
      end
      if bad then problems[#problems + 1] = path .. ": " .. symbol end
    end
  elseif not allowed then
    problems[#problems + 1] = path .. ": has no object file in " .. build
  end
end
assert(objects > 50, "only " .. objects .. " object files were found in " .. build)
files.judge(("symbols of %d object files"):format(objects), problems)
