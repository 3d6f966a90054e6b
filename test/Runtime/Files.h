//===- Files.h - Tensors and files for tests --------------------*- C++ -*-===//
//
// A file that goes away, and tensors from lists.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_RUNTIME_FILES_H
#define HEDDLE_TEST_RUNTIME_FILES_H

#include "runtime/Core/TensorFile.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace heddle::test {

class TemporaryFile {
public:
  TemporaryFile() {
    const char *folder = getenv("TMPDIR");
    name = std::string(folder ? folder : "/tmp") + "/heddle-test-XXXXXX";
    int file = mkstemp(name.data());
    if (file >= 0)
      close(file);
  }
  ~TemporaryFile() { unlink(name.c_str()); }
  const std::string &path() const { return name; }

  void write(const std::string &bytes) const {
    FILE *file = fopen(name.c_str(), "wb");
    fwrite(bytes.data(), 1, bytes.size(), file);
    fclose(file);
  }
  std::string read() const {
    std::string bytes;
    FILE *file = fopen(name.c_str(), "rb");
    char piece[4096];
    while (size_t n = fread(piece, 1, sizeof piece, file))
      bytes.append(piece, n);
    fclose(file);
    return bytes;
  }

private:
  std::string name;
};

inline rt::Tensor makeTensor(const std::string &name, rt::Shape shape, const std::vector<int64_t> &values) {
  rt::Tensor tensor;
  if (rt::Tensor::make(name, rt::Type::I64, std::move(shape), tensor).ok())
    std::copy(values.begin(), values.end(), tensor.data.as<int64_t>());
  return tensor;
}

} // namespace heddle::test

#endif // HEDDLE_TEST_RUNTIME_FILES_H
