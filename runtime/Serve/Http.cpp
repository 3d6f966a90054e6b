// The byte rules are in two tables of classes, the rules of fields in `readField`; a head is collected until its
// empty line, and refused as soon as a byte cannot be where it does.
#include "runtime/Serve/Http.h"
#include <algorithm>
#include <cstring>

namespace heddle::serve {
namespace {

bool isToken(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != 0 && std::strchr("!#$%&'*+-.^_`|~", c));
}
/// Of a field's value: anything visible, blanks and tabs, and bytes beyond ASCII.
bool isValue(char c) { return c == '\t' || (uint8_t(c) >= 0x20 && c != 0x7f); }
bool isVisible(char c) { return c > 0x20 && c < 0x7f; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; }
std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
  return result;
}
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

int hexOf(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Takes a line that ends in CRLF off the front; nothing: there is none.
std::optional<std::string_view> takeLine(std::string_view &bytes) {
  size_t end = bytes.find("\r\n");
  if (end == std::string_view::npos)
    return std::nullopt;
  std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(end + 2);
  return line;
}

Refusal readRequestLine(std::string_view line, RequestHead &head) {
  size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    return {400, "the request line is not METHOD TARGET VERSION"};
  std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1);
  std::string_view version = line.substr(last + 1);
  if (method.empty() || !std::all_of(method.begin(), method.end(), isToken))
    return {400, "the method is no word"};
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    bool http = version.size() == 8 && version.substr(0, 5) == "HTTP/" && version[6] == '.';
    return http ? Refusal{505, "HTTP/1.1 is spoken here"} : Refusal{400, "the request line ends in no version of HTTP"};
  }
  head.http11 = head.keepAlive = version == "HTTP/1.1";
  head.method = method;
  if (!std::all_of(target.begin(), target.end(), isVisible))
    return {400, "the target holds a byte that is not visible"};
  if (target == "*" && method == "OPTIONS") {
    head.path = target;
    return {};
  }
  if (target.empty() || target.front() != '/')
    return {400, "the target does not begin with /"};
  size_t mark = target.find('?');
  head.path = target.substr(0, mark);
  head.query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  return {};
}

/// The words of a list, in lower case, that a `Connection` has.
bool listHas(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    if (lower(trimmed(list.substr(0, comma))) == word)
      return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// What may be in a head once.
struct Seen {
  bool host = false, length = false;
};

Refusal readField(const std::string &name, std::string_view value, RequestHead &head, Seen &seen) {
  if (name == "host") {
    if (seen.host)
      return {400, "a request names one Host"};
    seen.host = true;
    head.host = value;
  } else if (name == "content-length") {
    if (seen.length)
      return {400, "there is more than one Content-Length"};
    seen.length = true;
    if (value.empty() || value.size() > 10 ||
        !std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return {400, "a Content-Length is 1 to 10 digits"};
    for (char c : value)
      head.length = head.length * 10 + uint64_t(c - '0');
  } else if (name == "transfer-encoding") {
    if (head.chunked || lower(value) != "chunked")
      return {400, "a Transfer-Encoding is `chunked`, once"};
    if (!head.http11)
      return {400, "HTTP/1.0 has no Transfer-Encoding"};
    head.chunked = true;
  } else if (name == "connection") {
    if (listHas(value, "close"))
      head.keepAlive = false;
    else if (!head.http11 && listHas(value, "keep-alive"))
      head.keepAlive = true;
  } else if (name == "expect") {
    if (lower(value) != "100-continue")
      return {417, "only 100-continue can be expected"};
    head.expects100 = head.http11;
  }
  return {};
}

} // namespace

const std::string *RequestHead::find(std::string_view name) const {
  for (const auto &[key, value] : fields)
    if (key == name)
      return &value;
  return nullptr;
}

Refusal parseHead(std::string_view bytes, const HttpLimits &limits, RequestHead &head) {
  head = RequestHead();
  std::optional<std::string_view> line = takeLine(bytes);
  if (!line)
    return {400, "the request line has no end"};
  if (Refusal bad = readRequestLine(*line, head))
    return bad;
  Seen seen;
  while ((line = takeLine(bytes)) && !line->empty()) {
    if (head.fields.size() == limits.fields)
      return {431, "there are too many fields"};
    size_t colon = line->find(':');
    std::string_view name = line->substr(0, colon);
    if (colon == std::string_view::npos || name.empty() || !std::all_of(name.begin(), name.end(), isToken))
      return {400, "a field is NAME: VALUE, without blanks before the colon and not on two lines"};
    std::string_view value = trimmed(line->substr(colon + 1));
    if (!std::all_of(value.begin(), value.end(), isValue))
      return {400, "a field holds a control byte"};
    head.fields.emplace_back(lower(name), value);
    if (Refusal bad = readField(head.fields.back().first, value, head, seen))
      return bad;
  }
  if (!line || !bytes.empty())
    return {400, "the head does not end in an empty line"};
  if (!seen.host)
    return {400, "there is no Host"};
  if (head.chunked && seen.length)
    return {400, "a body has a length or chunks, not both"};
  if (head.length > limits.body)
    return {413, "the body is too long"};
  if (head.chunked) // whatever follows is not believed to be a request
    head.keepAlive = false;
  return {};
}

void RequestReader::refuse(int status, const char *why) {
  where = State::Refused;
  refused = {status, why};
}

void RequestReader::reset() {
  where = State::Head;
  refused = {};
  parsed = RequestHead();
  text.clear();
  content.clear();
}

size_t RequestReader::feed(std::string_view bytes) {
  switch (where) {
  case State::Head: return feedHead(bytes);
  case State::Body: return feedBody(bytes);
  default: return 0;
  }
}

size_t RequestReader::feedHead(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    char c = bytes[i], before = text.empty() ? '\0' : text.back();
    if (text.size() == limits.head) {
      refuse(431, "the head is too long");
      return i;
    }
    if ((c == '\n') != (before == '\r') || (c != '\r' && c != '\n' && !isValue(c))) {
      refuse(400, "lines end in CR LF, and hold no control bytes");
      return i;
    }
    text += c;
    if (c != '\n' || text.size() < 4 || text[text.size() - 3] != '\n')
      continue;
    refused = parseHead(text, limits, parsed);
    where = refused ? State::Refused : State::Judge;
    text.clear();
    return i + 1;
  }
  return bytes.size();
}

