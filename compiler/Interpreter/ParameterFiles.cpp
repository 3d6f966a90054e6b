//===- ParameterFiles.cpp - parameters, inputs and outputs as safetensors -===//

#include "compiler/Interpreter/ParameterFiles.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Arrays.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Pack/OutputFile.h"
#include "dialects/Model/IR/VectorHead.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace heddle;

/// Reads a tensor of a file or of a store, and widens it.
template <typename Source, typename Stored>
static absl::StatusOr<Tensor> readWhole(const Source &source, const Stored &stored, const TensorRecord &record) {
  uint64_t n = record.elements();
  if (isReal(record.type)) {
    std::vector<float> elements(n);
    if (absl::Status s = source.readF32(stored, 0, elements); !s.ok())
      return s;
    return Tensor::ofReals(record.shape, std::vector<double>(elements.begin(), elements.end()));
  }
  std::vector<int64_t> elements(n);
  if (absl::Status s = source.readI64(stored, 0, elements); !s.ok())
    return s;
  if (record.type != StoredType::Bool)
    return Tensor::ofInts(record.shape, std::move(elements));
  return Tensor::ofBools(record.shape, std::move(elements));
}

std::vector<AdapterChoice> heddle::adaptersOf(ModuleOp module) {
  std::vector<AdapterChoice> adapters;
  if (auto list = module->getAttrOfType<ArrayAttr>("model.adapters"))
    for (StringAttr text : list.getAsRange<StringAttr>()) {
      // Unlike an argument it always ends in a scale, whatever folders there are.
      auto [folder, number] = text.getValue().rsplit(':');
      AdapterChoice adapter{folder.str(), 1};
      if (!folder.empty() && !number.getAsDouble(adapter.scale) && std::isfinite(adapter.scale))
        adapters.push_back(std::move(adapter));
    }
  return adapters;
}

absl::StatusOr<WeightStore> heddle::openWeightsOf(ModuleOp module) {
  std::vector<std::string> paths;
  if (auto files = module->getAttrOfType<ArrayAttr>("model.weights"))
    for (StringAttr path : files.getAsRange<StringAttr>())
      paths.push_back(path.str());
  auto quantised = module->getAttrOfType<StringAttr>("model.quantised");
  std::vector<AdapterChoice> adapters = adaptersOf(module);
  if (auto list = module->getAttrOfType<ArrayAttr>("model.adapters"); list && list.size() != adapters.size())
    return toStatus(WeightProblem{Error::BadStage, "", "expected a list of texts \"DIR:SCALE\"", "model.adapters",
                                  std::nullopt, "", "make the text again: --emit=STAGE"});
  absl::StatusOr<WeightStore> store = WeightStore::openCoded(paths, quantised ? quantised.getValue() : "", adapters);
  if (auto more = module->getAttrOfType<ArrayAttr>(model::kModuleWeights); more && store.ok())
    for (ArrayAttr pair : more.getAsRange<ArrayAttr>())
      if (absl::Status status =
              store->addModule(cast<StringAttr>(pair[0]).getValue(), cast<StringAttr>(pair[1]).getValue());
          !status.ok())
        return status;
  return store;
}

absl::StatusOr<ParameterFiles> ParameterFiles::open(ModuleOp module) {
  absl::StatusOr<WeightStore> store = openWeightsOf(module);
  if (!store.ok())
    return store.status();
  return ParameterFiles(std::move(*store), module.getLoc());
}

FailureOr<Tensor> ParameterFiles::read(llvm::StringRef name) {
  auto it = known.find(name.str());
  if (it != known.end())
    return it->second;
  const StoredTensor *stored = store.find(name);
  if (!stored)
    return failure();
  absl::StatusOr<Tensor> t = readWhole(store, *stored, *stored->record);
  if (!t.ok())
    return emitError(location) << textOf(t.status());
  if (stored->coded && t->rank() == 2) {
    absl::StatusOr<std::optional<CodedForm>> form = stored->coded->form();
    if (!form.ok())
      return emitError(location) << textOf(form.status());
    if (*form) {
      absl::StatusOr<CodedRows> rows = stored->coded->readCodes(stored->firstRow(), t->shape[0]);
      if (!rows.ok())
        return emitError(location) << textOf(rows.status());
      t->codes = std::make_shared<TensorCodes>(TensorCodes{std::move(**form), std::move(*rows)});
    }
  }
  return known[name.str()] = std::move(*t);
}

