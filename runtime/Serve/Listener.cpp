// Nobody fills the house alone: a peer that has its share of connections loses the one that has kept still for longest
// when it comes again, or is sent away. A full house is no closed door: the peer with the most loses such a one, so
// that whoever comes is heard. What the system may refuse now and then (a wake-up, a handle for a connection) is made
// up for within a second, by a clock that beats.
#include "runtime/Serve/Connection.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <event2/event.h>
#include <event2/listener.h>
#include <netdb.h>
#include <new>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace heddle::serve {

namespace {

/// Handles that a server needs next to those of its connections and those that are open when it listens.
constexpr uint64_t kSpareHandles = 8;

// SIGTERM and SIGINT: how many came, and what wakes the loop.
std::atomic<unsigned> signalsCome{0};
std::atomic<int> signalWake{-1};

void onSignal(int) {
  int before = errno;
  ++signalsCome;
  uint64_t one = 1;
  ssize_t ignored = ::write(signalWake, &one, sizeof one); // if that fails, the loop looks by itself
  (void)ignored;
  errno = before;
}

void catchSignals(int wake) {
  signalWake = wake;
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

/// Memory for libevent, which does not bear its lack: as for the rest of the program, there is some or the program
/// ends.
template <typename Take> void *taken(Take take) {
  for (;;) {
    if (void *memory = take())
      return memory;
    std::new_handler none = std::get_new_handler();
    if (!none)
      return nullptr;
    none();
  }
}

Peer peerOf(const sockaddr *address) {
  Peer peer = {};
  if (address && address->sa_family == AF_INET) {
    peer[10] = peer[11] = 0xff;
    memcpy(&peer[12], &reinterpret_cast<const sockaddr_in *>(address)->sin_addr, 4);
  } else if (address && address->sa_family == AF_INET6) {
    const in6_addr &six = reinterpret_cast<const sockaddr_in6 *>(address)->sin6_addr;
    memcpy(peer.data(), &six, IN6_IS_ADDR_V4MAPPED(&six) ? 16 : 8);
  }
  return peer;
}

} // namespace

Listener::Listener(const ListenOptions &options) : options(options) {}

Listener::~Listener() {
  connections.clear();
  if (wakeFd >= 0 && signalWake == wakeFd) {
    signalWake = -1;
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
  }
  for (event *one : {wake, beat, retry, deadline, turn})
    if (one)
      event_free(one);
  if (socket)
    evconnlistener_free(socket);
  if (base)
    event_base_free(base);
  if (wakeFd >= 0)
    close(wakeFd);
}

rt::Status Listener::open() {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  std::string name = options.host == "localhost" ? "127.0.0.1" : options.host;
  if (getaddrinfo(name.c_str(), std::to_string(options.port).c_str(), &hints, &found) != 0)
    return rt::badUsage("--host takes an address such as 127.0.0.1, ::1 or 0.0.0.0, not " + rt::quote(options.host));
  std::unique_ptr<addrinfo, void (*)(addrinfo *)> owner(found, freeaddrinfo);
  signal(SIGPIPE, SIG_IGN);
  event_set_mem_functions([](size_t size) { return taken([&] { return malloc(size); }); },
                          [](void *old, size_t size) { return taken([&] { return realloc(old, size); }); }, free);
  base = event_base_new();
  wakeFd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (!base || wakeFd < 0)
    return rt::outOfResources("no event loop could be made: " + std::string(strerror(errno)));
  wake = event_new(base, wakeFd, EV_READ | EV_PERSIST, onWake, this);
  beat = event_new(base, -1, EV_PERSIST, onBeat, this);
  retry = evtimer_new(base, onRetry, this);
  turn = evtimer_new(base, onTurn, this);
  deadline = evtimer_new(base, onDeadline, this);
  timeval second = {1, 0};
  if (event_add(wake, nullptr) != 0 || event_add(beat, &second) != 0)
    return rt::outOfResources("the event loop watches nothing: " + std::string(strerror(errno)));
  HEDDLE_TRY(listenAt(found->ai_addr, found->ai_addrlen));
  HEDDLE_TRY(boundConnections());
  if (!options.connectionsPerPeer)
    options.connectionsPerPeer = std::max<size_t>(options.connections / 4, 1);
  signalsSeen = signalsCome;
  catchSignals(wakeFd);
  return {};
}

rt::Status Listener::listenAt(const sockaddr *address, unsigned addressSize) {
  socket = evconnlistener_new_bind(
      base,
      [](evconnlistener *, evutil_socket_t fd, sockaddr *from, int, void *self) {
        static_cast<Listener *>(self)->accept(fd, peerOf(from));
      },
      this, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE | LEV_OPT_DISABLED, 1024, address,
      int(addressSize));
  if (!socket) {
    int error = errno;
    if (error == EADDRINUSE)
      return rt::outOfResources("port " + std::to_string(options.port) + " of " + options.host + " is taken")
          .withHelp("--port N listens on another one, --port 0 on a free one");
    return rt::ioError("listening on", options.host + ":" + std::to_string(options.port), error);
  }
  sockaddr_storage bound = {};
  socklen_t size = sizeof bound;
  getsockname(evconnlistener_get_fd(socket), reinterpret_cast<sockaddr *>(&bound), &size);
  boundPort = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6 &>(bound).sin6_port
                                                : reinterpret_cast<sockaddr_in &>(bound).sin_port);
  evconnlistener_set_error_cb(
      socket, [](evconnlistener *, void *self) { static_cast<Listener *>(self)->pauseAccepting(errno); });
  acceptAgain();
  return {};
}

