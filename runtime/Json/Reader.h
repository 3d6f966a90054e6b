// A strict parser of untrusted JSON (RFC 8259): UTF-8 only, no name twice in an object, numbers that a program can
// hold, at most `depth` levels. It reports each value to a sink and keeps none; there is no recursion.
#ifndef HEDDLE_RUNTIME_JSON_READER_H
#define HEDDLE_RUNTIME_JSON_READER_H

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::json {

/// What is met, in the order of the text. Returning false ends the reading, for a reason that the sink knows.
class Sink {
public:
  virtual ~Sink() = default;
  virtual bool null() = 0;
  virtual bool boolean(bool value) = 0;
  /// Written without fraction and exponent, within 64 bits.
  virtual bool integer(int64_t value) = 0;
  /// Any other number; finite.
  virtual bool real(double value) = 0;
  virtual bool text(std::string value) = 0;
  virtual bool beginObject() = 0;
  virtual bool name(std::string value) = 0;
  virtual bool endObject() = 0;
  virtual bool beginArray() = 0;
  virtual bool endArray() = 0;
};

/// Why a text is not read, and where.
struct Fault {
  std::string why;                       ///< empty: nothing is wrong
  size_t byte = 0, line = 1, column = 1; ///< the column counts bytes from 1

  bool ok() const { return why.empty(); }
  /// "line 3, column 7: a comma or ] is missing".
  std::string message() const;
};

struct ReadLimits {
  unsigned depth = 64;
  /// Of values, names and all: a tree takes a hundred bytes and more for each, and a text two for the shortest.
  size_t values = 1 << 18;
};

/// Reads one value and nothing after it.
Fault read(std::string_view text, Sink &sink, const ReadLimits &limits = {});

} // namespace heddle::json

#endif
