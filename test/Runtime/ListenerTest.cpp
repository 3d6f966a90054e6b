//===- ListenerTest.cpp - Connections of a server -------------------------===//
//
// A client of a socket, against a listener whose clocks run fast.
//
//===----------------------------------------------------------------------===//
#include "runtime/Serve/Listener.h"

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::serve;

namespace {

/// Whether `good` becomes true before a minute has passed.
bool becomes(const std::function<bool()> &good) {
  for (int i = 0; i < 6000 && !good(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return good();
}

int connectTo(uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where = {};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  timeval most = {60, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr *>(&where), sizeof where), 0);
  return fd;
}

/// Reads until `wanted` has come `times` times, or nothing comes any more.
size_t countOf(int fd, const std::string &wanted, size_t times) {
  std::string all;
  for (;;) {
    size_t count = 0;
    for (size_t at = all.find(wanted); at != std::string::npos; at = all.find(wanted, at + 1))
      ++count;
    char piece[512];
    ssize_t got = count < times ? recv(fd, piece, sizeof piece, 0) : 0;
    if (got <= 0)
      return count;
    all.append(piece, size_t(got));
  }
}

TEST(Listener, AStreamThatSaysNothing) {
  ListenOptions options;
  options.port = 0;
  options.pingSeconds = 0.02;
  Listener listener(options);
  listener.judge = [](const RequestHead &) { return Refusal(); };
  listener.explain = [](const Refusal &) { return std::string(); };
  std::mutex mutex;
  ExchangePtr asked; // under `mutex`
  listener.handle = [&](ExchangePtr exchange) {
    listener.begin(*exchange, 200, "text/event-stream; charset=utf-8");
    std::lock_guard<std::mutex> lock(mutex);
    asked = std::move(exchange);
  };
  rt::Status status = listener.open();
  ASSERT_TRUE(status.ok()) << status.message();
  std::thread loop([&] { EXPECT_TRUE(listener.run()); });
  int fd = connectTo(listener.port());
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(send(fd, request.data(), request.size(), 0), ssize_t(request.size()));
  // It keeps the connection in use, as comments between the events.
  EXPECT_EQ(countOf(fd, ": ping\n\n", 3), 3u);
  auto gone = [&] {
    std::lock_guard<std::mutex> lock(mutex);
    return asked && asked->abandoned;
  };
  EXPECT_FALSE(gone());
  // The client leaves: whoever makes the answer learns it.
  close(fd);
  EXPECT_TRUE(becomes(gone));
  kill(getpid(), SIGTERM);
  loop.join();
}

} // namespace
