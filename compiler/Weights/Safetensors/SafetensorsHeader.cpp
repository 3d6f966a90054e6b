// Two passes. A scan over the raw bytes settles what JSON leaves open (UTF-8,
// nesting); the SAX pass (HeaderReader.cpp) then builds the table and checks
// each tensor by itself. What concerns tensors together comes last
// (TensorLayout.cpp). No DOM is built: memory stays proportional to the header.
#include "compiler/Weights/Safetensors/SafetensorsHeader.h"
#include "compiler/Weights/Safetensors/HeaderReader.h"
#include "compiler/Weights/Safetensors/TensorLayout.h"
#include "llvm/Support/ConvertUTF.h"

namespace heddle {

static constexpr unsigned deepest = 4;
static const char rewrite[] = "write the file again with the safetensors library";

/// Rules 3, 4 and the nesting of rule 6, on the raw bytes.
bool HeaderReader::scan() {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const llvm::UTF8 *at = begin;
  if (text.empty() || text[0] != '{')
    return fail(Error::S04, "the header does not begin with `{`", 8,
                "this is no safetensors file; check what was downloaded");
  if (!llvm::isLegalUTF8String(&at, begin + text.size()))
    return fail(Error::S03, "the header is not valid UTF-8", 8 + (at - begin), rewrite);
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > deepest)
        return fail(Error::S06, "the header is nested deeper than 4", 8 + i, rewrite);
    } else if ((c == '}' || c == ']') && depth) {
      --depth;
    }
  }
  return true;
}

/// The second half of rule 11.
bool HeaderReader::checkTypes() {
  if (!foreign)
    return true;
  std::string more = foreignCount == 1 ? std::string() : " (and " + std::to_string(foreignCount - 1) + " more tensors)";
  problem = brokenRule(Error::S11, "dtype " + foreign->word + " is valid in safetensors but not supported" + more, file,
                       foreign->at, foreign->name, "convert the tensor to F32, BF16 or F16 (integers to I64)");
  problem->code = Error::StoredTypeUnsupported;
  return false;
}

absl::StatusOr<SafetensorsHeader> HeaderReader::run() {
  bool good = scan() && parse(*this);
  if (good) {
    // The parser stops after the object; NUL or text there would go unseen
    // otherwise.
    size_t rest = text.find_first_not_of(' ', end());
    if (rest != llvm::StringRef::npos)
      good = fail(Error::S05, "only spaces may follow the header's object", 8 + rest, rewrite);
  }
  if (good) {
    problem = arrangeTensors(result, dataStart, fileBytes, file);
    good = !problem && checkTypes();
  }
  if (!good) {
    if (!problem)
      fail(Error::S06, "the header is not valid JSON", 8 + end(), rewrite);
    return toStatus(*problem);
  }
  return std::move(result);
}

absl::StatusOr<uint64_t> safetensorsHeaderLength(llvm::StringRef first, uint64_t fileBytes, llvm::StringRef file,
                                                 const HeaderLimits &limits) {
  std::string shown = printable(file, 4096);
  if (fileBytes < 8 || first.size() < 8)
    return toStatus(brokenRule(Error::S01,
                               "the file has " + std::to_string(fileBytes) + " bytes, at least 8 are needed", shown, 0,
                               "", "the download was cut short: fetch the file again"));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | uint8_t(first[i]);
  if (length > limits.headerBytes)
    return toStatus(brokenRule(Error::S02,
                               "the header would be " + std::to_string(length) + " bytes long, at most " +
                                   std::to_string(limits.headerBytes) + " are read",
                               shown, 0, "", "this is no safetensors file; check what was downloaded"));
  if (length > fileBytes - 8)
    return toStatus(brokenRule(Error::S02,
                               "the header would be " + std::to_string(length) + " bytes long, but only " +
                                   std::to_string(fileBytes - 8) + " follow",
                               shown, 0, "", "the download was cut short: fetch the file again"));
  return length;
}

absl::StatusOr<SafetensorsHeader> parseSafetensorsHeader(llvm::StringRef header, uint64_t fileBytes,
                                                         llvm::StringRef file, const HeaderLimits &limits) {
  if (fileBytes < 8 || header.size() > fileBytes - 8)
    return toStatus(brokenRule(Error::S02, "the header is longer than the file", printable(file, 4096), 0, "",
                               "the download was cut short: fetch the file again"));
  return HeaderReader(header, fileBytes, file, limits).run();
}

} // namespace heddle
