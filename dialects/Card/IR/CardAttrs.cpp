//===- CardAttrs.cpp - what a program says, verified ----------------------===//

#include "dialects/Card/IR/Card.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::card;
using model::Size;

#include "dialects/Card/IR/CardDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Card/IR/CardAttrs.cpp.inc"

void CardDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Card/IR/CardAttrs.cpp.inc"
      >();
}

static constexpr StringLiteral kEntries = "card.entries", kLookups = "card.lookups";

//===-- each attribute ---------------------------------------------------------===//

using Complaint = llvm::function_ref<InFlightDiagnostic()>;

static bool isForm(StringAttr text) { return !text || Size::parse(text).has_value(); }

LogicalResult TensorAttr::verify(Complaint emitError, StringAttr name, model::ModelTensorType, bool hasDefault,
                                 bool optional) {
  if (hasDefault && optional) // tensor_c1
    return emitError() << "expected an input with a default or an optional output, got both of " << name;
  return success();
}

LogicalResult StateAttr::verify(Complaint emitError, StringAttr, StringAttr bytes, int64_t groups,
                                DenseI64ArrayAttr rows, int64_t ring) {
  if (!isForm(bytes)) // state_c1
    return emitError() << "expected bytes that are a form, got " << bytes;
  if (groups < 0 || ring < 0) // state_c2
    return emitError() << "expected 0 or more groups and rows of a ring, got " << groups << " and " << ring;
  if (rows && (rows.size() != 3 || llvm::any_of(rows.asArrayRef(), [](int64_t n) { return n < 1; }))) // state_c3
    return emitError() << "expected three positive numbers of rows, got " << rows;
  if ((rows || ring) && ((rows && ring) || !groups)) // state_c4
    return emitError() << "expected groups with either rows or a ring";
  return success();
}

LogicalResult RequireAttr::verify(Complaint emitError, StringAttr left, StringAttr right, StringAttr, StringAttr, bool,
                                  StringAttr) {
  if (!isForm(left) || !isForm(right)) // require_c1
    return emitError() << "expected two forms, got " << left << " and " << right;
  return success();
}

LogicalResult PhaseAttr::verify(Complaint emitError, StringAttr, StringAttr math, int64_t repeats,
                                StringAttr operations, StringAttr bytes, StringAttr, StringAttr, StringAttr, StringAttr,
                                ArrayAttr kernels) {
  if (!isForm(operations) || !isForm(bytes)) // phase_c1
    return emitError() << "expected operations and bytes that are forms, got " << operations << " and " << bytes;
  if (repeats < 1) // phase_c2
    return emitError() << "expected 1 repeat or more, got " << repeats;
  if (math && math.getValue() != "dots" && math.getValue() != "integers") // phase_c3
    return emitError() << "expected the math \"dots\" or \"integers\", got " << math;
  if (kernels && !llvm::all_of(kernels, llvm::IsaPred<StringAttr>)) // phase_c4
    return emitError() << "expected names of kernels, got " << kernels;
  return success();
}

LogicalResult RepeatAttr::verify(Complaint emitError, int64_t count, int64_t first, int64_t end) {
  if (count < 0) // repeat_c1
    return emitError() << "expected a count from 0 on, got " << count;
  if (first < 0 || end <= first) // repeat_c2
    return emitError() << "expected 0 <= first < end, got " << first << " and " << end;
  return success();
}

//===-- an entry -----------------------------------------------------------------===//

template <typename T> static bool holdsOnly(ArrayAttr list) { return !list || llvm::all_of(list, llvm::IsaPred<T>); }

/// The elements of a list that may be left out, which are of that kind.
template <typename T> static auto elements(ArrayAttr list) {
  return list ? llvm::to_vector(list.getAsRange<T>()) : SmallVector<T>();
}

static bool differ(ArrayRef<StringAttr> names) {
  llvm::SmallDenseSet<StringAttr> seen;
  return llvm::all_of(names, [&](StringAttr name) { return seen.insert(name).second; });
}

template <typename T> static SmallVector<StringAttr> namesOf(ArrayAttr list) {
  SmallVector<StringAttr> names;
  for (T one : elements<T>(list))
    names.push_back(one.getName());
  return names;
}

