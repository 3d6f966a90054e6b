//===- Kernels.cpp - a module compiled and interpreted side by side -------===//

#include "test/Numerics/Kernels.h"
#include "compiler/Pipelines/Stages.h"
#include "compiler/Plan/ParameterBlob.h"
#include "compiler/Weights/Files/StoredType.h"
#include "compiler/Weights/Pack/PackCoded.h"
#include "dialects/Attn/IR/Attn.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "targets/CPU/ProcessorTarget.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace heddle;
using model::ModelTensorType;

namespace heddle::test {

static float value(std::mt19937_64 &random) { return float(int64_t(random() % 4001) - 2000) / 1000.0f; }

/// The rows (of `all`) that an entry of the blob holds.
static std::vector<int64_t> rowsOf(const WeightLayout &t, int64_t all) {
  std::vector<int64_t> take;
  int64_t total = 0, before = 0;
  for (size_t j = 0; j < t.parts.size(); ++j) {
    total += t.parts[j];
    before += int64_t(j) < t.part ? t.parts[j] : 0;
  }
  int64_t stride = all / t.groups, unit = t.parts.empty() ? stride : stride / total;
  for (int64_t g = 0; g < t.groups; ++g)
    for (int64_t i = 0; i < unit * (t.parts.empty() ? 1 : t.parts[t.part]); ++i)
      take.push_back(g * stride + before * unit + i);
  return take;
}

/// N and K of a tensor [N, K], [K, N] or [N, c, k...], and where W[n, k] is in it: of a filter the tensor has the
/// taps inside, W the channels.
struct Matrix {
  int64_t rows = 1, k = 1, channels, taps = 1;
  bool inOut;
  explicit Matrix(const plan::BlobTensor &blob) : rows(blob.shape[blob.layout.inOut]), inOut(blob.layout.inOut) {
    for (size_t i = 2; i < blob.shape.size(); ++i)
      taps *= blob.shape[i];
    channels = blob.shape[!inOut];
    k = channels * taps;
  }
  int64_t at(int64_t n, int64_t j) const { return inOut ? j * rows + n : n * k + j % channels * taps + j / channels; }
};

static uint16_t toHalf(float x, bool f16) {
  if (f16)
    return toF16(x);
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// The same in bf16 or f16: elements as they are, or panels of pairs, [N/panel][K/2][panel][2].
static void packHalves(const plan::BlobTensor &blob, const Tensor &tensor, char *to) {
  const WeightLayout &t = blob.layout;
  auto *out = reinterpret_cast<uint16_t *>(to);
  bool f16 = t.type == PackedType::F16;
  if (!t.panel) {
    for (int64_t i : rowsOf(t, tensor.count()))
      *out++ = toHalf(float(tensor.reals[i]), f16);
    return;
  }
  Matrix w(blob);
  int64_t k = w.k, deep = (k + 1) / 2;
  std::vector<int64_t> take = rowsOf(t, w.rows);
  for (size_t i = 0; i < take.size(); ++i)
    for (int64_t j = 0; j < k; ++j)
      out[((i / t.panel * deep + j / 2) * t.panel + i % t.panel) * 2 + j % 2] =
          toHalf(float(tensor.reals[w.at(take[i], j)]), f16);
}

/// Panels of rows of W, [N/panel][K][panel]; or elements as they are. Says in plain loops what WeightLayout says.
static void pack(const plan::BlobTensor &blob, const Tensor &tensor, char *to) {
  const WeightLayout &t = blob.layout;
  if (t.halves())
    return packHalves(blob, tensor, to);
  auto *out = reinterpret_cast<float *>(to);
  if (!t.panel) {
    for (int64_t i : rowsOf(t, tensor.count()))
      *out++ = float(tensor.reals[i]);
    return;
  }
  Matrix w(blob);
  int64_t k = w.k;
  std::vector<int64_t> take = rowsOf(t, w.rows);
  for (size_t i = 0; i < take.size(); ++i)
    for (int64_t j = 0; j < k; ++j)
      out[(i / t.panel * k + j) * t.panel + i % t.panel] = float(tensor.reals[w.at(take[i], j)]);
}

namespace {
class Sink final : public ByteSink {
public:
  explicit Sink(char *to) : to(to) {}
  absl::Status append(llvm::ArrayRef<uint8_t> bytes) override {
    to = std::copy(bytes.begin(), bytes.end(), to);
    return absl::OkStatus();
  }
  char *to;
};

/// Rows of codes that are there.
class Codes final : public CodedSource {
public:
  Codes(const TensorCodes &codes, int64_t k) : codes(codes), k(k) {}
  const CodedForm &form() const override { return codes.form; }
  absl::Status rows(int64_t first, int64_t count, CodedRows &to) override {
    int64_t groups = codes.form.groups(k), scales = codes.form.scales(k);
    auto part = [&](auto &all, int64_t each) {
      return all.empty()
                 ? all
                 : std::decay_t<decltype(all)>(all.begin() + first * each, all.begin() + (first + count) * each);
    };
    to = {part(codes.rows.codes, k),       part(codes.rows.scales, scales),    part(codes.rows.zeros, groups),
          part(codes.rows.minima, scales), part(codes.rows.subScales, groups), part(codes.rows.subMinima, groups)};
    return absl::OkStatus();
  }
  const TensorCodes &codes;
  int64_t k;
};
} // namespace

/// Gives a matrix [n, k] (inOut: [k, n]) codes: of a search those that it finds, else random ones, whose values the
/// elements become.
static void makeCodes(Tensor &t, model::CodedAttr attr, std::mt19937_64 &random) {
  int64_t n = t.shape[attr.getInOut()], k = t.shape[!attr.getInOut()];
  auto element = [&](int64_t i, int64_t j) -> double & { return t.reals[attr.getInOut() ? j * n + i : i * k + j]; };
  auto codes = std::make_shared<TensorCodes>();
  CodedForm &form = codes->form = formOf(attr.getCoding(), k);
  CodedRows &rows = codes->rows;
  if (attr.isSearched()) {
    std::vector<float> w;
    for (int64_t i = 0; i < n * k; ++i)
      w.push_back(float(element(i / k, i % k)));
    CodingError error;
    (void)quantiseRows(form, w, k, rows, error);
    t.codes = codes;
    return;
  }
  auto scale = [&] { return float(int64_t(random() % 255) - 127) / 1024; };
  for (int64_t i = 0; i < n * form.scales(k); ++i) {
    rows.scales.push_back(scale());
    if (form.zeros)
      rows.zeros.push_back(float(int64_t(random() % uint64_t(2 * form.offset())) - form.offset()));
    if (form.minima)
      rows.minima.push_back(scale());
  }
  for (int64_t i = 0; form.super && i < n * form.groups(k); ++i) {
    rows.subScales.push_back(int8_t(random()));
    if (form.minima)
      rows.subMinima.push_back(uint8_t(random()));
  }
  for (int64_t p = 0; attr.getOrdered() && p < k; ++p)
    form.order.push_back(int32_t(p));
  std::shuffle(form.order.begin(), form.order.end(), random);
  for (int64_t i = 0; i < n * k; ++i) {
    int64_t g = i % k / form.group, feature = attr.getOrdered() ? form.order[i % k] : i % k;
    rows.codes.push_back(uint8_t(random() % (uint64_t(1) << form.bits)));
    element(i / k, feature) = GroupNumbers::of(form, rows, i / k, g, form.groups(k)).value(rows.codes.back());
  }
  t.codes = codes;
}

Kernels::Kernels(const std::string &text, Options options, const Kernels *values)
    : context(MLIRContext::Threading::DISABLED) {
  DialectRegistry registry;
  registry.insert<model::ModelDialect, mask::MaskDialect, attn::AttnDialect, func::FuncDialect>();
  registerProcessorTiles(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return;
  if (*options.math) {
    OpBuilder b(&context);
    bool f16 = options.math == std::string("f16");
    module.get()->setAttr("model.dtype", b.getStringAttr(f16 ? "f16" : "bf16"));
    if (!f16)
      module.get()->setAttr("model.math", b.getStringAttr(options.math));
  }
  if (*options.codes)
    module.get()->setAttr("model.codes", StringAttr::get(&context, options.codes));
  if (options.block)
    module.get()->setAttr("model.rows", Builder(&context).getI64IntegerAttr(options.block));
  // Narrow vectors come with few registers (Jit.cpp), and so with other tiles.
  if (options.vectorWidth < 16 || *options.needs)
    model::setTarget(*module, model::TargetAttr::get(&context, "cpu", "", options.vectorWidth,
                                                     options.vectorWidth < 16 ? 16 : 32,
                                                     StringAttr::get(&context, options.needs)));
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>((*module)->clone());
  PassManager passes(&context);
  addPasses(passes, "fused", {}, [&](StringRef flag) {
    return flag == "model-split-linear" ||
           (options.fuse &&
            (flag == "model-conv-to-linear" || flag == "model-fuse-elementwise" || flag == "model-gate-linears"));
  });
  PipelineOptions tiles;
  tiles.panel = options.panel;
  addPasses(passes, "tiled", tiles,
            [](StringRef flag) { return flag == "model-plan-schedules" || flag == "model-plan-parameters"; });
  if (failed(passes.run(*copy)))
    return;
  blob.assign(plan::blobBytes(*copy) + 64, 0);
  std::mt19937_64 random(7);
  std::map<std::string, model::CodedAttr> coded;
  module->walk([&](model::ParamOp op) {
    if (op.getCoded())
      coded[op.getName().str()] = *op.getCoded();
  });
  for (const plan::BlobTensor &t : plan::blobTensors(*copy)) {
    Tensor &tensor = parameters[t.name];
    if (values)
      tensor = values->parameterValue(t.name);
    if (tensor.reals.empty()) {
      tensor = Tensor::zeros(Tensor::Kind::Real, t.shape);
      for (double &x : tensor.reals)
        x = value(random) / 2;
      if (auto it = coded.find(t.name); it != coded.end())
        makeCodes(tensor, it->second, random);
    }
    if (t.layout.coding) {
      WeightLayout::Matrix w = t.layout.matrixOf(t.shape);
      Codes source(*tensor.codes, w.k);
      Sink sink(blob.data() + t.offset);
      if (!packCoded(source, t.layout, w.n, w.k, sink).ok())
        return;
      continue;
    }
    pack(t, tensor, blob.data() + t.offset);
  }
  llvm::raw_string_ostream os(prepared);
  copy->print(os);
  program = Program::compile(prepared, options.vectorWidth);
  if (program)
    program->weights = blob.data();
}

func::FuncOp Kernels::entry() const { return module.get().lookupSymbol<func::FuncOp>("run"); }

static std::vector<int64_t> shapeOf(Type type, const Dims &dims) {
  std::vector<int64_t> shape;
  for (const model::Size &s : cast<ModelTensorType>(type).getSizes())
    shape.push_back(*s.evaluate(dims));
  return shape;
}

size_t Kernels::bytesOf(Type type, const Dims &dims) const {
  Type e = cast<ModelTensorType>(type).getElementType();
  return product(shapeOf(type, dims)) * (e.isF32() ? 4 : e.isInteger(64) ? 8 : 1);
}

Kernels::Bytes Kernels::inputs(const Dims &dims, uint64_t seed) const {
  std::mt19937_64 random(seed);
  Bytes all;
  for (BlockArgument arg : entry().getArguments()) {
    std::vector<char> bytes(bytesOf(arg.getType(), dims));
    Type e = cast<ModelTensorType>(arg.getType()).getElementType();
    auto below = entry().getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), "test.below");
    int64_t n = below ? below.getInt() : 5;
    if (e.isF32())
      for (size_t i = 0; i < bytes.size() / 4; ++i)
        reinterpret_cast<float *>(bytes.data())[i] = value(random);
    else if (e.isInteger(64))
      for (size_t i = 0; i < bytes.size() / 8; ++i)
        reinterpret_cast<int64_t *>(bytes.data())[i] = random() % n;
    else
      for (char &c : bytes)
        c = random() % 2;
    all.push_back(std::move(bytes));
  }
  return all;
}

Kernels::Bytes Kernels::run(const Dims &dims, const Bytes &inputs, int threads, int64_t *code) {
  Bytes outputs;
  std::vector<void *> tensors;
  for (auto [i, in] : llvm::enumerate(inputs)) {
    bool absent = in.empty() && bytesOf(entry().getArgument(i).getType(), dims);
    tensors.push_back(absent ? nullptr : const_cast<char *>(in.data()));
  }
  // Bytes behind an output are checked: a store past its end must not go unseen.
  const size_t fence = 256;
  for (Type t : entry().getResultTypes()) {
    outputs.emplace_back(bytesOf(t, dims) + fence, char(0x5a));
    std::memset(outputs.back().data(), 0xff, outputs.back().size() - fence);
  }
  for (auto &out : outputs)
    tensors.push_back(out.data());
  int64_t failure = program->run("run", dims, tensors, threads);
  for (auto &out : outputs) {
    for (size_t i = out.size() - fence; i < out.size(); ++i)
      if (out[i] != 0x5a)
        failure = -2;
    out.resize(out.size() - fence);
  }
  if (code)
    *code = failure;
  else if (failure)
    llvm::errs() << "the run failed with code " << failure << "\n";
  return outputs;
}

void Kernels::again(const Dims &dims, const Bytes &inputs, int times) {
  Bytes outputs;
  std::vector<void *> tensors;
  for (auto &in : inputs)
    tensors.push_back(const_cast<char *>(in.data()));
  for (Type t : entry().getResultTypes()) {
    outputs.emplace_back(bytesOf(t, dims));
    tensors.push_back(outputs.back().data());
  }
  program->arenaFill = -1;
  for (int i = 0; i < times; ++i)
    (void)program->run("run", dims, tensors);
}

std::vector<char> Kernels::declared(const Dims &dims, const Bytes &inputs) {
  InterpretOptions options;
  options.declaredTypes = true;
  FailureOr<Tensors> all = expected(dims, inputs, options);
  std::vector<char> bytes;
  if (failed(all))
    return bytes;
  for (double x : (*all)[entry().getResultAttrOfType<StringAttr>(0, "model.name").getValue().str()].reals) {
    float y = float(x);
    bytes.insert(bytes.end(), reinterpret_cast<char *>(&y), reinterpret_cast<char *>(&y) + 4);
  }
  return bytes;
}

FailureOr<Tensors> Kernels::expected(const Dims &dims, const Bytes &inputs, InterpretOptions options) {
  Tensors in;
  func::FuncOp f = entry();
  for (auto [i, bytes] : llvm::enumerate(inputs)) {
    Type type = f.getArgument(i).getType(), e = cast<ModelTensorType>(type).getElementType();
    std::vector<int64_t> shape = shapeOf(type, dims);
    if (bytes.empty() && product(shape))
      continue;
    Tensor t = Tensor::zeros(e.isF32()         ? Tensor::Kind::Real
                             : e.isInteger(64) ? Tensor::Kind::Int
                                               : Tensor::Kind::Bool,
                             shape);
    for (int64_t j = 0; j < t.count(); ++j)
      if (e.isF32())
        t.reals[j] = reinterpret_cast<const float *>(bytes.data())[j];
      else
        t.ints[j] = e.isInteger(64) ? reinterpret_cast<const int64_t *>(bytes.data())[j] : bytes[j];
    in[f.getArgAttrOfType<StringAttr>(i, "model.name").getValue().str()] = t;
  }
  auto read = [&](llvm::StringRef name) -> FailureOr<Tensor> { return parameters.at(name.str()); };
  return interpret(f, in, dims, nullptr, read, options);
}

double Kernels::rmsOfRounding(const Dims &dims, const Bytes &inputs, const Bytes &outputs) {
  Attribute dtype = module.get()->removeAttr("model.dtype"), math = module.get()->removeAttr("model.math");
  FailureOr<Tensors> exact = expected(dims, inputs);
  module.get()->setAttr("model.dtype", dtype);
  if (math)
    module.get()->setAttr("model.math", math);
  if (failed(exact))
    return INFINITY;
  double off = 0, all = 0;
  for (auto [i, bytes] : llvm::enumerate(outputs)) {
    const Tensor &want = (*exact)[entry().getResultAttrOfType<StringAttr>(i, "model.name").getValue().str()];
    for (int64_t j = 0; j < want.count(); ++j) {
      double difference = reinterpret_cast<const float *>(bytes.data())[j] - want.real(j);
      off += difference * difference;
      all += want.real(j) * want.real(j);
    }
  }
  return std::sqrt(off / all);
}

double Kernels::error(const Dims &dims, const Bytes &inputs, const Bytes &outputs) {
  func::FuncOp f = entry();
  FailureOr<Tensors> expected = this->expected(dims, inputs);
  if (failed(expected))
    return INFINITY;
  double worst = 0;
  for (auto [i, bytes] : llvm::enumerate(outputs)) {
    const Tensor &want = (*expected)[f.getResultAttrOfType<StringAttr>(i, "model.name").getValue().str()];
    double largest = 1e-30, off = 0;
    for (int64_t j = 0; j < want.count(); ++j) {
      double w = want.real(j), got = want.kind == Tensor::Kind::Real ? reinterpret_cast<const float *>(bytes.data())[j]
                                     : want.kind == Tensor::Kind::Int
                                         ? reinterpret_cast<const int64_t *>(bytes.data())[j]
                                         : bytes[j];
      if (std::isnan(w) || std::isinf(w)) {
        off = (std::isnan(w) ? std::isnan(got) : got == w) ? off : INFINITY;
        continue;
      }
      largest = std::max(largest, std::fabs(w));
      off = std::isnan(got) ? INFINITY : std::max(off, std::fabs(got - w));
    }
    worst = std::max(worst, off / std::max(largest, 1e-3));
  }
  return worst;
}

double Kernels::check(const Dims &dims, uint64_t seed) {
  Bytes in = inputs(dims, seed), one = run(dims, in, 1), three = run(dims, in, 3);
  return one == three ? error(dims, in, one) : INFINITY;
}

bool Kernels::sameAlone(Dims dims, uint64_t seed) {
  Bytes in = inputs(dims, seed), all = run(dims, in, 2);
  int64_t batch = dims["B"];
  dims["B"] = 1;
  for (int64_t i = 0; i < batch; ++i) {
    auto part = [&](const std::vector<char> &bytes) {
      size_t n = bytes.size() / batch;
      return std::vector<char>(bytes.begin() + i * n, bytes.begin() + (i + 1) * n);
    };
    Bytes mine;
    for (auto &bytes : in)
      mine.push_back(part(bytes));
    Bytes alone = run(dims, mine, 1);
    for (size_t k = 0; k < all.size(); ++k)
      if (part(all[k]) != alone[k])
        return false;
  }
  return true;
}

} // namespace heddle::test