void RequestReader::proceed() {
  left = parsed.length;
  chunk = Chunk::Size;
  digits = 0;
  if (parsed.chunked)
    left = 0;
  where = parsed.hasBody() ? State::Body : State::Whole;
}

size_t RequestReader::feedBody(std::string_view bytes) {
  size_t taken = 0;
  while (taken < bytes.size() && where == State::Body) {
    if (parsed.chunked && chunk != Chunk::Data) {
      feedChunkByte(bytes[taken++]);
      continue;
    }
    size_t count = size_t(std::min<uint64_t>(left, bytes.size() - taken));
    content.append(bytes.substr(taken, count));
    taken += count;
    left -= count;
    if (left == 0 && parsed.chunked)
      chunk = Chunk::DataCR;
    else if (left == 0)
      where = State::Whole;
  }
  return taken;
}

void RequestReader::feedChunkByte(char c) {
  switch (chunk) {
  case Chunk::Size:
    if (int digit = hexOf(c); digit >= 0 && digits < 8) {
      left = left * 16 + uint64_t(digit);
      ++digits;
      return;
    }
    if (c != '\r' || digits == 0)
      return refuse(400, "the size of a chunk is 1 to 8 hexadecimal digits and nothing else");
    chunk = Chunk::SizeEnd;
    return;
  case Chunk::SizeEnd:
    if (c != '\n')
      return refuse(400, "the size of a chunk ends in CR LF");
    if (left > limits.body - content.size())
      return refuse(413, "the body is too long");
    chunk = left ? Chunk::Data : Chunk::Trailer;
    return;
  case Chunk::DataCR:
  case Chunk::DataLF:
    if (c != (chunk == Chunk::DataCR ? '\r' : '\n'))
      return refuse(400, "the data of a chunk ends in CR LF");
    if (chunk == Chunk::DataLF)
      digits = 0;
    chunk = chunk == Chunk::DataCR ? Chunk::DataLF : Chunk::Size;
    return;
  case Chunk::Trailer: {
    char before = text.empty() ? '\0' : text.back();
    if (text.size() == limits.head)
      return refuse(431, "what follows the last chunk is too long");
    if ((c == '\n') != (before == '\r') || (c != '\r' && c != '\n' && !isValue(c)))
      return refuse(400, "lines after the last chunk end in CR LF, and hold no control bytes");
    text += c;
    if (c == '\n' && (text.size() == 2 || text[text.size() - 3] == '\n')) {
      text.clear();
      where = State::Whole;
    }
    return;
  }
  case Chunk::Data: return; // read by feedBody
  }
}

const char *reasonOf(int status) {
  switch (status) {
  case 100: return "Continue";
  case 200: return "OK";
  case 400: return "Bad Request";
  case 401: return "Unauthorized";
  case 403: return "Forbidden";
  case 404: return "Not Found";
  case 405: return "Method Not Allowed";
  case 408: return "Request Timeout";
  case 411: return "Length Required";
  case 413: return "Content Too Large";
  case 415: return "Unsupported Media Type";
  case 417: return "Expectation Failed";
  case 431: return "Request Header Fields Too Large";
  case 500: return "Internal Server Error";
  case 501: return "Not Implemented";
  case 503: return "Service Unavailable";
  case 505: return "HTTP Version Not Supported";
  }
  return "Unknown";
}

std::string answerHead(int status, std::string_view type, std::optional<uint64_t> length, bool chunked, bool keepAlive,
                       std::string_view fields) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " " + reasonOf(status) + "\r\n";
  if (!type.empty())
    head.append("Content-Type: ").append(type).append("\r\n");
  if (length)
    head += "Content-Length: " + std::to_string(*length) + "\r\n";
  else if (chunked)
    head += "Transfer-Encoding: chunked\r\n";
  head += "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
  head.append(fields);
  head += keepAlive ? "\r\n" : "Connection: close\r\n\r\n";
  return head;
}

std::string chunkOf(std::string_view data) {
  char size[24];
  snprintf(size, sizeof size, "%zx\r\n", data.size());
  return std::string(size).append(data).append("\r\n");
}

} // namespace heddle::serve
