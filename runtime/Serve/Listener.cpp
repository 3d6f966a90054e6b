// A connection is in one of these states: it reads a request, waits for its answer, writes the answer, or lingers after
// its last one. Each has a deadline of its own, so that a client which stalls in any of them is dropped.
#include "runtime/Serve/Listener.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::serve {

/// One client. Its methods run on the loop's thread alone.
class Connection {
public:
  Connection(Listener &listener, uint64_t number, int fd)
      : listener(listener), number(number), reader(listener.options.http) {
    stream = bufferevent_socket_new(listener.base, fd, BEV_OPT_CLOSE_ON_FREE);
    clock = evtimer_new(listener.base, onClock, this);
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    bufferevent_setcb(stream, onRead, onWritten, onEvent, this);
    bufferevent_setwatermark(stream, EV_READ, 0, kReadAhead);
    bufferevent_enable(stream, EV_READ | EV_WRITE);
    waitAtMost(listener.options.headSeconds); // a client that connects says something soon
  }
  ~Connection() {
    if (asked)
      asked->abandoned = true;
    event_free(clock);
    bufferevent_free(stream);
  }

  bool isIdle() const { return !asked && !reader.begun() && evbuffer_get_length(bufferevent_get_output(stream)) == 0; }
  /// The answer, or a piece of it. The connection may be gone afterwards.
  void write(const Listener::Message &message);
  /// No further request is taken.
  void close() {
    last = true;
    if (isIdle())
      listener.drop(number);
  }

private:
  static constexpr size_t kReadAhead = 64 << 10; ///< bytes behind a request that may wait

  static void onRead(bufferevent *, void *self) { static_cast<Connection *>(self)->read(); }
  static void onWritten(bufferevent *, void *self) { static_cast<Connection *>(self)->written(); }
  static void onEvent(bufferevent *, short what, void *self) { static_cast<Connection *>(self)->happened(what); }
  static void onClock(evutil_socket_t, short, void *self) { static_cast<Connection *>(self)->late(); }

  void waitAtMost(double seconds) {
    timeval time = {time_t(seconds), suseconds_t((seconds - double(time_t(seconds))) * 1e6)};
    evtimer_add(clock, &time);
  }
  void put(std::string_view bytes) { evbuffer_add(bufferevent_get_output(stream), bytes.data(), bytes.size()); }
  /// A piece of a body whose length is not said.
  void putPart(std::string_view data) {
    if (!data.empty())
      put(chunks ? chunkOf(data) : std::string(data));
  }
  void read();
  void step();
  void refuse(const Refusal &refusal);
  void answered();
  void written();
  void happened(short what);
  void late();

  Listener &listener;
  const uint64_t number;
  bufferevent *stream;
  event *clock;
  RequestReader reader;
  ExchangePtr asked;    ///< waits for its answer
  bool chunks = false;  ///< its answer comes in chunks
  bool last = false;    ///< the connection ends after this answer
  bool streams = false; ///< its answer is server-sent events
  bool deaf = false;    ///< the last answer is given; what still comes is dropped
  bool lingers = false; ///< and it has gone out
  unsigned requests = 0;
};

/// Takes what has come, as far as it belongs to this request.
void Connection::read() {
  evbuffer *input = bufferevent_get_input(stream);
  if (deaf) {
    evbuffer_drain(input, evbuffer_get_length(input));
    return;
  }
  // Behind a request that is not answered yet, or whose answer is on its way, bytes wait.
  while (reader.state() != RequestReader::State::Whole && evbuffer_get_length(input)) {
    bool began = reader.begun();
    size_t count = std::min<size_t>(evbuffer_get_contiguous_space(input), evbuffer_get_length(input));
    const auto *bytes = reinterpret_cast<const char *>(evbuffer_pullup(input, ssize_t(count)));
    evbuffer_drain(input, reader.feed({bytes, count}));
    if (!began && reader.begun())
      waitAtMost(listener.options.headSeconds);
    step();
    if (deaf)
      return;
  }
}

/// Goes on when the head or the whole request is there.
void Connection::step() {
  if (reader.state() == RequestReader::State::Refused)
    return refuse(reader.refusal());
  if (reader.state() == RequestReader::State::Judge) {
    if (Refusal refusal = listener.judge(reader.head()))
      return refuse(refusal);
    if (reader.head().expects100 && reader.head().hasBody())
      put("HTTP/1.1 100 Continue\r\n\r\n");
    waitAtMost(listener.options.bodySeconds);
    reader.proceed();
  }
  if (reader.state() != RequestReader::State::Whole)
    return;
  evtimer_del(clock);
  asked = std::make_shared<Exchange>();
  asked->connection = number;
  asked->head = reader.head();
  asked->body = reader.takeBody();
  ++requests;
  last |= !reader.head().keepAlive || requests >= listener.options.requests || listener.draining;
  listener.handle(asked);
}

/// Says why, and ends the connection: nothing behind a doubtful request is believed to be one.
void Connection::refuse(const Refusal &refusal) {
  const RequestHead *head = reader.head().method.empty() ? nullptr : &reader.head();
  if (listener.onAnswer)
    listener.onAnswer(head, refusal.status);
  std::string body = listener.explain(refusal);
  put(answerHead(refusal.status, "application/json", body.size(), false, false));
  put(body);
  last = true;
  answered();
}

