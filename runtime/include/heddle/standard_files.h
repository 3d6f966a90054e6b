//===- standard_files.h - Descriptors 0, 1 and 2 ----------------*- C++ -*-===//
//
// A process may be started with standard input, output or error closed. Then the
// next file that is opened gets their number, and messages would be written into
// it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_STANDARD_FILES_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_STANDARD_FILES_H

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace heddle {

/// Opens /dev/null under each of the three numbers that is closed, in a mode in
/// which reading or writing still fails; what is said on a closed standard error
/// is dropped. Called first.
inline void holdStandardFiles() {
  for (int number = 0; number < 3; ++number)
    if (fcntl(number, F_GETFD) < 0 && errno == EBADF) {
      int opened = open("/dev/null", number == 1 ? O_RDONLY : O_WRONLY);
      if (opened >= 0 && opened != number) // none in front of it is closed, so it has its number
        close(opened);
    }
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_STANDARD_FILES_H
