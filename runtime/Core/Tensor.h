//===- Tensor.h - Memory and tensors of the runtime -------------*- C++ -*-===//
//
// Buffer: large memory from mmap, zeroed and aligned to pages; failure is a
// Status. Tensor: a name, a type and a shape, row-major and contiguous.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_TENSOR_H
#define HEDDLE_RUNTIME_CORE_TENSOR_H

#include "runtime/Core/Card.h"

namespace heddle::rt {

class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept { swap(other); }
  Buffer &operator=(Buffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer();

  /// Takes `bytes` of zeroed memory, which `buffer` owns; `what` names it in
  /// the error.
  static Status make(uint64_t bytes, std::string_view what, Buffer &buffer);

  void *data() const { return base; }
  template <typename T> T *as() const { return static_cast<T *>(base); }
  uint64_t size() const { return bytes; }
  /// Zeroes the contents.
  void clear();

private:
  void swap(Buffer &other) {
    std::swap(base, other.base);
    std::swap(bytes, other.bytes);
    std::swap(mapped, other.mapped);
  }
  void *base = nullptr;
  uint64_t bytes = 0, mapped = 0;
};

using Shape = std::vector<int64_t>;
std::string shapeText(const Shape &shape); ///< "[2, 7]"
/// The product of all axes; none on overflow.
std::optional<int64_t> elementCount(const Shape &shape);

struct Tensor {
  std::string name;
  Type type = Type::F32;
  Shape shape;
  Buffer data;

  static Status make(std::string name, Type type, Shape shape, Tensor &tensor);
  int64_t count() const { return *elementCount(shape); }
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_TENSOR_H