/// The answer is complete; what remains is to write it.
void Connection::answered() {
  asked = nullptr;
  streams = false;
  deaf = last;
  if (evbuffer_get_length(bufferevent_get_output(stream)) == 0)
    return written();
  waitAtMost(listener.options.idleSeconds);
}

void Connection::write(const Listener::Message &message) {
  if (!asked)
    return;
  using Kind = Listener::Message::Kind;
  switch (message.kind) {
  case Kind::Whole:
    put(answerHead(message.status, message.type, message.data.size(), false, !last, message.fields));
    put(message.data);
    break;
  case Kind::Begin:
    chunks = asked->head.http11;
    last |= !chunks;
    streams = message.type.compare(0, 17, "text/event-stream") == 0;
    put(answerHead(message.status, message.type, std::nullopt, chunks, !last, message.fields));
    break;
  case Kind::Part: putPart(message.data); break;
  case Kind::End:
    if (chunks)
      put(chunkOf(""));
    break;
  }
  if (listener.onAnswer && (message.kind == Kind::Whole || message.kind == Kind::Begin))
    listener.onAnswer(&asked->head, message.status);
  if (message.kind == Kind::Whole || message.kind == Kind::End)
    return answered();
  if (streams)
    waitAtMost(listener.options.pingSeconds);
  if (evbuffer_get_length(bufferevent_get_output(stream)) > listener.options.mostUnread)
    listener.drop(number); // nobody reads
}

/// All bytes have gone out.
void Connection::written() {
  if (asked || lingers || evbuffer_get_length(bufferevent_get_output(stream)))
    return;
  if (reader.state() != RequestReader::State::Whole && reader.state() != RequestReader::State::Refused)
    return; // a "100 Continue"
  if (last) {
    // The client may still be sending; a reset now could make it miss the answer.
    lingers = true;
    shutdown(bufferevent_getfd(stream), SHUT_WR);
    evbuffer *input = bufferevent_get_input(stream);
    evbuffer_drain(input, evbuffer_get_length(input));
    return waitAtMost(listener.options.lingerSeconds);
  }
  reader.reset();
  waitAtMost(listener.options.idleSeconds);
  read();
}

void Connection::happened(short what) {
  // An end of what the client sends is its end: it reads no answer. What was written already still goes out.
  if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
    listener.drop(number);
}

void Connection::late() {
  if (asked && streams) {
    putPart(": ping\n\n");
    return waitAtMost(listener.options.pingSeconds);
  }
  if (lingers || asked || !reader.begun() || reader.state() == RequestReader::State::Whole ||
      reader.state() == RequestReader::State::Refused)
    return listener.drop(number);
  refuse({408, "the request took too long to arrive"});
}

//===-- the listener -----------------------------------------------------------===//

Listener::Listener(const ListenOptions &options) : options(options) {}

Listener::~Listener() {
  connections.clear();
  for (event *one : {wake, deadline, term, interrupt})
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
  base = event_base_new();
  wakeFd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (!base || wakeFd < 0)
    return rt::outOfResources("no event loop could be made: " + std::string(strerror(errno)));
  wake = event_new(base, wakeFd, EV_READ | EV_PERSIST, onWake, this);
  deadline = evtimer_new(base, onDeadline, this);
  term = evsignal_new(base, SIGTERM, onSignal, this);
  interrupt = evsignal_new(base, SIGINT, onSignal, this);
  event_add(wake, nullptr);
  event_add(term, nullptr);
  event_add(interrupt, nullptr);
  socket = evconnlistener_new_bind(
      base,
      [](evconnlistener *, evutil_socket_t fd, sockaddr *, int, void *self) {
        static_cast<Listener *>(self)->accept(fd);
      },
      this, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, 1024, found->ai_addr,
      int(found->ai_addrlen));
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
  return {};
}

bool Listener::run() {
  event_base_dispatch(base);
  connections.clear(); // whoever still makes an answer learns that nobody waits
  return !cut;
}

void Listener::accept(int fd) {
  uint64_t number = nextConnection++;
  connections.emplace_back(number, std::make_unique<Connection>(*this, number, fd));
  if (connections.size() >= options.connections)
    evconnlistener_disable(socket);
}

static bool before(const std::pair<uint64_t, std::unique_ptr<Connection>> &one, uint64_t number) {
  return one.first < number;
}

void Listener::drop(uint64_t number) {
  auto at = std::lower_bound(connections.begin(), connections.end(), number, before);
  if (at == connections.end() || at->first != number)
    return;
  connections.erase(at);
  if (draining && isIdle())
    event_base_loopbreak(base);
  else if (!draining && connections.size() < options.connections)
    evconnlistener_enable(socket);
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
    // The counter is full, so the loop is awake already.
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

void Listener::onWake(int, short, void *self) { static_cast<Listener *>(self)->deliver(); }

void Listener::deliver() {
  uint64_t count;
  if (::read(wakeFd, &count, sizeof count) < 0)
    return;
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

void Listener::onSignal(int, short, void *self) { static_cast<Listener *>(self)->drain(); }

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
