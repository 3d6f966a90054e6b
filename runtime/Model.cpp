//===- Model.cpp - An opened image ----------------------------------------===//
//
// Start-up is reading the card, starting threads and, for a model whose weights
// stand beside the program, one mmap.
//
//===----------------------------------------------------------------------===//
#include "runtime/Model.h"

#include "runtime/Cpu.h"
#include "runtime/WeightsHash.h"

#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::rt {

Model::~Model() {
  if (mapped)
    munmap(mapped, mappedSize);
}

Status Model::open(const Image &image) {
  theImage = image;
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
  prefetchWeights();
  HEDDLE_TRY(thePool.start(threads ? threads : availableCores()));
  started = true;
  return {};
}

/// The side file must be the one this program was compiled with.
static Status checkWeights(const std::string &path, const unsigned char *data,
                           const Image &image) {
  if (!image.weightsHash ||
      hashWeights(data, image.weightsSize) == image.weightsHash)
    return {};
  return badFile(quote(path) +
                 " is not the file this program was compiled with")
      .withHelp("compile the model again, or copy both files together");
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
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return ioError("cannot open the weights", path, errno)
        .withHelp("the file belongs beside the program");
  struct stat info;
  Status status;
  if (fstat(file, &info) != 0) {
    status = ioError("cannot open the weights", path, errno);
  } else if (uint64_t(info.st_size) != theImage.weightsSize) {
    status = badFile(format(
        "%s has %llu bytes, this program was compiled with "
        "%llu: not its weights",
        quote(path).c_str(), static_cast<unsigned long long>(info.st_size),
        static_cast<unsigned long long>(theImage.weightsSize)));
  } else if (info.st_size > 0) {
    mapped = mmap(nullptr, info.st_size, PROT_READ, MAP_SHARED, file, 0);
    mappedSize = info.st_size;
    if (mapped == MAP_FAILED) {
      mapped = nullptr;
      status = ioError("cannot map the weights", path, errno);
    } else {
      status =
          checkWeights(path, static_cast<unsigned char *>(mapped), theImage);
    }
    weights = mapped;
  }
  close(file);
  return status;
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
