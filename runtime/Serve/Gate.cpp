// Names that public DNS can never point at this machine are an address in figures, localhost and what ends in
// .localhost; everything else must be allowed by --allow-host.
#include "runtime/Serve/Gate.h"
#include "heddle/input_file.h"
#include <algorithm>
#include <arpa/inet.h>
#include <sys/stat.h>

namespace heddle::serve {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    c = c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  return result;
}

bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Labels of letters, digits, - and _ with a dot between two of them: what "/.localhost" is not.
bool isName(std::string_view name) {
  char before = '.';
  for (char c : name) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!letter && (c != '.' || before == '.'))
      return false;
    before = c;
  }
  return before != '.';
}

/// Splits "name:port", "[::1]:port"; the brackets stay. False: that is no host.
bool splitPort(std::string_view host, std::string_view &name) {
  size_t close = !host.empty() && host.front() == '[' ? host.find(']') : 0;
  if (close == std::string_view::npos)
    return false;
  size_t colon = host.find(':', close);
  name = host.substr(0, colon);
  std::string_view port = colon == std::string_view::npos ? std::string_view() : host.substr(colon + 1);
  return (close == 0 ? isName(name) : name.size() == close + 1) && port.size() <= 5 &&
         std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool isAddress(std::string_view name) {
  unsigned char room[16];
  if (name.front() == '[' && name.back() == ']')
    return inet_pton(AF_INET6, std::string(name.substr(1, name.size() - 2)).c_str(), room) == 1;
  return inet_pton(AF_INET, std::string(name).c_str(), room) == 1;
}

/// Takes the same time wherever two texts of one length differ.
bool sameKey(std::string_view a, std::string_view b) {
  unsigned char different = a.size() != b.size();
  for (size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned char>(a[i] ^ b[i % std::max<size_t>(b.size(), 1)]);
  return different == 0;
}

} // namespace

bool Gate::hostAllowed(std::string_view host) const {
  std::string_view name;
  if (!splitPort(host, name))
    return false;
  std::string plain = lower(name);
  if (plain == "localhost" || (plain.size() > 10 && endsWith(plain, ".localhost")) || isAddress(plain))
    return true;
  return std::any_of(allowHosts.begin(), allowHosts.end(), [&](const std::string &h) { return lower(h) == plain; });
}

/// A browser names the page that asks. One of this server is the scheme and its own Host.
bool Gate::originAllowed(const RequestHead &head) const {
  const std::string *origin = head.find("origin");
  if (!origin)
    return true;
  if (lower(*origin) == "http://" + lower(head.host))
    return true;
  return std::find(allowOrigins.begin(), allowOrigins.end(), *origin) != allowOrigins.end();
}

bool Gate::keyGiven(const RequestHead &head) const {
  const std::string *field = head.find("authorization");
  if (!field || field->size() < 7 || lower(field->substr(0, 7)) != "bearer ")
    return false;
  bool known = false;
  for (const std::string &key : keys) // all of them, so that the time says nothing
    known |= sameKey(std::string_view(*field).substr(7), key);
  return known;
}

bool Gate::isPath(std::string_view path) const {
  return std::any_of(routes.begin(), routes.end(), [&](const Route &route) { return path == route.path; });
}

Refusal Gate::judge(const RequestHead &head) const {
  if (!hostAllowed(head.host))
    return {403, "this Host is not served; --allow-host NAME allows it"};
  if (!originAllowed(head))
    return {403, "pages of this Origin may not ask; --allow-origin URL allows them"};
  const Route *found = nullptr;
  bool path = false;
  for (const Route &route : routes) {
    std::string_view here = route.path;
    if (head.path != here &&
        !(route.below && head.path.size() > here.size() && head.path.compare(0, here.size(), here) == 0))
      continue;
    path = true;
    bool asGet = head.method == "HEAD" && route.method == std::string_view("GET"); // the same without its body
    if (head.method == route.method || asGet)
      found = &route;
  }
  if (!keys.empty() && !(found && found->open) && !keyGiven(head))
    return {401, "a key is missing or wrong: Authorization: Bearer KEY"};
  if (head.path == "*")
    return {405, "OPTIONS is not answered"};
  if (!path)
    return {404, "there is no such path"};
  if (!found)
    return {405, "this path has another method"};
  if (head.method != "POST")
    return head.hasBody() ? Refusal{400, "this method has no body"} : Refusal{};
  if (!head.chunked && !head.find("content-length"))
    return {411, "a POST says how long its body is"};
  const std::string *type = head.find("content-type");
  std::string kind = type ? lower(type->substr(0, type->find(';'))) : "";
  while (!kind.empty() && kind.back() == ' ')
    kind.pop_back();
  if (kind != "application/json")
    return {415, "the body must be application/json"};
  return {};
}

rt::Status readKeys(const std::string &path, std::vector<std::string> &keys, bool &open) {
  ReadFile file = readInputFile(path.c_str(), 1 << 20);
  if (!file.ok())
    return file.systemError ? rt::ioError("reading", path, file.systemError) : rt::badInput(path + ": " + file.why);
  struct stat about;
  open = ::stat(path.c_str(), &about) == 0 && (about.st_mode & 0004);
  for (size_t at = 0, line = 1; at < file.bytes.size(); ++line) {
    size_t end = std::min(file.bytes.find('\n', at), file.bytes.size());
    std::string key = file.bytes.substr(at, end - at);
    at = end + 1;
    if (!key.empty() && key.back() == '\r')
      key.pop_back();
    if (key.empty())
      continue;
    bool visible = std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    if (key.size() < 16 || !visible)
      return rt::badInput(path + ":" + std::to_string(line) + ": a key is at least 16 visible characters of ASCII");
    keys.push_back(std::move(key));
  }
  return keys.empty() ? rt::badInput(path + ": the file holds no key; one a line is expected") : rt::Status();
}

} // namespace heddle::serve
