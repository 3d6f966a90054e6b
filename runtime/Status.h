//===- Status.h - Errors as values -------------------------------*- C++
//-*-===//
//
// Every operation that can fail returns a Status: the exit code of the program,
// the error code that users can look up, a message, and help lines. Text from
// files is quoted by `quote`, which escapes whatever a terminal would act on.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_STATUS_H
#define HEDDLE_RUNTIME_STATUS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {
class OpenedFile;
}

namespace heddle::rt {

enum class Exit : int {
  Ok = 0,
  Input = 1,
  Usage = 2,
  Unsupported = 3,
  Resources = 4,
  InputOutput = 5,
  Internal = 70
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Exit exit, const char *code, std::string message)
      : exitCode(exit), errorCode(code), text(std::move(message)) {}

  bool ok() const { return exitCode == Exit::Ok; }
  Exit exit() const { return exitCode; }
  const char *code() const { return errorCode; }
  const std::string &message() const { return text; }
  const std::vector<std::string> &helps() const { return help; }

  Status withHelp(std::string line) && {
    help.push_back(std::move(line));
    return std::move(*this);
  }

private:
  Exit exitCode = Exit::Ok;
  const char *errorCode = "";
  std::string text;
  std::vector<std::string> help;
};

/// A file is not what its format demands.
Status badFile(std::string message);
/// A well-formed file or argument is not what the model takes.
Status badInput(std::string message);
Status badUsage(std::string message);
Status badTokenizer(std::string message);
Status unsupported(std::string message);
Status outOfResources(std::string message);
/// `what` failed with errno `error` on `path`.
Status ioError(std::string_view what, std::string_view path, int error);
/// A regular file, or why there is none.
Status checkOpened(const OpenedFile &file, std::string_view path);
Status outputError(std::string_view what, std::string_view path, int error);
Status internalError(std::string message);
/// What was printed has arrived; a full disk and a limit of files are resources.
Status flushOutput();

#define HEDDLE_TRY(expression)                                                 \
  do {                                                                         \
    ::heddle::rt::Status status_ = (expression);                               \
    if (!status_.ok())                                                         \
      return status_;                                                          \
  } while (false)

/// printf into a string.
std::string format(const char *pattern, ...)
    __attribute__((format(printf, 1, 2)));

/// The text between back quotes, control characters and bad UTF-8 escaped, cut
/// after 200 bytes.
std::string quote(std::string_view text);

/// The text as a JSON string with its double quotes.
std::string jsonString(std::string_view text);

/// A number as JSON has them, nine digits; null for one that is not finite,
/// such as the logit of a class that a model rules out.
std::string jsonNumber(double value);

/// "1.5 GiB" for people.
std::string humanBytes(uint64_t bytes);

/// Prints an error on stderr; one JSON object a line if `json`.
void report(const Status &status, bool json);
void note(const std::string &message);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_STATUS_H
