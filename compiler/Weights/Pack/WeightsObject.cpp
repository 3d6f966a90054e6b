// All sizes are known from the plan, so the object is written from front to
// back in one pass: ELF header, the blob at byte 4096, small constants,
// symbols, names, section table. (In a relocatable file a section's offset need
// not have its alignment; in the linked one it has.)
#include "compiler/Weights/Pack/WeightsObject.h"
#include "compiler/Weights/Pack/OutputFile.h"
#include "heddle/seal.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

namespace heddle {

using namespace llvm::ELF;

ObjectSymbol ObjectSymbol::number(llvm::StringRef name, uint64_t value) {
  std::string bytes(8, '\0');
  llvm::support::endian::write64le(bytes.data(), value);
  return {name.str(), std::move(bytes), 8};
}

namespace {

constexpr uint64_t blobAt = 4096;

/// The blob is aligned to 64 KiB, the largest page of Linux on these machines
/// but for huge ones; the kernel reads files ahead in such pieces. The padding
/// is part of every binary.
constexpr uint64_t blobAlign = 64 << 10;

/// Passes bytes on and computes the digests of their blocks.
class IndexingSink final : public ByteSink {
public:
  IndexingSink(OutputFile &file, const BlobMap &plan) : file(file), entries(plan.entries) {
    if (plan.bytes && (entries.empty() || entries.front().offset))
      index.tensor("");
  }

  absl::Status append(llvm::ArrayRef<uint8_t> bytes) override {
    absl::Status status = file.append(bytes);
    while (status.ok() && !bytes.empty()) {
      begin();
      uint64_t room = entries.empty() ? UINT64_MAX : entries.front().offset - index.bytes();
      llvm::ArrayRef<uint8_t> piece = bytes.take_front(std::min<uint64_t>(room, bytes.size()));
      index.update(piece.data(), piece.size());
      bytes = bytes.drop_front(piece.size());
    }
    return status;
  }

  WrittenWeights finish() {
    begin();
    WrittenWeights written;
    written.bytes = index.bytes();
    written.index = index.finish(written.digest);
    return written;
  }

private:
  /// Tells the index which tensors begin here.
  void begin() {
    while (!entries.empty() && entries.front().offset <= index.bytes()) {
      index.tensor(entries.front().request.tensor);
      entries = entries.drop_front();
    }
  }

  OutputFile &file;
  llvm::ArrayRef<PackEntry> entries; ///< those that have not begun
  IndexWriter index;
};

/// Writes little-endian structures, whatever the host is.
class Bytes {
public:
  void u8(uint8_t value) { text += char(value); }
  void u16(uint16_t value) { put(value, 2); }
  void u32(uint32_t value) { put(value, 4); }
  void u64(uint64_t value) { put(value, 8); }
  /// Appends a NUL-terminated string and returns its offset.
  uint32_t name(llvm::StringRef string) {
    uint32_t at = uint32_t(text.size());
    text += string.str();
    text += '\0';
    return at;
  }
  void alignTo(uint64_t align) { text.resize(llvm::alignTo(text.size(), align)); }
  llvm::ArrayRef<uint8_t> view() const { return {reinterpret_cast<const uint8_t *>(text.data()), text.size()}; }

  std::string text;

private:
  void put(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      text += char(value >> (8 * i));
  }
};

struct Section {
  const char *name;
  uint32_t type;
  uint64_t flags, offset, size;
  uint32_t link = 0, info = 0;
  uint64_t align = 1, entry = 0;
};

enum SectionNumber { blobNumber = 1, constantsNumber, symbolsNumber, stringsNumber };

/// The layout of an ELF object around a blob that is written in between: what is in front of it and after it.
class ObjectImage {
public:
  ObjectImage(uint64_t blobBytes, bool withBlob, const ObjectOptions &options)
      : blobBytes(blobBytes), machine(options.machine) {
    addSymbol("", 0, 0, 0, /*global=*/false);
    if (withBlob)
      addSymbol(options.weights, blobNumber, 0, blobBytes, true);
    for (const ObjectSymbol &symbol : options.symbols) {
      uint64_t align = std::max(symbol.align, 1u);
      constantsAlign = std::max(constantsAlign, align);
      constants.alignTo(align);
      addSymbol(symbol.name, constantsNumber, constants.text.size(), symbol.bytes.size(), true);
      constants.text += symbol.bytes;
    }
  }

  /// The bytes before and after the blob; `total` is the size of the whole
  /// file.
  std::string head() const;
  std::string tail() const { return tailBytes; }
  uint64_t total() const { return blobEnd() + tailBytes.size(); }
  void build();

private:
  uint64_t blobEnd() const { return blobAt + blobBytes; }
  void addSymbol(llvm::StringRef name, uint16_t section, uint64_t value, uint64_t size, bool global) {
    symbols.u32(name.empty() ? 0 : strings.name(name));
    symbols.u8(global ? STB_GLOBAL << 4 | STT_OBJECT : 0);
    symbols.u8(global ? STV_HIDDEN : STV_DEFAULT);
    symbols.u16(section);
    symbols.u64(value);
    symbols.u64(size);
  }

