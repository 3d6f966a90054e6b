//===- LineSource.cpp - Lines of a file, as they come ---------------------===//
#include "runtime/Encode/LineSource.h"

#include "heddle/input_file.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace heddle::rt {

static constexpr size_t kMostBytes = size_t(64) << 20, kAtOnce = 1 << 16;

LineSource::~LineSource() {
  if (file > 0)
    close(file);
}

Status LineSource::open(const std::string &given) {
  path = given;
  if (path == "-") {
    file = 0;
    return {};
  }
  OpenedFile opened(path.c_str());
  if (!opened.isReadable())
    return checkOpened(opened, path);
  file = opened.release();
  return {};
}

bool LineSource::isReady() const {
  if (ended || buffer.find('\n', begin) != std::string::npos)
    return true;
  pollfd wait = {file, POLLIN, 0};
  return poll(&wait, 1, 0) > 0;
}

Status LineSource::next(std::string &line, bool &more) {
  for (searched = begin;;) {
    size_t end = buffer.find('\n', searched);
    if (end != std::string::npos || (ended && begin < buffer.size())) {
      end = std::min(end, buffer.size());
      line.assign(buffer, begin, end - begin);
      begin = std::min(end + 1, buffer.size());
      more = true;
      return {};
    }
    more = false;
    if (ended)
      return {};
    buffer.erase(0, begin);
    begin = 0;
    searched = buffer.size();
    if (searched > kMostBytes)
      return badInput("a line of " + quote(path) + " has more than 64 MiB");
    buffer.resize(searched + kAtOnce);
    ssize_t got = read(file, &buffer[searched], kAtOnce);
    buffer.resize(searched + size_t(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR)
      return ioError("cannot read", path, errno);
    ended = got == 0;
  }
}

} // namespace heddle::rt
