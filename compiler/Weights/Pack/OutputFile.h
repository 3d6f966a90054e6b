// A file that appears whole or not at all (runtime/Base/AtomicFile.h): reserved
// in full first, so that a full disk is found before anything is written. Bytes
// are written in pieces of whole huge pages. Without commit() nothing is left
// behind.
#ifndef HEDDLE_COMPILER_WEIGHTS_PACK_OUTPUTFILE_H
#define HEDDLE_COMPILER_WEIGHTS_PACK_OUTPUTFILE_H

#include "absl/status/statusor.h"
#include "compiler/Weights/Pack/Pack.h"
#include "runtime/Base/AtomicFile.h"
#include <string>
#include <vector>

namespace heddle {

/// What processors map at once where memory is large. A piece of a file of this size and alignment that is written in
/// one call is in the page cache in one piece, and a program that maps it, in one page.
constexpr uint64_t kHugePage = 2 << 20;

class OutputFile final : public ByteSink {
public:
  /// Begins a file; `bytes` are reserved at once, 0 if the size is unknown.
  static absl::StatusOr<OutputFile> create(llvm::StringRef path, uint64_t bytes);
  OutputFile(OutputFile &&) = default;

  absl::Status append(llvm::ArrayRef<uint8_t> bytes) override;
  uint64_t position() const { return written; }
  /// Gives the file its name. With `durable` false there is no sync, for files
  /// that the same command reads again.
  absl::Status commit(bool durable = true);

  /// Copies a file, with its permissions, from front to back.
  static absl::Status copy(llvm::StringRef from, llvm::StringRef to);

private:
  explicit OutputFile(llvm::StringRef path);
  absl::Status said(const base::AtomicFile::Result &failure) const;
  absl::Status flush();

  std::string path;
  base::AtomicFile file;
  uint64_t written = 0;
  std::vector<uint8_t> buffer; ///< what follows the last whole huge page
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_PACK_OUTPUTFILE_H
