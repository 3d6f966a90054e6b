// Where the files of the model are.
#include "compiler/Import/Description/ImportOptions.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace heddle;

ModelFolder ImportOptions::folder() const {
  if (made)
    return *made;
  llvm::SmallString<256> directory(path);
  if (!llvm::sys::fs::is_directory(directory))
    llvm::sys::path::remove_filename(directory);
  return ModelFolder(std::string(directory));
}
