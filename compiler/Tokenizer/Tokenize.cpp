//===- Tokenize.cpp - `heddle tokenize` -----------------------------------===//
//
// The tokenizer is compiled as for a binary and run by the runtime's code, so
// the command shows what a compiled model does.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/Tokenize.h"

#include "compiler/Tokenizer/TokenizerBlob.h"
#include "heddle/errors.h"
#include "heddle/terminal_output.h"
#include "heddle/tokenizer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace heddle {

using Json = nlohmann::json;
using rt::TextCodec;

namespace {

constexpr int kMaxLineNesting = 32;

std::string text(const Json &value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Appends a JSON string.
void appendQuoted(std::string &out, std::string_view piece) {
  for (char c : piece)
    if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == 0x7f) {
      out += text(std::string(piece));
      return;
    }
  out.append("\"").append(piece) += '"';
}

std::string failure(const std::string &why) { return text({{"error", why}}); }

/// Reads a flag of a request; false if it is given and not a boolean.
bool flag(const Json &request, const char *key, bool &value) {
  auto found = request.find(key);
  if (found == request.end())
    return true;
  const auto *given = found->get_ptr<const bool *>();
  if (given)
    value = *given;
  return given != nullptr;
}

/// Answers {"text": ..., "pair": ...} with ids, pieces, types and attention
/// mask.
std::string encode(const TextCodec &codec, const Json &request) {
  for (const auto &entry : request.items())
    if (entry.key() != "text" && entry.key() != "pair" && entry.key() != "add_special_tokens")
      return failure("unknown key `" + entry.key() + "`");
  const auto *first = request["text"].get_ptr<const std::string *>();
  const std::string *second = nullptr;
  auto pair = request.find("pair");
  if (pair != request.end() && !pair->is_null()) {
    second = pair->get_ptr<const std::string *>();
    if (!second)
      return failure("`pair` is no text");
  }
  bool special = true;
  if (!first)
    return failure("`text` is no text");
  if (!flag(request, "add_special_tokens", special))
    return failure("`add_special_tokens` is neither true nor false");
  rt::Encoding encoding;
  std::string error;
  if (!codec.encode(*first, second, special, encoding, error))
    return failure(error);
  // The JSON is written directly: a long text has millions of pieces.
  std::string out = "{\"attention_mask\":[";
  const size_t count = encoding.size();
  out.reserve(16 * count);
  auto list = [&](auto &&append) {
    for (size_t i = 0; i < count; ++i) {
      if (i)
        out += ',';
      append(encoding[i]);
    }
  };
  list([&](const rt::Piece &piece) { out += piece.real ? '1' : '0'; });
  out += "],\"ids\":[";
  list([&](const rt::Piece &piece) { out += std::to_string(piece.id); });
  out += "],\"tokens\":[";
  list([&](const rt::Piece &piece) { appendQuoted(out, piece.text); });
  out += "],\"type_ids\":[";
  list([&](const rt::Piece &piece) { out += std::to_string(piece.type); });
  return out + "]}";
}

std::string decode(const TextCodec &codec, const Json &request) {
  for (const auto &entry : request.items())
    if (entry.key() != "ids" && entry.key() != "skip_special_tokens")
      return failure("unknown key `" + entry.key() + "`");
  bool skip = false;
  std::vector<int64_t> ids;
  const Json &list = request["ids"];
  if (!list.is_array())
    return failure("`ids` is no list");
  for (const Json &id : list) {
    if (!id.is_number_integer())
      return failure("`ids` holds something that is no id");
    // Larger than any id: treated like an unknown id.
    bool large = id.is_number_unsigned() && id.get<uint64_t>() > INT64_MAX;
    ids.push_back(large ? INT64_MAX : id.get<int64_t>());
  }
  if (!flag(request, "skip_special_tokens", skip))
    return failure("`skip_special_tokens` is neither true nor false");
  return text({{"text", codec.decode(ids, skip)}});
}

std::string answer(const TextCodec &codec, const std::string &line) {
  bool deep = false;
  auto watch = [&](int depth, Json::parse_event_t, Json &) {
    deep |= depth > kMaxLineNesting;
    return !deep;
  };
  Json request = Json::parse(line, watch, /*allow_exceptions=*/false);
  if (deep || request.is_discarded() || !request.is_object())
    return failure("the line is no JSON object");
  if (request.count("text"))
    return encode(codec, request);
  if (request.count("ids"))
    return decode(codec, request);
  return failure("expected `text` or `ids`");
}

std::string plainAnswer(const TextCodec &codec, const std::string &line) {
  rt::Encoding encoding;
  std::string error, out;
  if (!codec.encode(line, nullptr, true, encoding, error))
    return std::string("error[") + codeOf(Error::BadTokenizer) + "]: " + error;
  for (size_t i = 0; i < encoding.size(); ++i)
    out += (i ? " " : "") + std::to_string(encoding[i].id);
  for (size_t i = 0; i < encoding.size(); ++i) {
    out += i ? ' ' : '\t';
    appendQuoted(out, encoding[i].text);
  }
  return out + (encoding.size() ? "" : "\t");
}

/// Reads one line without its line feed; NUL is a character like any other.
bool readLine(std::string &line) {
  line.clear();
  int c;
  while ((c = getc_unlocked(stdin)) != EOF && c != '\n')
    line += static_cast<char>(c);
  return c != EOF || !line.empty();
}

} // namespace

std::optional<TokenizeFailure> tokenize(const ModelFolder &from, bool json) {
  std::string blob, error;
  if (access(from.place().c_str(), R_OK) != 0)
    return TokenizeFailure{Error::CannotRead, from.place() + ": cannot read it: " + strerror(errno)};
  std::unique_ptr<TextCodec> codec;
  if (writeTokenizerBlob(from, blob, error))
    codec = TextCodec::open(blob, error);
  if (!codec) {
    bool lacks = error.find("unsupported") != std::string::npos;
    return TokenizeFailure{lacks ? Error::NotSupported : Error::BadTokenizer, error};
  }
  rt::escapeOnTerminal();
  std::string line;
  while (readLine(line)) {
    std::string out = json ? answer(*codec, line) : plainAnswer(*codec, line);
    out += '\n';
    if (fwrite(out.data(), 1, out.size(), stdout) != out.size() || !rt::flushTerminal()) {
      const bool full = errno == ENOSPC || errno == EFBIG || errno == EDQUOT;
      return TokenizeFailure{full ? Error::DiskFull : Error::CannotWrite,
                             std::string("standard output: ") + strerror(errno)};
    }
  }
  return std::nullopt;
}

} // namespace heddle
