// One client of the server. It is in one of these states: it reads a request, waits for its answer, writes the answer,
// or lingers after its last one. Each has a deadline of its own, so that a client which stalls in any of them is
// dropped.
#ifndef HEDDLE_RUNTIME_SERVE_CONNECTION_H
#define HEDDLE_RUNTIME_SERVE_CONNECTION_H

#include "runtime/Serve/Listener.h"
#include <chrono>

struct bufferevent;
struct event;

namespace heddle::serve {

/// One client. Its methods run on the loop's thread alone.
class Connection {
public:
  /// Owns the socket `fd`, which must not block.
  Connection(Listener &listener, uint64_t number, int fd, const Peer &peer);
  Connection(const Connection &) = delete;
  ~Connection();

  const Peer peer; ///< where the client is
  /// Begins to read. False: the system does not watch this socket.
  bool open();
  bool isIdle() const { return !asked && !reader.begun() && unsent() == 0; }
  /// Whether its next step is the client's; then it can be dropped for the sake of others.
  bool waitsForClient() const { return !asked; }
  /// Of those that wait for their clients: whether this one has waited for less than `other`, or has more to lose.
  bool deservesMore(const Connection &other) const { return deaf != other.deaf ? other.deaf : since > other.since; }
  /// The answer, or a piece of it. The connection may be gone afterwards.
  void write(const Listener::Message &message);
  /// Says why nothing more is done for this client, and ends the connection.
  void refuse(const Refusal &refusal);
  /// No further request is taken: what is idle ends now, and what waits for its client soon.
  void close();

private:
  static constexpr size_t kReadAhead = 64 << 10; ///< bytes after a request that may wait
  static constexpr unsigned kMostFailures = 16;

  static void onRead(bufferevent *, void *self) { static_cast<Connection *>(self)->read(); }
  static void onWritten(bufferevent *, void *self) { static_cast<Connection *>(self)->written(); }
  static void onEvent(bufferevent *, short what, void *self) { static_cast<Connection *>(self)->happened(what); }
  static void onClock(int, short, void *self) { static_cast<Connection *>(self)->late(); }

  void waitAtMost(double seconds);
  void put(std::string_view bytes);
  size_t unsent() const; ///< bytes of answers that have not gone out
  /// A piece of a body whose length is not said.
  void putPart(std::string_view data) {
    if (!data.empty())
      put(chunks ? chunkOf(data) : std::string(data));
  }
  void read();
  void step();
  void answered();
  void written();
  void happened(short what);
  void late();

  Listener &listener;
  const uint64_t number;
  bufferevent *stream;
  event *clock;
  RequestReader reader;
  ExchangePtr asked;                           ///< waits for its answer
  bool chunks = false;                         ///< its answer comes in chunks
  bool last = false;                           ///< the connection ends after this answer
  bool streams = false;                        ///< its answer is server-sent events
  bool deaf = false;                           ///< the last answer is given; what still comes is dropped
  bool lingers = false;                        ///< and it has gone out
  std::chrono::steady_clock::time_point since; ///< when its client was last given time
  unsigned requests = 0;
  unsigned failures = 0; ///< of reading and writing, that may pass
};

} // namespace heddle::serve

#endif
