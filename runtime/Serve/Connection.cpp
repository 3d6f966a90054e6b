// A refusal is the last answer of its connection, wherever the reader is: in the middle of a head or a body, too.
#include "runtime/Serve/Connection.h"
#include <algorithm>
#include <cerrno>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::serve {

Connection::Connection(Listener &listener, uint64_t number, int fd, const Peer &peer)
    : peer(peer), listener(listener), number(number), reader(listener.options.http) {
  stream = bufferevent_socket_new(listener.base, fd, 0);
  clock = evtimer_new(listener.base, onClock, this);
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

Connection::~Connection() {
  if (asked)
    asked->abandoned = true;
  event_free(clock);
  // libevent would close the socket a little later, and whoever comes next may need its handle now.
  int fd = bufferevent_getfd(stream);
  bufferevent_disable(stream, EV_READ | EV_WRITE);
  bufferevent_free(stream);
  ::close(fd);
}

bool Connection::open() {
  bufferevent_setcb(stream, onRead, onWritten, onEvent, this);
  bufferevent_setwatermark(stream, EV_READ, 0, kReadAhead);
  waitAtMost(listener.options.headSeconds); // a client that connects says something soon
  if (bufferevent_enable(stream, EV_READ | EV_WRITE) == 0)
    return true;
  refuse({503, "this server has no resources for another connection"});
  return false;
}

void Connection::close() {
  last = true;
  if (isIdle())
    return listener.drop(number);
  if (!asked)
    waitAtMost(listener.options.lingerSeconds);
}

void Connection::waitAtMost(double seconds) {
  timeval time = {time_t(seconds), suseconds_t((seconds - double(time_t(seconds))) * 1e6)};
  evtimer_add(clock, &time);
  since = std::chrono::steady_clock::now();
}

size_t Connection::unsent() const { return evbuffer_get_length(bufferevent_get_output(stream)); }

/// What the socket takes at once goes out at once; the loop sends the rest.
void Connection::put(std::string_view bytes) {
  if (unsent() == 0) {
    ssize_t sent = ::send(bufferevent_getfd(stream), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    bytes.remove_prefix(size_t(std::max<ssize_t>(sent, 0)));
  }
  if (!bytes.empty())
    evbuffer_add(bufferevent_get_output(stream), bytes.data(), bytes.size());
}

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

// Nothing after a doubtful request is believed to be one.
void Connection::refuse(const Refusal &refusal) {
  const RequestHead *head = reader.head().method.empty() ? nullptr : &reader.head();
  if (listener.onAnswer)
    listener.onAnswer(head, refusal.status);
  std::string body = listener.explain(refusal);
  bool bare = head && head->method == "HEAD";
  put(answerHead(refusal.status, "application/json", body.size(), false, false) + (bare ? "" : body));
  last = true;
  answered();
}

/// The answer is complete; what remains is to write it.
void Connection::answered() {
  asked = nullptr;
  streams = false;
  deaf = last;
  if (unsent() == 0)
    return written();
  waitAtMost(listener.options.idleSeconds);
}

void Connection::write(const Listener::Message &message) {
  if (!asked)
    return;
  using Kind = Listener::Message::Kind;
  switch (message.kind) {
  case Kind::Whole:
    put(answerHead(message.status, message.type, message.data.size(), false, !last, message.fields) +
        (asked->head.method == "HEAD" ? "" : message.data));
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
  if (unsent() > listener.options.mostUnread)
    listener.drop(number); // nothing reads
}

/// All bytes have gone out.
void Connection::written() {
  if (asked || lingers || unsent())
    return;
  if (!deaf && reader.state() != RequestReader::State::Whole)
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
  int error = errno;
  bool gone = what & BEV_EVENT_EOF || error == ECONNRESET || error == EPIPE || error == ETIMEDOUT;
  if ((what & BEV_EVENT_ERROR) && !gone && ++failures < kMostFailures) {
    // The system could not do it now; libevent has given up and is asked to try again.
    bufferevent_enable(stream, what & BEV_EVENT_READING ? EV_READ : EV_WRITE);
    return;
  }
  // An end of what the client sends is its end: it reads no answer. What was written already still goes out.
  if (gone || asked || deaf)
    return listener.drop(number);
  if (what & BEV_EVENT_ERROR)
    refuse({503, "the request cannot be read now"});
}

void Connection::late() {
  if (asked && streams) {
    putPart(": ping\n\n");
    return waitAtMost(listener.options.pingSeconds);
  }
  if (deaf || asked || !reader.begun() || reader.state() == RequestReader::State::Whole)
    return listener.drop(number);
  refuse(listener.draining ? Refusal{503, "this server is stopping"}
                           : Refusal{408, "the request took too long to arrive"});
}

} // namespace heddle::serve
