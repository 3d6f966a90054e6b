//===- Status.h - Errors as values ------------------------------*- C++ -*-===//
//
// Every operation that can fail returns a Status: a row of heddle/errors.def,
// which has the code and the program's exit status, a message, and lines of
// help. Text from files is quoted by `quote`, which escapes whatever a terminal
// would act on.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_STATUS_H
#define HEDDLE_RUNTIME_CORE_STATUS_H

#include "heddle/errors.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {
class OpenedFile;
}

namespace heddle::rt {

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error, std::string message) : failure(error), text(std::move(message)) {}

  bool ok() const { return !failure; }
  Exit exit() const { return failure ? exitOf(*failure) : Exit::Ok; }
  /// "H0110"; of an error only.
  const char *code() const { return codeOf(*failure); }
  Error error() const { return *failure; }
  const std::string &message() const { return text; }
  const std::vector<std::string> &helps() const { return help; }

  Status withHelp(std::string line) && {
    help.push_back(std::move(line));
    return std::move(*this);
  }

private:
  std::optional<Error> failure;
  std::string text;
  std::vector<std::string> help;
};

// One function for each of the errors that many places find: the message says
// what and where.

/// A file does not follow its format.
Status badFile(std::string message);
/// A well-formed file or argument is not what the model takes.
Status badInput(std::string message);
/// A mistake on the command line.
Status badUsage(std::string message);
/// A tokenizer that cannot be read or run.
Status badTokenizer(std::string message);
/// Something that this model or program cannot do.
Status unsupported(std::string message);
/// Not enough memory, disk or threads.
Status outOfResources(std::string message);
/// `what` failed with errno `error` on `path`.
Status ioError(std::string_view what, std::string_view path, int error);
/// An error unless `file` is an open regular file.
Status checkOpened(const OpenedFile &file, std::string_view path);
/// Writing failed; a full disk or a limit counts as missing resources.
Status outputError(std::string_view what, std::string_view path, int error);
/// A mistake of the compiler or the runtime.
Status internalError(std::string message);
/// Flushes standard output; an error if what was printed could not be written.
Status flushOutput();

#define HEDDLE_TRY(expression)                                                                                         \
  do {                                                                                                                 \
    ::heddle::rt::Status status_ = (expression);                                                                       \
    if (!status_.ok())                                                                                                 \
      return status_;                                                                                                  \
  } while (false)

/// printf that returns a string.
std::string format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

/// `text` between back quotes, with control characters and invalid UTF-8
/// escaped, cut after 200 bytes.
std::string quote(std::string_view text);

/// `text` as a JSON string, with the double quotes.
std::string jsonString(std::string_view text);

/// A number in JSON with nine digits; null if it is not finite, such as the
/// logit of a class that a model rules out.
std::string jsonNumber(double value);

/// "1.5 GiB" for people.
std::string humanBytes(uint64_t bytes);

/// Prints an error on stderr; one JSON object a line if `json`.
void report(const Status &status, bool json);
/// Prints a note on stderr, unless -q was given.
void note(const std::string &message);
/// -q: no notes and no progress from now on; errors are printed all the same.
void beQuiet();
bool isQuiet();

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_STATUS_H
