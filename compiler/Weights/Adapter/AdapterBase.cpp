#include "compiler/Weights/Adapter/AdapterBase.h"
#include "compiler/Weights/Adapter/AdapterChoice.h"
#include "compiler/Weights/Adapter/AdapterConfig.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace heddle {

namespace path = llvm::sys::path;

static std::string fileIn(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<256> file(folder);
  path::append(file, name);
  return std::string(file);
}

static bool holdsModel(llvm::StringRef folder) {
  return llvm::sys::fs::exists(fileIn(folder, "config.json")) || llvm::sys::fs::exists(fileIn(folder, "model.json"));
}

bool isAdapterAlone(llvm::StringRef folder) {
  return llvm::sys::fs::exists(fileIn(folder, AdapterChoice::configName)) && !holdsModel(folder);
}

absl::StatusOr<std::string> baseOfAdapter(llvm::StringRef folder) {
  absl::StatusOr<AdapterConfig> config = AdapterConfig::read(fileIn(folder, AdapterChoice::configName));
  if (!config.ok())
    return config.status();
  llvm::StringRef base = config->base;
  llvm::SmallString<256> whole(folder);
  llvm::sys::fs::make_absolute(whole);
  path::remove_dots(whole, /*remove_dot_dot=*/false);
  // As the folder was written, so that messages and the text of a stage are.
  bool plain = path::filename(folder) == path::filename(whole);
  llvm::StringRef beside = plain ? path::parent_path(folder) : path::parent_path(whole);
  std::vector<std::string> places;
  if (path::is_absolute(base)) {
    places = {base.str()};
  } else if (!base.empty()) {
    places = {fileIn(beside, base), fileIn(beside, path::filename(base)), base.str()};
  }
  for (const std::string &place : places)
    if (llvm::sys::fs::is_directory(place) && holdsModel(place) && !llvm::sys::fs::equivalent(place, folder))
      return place;
  std::string named = base.empty() ? std::string() : " of `" + printable(base) + "`";
  return toStatus(WeightProblem{Error::NoModel, "",
                                "this directory holds a LoRA adapter" + named +
                                    ", a change of another model's weights, and that model, its base, " +
                                    (base.empty() ? "is not named in adapter_config.json" : "is not next to it"),
                                printable(folder, 4096), std::nullopt, "",
                                "name the directory of the base, and the adapter with it: heddle compile BASE --lora=" +
                                    printable(folder, 4096)});
}

} // namespace heddle
