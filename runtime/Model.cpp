//===- Model.cpp - An opened image ----------------------------------------===//
//
// Start-up is reading the card, starting threads and, for a model whose weights
// stand beside the program, one mmap.
//
//===----------------------------------------------------------------------===//
#include "runtime/Model.h"

#include "heddle/input_file.h"
#include "runtime/Cpu.h"
#include "runtime/Seal.h"

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
  return Card::parse(image.card, theCard);
}

Status Model::start(unsigned threads) {
  if (started)
    return {};
  std::string missing = missingFeatures(theCard.needs);
  if (!missing.empty())
    return unsupported("this program was compiled for " +
                       (theCard.target.empty() ? "another processor"
                                               : quote(theCard.target)) +
                       "; this machine lacks " + missing)
        .withHelp("compile it again with --mcpu=native on this machine");
  HEDDLE_TRY(mapWeights());
  if (!theImage.weightsFile)
    prefetchWeights();
  HEDDLE_TRY(thePool.start(threads ? threads : availableCores()));
  started = true;
  // Two files may have come apart; one has not.
  uint64_t blocks = 0;
  return theImage.weightsFile ? checkWeights(theImage, weights, thePool,
                                             weightsPath(), blocks)
                              : Status();
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
    return std::move(status).withHelp("the file belongs beside the program");
  if (file.size() != theImage.weightsSize)
    return badFile(format(
        "%s has %llu bytes, this program was compiled with "
        "%llu: not its weights",
        quote(path).c_str(), static_cast<unsigned long long>(file.size()),
        static_cast<unsigned long long>(theImage.weightsSize)));
  if (file.size() == 0)
    return {};
  void *base = mmap(nullptr, file.size(), PROT_READ, MAP_SHARED,
                    file.descriptor(), 0);
  if (base == MAP_FAILED)
    return ioError("cannot map the weights", path, errno);
  weights = mapped = base;
  mappedSize = file.size();
  return {};
}

/// Maps all pages of the weights at once where they fit: a page fault each
/// would cost 20 times as much.
void Model::prefetchWeights() const {
#ifdef MADV_POPULATE_READ
  uint64_t bytes = theImage.weightsSize;
  uint64_t memory = uint64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (!weights || bytes < (1 << 20) || bytes > memory / 2)
    return;
  uint64_t page = sysconf(_SC_PAGESIZE);
  auto begin = reinterpret_cast<uintptr_t>(weights) / page * page;
  auto end = reinterpret_cast<uintptr_t>(weights) + bytes;
  // An older kernel does not know this; then pages come one by one.
  madvise(reinterpret_cast<void *>(begin), end - begin, MADV_POPULATE_READ);
#endif
}

Status Model::call(const Entry &entry, const std::vector<int64_t> &dims,
                   const std::vector<void *> &tensors, char *arena) {
  return thePool.call(theImage.entries[entry.index], dims.data(),
                      tensors.data(), arena, weights);
}

} // namespace heddle::rt
