//===- Terminal.cpp - Lines from a person or a pipe -----------------------===//
//
// While an answer is made the terminal is in its own mode, so that what is
// typed meanwhile waits for the next line.
//
//===----------------------------------------------------------------------===//
#include "runtime/Chat/Terminal.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

namespace heddle::chat {

using rt::Status;

static constexpr size_t kMaxLine = size_t(64) << 20;
// What ends or stops a program and can be sent to it; Ctrl-C first.
static constexpr int kSignals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGTSTP,   SIGALRM, SIGUSR1,
                                   SIGUSR2, SIGPIPE, SIGXCPU, SIGPROF, SIGVTALRM, SIGABRT};

/// Steers the terminal: past stdout, which escapes (heddle/terminal_output.h).
static void say(const std::string &bytes) {
  fflush(stdout);
  for (size_t at = 0; at < bytes.size();) {
    ssize_t n = write(1, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno != EINTR)
      return;
    at += n > 0 ? size_t(n) : 0;
  }
}

namespace {
/// The terminal passes every key on as it is pressed, and says where a paste begins and ends.
class RawMode {
public:
  RawMode() {
    if (tcgetattr(0, &saved) != 0)
      return;
    struct termios raw = saved;
    raw.c_iflag &= tcflag_t(~(BRKINT | ICRNL | INLCR | IGNCR | ISTRIP | IXON));
    raw.c_lflag &= tcflag_t(~(ECHO | ICANON | IEXTEN | ISIG));
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    entered = tcsetattr(0, TCSADRAIN, &raw) == 0;
    say("\x1b[?2004h");
  }
  RawMode(const RawMode &) = delete;
  RawMode &operator=(const RawMode &) = delete;
  ~RawMode() {
    say("\x1b[?2004l");
    if (entered)
      tcsetattr(0, TCSADRAIN, &saved);
  }

private:
  struct termios saved;
  bool entered = false;
};
} // namespace

static size_t columns() {
  struct winsize size;
  return ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

Status Terminal::hold() {
  const char *kind = getenv("TERM");
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  if (!isatty(0))
    return {};
  editing = isatty(1) && kind && *kind && strcmp(kind, "dumb") != 0;
  sigset_t all;
  sigemptyset(&all);
  for (int one : kSignals)
    sigaddset(&all, one);
  messages = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  if (messages < 0)
    return rt::outOfResources(std::string("no descriptor for signals: ") + strerror(errno));
  block(SIG_BLOCK, true);
  return {};
}

/// Blocks or unblocks the signals, Ctrl-C with them or not.
void Terminal::block(int how, bool interrupt) const {
  if (messages < 0)
    return;
  sigset_t set;
  sigemptyset(&set);
  for (int one : kSignals)
    if ((interrupt || one != SIGINT) && !sigismember(&before, one))
      sigaddset(&set, one);
  pthread_sigmask(how, &set, nullptr);
}

void Terminal::open() { block(SIG_UNBLOCK, false); }

Terminal::~Terminal() {
  if (messages >= 0)
    close(messages);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool Terminal::interrupted() {
  bool pressed = false;
  struct signalfd_siginfo message;
  while (messages >= 0 && ::read(messages, &message, sizeof message) == ssize_t(sizeof message))
    if (message.ssi_signo == SIGINT)
      pressed = true;
    else
      act(int(message.ssi_signo));
  return pressed;
}

/// Lets a signal do what it does; comes back from those that only stop the program for a while.
void Terminal::act(int signal) const {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
}

/// Waits for input and appends it to `ahead`. `signal`: the message that came instead, or 0.
Status Terminal::more(bool &ended, int &signal) {
  ended = false;
  signal = 0;
  struct pollfd waits[] = {{0, POLLIN, 0}, {messages, POLLIN, 0}};
  while (poll(waits, messages < 0 ? 1 : 2, -1) < 0)
    if (errno != EINTR)
      return Status(Error::CannotRead, std::string("cannot wait for standard input: ") + strerror(errno));
  struct signalfd_siginfo message;
  if (waits[1].revents && ::read(messages, &message, sizeof message) == ssize_t(sizeof message)) {
    signal = int(message.ssi_signo);
    return {};
  }
  if (!waits[0].revents)
    return {};
  char bytes[4096];
  ssize_t n = ::read(0, bytes, sizeof bytes);
  bool gone = n < 0 && errno == EIO && messages >= 0; // the terminal has
  if (n < 0 && errno != EINTR && errno != EAGAIN && !gone)
    return Status(Error::CannotRead, std::string("cannot read standard input: ") + strerror(errno));
  ended = n == 0 || gone;
  if (n > 0)
    ahead.append(bytes, size_t(n));
  return {};
}

Status Terminal::read(const std::string &prompt, std::string &line, Got &got) {
  block(SIG_BLOCK, true);
  Status status = editing ? readEdited(prompt, line, got) : readPlain(line, got);
  block(SIG_UNBLOCK, false);
  return status;
}

Status Terminal::readPlain(std::string &line, Got &got) {
  line.clear();
  size_t seen = 0;
  for (;;) {
    size_t at = ahead.find('\n', seen);
    if (at != std::string::npos) {
      line = ahead.substr(0, at);
      ahead.erase(0, at + 1);
      break;
    }
    if (ahead.size() > kMaxLine)
      return rt::badInput("a line on standard input has more than 64 MiB");
    seen = ahead.size();
    bool ended = false;
    int signal = 0;
    HEDDLE_TRY(more(ended, signal));
    if (signal && signal != SIGINT) {
      act(signal);
    } else if (signal) {
      got = Got::Interrupt;
      return {};
    }
    if (ended && ahead.empty()) {
      got = Got::End;
      return {};
    }
    if (ended) {
      line.swap(ahead);
      ahead.clear();
      break;
    }
  }
  if (!line.empty() && line.back() == '\r')
    line.pop_back();
  got = Got::Line;
  return {};
}

Status Terminal::readEdited(const std::string &prompt, std::string &line, Got &got) {
  using Event = LineEditor::Event;
  editor.begin();
  std::optional<RawMode> raw(std::in_place);
  say(editor.draw(prompt, columns()));
  // Leaves what was typed where it is.
  auto leave = [&](const char *mark, Got what) {
    line = editor.text();
    say(std::string(mark) + "\n");
    got = what;
  };
  auto pause = [&](int signal) {
    say("\n");
    raw.reset();
    act(signal);
    raw.emplace();
    say(editor.draw(prompt, columns()));
  };
  for (;;) {
    bool ended = false;
    int signal = 0;
    if (ahead.empty())
      HEDDLE_TRY(more(ended, signal));
    if (ended) {
      leave("", Got::End);
      return {};
    }
    Event event = signal == SIGINT ? Event::Interrupt : Event::None;
    if (signal && signal != SIGINT)
      pause(signal);
    size_t used = 0;
    bool changed = false;
    while (event != Event::Done && event != Event::Interrupt && event != Event::End && used < ahead.size()) {
      event = editor.key(static_cast<unsigned char>(ahead[used++]));
      if (event == Event::Suspend)
        pause(SIGTSTP);
      if (event == Event::Clear)
        say("\x1b[H\x1b[2J");
      changed |= event == Event::Changed || event == Event::Clear;
    }
    ahead.erase(0, used);
    if (changed)
      say(editor.draw(prompt, columns()));
    switch (event) {
    case Event::Done: leave("", Got::Line); return {};
    case Event::Interrupt: leave("^C", Got::Interrupt); return {};
    case Event::End: leave("", Got::End); return {};
    default: break;
    }
  }
}

} // namespace heddle::chat
