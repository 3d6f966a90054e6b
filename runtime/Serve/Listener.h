// Connections: accepts them, reads requests, hands each whole one over, and writes the answers that other threads give.
// One thread with libevent's loop does all of it; nothing here waits for anything but sockets and clocks. A connection
// has one request at a time: bytes after it wait in its buffer.
#ifndef HEDDLE_RUNTIME_SERVE_LISTENER_H
#define HEDDLE_RUNTIME_SERVE_LISTENER_H

#include "runtime/Core/Status.h"
#include "runtime/Serve/Http.h"
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

struct event;
struct event_base;
struct evconnlistener;
struct sockaddr;

namespace heddle::serve {

struct ListenOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 8080; ///< 0: a free one
  HttpLimits http;
  size_t connections = 1024;     ///< at most; fewer where the process may have fewer file handles
  size_t connectionsPerPeer = 0; ///< of a peer at most; 0: a quarter of all
  unsigned requests = 100;       ///< of a connection
  double headSeconds = 10, bodySeconds = 30, idleSeconds = 60;
  double lingerSeconds = 2;    ///< after a refusal, for the client to read it
  double pingSeconds = 15;     ///< a stream that says nothing says this, so that nobody on its way gives it up
  size_t mostUnread = 1 << 20; ///< bytes that may wait for a client that does not read; then its answer is given up
  double drainSeconds = 30;    ///< for running answers after SIGTERM
};

/// A whole request. Owned by whoever answers it; the connection only knows its number.
struct Exchange {
  uint64_t connection = 0;
  RequestHead head;
  std::string body;
  std::atomic<bool> abandoned{false}; ///< nothing reads the answer any more
};
using ExchangePtr = std::shared_ptr<Exchange>;

class Connection;

/// Where a client is: an address of IPv6, or one of IPv4 written as one; of an IPv6 network the first 64 bits.
using Peer = std::array<uint8_t, 16>;

class Listener {
public:
  explicit Listener(const ListenOptions &options);
  Listener(const Listener &) = delete;
  ~Listener();

  /// Judges a head before its body is read; called by the loop.
  std::function<Refusal(const RequestHead &)> judge;
  /// Takes a whole request; called by the loop, must not wait.
  std::function<void(ExchangePtr)> handle;
  /// The body of an answer that refuses.
  std::function<std::string(const Refusal &)> explain;
  /// Draining has begun: SIGTERM or SIGINT came.
  std::function<void()> onDrain;
  /// Every answer, for a log: the request's head, or null, and the status.
  std::function<void(const RequestHead *, int status)> onAnswer;

  /// Binds the address. `port` is then the one that is listened on.
  rt::Status open();
  uint16_t port() const { return boundPort; }
  /// Runs until it has drained. False: answers were cut when time ran out.
  bool run();
  /// Stops as after SIGTERM; from any thread.
  void stop();

  // Answers, from any thread. After `end` or `whole` the exchange is over. Answers to a connection that is gone are
  // dropped.
  void whole(const Exchange &to, int status, std::string_view type, std::string body, std::string fields = {});
  /// Begins a body that comes in parts.
  void begin(const Exchange &to, int status, std::string_view type, std::string fields = {});
  void part(const Exchange &to, std::string data);
  void end(const Exchange &to);

  bool isDraining() const { return draining; }

private:
  friend class Connection;
  /// Something for a connection to write.
  struct Message {
    enum class Kind : uint8_t { Whole, Begin, Part, End } kind;
    uint64_t connection;
    int status = 0;
    std::string type, fields, data;
  };

  rt::Status listenAt(const sockaddr *address, unsigned addressSize);
  rt::Status boundConnections();
  void post(Message message);
  void accept(int fd, const Peer &peer);
  bool makeRoom(const Peer *of = nullptr);
  bool makeRoomFor(const Peer &peer);
  void pauseAccepting(int error);
  void acceptLater();
  void acceptAgain();
  void deliver();
  void look();
  void drain();
  void drop(uint64_t connection);
  bool isIdle() const;
  static void onWake(int, short, void *self);
  static void onBeat(int, short, void *self);
  static void onRetry(int, short, void *self);
  static void onTurn(int, short, void *self);
  static void onDeadline(int, short, void *self);

  ListenOptions options;
  event_base *base = nullptr;
  evconnlistener *socket = nullptr;
  event *wake = nullptr, *beat = nullptr, *retry = nullptr, *deadline = nullptr, *turn = nullptr;
  int wakeFd = -1;
  unsigned signalsSeen = 0;
  bool toldOfPause = false;
  size_t acceptedInTurn = 0; ///< of the event loop
  bool pausedForTurn = false;
  uint16_t boundPort = 0;
  uint64_t nextConnection = 1;
  std::vector<std::pair<uint64_t, std::unique_ptr<Connection>>> connections; ///< ascending numbers
  std::atomic<bool> draining{false};
  std::map<Peer, size_t> peers; ///< how many connections each has
  bool cut = false;
  std::mutex mutex;
  std::vector<Message> messages; ///< under `mutex`
};

} // namespace heddle::serve

#endif
