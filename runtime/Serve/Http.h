// HTTP/1.1 requests as a server must read them: strict, so that this program and whatever is before it (a proxy)
// never disagree about where a request ends. CRLF only, one Host, one length or chunks and never both, no folded lines,
// no control bytes. Nothing here knows sockets: bytes are fed in, in pieces of any size.
#ifndef HEDDLE_RUNTIME_SERVE_HTTP_H
#define HEDDLE_RUNTIME_SERVE_HTTP_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::serve {

struct HttpLimits {
  size_t head = 16 << 10;     ///< bytes of a request line with its fields, and of the trailers of a chunked body
  unsigned fields = 64;       ///< of a head
  uint64_t body = 4ull << 20; ///< bytes
};

/// Why a request is not answered: a status of HTTP and a sentence.
struct Refusal {
  int status = 0; ///< 0: nothing is wrong
  const char *why = "";
  explicit operator bool() const { return status != 0; }
};

/// The head of a request.
struct RequestHead {
  std::string method, path, query, host;
  /// Names in lower case, values without white space around them.
  std::vector<std::pair<std::string, std::string>> fields;
  bool http11 = true;      ///< else 1.0
  bool keepAlive = true;   ///< whether another request may follow
  bool chunked = false;    ///< the body comes in chunks
  bool expects100 = false; ///< the body comes when "100 Continue" was said
  uint64_t length = 0;     ///< bytes of a body that is not chunked

  /// The value of a field; null: there is none. `name` in lower case.
  const std::string *find(std::string_view name) const;
  bool hasBody() const { return chunked || length != 0; }
};

/// Parses a whole head, up to and with its empty line.
Refusal parseHead(std::string_view bytes, const HttpLimits &limits, RequestHead &head);

/// Reads one request from pieces of bytes: first the head, then, when whoever judges the head lets it go on, the body.
class RequestReader {
public:
  explicit RequestReader(const HttpLimits &limits) : limits(limits) {}

  enum class State { Head, Judge, Body, Whole, Refused };

  /// Takes bytes and says how many; what is left belongs to the next request, or waits for `proceed`.
  size_t feed(std::string_view bytes);
  /// The head is accepted: its body follows.
  void proceed();
  /// Ready for the next request of the connection.
  void reset();

  State state() const { return where; }
  const RequestHead &head() const { return parsed; }
  const std::string &body() const { return content; }
  std::string takeBody() { return std::move(content); }
  Refusal refusal() const { return refused; }
  /// Whether a byte of a request has come.
  bool begun() const { return where != State::Head || !text.empty(); }

private:
  enum class Chunk { Size, SizeEnd, Data, DataCR, DataLF, Trailer };

  size_t feedHead(std::string_view bytes);
  size_t feedBody(std::string_view bytes);
  /// One byte between the data of chunks.
  void feedChunkByte(char c);
  void refuse(int status, const char *why);

  HttpLimits limits;
  State where = State::Head;
  Refusal refused;
  RequestHead parsed;
  std::string text;    ///< of the head, or of the trailers, so far
  std::string content; ///< of the body so far
  Chunk chunk = Chunk::Size;
  uint64_t left = 0;   ///< bytes of the body, or of the chunk, to come
  unsigned digits = 0; ///< of the size of the chunk so far
};

/// "Not Found".
const char *reasonOf(int status);

/// A head of an answer, with its empty line. `fields`: lines that end in CRLF. `length`: absent: the body comes in
/// chunks, or until the connection ends.
std::string answerHead(int status, std::string_view type, std::optional<uint64_t> length, bool chunked, bool keepAlive,
                       std::string_view fields = {});

/// A chunk of a body; empty: the last.
std::string chunkOf(std::string_view data);

} // namespace heddle::serve

#endif
