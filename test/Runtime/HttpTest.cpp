// Requests as bytes: what must be read, and every way known to us in which two readers disagree about where a request
// ends, which must be refused. Each is fed at once, byte by byte and in pieces.
#include "runtime/Serve/Http.h"
#include "gtest/gtest.h"
#include <random>

using namespace heddle::serve;

namespace {

struct Read {
  RequestReader::State state;
  int status;
  std::string body, rest;
  RequestHead head;
};

/// Feeds `bytes` in pieces of the sizes that `next` gives.
template <typename Next> Read feed(std::string_view bytes, Next next, const HttpLimits &limits = {}) {
  RequestReader reader(limits);
  while (!bytes.empty() && reader.state() != RequestReader::State::Refused &&
         reader.state() != RequestReader::State::Whole) {
    if (reader.state() == RequestReader::State::Judge) {
      reader.proceed();
      continue;
    }
    size_t taken = reader.feed(bytes.substr(0, next()));
    bytes.remove_prefix(taken);
  }
  if (reader.state() == RequestReader::State::Judge)
    reader.proceed();
  return {reader.state(), reader.refusal().status, reader.body(), std::string(bytes), reader.head()};
}

/// All ways of feeding give the same.
Read read(std::string_view bytes, const HttpLimits &limits = {}) {
  Read whole = feed(bytes, [&] { return bytes.size(); }, limits);
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    Read other = feed(bytes, [&] { return i == 0 ? size_t(1) : size_t(random() % 7 + 1); }, limits);
    EXPECT_EQ(whole.state, other.state) << bytes;
    EXPECT_EQ(whole.status, other.status) << bytes;
    EXPECT_EQ(whole.body, other.body) << bytes;
    if (whole.state == RequestReader::State::Whole)
      EXPECT_EQ(whole.rest, other.rest) << bytes;
  }
  return whole;
}

constexpr auto Whole = RequestReader::State::Whole;
constexpr auto Refused = RequestReader::State::Refused;

TEST(Http, WhatIsRead) {
  Read get = read("GET /v1/models?x=1 HTTP/1.1\r\nHost: localhost:8080\r\nX-Empty:\r\nAccept:  a , b \t\r\n\r\nGET");
  EXPECT_EQ(get.state, Whole);
  EXPECT_EQ(get.head.method, "GET");
  EXPECT_EQ(get.head.path, "/v1/models");
  EXPECT_EQ(get.head.query, "x=1");
  EXPECT_EQ(get.head.host, "localhost:8080");
  EXPECT_EQ(*get.head.find("accept"), "a , b");
  EXPECT_EQ(*get.head.find("x-empty"), "");
  EXPECT_EQ(get.head.find("x"), nullptr);
  EXPECT_EQ(get.rest, "GET");
  EXPECT_TRUE(get.head.keepAlive);

  Read post = read("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloPOST");
  EXPECT_EQ(post.state, Whole);
  EXPECT_EQ(post.body, "hello");
  EXPECT_EQ(post.rest, "POST");

  Read chunks =
      read("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n00A\r\n, chunks!!\r\n0\r\n"
           "Trailer: dropped\r\n\r\nmore");
  EXPECT_EQ(chunks.state, Whole);
  EXPECT_EQ(chunks.body, "hello, chunks!!");
  EXPECT_EQ(chunks.rest, "more");
  EXPECT_FALSE(chunks.head.keepAlive);

  EXPECT_FALSE(read("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n").head.keepAlive);
  EXPECT_FALSE(read("GET / HTTP/1.0\r\nHost: a\r\n\r\n").head.keepAlive);
  EXPECT_TRUE(read("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n").head.keepAlive);
  EXPECT_TRUE(read("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\nx").head.expects100);
  EXPECT_EQ(read("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").head.path, "*");
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: a\r\nX: \xc3\xa9\r\n\r\n").state, Whole);
}

