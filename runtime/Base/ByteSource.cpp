//===- ByteSource.cpp - Bytes of a file, by their place -------------------===//
#include "runtime/Base/ByteSource.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace heddle::base {

ArrayResult FileSource::read(void *out, uint64_t count, uint64_t at) const {
  auto *to = static_cast<char *>(out);
  while (count) {
    ssize_t n = pread(descriptor, to, std::min<uint64_t>(count, 1 << 30), off_t(at));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return ArrayProblem{"cannot read", at, "", "", errno};
    if (n == 0)
      return ArrayProblem{"the file became shorter while it was read", at, "", ""};
    to += n;
    at += uint64_t(n);
    count -= uint64_t(n);
  }
  return std::nullopt;
}

} // namespace heddle::base