LogicalResult EntryAttr::verify(Complaint emitError, StringAttr name, ArrayAttr dims, ArrayAttr inputs,
                                ArrayAttr outputs, ArrayAttr states, ArrayAttr requirements, model::PiecesAttr,
                                StringAttr flops, StringAttr integers, StringAttr reads, StringAttr arena,
                                ArrayAttr phases, ArrayAttr lengths, ArrayAttr repeats) {
  if (!holdsOnly<StringAttr>(dims) || !holdsOnly<TensorAttr>(inputs) || !holdsOnly<TensorAttr>(outputs) ||
      !holdsOnly<StateAttr>(states) || !holdsOnly<RequireAttr>(requirements) || !holdsOnly<PhaseAttr>(phases) ||
      !holdsOnly<StringAttr>(lengths) || !holdsOnly<RepeatAttr>(repeats)) // entry_c1
    return emitError() << "expected lists of #card attributes of their kinds in the entry " << name;
  if (!differ(elements<StringAttr>(dims)) || !differ(namesOf<TensorAttr>(inputs)) ||
      !differ(namesOf<TensorAttr>(outputs))) // entry_c2
    return emitError() << "expected different names of dims, inputs and outputs in the entry " << name;
  SmallVector<StringAttr> forms = elements<StringAttr>(lengths);
  forms.append({flops, integers, reads});
  if (!isForm(arena) || !llvm::all_of(forms, isForm)) // entry_c3
    return emitError() << "expected operations, bytes, lengths and an arena that are forms in the entry " << name;

  llvm::StringSet<> known;
  for (StringAttr dim : elements<StringAttr>(dims))
    known.insert(dim.getValue());
  std::set<std::string> used; // of all forms
  auto note = [&](StringAttr form) {
    if (form)
      used.merge(Size::parse(form)->dims());
  };
  note(arena);
  used.erase(std::string(model::kThreadsDim));
  llvm::for_each(forms, note);
  for (ArrayAttr list : {inputs, outputs})
    for (TensorAttr tensor : elements<TensorAttr>(list))
      llvm::for_each(tensor.getType().getAxes(), note);
  for (StateAttr state : elements<StateAttr>(states))
    note(state.getBytes());
  for (PhaseAttr phase : elements<PhaseAttr>(phases))
    llvm::for_each(ArrayRef<StringAttr>{phase.getOperations(), phase.getBytes()}, note);
  for (RequireAttr need : elements<RequireAttr>(requirements))
    llvm::for_each(ArrayRef<StringAttr>{need.getLeft(), need.getRight()}, note);
  for (const std::string &dim : used)
    if (!known.contains(dim)) // entry_c4
      return emitError() << "expected forms over the dims of the entry " << name << ", got the dim '" << dim << "'";

  for (TensorAttr input : elements<TensorAttr>(inputs))
    if (input.getOptional()) // entry_c5
      return emitError() << "expected no optional input of the entry " << name << ", got " << input.getName();
  for (TensorAttr output : elements<TensorAttr>(outputs))
    if (output.getHasDefault())
      return emitError() << "expected no output with a default of the entry " << name << ", got " << output.getName();
  for (RequireAttr need : elements<RequireAttr>(requirements))
    if (StringAttr without = need.getWithout())
      if (llvm::none_of(elements<TensorAttr>(inputs), [&](TensorAttr input) {
            return input.getName() == without && input.getHasDefault();
          })) // entry_c6
        return emitError() << "expected an input of the entry " << name << " that may be left out, got " << without;
  return success();
}

EntryAttr EntryAttr::withPhases(ArrayRef<PhaseAttr> phases) const {
  Builder b(getContext());
  return get(getContext(), getName(), getDims(), getInputs(), getOutputs(), getStates(), getRequirements(), getPieces(),
             getFlops(), getIntegers(), getReads(), getArena(),
             b.getArrayAttr(SmallVector<Attribute>(phases.begin(), phases.end())), getLengths(), getRepeats());
}

EntryAttr EntryAttr::withRepeats(ArrayRef<RepeatAttr> repeats) const {
  Builder b(getContext());
  return get(getContext(), getName(), getDims(), getInputs(), getOutputs(), getStates(), getRequirements(), getPieces(),
             getFlops(), getIntegers(), getReads(), getArena(), getPhases(), getLengths(),
             b.getArrayAttr(SmallVector<Attribute>(repeats.begin(), repeats.end())));
}

EntryAttr EntryAttr::withLengths(ArrayRef<Size> lengths) const {
  Builder b(getContext());
  SmallVector<Attribute> texts;
  for (const Size &length : lengths)
    texts.push_back(b.getStringAttr(length.str()));
  return get(getContext(), getName(), getDims(), getInputs(), getOutputs(), getStates(), getRequirements(), getPieces(),
             getFlops(), getIntegers(), getReads(), getArena(), getPhases(), b.getArrayAttr(texts), getRepeats());
}

//===-- on a module ----------------------------------------------------------------===//

LogicalResult CardDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  auto list = dyn_cast<ArrayAttr>(attr.getValue());
  if (!isa<ModuleOp>(op) || !list || (attr.getName() != kEntries && attr.getName() != kLookups))
    return op->emitError() << "expected an array '" << kEntries << "' or '" << kLookups << "' on a module, got '"
                           << attr.getName().getValue() << "'";
  if (attr.getName() == kLookups)
    return holdsOnly<StringAttr>(list) ? success() : op->emitError() << "expected texts in '" << kLookups << "'";
  if (!holdsOnly<EntryAttr>(list) || !differ(namesOf<EntryAttr>(list)))
    return op->emitError() << "expected '" << kEntries << "' to hold #card.entry of different names";
  return success();
}

SmallVector<EntryAttr> card::entriesOf(ModuleOp module) {
  return elements<EntryAttr>(module->getAttrOfType<ArrayAttr>(kEntries));
}

void card::setEntries(ModuleOp module, ArrayRef<EntryAttr> entries) {
  SmallVector<Attribute> all(entries.begin(), entries.end());
  module->setAttr(kEntries, ArrayAttr::get(module.getContext(), all));
}

void card::replaceEntry(ModuleOp module, EntryAttr entry) {
  SmallVector<EntryAttr> entries = entriesOf(module);
  for (EntryAttr &one : entries)
    if (one.getName() == entry.getName())
      one = entry;
  setEntries(module, entries);
}

SmallVector<StringRef> card::lookupsOf(ModuleOp module) {
  SmallVector<StringRef> texts;
  for (StringAttr text : elements<StringAttr>(module->getAttrOfType<ArrayAttr>(kLookups)))
    texts.push_back(text.getValue());
  return texts;
}

void card::setLookups(ModuleOp module, ArrayRef<std::string> lookups) {
  SmallVector<StringRef> texts(lookups.begin(), lookups.end());
  module->setAttr(kLookups, Builder(module.getContext()).getStrArrayAttr(texts));
}