/// As many connections as there can be handles for. The lowest free number is given to a handle, so the newest ones say
/// how many are open.
rt::Status Listener::boundConnections() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return {};
  uint64_t open = uint64_t(std::max(wakeFd, evconnlistener_get_fd(socket))) + 1 + kSpareHandles;
  uint64_t wanted = open + options.connections;
  if (limit.rlim_cur < wanted) {
    rlimit raised = {std::min<rlim_t>(limit.rlim_max, wanted), limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
      limit = raised;
  }
  if (limit.rlim_cur <= open)
    return rt::outOfResources(rt::format("a server needs %llu file handles or more, and this process may have %llu",
                                         static_cast<unsigned long long>(open + 1),
                                         static_cast<unsigned long long>(limit.rlim_cur)))
        .withHelp("allow more with ulimit -n 1100");
  options.connections = size_t(std::min<uint64_t>(options.connections, limit.rlim_cur - open));
  return {};
}

void Listener::stop() {
  ++signalsCome;
  uint64_t one = 1;
  if (::write(wakeFd, &one, sizeof one) < 0) {
    // The loop looks by itself.
  }
}

bool Listener::run() {
  constexpr unsigned kPauses = 100;                          // in a second
  for (unsigned lost = 0; event_base_dispatch(base) != 0;) { // the system would not wait, so no timer runs either
    look();
    cut |= draining && ++lost > kPauses * unsigned(options.drainSeconds);
    if (cut || event_base_got_break(base))
      break;
    timeval moment = {0, 1000000 / kPauses};
    select(0, nullptr, nullptr, nullptr, &moment);
  }
  connections.clear(); // whoever still makes an answer learns that nothing waits
  return !cut;
}

/// A crowd that comes at once is let in in parts: what a connection says is read before many newer ones could push it
/// out as one that keeps still.
void Listener::accept(int fd, const Peer &peer) {
  constexpr size_t kMostInTurn = 32;
  bool fits = makeRoomFor(peer);
  if (connections.size() >= options.connections && !makeRoom()) {
    evconnlistener_disable(socket); // all of them wait for us; this one is the last
  } else if (++acceptedInTurn >=
             std::min({kMostInTurn, options.connections / 2 + 1, options.connectionsPerPeer / 2 + 1})) {
    evconnlistener_disable(socket);
    pausedForTurn = true;
  }
  timeval now = {0, 0};
  if (!evtimer_pending(turn, nullptr))
    evtimer_add(turn, &now);
  uint64_t number = nextConnection++;
  connections.emplace_back(number, std::make_unique<Connection>(*this, number, fd, peer));
  ++peers[peer];
  Connection &made = *connections.back().second;
  if (made.open() && !fits)
    made.refuse({503, "this address has as many connections as it may have (--connections-per-peer), all of them with "
                      "requests that are being answered"});
}

/// Whether a peer may have one more connection, for which one that waits for its client is dropped if need be.
bool Listener::makeRoomFor(const Peer &peer) {
  auto held = [&] {
    auto found = peers.find(peer);
    return found == peers.end() ? 0 : found->second;
  };
  return held() < options.connectionsPerPeer || (makeRoom(&peer) && held() < options.connectionsPerPeer);
}

/// Drops a connection that waits for its client, of the peer `of`, or else of the one that has the most: the one that
/// has waited for longest. False: there is none.
bool Listener::makeRoom(const Peer *of) {
  const Connection *least = nullptr;
  uint64_t number = 0;
  size_t most = 0;
  for (const auto &[one, connection] : connections) {
    if (!connection->waitsForClient() || (of && connection->peer != *of))
      continue;
    size_t count = peers[connection->peer];
    if (least && (count < most || (count == most && connection->deservesMore(*least))))
      continue;
    least = connection.get();
    number = one;
    most = count;
  }
  if (least)
    drop(number);
  return least;
}

