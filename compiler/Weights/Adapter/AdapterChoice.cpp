#include "compiler/Weights/Adapter/AdapterChoice.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <charconv>
#include <cmath>

namespace heddle {

std::string AdapterChoice::text() const {
  char digits[32];
  char *end = std::to_chars(digits, digits + sizeof digits, scale).ptr; // the shortest that reads back the same
  return folder + ":" + std::string(digits, end);
}

std::optional<AdapterChoice> AdapterChoice::parse(llvm::StringRef text, std::string &error) {
  auto [folder, number] = text.rsplit(':');
  AdapterChoice choice{text.str(), 1};
  // A colon may be a part of the folder's name.
  if (text.contains(':') && !llvm::sys::fs::exists(text)) {
    if (number.empty() || number.getAsDouble(choice.scale, /*AllowInexact=*/true) || !std::isfinite(choice.scale)) {
      error = "expected a finite number after the last ':' of '" + text.str() + "', as in DIR:0.5";
      return std::nullopt;
    }
    choice.folder = folder.str();
  }
  if (choice.folder.empty()) {
    error = "expected the folder of an adapter, as in DIR or DIR:0.5";
    return std::nullopt;
  }
  return choice;
}

std::string AdapterChoice::file(llvm::StringRef name) const {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  return std::string(path);
}

} // namespace heddle