TEST(Http, WhatIsRefused) {
  const std::string host = "Host: a\r\n";
  auto post = [&](const std::string &fields, const std::string &body = "") {
    return "POST / HTTP/1.1\r\n" + host + fields + "\r\n" + body;
  };
  auto chunked = [&](const std::string &body) { return post("Transfer-Encoding: chunked\r\n", body); };
  const std::pair<std::string, int> requests[] = {
      // Lengths.
      {post("Content-Length: 3\r\nContent-Length: 5\r\n", "hello"), 400},
      {post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), 400},
      {post("Content-Length: 5, 5\r\n", "hello"), 400},
      {post("Content-Length: +3\r\n", "abc"), 400},
      {post("Content-Length: -1\r\n"), 400},
      {post("Content-Length: 0x3\r\n", "abc"), 400},
      {post("Content-Length: 3 3\r\n", "abc"), 400},
      {post("Content-Length:\r\n"), 400},
      {post("Content-Length: 99999999999\r\n"), 400},
      {post("Content-Length: 9999999999\r\n"), 413},
      {post("Content-Length : 3\r\n", "abc"), 400},
      // Lengths and chunks.
      {post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), 400},
      {"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      // Chunks.
      {chunked("0x5\r\nhello\r\n0\r\n\r\n"), 400},
      {chunked("5;name=value\r\nhello\r\n0\r\n\r\n"), 400},
      {chunked(" 5\r\nhello\r\n0\r\n\r\n"), 400},
      {chunked("\r\nhello\r\n0\r\n\r\n"), 400},
      {chunked("000000005\r\nhello\r\n0\r\n\r\n"), 400},
      {chunked("5\nhello\r\n0\r\n\r\n"), 400},
      {chunked("5\r\nhelloX\r\n0\r\n\r\n"), 400},
      {chunked("5\r\nhello\n0\r\n\r\n"), 400},
      {chunked("FFFFFFFF\r\n"), 413},
      {chunked("0\r\nTrailer: x\n\r\n"), 400},
      // Lines.
      {"GET / HTTP/1.1\nHost: a\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", 400},
      {post("X: one\r\n two\r\n"), 400},
      {post("X: one\r\n\ttwo\r\n"), 400},
      {post(std::string("X: a\0b\r\n", 8)), 400},
      {post("X: a\x01\r\n"), 400},
      {post("X: a\x7f\r\n"), 400},
      {post(": nothing\r\n"), 400},
      {post("no colon\r\n"), 400},
      {post("na me: x\r\n"), 400},
      // Host.
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost:\r\nHost:\r\n\r\n", 400},
      // The request line.
      {"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
      {"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / http/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {post("Expect: a miracle\r\n"), 417},
  };
  for (const auto &[request, status] : requests) {
    Read result = read(request);
    EXPECT_EQ(result.state, Refused) << request;
    EXPECT_EQ(result.status, status) << request;
  }
}

TEST(Http, Limits) {
  HttpLimits limits;
  limits.head = 200;
  limits.fields = 3;
  limits.body = 10;
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(200, 'x') + "\r\n\r\n", limits).status, 431);
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: a\r\nA:\r\nB:\r\nC:\r\n\r\n", limits).status, 431);
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: a\r\nA:\r\nB:\r\n\r\n", limits).state, Whole);
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n", limits).status, 413);
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789", limits).state, Whole);
  std::string begin = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(read(begin + "6\r\n012345\r\n5\r\n", limits).status, 413);
  EXPECT_EQ(read(begin + "6\r\n012345\r\n4\r\n6789\r\n0\r\n\r\n", limits).body, "0123456789");
  EXPECT_EQ(read(begin + "0\r\nX: " + std::string(300, 'x') + "\r\n\r\n", limits).status, 431);
}

TEST(Http, OneConnectionManyRequests) {
  RequestReader reader({});
  std::string_view bytes =
      "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_FALSE(reader.begun());
  bytes.remove_prefix(reader.feed(bytes));
  EXPECT_EQ(reader.state(), RequestReader::State::Judge); // the body waits
  EXPECT_EQ(reader.feed(bytes), 0u);
  reader.proceed();
  bytes.remove_prefix(reader.feed(bytes));
  EXPECT_EQ(reader.state(), Whole);
  EXPECT_EQ(reader.takeBody(), "abc");
  reader.reset();
  EXPECT_FALSE(reader.begun());
  bytes.remove_prefix(reader.feed(bytes));
  EXPECT_EQ(reader.head().path, "/b");
  EXPECT_FALSE(reader.head().hasBody());
  EXPECT_TRUE(bytes.empty());
}

TEST(Http, Answers) {
  EXPECT_EQ(
      answerHead(200, "application/json", 2, false, true),
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nX-Content-Type-Options: nosniff\r\n"
      "Cache-Control: no-store\r\n\r\n");
  EXPECT_EQ(answerHead(503, "", 0, false, false, "Retry-After: 1\r\n"),
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nX-Content-Type-Options: nosniff\r\n"
            "Cache-Control: no-store\r\nRetry-After: 1\r\nConnection: close\r\n\r\n");
  EXPECT_NE(answerHead(200, "text/event-stream", std::nullopt, true, true).find("Transfer-Encoding: chunked\r\n"),
            std::string::npos);
  EXPECT_EQ(chunkOf("0123456789abcdef"), "10\r\n0123456789abcdef\r\n");
  EXPECT_EQ(chunkOf(""), "0\r\n\r\n");
}

} // namespace