/// The system has no handle for one more connection: a pause makes room, and a moment later it is tried again.
void Listener::pauseAccepting(int error) {
  evconnlistener_disable(socket);
  if (!toldOfPause)
    rt::note("connections wait, since none can be accepted now: " + std::string(strerror(error)) +
             "; this is said once");
  toldOfPause = true;
  acceptLater();
}

void Listener::acceptLater() {
  timeval moment = {0, 100000};
  evtimer_add(retry, &moment);
}

/// Lets connections in again; where the system does not watch the socket now, a moment later.
void Listener::acceptAgain() {
  if (evconnlistener_enable(socket) != 0)
    acceptLater();
}

static bool before(const std::pair<uint64_t, std::unique_ptr<Connection>> &one, uint64_t number) {
  return one.first < number;
}

void Listener::drop(uint64_t number) {
  auto at = std::lower_bound(connections.begin(), connections.end(), number, before);
  if (at == connections.end() || at->first != number)
    return;
  if (auto count = peers.find(at->second->peer); --count->second == 0)
    peers.erase(count);
  connections.erase(at);
  if (draining && isIdle())
    event_base_loopbreak(base);
  else if (!draining && connections.size() < options.connections)
    acceptAgain();
}

bool Listener::isIdle() const { return connections.empty(); }

void Listener::post(Message message) {
  bool first;
  {
    std::lock_guard<std::mutex> lock(mutex);
    first = messages.empty();
    messages.push_back(std::move(message));
  }
  uint64_t one = 1;
  if (first && ::write(wakeFd, &one, sizeof one) < 0) {
    // The loop is awake already, or looks by itself.
  }
}

void Listener::whole(const Exchange &to, int status, std::string_view type, std::string body, std::string fields) {
  post({Message::Kind::Whole, to.connection, status, std::string(type), std::move(fields), std::move(body)});
}
void Listener::begin(const Exchange &to, int status, std::string_view type, std::string fields) {
  post({Message::Kind::Begin, to.connection, status, std::string(type), std::move(fields), {}});
}
void Listener::part(const Exchange &to, std::string data) {
  post({Message::Kind::Part, to.connection, 0, {}, {}, std::move(data)});
}
void Listener::end(const Exchange &to) { post({Message::Kind::End, to.connection, 0, {}, {}, {}}); }

void Listener::onWake(int fd, short, void *self) {
  uint64_t count;
  if (::read(fd, &count, sizeof count) < 0) {
    // What is to be done does not depend on how often it was said.
  }
  static_cast<Listener *>(self)->look();
}

void Listener::onBeat(int, short, void *self) { static_cast<Listener *>(self)->look(); }

void Listener::onRetry(int, short, void *self) {
  auto *listener = static_cast<Listener *>(self);
  if (listener->draining)
    return;
  listener->makeRoom();
  listener->acceptAgain();
}

void Listener::onTurn(int, short, void *self) {
  auto *listener = static_cast<Listener *>(self);
  listener->acceptedInTurn = 0;
  if (std::exchange(listener->pausedForTurn, false) && !listener->draining)
    listener->acceptAgain();
}

/// What other threads and signals want.
void Listener::look() {
  deliver();
  for (unsigned come = signalsCome; signalsSeen != come; ++signalsSeen)
    drain();
}

void Listener::deliver() {
  std::vector<Message> taken;
  {
    std::lock_guard<std::mutex> lock(mutex);
    taken.swap(messages);
  }
  for (const Message &message : taken) {
    auto at = std::lower_bound(connections.begin(), connections.end(), message.connection, before);
    if (at != connections.end() && at->first == message.connection)
      at->second->write(message);
  }
}

void Listener::onDeadline(int, short, void *self) {
  auto *listener = static_cast<Listener *>(self);
  listener->cut = true;
  event_base_loopbreak(listener->base);
}

/// The first signal ends what is idle and lets running answers finish; the second ends at once.
void Listener::drain() {
  if (draining) {
    cut = true;
    event_base_loopbreak(base);
    return;
  }
  draining = true;
  evconnlistener_disable(socket);
  if (onDrain)
    onDrain();
  std::vector<uint64_t> numbers;
  for (const auto &[number, connection] : connections)
    numbers.push_back(number);
  for (uint64_t number : numbers) {
    auto at = std::lower_bound(connections.begin(), connections.end(), number, before);
    if (at != connections.end() && at->first == number)
      at->second->close();
  }
  if (isIdle())
    event_base_loopbreak(base);
  timeval time = {time_t(options.drainSeconds), 0};
  evtimer_add(deadline, &time);
}

} // namespace heddle::serve
