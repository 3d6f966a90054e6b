// The SAX reader of a safetensors header, internal to SafetensorsHeader.cpp,
// which drives it; the rules of each event are in HeaderReader.cpp.
#ifndef HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_HEADERREADER_H
#define HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_HEADERREADER_H

#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Safetensors/JsonCursor.h"
#include "compiler/Weights/Safetensors/SafetensorsHeader.h"

namespace heddle {

class HeaderReader : public JsonCursor {
public:
  HeaderReader(llvm::StringRef header, uint64_t fileBytes, llvm::StringRef file, const HeaderLimits &limits)
      : JsonCursor(header), file(printable(file, 4096)), fileBytes(fileBytes), dataStart(8 + header.size()),
        dataBytes(fileBytes - dataStart), limits(limits) {
    result.storage = std::make_unique<llvm::BumpPtrAllocator>();
  }

  absl::StatusOr<SafetensorsHeader> run();

  // The SAX events; false stops the parser with `problem` set.
  bool key(std::string &name);
  bool string(std::string &value);
  bool number_unsigned(uint64_t value);
  // Whole numbers without a sign arrive at number_unsigned; -0 arrives here.
  bool number_integer(int64_t value) { return wrongNumber(value ? std::to_string(value) : "-0"); }
  bool number_float(double, const std::string &spelled) { return wrongNumber(spelled); }
  bool null() { return wrongValue("null"); }
  bool boolean(bool) { return wrongValue("a boolean"); }
  bool binary(std::vector<uint8_t> &) { return wrongValue("binary data"); }
  bool start_object(size_t);
  bool end_object();
  bool start_array(size_t);
  bool end_array();
  bool parse_error(size_t position, const std::string &, const Json::exception &);

private:
  enum class In { Document, Top, Tensor, Metadata, Shape, Offsets, Done };
  enum class Field { None, Type, Shape, Offsets };

  bool fail(Error rule, std::string message, uint64_t at, std::string help);
  bool failTensor(Error rule, std::string message, std::string help) {
    return fail(rule, std::move(message), 8 + current.start, std::move(help));
  }
  bool wrongNumber(llvm::StringRef spelled);
  bool wrongValue(const char *what);
  bool scan();
  bool newTensor(std::string &name);
  bool closeTensor();
  bool closeMetadata();
  bool checkTypes();

  std::string file;
  uint64_t fileBytes, dataStart, dataBytes;
  HeaderLimits limits;
  SafetensorsHeader result;
  std::optional<WeightProblem> problem;

  In where = In::Document;
  Field field = Field::None;
  bool sawMetadata = false;
  /// The tensor whose object is open; `start` and the other places are offsets
  /// into the header.
  struct {
    uint64_t start = 0;
    std::string name;
    std::optional<std::string> type;
    bool hasShape = false, hasOffsets = false;
    uint64_t typeAt = 0, shapeAt = 0, offsetsAt = 0;
    std::vector<int64_t> shape;
    std::vector<uint64_t> offsets;
  } current;
  std::vector<uint64_t> metadataAt;
  /// The first tensor of a type that Heddle does not compute with; such tensors
  /// are checked like the others and refused only when the file is sound.
  struct ForeignTensor {
    std::string name, word;
    uint64_t at = 0;
  };
  std::optional<ForeignTensor> foreign;
  size_t foreignCount = 0;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_HEADERREADER_H