absl::StatusOr<Tensors> heddle::readTensors(llvm::StringRef path) {
  absl::StatusOr<std::optional<std::vector<WideArray>>> arrays = readArrays(path);
  if (!arrays.ok())
    return arrays.status();
  if (*arrays) {
    Tensors tensors;
    for (WideArray &array : **arrays)
      tensors[array.name] = array.real      ? Tensor::ofReals(array.shape, {array.reals.begin(), array.reals.end()})
                            : array.boolean ? Tensor::ofBools(array.shape, std::move(array.integers))
                                            : Tensor::ofInts(array.shape, std::move(array.integers));
    return tensors;
  }
  absl::StatusOr<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file.ok())
    return file.status();
  Tensors tensors;
  for (const TensorRecord &record : file->header().tensors) {
    absl::StatusOr<Tensor> t = readWhole(*file, record, record);
    if (!t.ok())
      return t.status();
    tensors[record.name.str()] = std::move(*t);
  }
  return tensors;
}

/// The bytes of a tensor in a file (little-endian, as on this machine).
static std::vector<uint8_t> bytesOf(const Tensor &t, bool doubles) {
  std::vector<uint8_t> bytes;
  auto append = [&](auto x) {
    size_t at = bytes.size();
    bytes.resize(at + sizeof(x));
    std::memcpy(&bytes[at], &x, sizeof(x));
  };
  for (double x : t.reals)
    doubles ? append(x) : append(float(x));
  for (int64_t x : t.ints)
    t.kind == Tensor::Kind::Bool ? append(uint8_t(x)) : append(x);
  return bytes;
}

/// How a tensor is called in a file.
static const char *typeInFile(const Tensor &t, bool doubles) {
  return t.kind == Tensor::Kind::Int ? "I64" : t.kind == Tensor::Kind::Bool ? "BOOL" : doubles ? "F64" : "F32";
}

static absl::Status writeParts(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts) {
  uint64_t bytes = 0;
  for (llvm::StringRef part : parts)
    bytes += part.size();
  absl::StatusOr<OutputFile> file = OutputFile::create(path, bytes);
  if (!file.ok())
    return file.status();
  for (llvm::StringRef part : parts)
    if (absl::Status s = file->append(llvm::arrayRefFromStringRef(part)); !s.ok())
      return s;
  return file->commit();
}

absl::Status heddle::writeTensors(llvm::StringRef path, const Tensors &tensors, bool doubles) {
  if (llvm::StringRef ending = arrayEnding(path); !ending.empty()) {
    std::vector<PlainArray> arrays;
    for (const auto &[name, t] : tensors)
      arrays.push_back({name, typeInFile(t, doubles), t.shape, bytesOf(t, doubles)});
    bool archive = ending == ".npz";
    if (!archive && arrays.size() != 1)
      return toStatus({Error::BadUsage, "",
                       "a .npy file is one array, and the model has " + std::to_string(arrays.size()) + " outputs",
                       path.str(), std::nullopt, "", "a .npz file takes all"});
    return writeParts(path, {arrayFileOf(arrays, archive)});
  }
  std::string header;
  llvm::raw_string_ostream os(header);
  llvm::json::OStream json(os);
  std::vector<uint8_t> data;
  json.object([&] {
    for (const auto &[name, t] : tensors)
      json.attributeObject(llvm::json::fixUTF8(name), [&, &t = t] {
        std::vector<uint8_t> bytes = bytesOf(t, doubles);
        json.attribute("dtype", typeInFile(t, doubles));
        json.attributeArray("shape", [&] {
          for (int64_t length : t.shape)
            json.value(length);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(int64_t(data.size()));
          json.value(int64_t(data.size() + bytes.size()));
        });
        data.insert(data.end(), bytes.begin(), bytes.end());
      });
  });
  header.resize((header.size() + 7) / 8 * 8, ' ');
  uint64_t length = header.size();
  char prefix[8];
  std::memcpy(prefix, &length, 8);
  return writeParts(path, {llvm::StringRef(prefix, 8), header, llvm::toStringRef(data)});
}

FailureOr<Tensors> heddle::runModel(ModuleOp module, const Tensors &inputs, ReadParameter readParameter,
                                    const RunOptions &options) {
  if (options.newTokens <= 0) {
    auto run = module.lookupSymbol<func::FuncOp>("run");
    if (!run)
      return emitError(module.getLoc(), "has no function @run");
    return interpret(run, inputs, {}, nullptr, readParameter);
  }
  GenerateOptions generate;
  generate.newTokens = options.newTokens;
  generate.ignoreEos = false;
  FailureOr<Generated> got = options.cached ? generateCached(module, inputs, readParameter, generate)
                                            : generateRecomputing(module, inputs, readParameter, generate);
  if (failed(got))
    return failure();
  Tensors outputs;
  outputs["ids"] = std::move(got->ids);
  for (auto [i, logits] : llvm::enumerate(got->logits))
    outputs["logits." + std::to_string(i)] = std::move(logits);
  return outputs;
}
