//===- Model.cpp - An opened image ----------------------------------------===//
//
// Opening reads the card; starting takes threads and, for a model whose weights
// are in a side file, maps that file.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Model.h"

#include "heddle/input_file.h"
#include "runtime/Core/Cpu.h"
#include "runtime/Core/DeviceChoice.h"
#include "runtime/Core/Host.h"
#include "runtime/Core/Parts.h"
#include "runtime/Core/Seal.h"
#include "runtime/Core/TerminalProgress.h"

#include <cerrno>
#include <climits>
#include <sys/mman.h>
#include <unistd.h>

namespace heddle::rt {

Model::~Model() {
  if (mapped)
    munmap(mapped, mappedSize);
}

Status Model::open(const Image &image) {
  theImage = image;
  HEDDLE_TRY(checkSeal(image));
  HEDDLE_TRY(Card::parse(image.card, theCard, deviceCard));
  return checkTexts(image, theCard);
}

Status Model::chooseBackend(const StartOptions &options, bool &onHost) {
  bool hasHost = theImage.entries != nullptr;
  bool hasDevice = theImage.deviceImages && !kernelCard().devices.empty();
  DeviceChoice choice;
  choice.host = !hasDevice;
  if (!options.device.empty() && !choice.parse(options.device))
    return badUsage("--device takes the number of a GPU or cpu, not " + quote(options.device));
  onHost = choice.host;
  if (onHost && !hasHost)
    return badUsage("this program has no code for the processor").withHelp("compile it with --target=cpu,cuda");
  if (onHost)
    return useHost();
  if (!hasDevice)
    return badUsage("this program has no kernels for a GPU").withHelp("compile it with --target=cuda");
  if (!&heddle_open_device)
    return internalError("the part for GPUs was not linked");
  std::unique_ptr<Backend> gpu;
  Status opened = heddle_open_device(theCard, theImage, choice, gpu);
  onHost = !opened.ok() && hasHost && options.device.empty();
  if (onHost) {
    note("no GPU can be used, so this runs on the processor (--device=0 says "
         "why)");
    return useHost();
  }
  HEDDLE_TRY(std::move(opened));
  if (deviceCard)
    theCard.adopt(*deviceCard);
  theBackend = std::move(gpu);
  return {};
}

Status Model::useHost() {
  HEDDLE_TRY(checkProcessor());
  theBackend = std::make_unique<Host>(thePool, theImage.entries);
  return {};
}

Status Model::checkProcessor() const {
  std::string missing = missingFeatures(theCard.needs);
  if (missing.empty())
    return {};
  return unsupported("this program was compiled for " +
                     (theCard.target.empty() ? "another processor" : quote(theCard.target)) + "; this machine lacks " +
                     missing)
      .withHelp("compile it again with --mcpu=native on this machine");
}

Status Model::start(const StartOptions &options) {
  if (started)
    return {};
  TerminalProgress::say("loading the weights, %s", humanBytes(weightBytes()).c_str());
  bool onHost = true;
  HEDDLE_TRY(chooseBackend(options, onHost));
  HEDDLE_TRY(mapWeights());
  if (onHost && !theImage.weightsFile)
    prefetchWeights();
  // Beside a GPU the threads only check a side file.
  unsigned threads = options.threads ? options.threads : availableCores();
  HEDDLE_TRY(thePool.start(onHost || theImage.weightsFile ? threads : 1));
  thePool.nameLookups(theCard.lookups);
  // The side file may have been replaced or damaged since: check all of it.
  // What is embedded is checked by --verify only.
  uint64_t blocks = 0;
  if (theImage.weightsFile)
    HEDDLE_TRY(checkWeights(theImage, weights, thePool, weightsPath(), blocks));
  HEDDLE_TRY(theBackend->start(weights));
  TerminalProgress::say("computing");
  started = true;
  return {};
}

Status Model::verify(unsigned threads, uint64_t &blocks) {
  HEDDLE_TRY(checkTokenizer(theImage));
  HEDDLE_TRY(mapWeights());
  HEDDLE_TRY(thePool.start(threads ? threads : availableCores()));
  return checkWeights(theImage, weights, thePool, weightsPath(), blocks);
}

std::string Model::weightsPath() const {
  if (!theImage.weightsFile)
    return {};
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self);
  std::string path(self, n > 0 ? n : 0);
  return path.substr(0, path.rfind('/') + 1) + theImage.weightsFile;
}

Status Model::mapWeights() {
  weights = theImage.weights;
  if (!theImage.weightsFile)
    return {};
  std::string path = weightsPath();
  OpenedFile file(path.c_str());
  if (Status status = checkOpened(file, path); !status.ok())
    return std::move(status).withHelp("the file belongs in the folder of the program");
  if (file.size() != theImage.weightsSize)
    return badFile(format("%s has %llu bytes, this program was compiled with "
                          "%llu: not its weights",
                          quote(path).c_str(), static_cast<unsigned long long>(file.size()),
                          static_cast<unsigned long long>(theImage.weightsSize)));
  if (file.size() == 0)
    return {};
  void *base = mmap(nullptr, file.size(), PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (base == MAP_FAILED)
    return ioError("cannot map the weights", path, errno);
  weights = mapped = base;
  mappedSize = file.size();
  return {};
}

/// Maps all pages of the weights at once if they fit into memory: a page fault
/// for each costs 20 times as much.
void Model::prefetchWeights() const {
#ifdef MADV_POPULATE_READ
  uint64_t bytes = theImage.weightsSize;
  uint64_t memory = uint64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (!weights || bytes < (1 << 20) || bytes > memory / 2)
    return;
  uint64_t page = sysconf(_SC_PAGESIZE);
  auto begin = reinterpret_cast<uintptr_t>(weights) / page * page;
  auto end = reinterpret_cast<uintptr_t>(weights) + bytes;
  // MADV_POPULATE_READ needs Linux 5.14; before it pages are mapped one by one.
  madvise(reinterpret_cast<void *>(begin), end - begin, MADV_POPULATE_READ);
#endif
}

} // namespace heddle::rt