  uint64_t blobBytes;
  ObjectMachine machine;
  uint64_t constantsAlign = 16;
  Bytes constants, symbols;
  Bytes strings{std::string(1, 0)};
  std::string tailBytes;
  uint64_t tableAt = 0;
  uint16_t sections = 0, namesNumber = 0;
};

/// Lays out everything after the blob: constants, symbols, their names and the
/// section table; relocatable, so all addresses are 0.
void ObjectImage::build() {
  uint64_t base = blobEnd();
  Bytes out;
  auto place = [&](const Bytes &bytes, uint64_t align) {
    // Offsets count from the beginning of the file, not of the tail.
    out.text.resize(llvm::alignTo(base + out.text.size(), align) - base);
    uint64_t at = base + out.text.size();
    out.text += bytes.text;
    return at;
  };
  bool x86 = machine == ObjectMachine::X86_64;
  std::vector<Section> table;
  table.push_back({"", SHT_NULL, 0, 0, 0});
  table.back().align = 0;
  table.push_back({".lrodata.heddle", SHT_PROGBITS, SHF_ALLOC | (x86 ? uint64_t(SHF_X86_64_LARGE) : 0), blobAt,
                   blobBytes, 0, 0, blobAlign});
  table.push_back({".rodata.heddle", SHT_PROGBITS, SHF_ALLOC, place(constants, constantsAlign), constants.text.size(),
                   0, 0, constantsAlign});
  table.push_back(
      {".symtab", SHT_SYMTAB, 0, place(symbols, 8), symbols.text.size(), stringsNumber, 1, 8, sizeof(Elf64_Sym)});
  table.push_back({".strtab", SHT_STRTAB, 0, place(strings, 1), strings.text.size()});
  // Without this section linkers assume that the program needs an executable
  // stack.
  table.push_back({".note.GNU-stack", SHT_PROGBITS, 0, base + out.text.size(), 0});
  Bytes names;
  std::vector<uint32_t> nameAt;
  table.push_back({".shstrtab", SHT_STRTAB, 0, base + out.text.size(), 0});
  for (const Section &section : table)
    nameAt.push_back(names.name(section.name));
  table.back().offset = place(names, 1);
  table.back().size = names.text.size();

  Bytes headers;
  for (size_t i = 0; i < table.size(); ++i) {
    const Section &section = table[i];
    headers.u32(nameAt[i]);
    headers.u32(section.type);
    headers.u64(section.flags);
    headers.u64(0);
    headers.u64(section.offset);
    headers.u64(section.size);
    headers.u32(section.link);
    headers.u32(section.info);
    headers.u64(section.align);
    headers.u64(section.entry);
  }
  tableAt = place(headers, 8);
  sections = uint16_t(table.size());
  namesNumber = uint16_t(sections - 1);
  tailBytes = std::move(out.text);
}

std::string ObjectImage::head() const {
  Bytes out;
  out.text = {'\x7f', 'E', 'L', 'F', char(ELFCLASS64), char(ELFDATA2LSB), char(EV_CURRENT), char(ELFOSABI_NONE)};
  out.text.resize(EI_NIDENT);
  out.u16(ET_REL);
  out.u16(machine == ObjectMachine::X86_64 ? EM_X86_64 : EM_AARCH64);
  out.u32(EV_CURRENT);
  out.u64(0); // entry
  out.u64(0); // program headers
  out.u64(tableAt);
  out.u32(0); // flags
  out.u16(sizeof(Elf64_Ehdr));
  out.u16(0);
  out.u16(0);
  out.u16(sizeof(Elf64_Shdr));
  out.u16(sections);
  out.u16(namesNumber);
  out.text.resize(blobAt);
  return out.text;
}

absl::Status appendText(OutputFile &file, llvm::StringRef text) {
  return file.append({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

} // namespace

absl::StatusOr<WrittenWeights> writeWeightsObject(llvm::StringRef path, const WeightStore &store, const BlobMap &plan,
                                                  const ObjectOptions &options) {
  ObjectImage image(plan.bytes, /*withBlob=*/true, options);
  image.build();
  absl::StatusOr<OutputFile> file = OutputFile::create(path, image.total());
  if (!file.ok())
    return file.status();
  if (absl::Status status = appendText(*file, image.head()); !status.ok())
    return status;
  IndexingSink sink(*file, plan);
  absl::Status status = packAll(store, plan, sink, options.pack);
  if (!status.ok())
    return status;
  if (status = appendText(*file, image.tail()); !status.ok())
    return status;
  // The linker reads it next; if the machine stops before that, nothing is
  // lost.
  if (status = file->commit(/*durable=*/false); !status.ok())
    return status;
  return sink.finish();
}

absl::StatusOr<WrittenWeights> writeWeightsFile(llvm::StringRef path, const WeightStore &store, const BlobMap &plan,
                                                const PackOptions &options) {
  absl::StatusOr<OutputFile> file = OutputFile::create(path, plan.bytes);
  if (!file.ok())
    return file.status();
  IndexingSink sink(*file, plan);
  absl::Status status = packAll(store, plan, sink, options);
  if (!status.ok())
    return status;
  if (status = file->commit(); !status.ok())
    return status;
  return sink.finish();
}

absl::Status writeSymbolsObject(llvm::StringRef path, const ObjectOptions &options) {
  ObjectImage image(0, /*withBlob=*/false, options);
  image.build();
  absl::StatusOr<OutputFile> file = OutputFile::create(path, image.total());
  if (!file.ok())
    return file.status();
  if (absl::Status status = appendText(*file, image.head() + image.tail()); !status.ok())
    return status;
  return file->commit(/*durable=*/false);
}

} // namespace heddle
