//===- Exit.cpp - the ways out of the process -----------------------------===//
//
// The handlers must not allocate: they only write texts that exist already.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Scratch.h"
#include "heddle/standard_files.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <unistd.h>

using namespace heddle;

static void say(const char *text) {
  for (size_t left = std::strlen(text); left > 0;) {
    ssize_t n = write(STDERR_FILENO, text, left);
    if (n <= 0)
      return;
    text += n;
    left -= size_t(n);
  }
}

void heddle::endAtOnce(Error error, std::initializer_list<const char *> text) {
  for (const char *piece : text)
    say(piece);
  Scratch::leave();
  llvm::sys::RunInterruptHandlers(); // files that LLVM was told to remove
  _exit(int(exitOf(error)));
}

void heddle::endWithoutMemory() {
  endAtOnce(Error::NoResources, {"heddle: error[", codeOf(Error::NoResources), "]: out of memory\n"});
}

static void outOfMemoryInLLVM(void *, const char *, bool) { endWithoutMemory(); }

static void fatalInLLVM(void *, const char *reason, bool) {
  endAtOnce(Error::OurMistake, {"heddle: error[", codeOf(Error::OurMistake), "]: internal error: ", reason,
                                "\nThis is a mistake of Heddle's own; please report it.\n"});
}

/// Lets LLVM put its handlers where it wants them, which it does once, and takes back those of signals that were
/// ignored when the process began (`nohup`): they stay ignored.
static void keepIgnored() {
  struct Was {
    int number;
    struct sigaction action;
  } all[] = {{SIGHUP, {}},  {SIGINT, {}},  {SIGQUIT, {}}, {SIGTERM, {}},
             {SIGPIPE, {}}, {SIGXCPU, {}}, {SIGUSR1, {}}, {SIGUSR2, {}}};
  for (Was &was : all)
    sigaction(was.number, nullptr, &was.action);
  llvm::sys::SetInterruptFunction(nullptr);
  for (Was &was : all)
    if (was.action.sa_handler == SIG_IGN)
      sigaction(was.number, &was.action, nullptr);
}

void heddle::guardExits() {
  holdStandardFiles();
  keepIgnored();
  signal(SIGXFSZ, SIG_IGN);
  std::set_new_handler(endWithoutMemory);
  llvm::install_bad_alloc_error_handler(outOfMemoryInLLVM);
  llvm::install_fatal_error_handler(fatalInLLVM);
}

int heddle::finish(const Console &console, llvm::raw_fd_ostream &output, int code) {
  Scratch::waitIfLeaving();
  console.out.flush();
  output.flush();
  if (!output.has_error())
    return code;
  std::error_code ec = output.error();
  output.clear_error(); // or the stream ends the process when it is destroyed
  return code == Ok ? console.complain(errorOf(ec, Error::CannotWrite), "standard output: " + ec.message()) : code;
}

void heddle::dropUnheard(llvm::raw_fd_ostream &messages) {
  messages.flush();
  messages.clear_error(); // or the stream ends the process, as a mistake of ours, when it is destroyed
}

static const int lacks[] = {ENOMEM, ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE, EAGAIN};

int heddle::failedWith(const DiagnosticSink &sink) {
  return sink.hasErrors() ? sink.exitCode() : int(exitOf(Error::OurMistake));
}

Error heddle::errorOf(std::error_code ec, Error otherwise) {
  for (int lack : lacks)
    if (ec == std::error_condition(lack, std::generic_category()))
      return lack == ENOSPC || lack == EDQUOT || lack == EFBIG ? Error::DiskFull : Error::NoResources;
  return otherwise;
}

bool heddle::speaksOfResources(llvm::StringRef text) {
  if (text.contains("out of memory") || text.contains("bad_alloc"))
    return true;
  for (int lack : lacks)
    if (text.contains(std::strerror(lack)))
      return true;
  return false;
}
