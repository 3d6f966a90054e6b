//===- Scratch.cpp - the folder in which a binary is made -----------------===//
//
// The handlers call nothing but what a signal handler may call: the folder is read with
// getdents64, because opendir allocates. A handler ends the process by the signal's own
// default; whatever other threads still say or write meanwhile is held back.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Scratch.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle;

static const int watched[] = {SIGHUP,  SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU,
                              SIGSEGV, SIGBUS, SIGILL,  SIGFPE,  SIGABRT};
static struct sigaction before[std::size(watched)];
static char folderPath[PATH_MAX]; ///< empty: none
static volatile int folderFd = -1;
static volatile pid_t folderWriter = 0;
static std::atomic<bool> leaving = false; ///< a signal ends the process; the folder may be gone

/// Ends the writer and waits for it: it removes its own temporaries, given a moment.
static void endWriter() {
  pid_t pid = folderWriter;
  folderWriter = 0;
  if (pid <= 0)
    return;
  kill(pid, SIGTERM);
  for (int i = 0; i < 100; ++i) {
    if (waitpid(pid, nullptr, WNOHANG) != 0)
      return;
    timespec moment{0, 10'000'000};
    nanosleep(&moment, nullptr);
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

static void removeFolder() {
  if (folderPath[0] == 0)
    return;
  int tries = 1000;
  // Removing an entry may move those that are left, so the folder is read from its beginning until a pass removes none
  // and it is empty: another thread may still be writing.
  for (bool again = true; again;) {
    again = false;
    alignas(dirent64) char entries[4096];
    lseek(folderFd, 0, SEEK_SET);
    for (long size; (size = syscall(SYS_getdents64, folderFd, entries, sizeof entries)) > 0;)
      for (long at = 0; at < size;) {
        auto *entry = reinterpret_cast<dirent64 *>(entries + at);
        again |= unlinkat(folderFd, entry->d_name, 0) == 0;
        at += entry->d_reclen;
      }
    again |= rmdir(folderPath) != 0 && (errno == ENOTEMPTY || errno == EEXIST) && --tries > 0;
  }
  close(folderFd);
  folderFd = -1;
  folderPath[0] = 0;
}

void Scratch::waitIfLeaving() {
  while (leaving)
    pause();
}

void Scratch::leave() {
  if (leaving.exchange(true)) // another thread ends the process
    waitIfLeaving();
  endWriter();
  removeFolder();
}

static void leaveBySignal(int number) {
  Scratch::leave();
  llvm::sys::RunInterruptHandlers(); // files that LLVM was told to remove
  signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  raise(number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  _exit(128 + number);
}

static void watch() {
  struct sigaction action = {};
  action.sa_handler = leaveBySignal;
  sigfillset(&action.sa_mask); // one ends the process; another must not wait for it on its stack
  action.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < std::size(watched); ++i)
    if (sigaction(watched[i], nullptr, &before[i]) == 0 && before[i].sa_handler != SIG_IGN &&
        before[i].sa_handler != leaveBySignal)
      sigaction(watched[i], &action, nullptr);
}

static void unwatch() {
  for (size_t i = 0; i < std::size(watched); ++i) {
    struct sigaction now;
    if (sigaction(watched[i], nullptr, &now) == 0 && now.sa_handler == leaveBySignal)
      sigaction(watched[i], &before[i], nullptr);
  }
}

std::error_code Scratch::create(llvm::StringRef output) {
  namespace sys = llvm::sys::path;
  llvm::SmallString<256> folder;
  // No signal comes between making it and knowing it.
  sigset_t all, mask;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &mask);
  int error = 0;
  for (int i = 0;; ++i) {
    folder = sys::parent_path(output).empty() ? llvm::StringRef(".") : sys::parent_path(output);
    sys::append(folder, "." + sys::filename(output) + ".heddle-" + llvm::Twine(getpid()) + "-" + llvm::Twine(i));
    error = folder.size() >= sizeof folderPath ? ENAMETOOLONG : mkdir(folder.c_str(), 0777) != 0 ? errno : 0;
    if (error != EEXIST || i == 100)
      break;
  }
  int fd = error ? -1 : open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!error && fd < 0) {
    error = errno;
    rmdir(folder.c_str());
  }
  if (!error) {
    path = std::string(folder);
    std::memcpy(folderPath, path.c_str(), path.size() + 1);
    folderFd = fd;
    watch();
  }
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  return std::error_code(error, std::generic_category());
}

Scratch::~Scratch() {
  if (path.empty())
    return;
  waitIfLeaving();
  removeFolder();
  unwatch();
}

std::string Scratch::file(llvm::StringRef name) const { return (path + "/" + name).str(); }

std::string Scratch::fileForLinker(llvm::StringRef name) const {
  return path.find('%') == std::string::npos
             ? file(name)
             : ("/proc/" + llvm::Twine(getpid()) + "/fd/" + llvm::Twine(folderFd) + "/" + name).str();
}

void Scratch::writer(int pid) { folderWriter = pid; }
