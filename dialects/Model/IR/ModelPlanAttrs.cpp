//===- ModelPlanAttrs.cpp - what the plan writes on ops -------------------===//
//
// The names of the plan's discardable attributes, and what each may be, and on what. A name with the dialect's
// prefix that is not listed here is a description's (Import) and no plan's.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/LifeAttrs.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace heddle::model;

static constexpr llvm::StringLiteral kPlace = "model.place", kScratch = "model.scratch", kArena = "model.arena",
                                     kCopyIn = "model.copy_in", kCopyBack = "model.copy_back", kCopies = "model.copies",
                                     kInPlace = "model.in_place", kSchedule = "model.schedule",
                                     kPieces = "model.pieces", kTarget = "model.target", kBlob = "model.blob",
                                     kBlobBytes = "model.blob_bytes", kLoweredFrom = "model.lowered_from";

//===-- what each may be -------------------------------------------------------===//

static LogicalResult refuse(Operation *op, StringRef name, const Twine &expected, Attribute found) {
  return op->emitError() << "expected '" << name << "' to be " << expected << ", got " << found;
}

/// One flag for each of `count` values.
static LogicalResult verifyFlags(Operation *op, NamedAttribute attr, int64_t count) {
  auto flags = dyn_cast<DenseBoolArrayAttr>(attr.getValue());
  return flags && flags.size() == count
             ? success()
             : refuse(op, attr.getName(), "one flag for each of " + Twine(count) + " values", attr.getValue());
}

static LogicalResult verifyPlaces(Operation *op, NamedAttribute attr) {
  auto places = dyn_cast<ArrayAttr>(attr.getValue());
  if (!places || places.size() != op->getNumResults() || !llvm::all_of(places, placeIn))
    return refuse(op, attr.getName(), "one #model.place for each of " + Twine(op->getNumResults()) + " results",
                  attr.getValue());
  return success();
}

static LogicalResult verifyBlob(Operation *op, NamedAttribute attr) {
  auto module = dyn_cast<ModuleOp>(op);
  auto entries = dyn_cast<ArrayAttr>(attr.getValue());
  auto bytes = op->getAttrOfType<IntegerAttr>(kBlobBytes);
  if (!module || !entries || !llvm::all_of(entries, llvm::IsaPred<BlobEntryAttr>))
    return refuse(op, attr.getName(), "an array of #model.entry on a module", attr.getValue());
  if (!bytes || bytes.getInt() < 0)
    return op->emitError() << "expected '" << kBlobBytes << "' of 0 or more bytes with '" << attr.getName() << "'";
  SmallVector<std::pair<int64_t, BlobEntryAttr>> ends; // where each ends
  for (auto entry : entries.getAsRange<BlobEntryAttr>()) {
    int64_t end = entry.getOffset() + int64_t(entry.getLayout().getLayout().bytes(entry.getShape().asArrayRef()));
    bool over = false;
    for (auto [count, stride] : llvm::zip_equal(entry.getCounts().asArrayRef(), entry.getStrides().asArrayRef())) {
      int64_t last;
      over |= llvm::MulOverflow(count - 1, stride, last) || llvm::AddOverflow(end, last, end);
    }
    if (over || end > bytes.getInt())
      return op->emitError() << "the entry of " << entry.getName() << " ends at " << end << ", after the "
                             << bytes.getInt() << " bytes of the blob";
    ends.push_back({end, entry});
  }
  llvm::sort(ends, [](auto &a, auto &b) {
    return std::pair(a.second.getOffset(), a.first) < std::pair(b.second.getOffset(), b.first);
  });
  for (size_t i = 1; i < ends.size(); ++i)
    if (ends[i].second.getOffset() < ends[i - 1].first)
      return op->emitError() << "the entries of " << ends[i - 1].second.getName() << " and " << ends[i].second.getName()
                             << " overlap in the blob";
  return success();
}

/// The attributes that plans write on ops and functions: each on an op that may have it, of its type, with as many
/// entries as there are results.
LogicalResult ModelDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName();
  Attribute value = attr.getValue();
  if (name == kPlace)
    return verifyPlaces(op, attr);
  if (name == kScratch) {
    PlaceAttr place = placeIn(value);
    return place && place.inArena() ? success() : refuse(op, name, "a #model.place in the arena", value);
  }
  if (name == kArena) {
    auto text = dyn_cast<StringAttr>(value);
    return text && isa<FunctionOpInterface>(op) && Size::parse(text)
               ? success()
               : refuse(op, name, "the size form of a function's bytes", value);
  }
  if (name == kCopyIn || name == kCopyBack) {
    auto repeat = dyn_cast<RepeatOp>(op);
    return repeat ? verifyFlags(op, attr, repeat.getNumCarried()) : refuse(op, name, "on a repeat", value);
  }
  if (name == kCopies)
    return verifyFlags(op, attr, op->getNumOperands());
  if (name == kInPlace)
    return isa<UnitAttr>(value) && isa<PackRowsOp, UnpackRowsOp>(op)
               ? success()
               : refuse(op, name, "a flag of pack_rows or unpack_rows", value);
  if (name == kSchedule)
    return isa<ScheduleAttr>(value) && isa<LinearOp, MatmulOp>(op)
               ? success()
               : refuse(op, name, "the #model.schedule of a linear or a matmul", value);
  if (name == kPieces)
    return isa<PiecesAttr>(value) && isa<FunctionOpInterface>(op)
               ? success()
               : refuse(op, name, "the #model.pieces of a function", value);
  if (name == kTarget)
    return isa<TargetAttr>(value) && isa<ModuleOp>(op) ? success()
                                                       : refuse(op, name, "the #model.target of a module", value);
  if (name == kBlob)
    return verifyBlob(op, attr);
  if (name == kLoweredFrom)
    return isa<StringAttr>(value) ? success() : refuse(op, name, "the name of an op", value);
  if (name == kBlobBytes) {
    auto bytes = dyn_cast<IntegerAttr>(value);
    return bytes && bytes.getType().isInteger(64) && isa<ModuleOp>(op)
               ? success()
               : refuse(op, name, "a number of bytes, i64, on a module", value);
  }
  return success();
}

//===-- reading and writing ----------------------------------------------------===//

PlaceAttr heddle::model::placeOf(OpResult result) {
  auto places = result.getOwner()->getAttrOfType<ArrayAttr>(kPlace);
  return places && result.getResultNumber() < places.size() ? placeIn(places[result.getResultNumber()]) : PlaceAttr();
}
void heddle::model::setPlaces(Operation *op, ArrayRef<PlaceAttr> places) {
  op->setAttr(kPlace, ArrayAttr::get(op->getContext(), SmallVector<Attribute>(places.begin(), places.end())));
}

PlaceAttr heddle::model::scratchOf(Operation *op) { return placeIn(op->getAttr(kScratch)); }
void heddle::model::setScratch(Operation *op, PlaceAttr place) { op->setAttr(kScratch, place); }

std::optional<Life> heddle::model::lifeOf(OpResult result) {
  auto places = result.getOwner()->getAttrOfType<ArrayAttr>(kPlace);
  return places && result.getResultNumber() < places.size() ? lifeIn(places[result.getResultNumber()]) : std::nullopt;
}
void heddle::model::setLives(Operation *op, ArrayRef<std::optional<Life>> lives) {
  SmallVector<Attribute> places;
  for (auto [result, life] : llvm::zip_equal(op->getResults(), lives)) {
    PlaceAttr place = placeOf(cast<OpResult>(result));
    places.push_back(life ? Attribute(withLife(place, *life)) : place);
  }
  op->setAttr(kPlace, ArrayAttr::get(op->getContext(), places));
}
std::optional<Life> heddle::model::scratchLifeOf(Operation *op) { return lifeIn(op->getAttr(kScratch)); }
void heddle::model::setScratchLife(Operation *op, const Life &life) {
  op->setAttr(kScratch, withLife(scratchOf(op), life));
}

std::optional<Size> heddle::model::arenaOf(Operation *function) {
  auto text = function->getAttrOfType<StringAttr>(kArena);
  return text ? Size::parse(text) : std::nullopt;
}
void heddle::model::setArena(Operation *function, const Size &bytes) {
  function->setAttr(kArena, StringAttr::get(function->getContext(), bytes.str()));
}

static ArrayRef<bool> flagsOf(Operation *op, StringRef name) {
  auto flags = op->getAttrOfType<DenseBoolArrayAttr>(name);
  return flags ? flags.asArrayRef() : ArrayRef<bool>();
}
ArrayRef<bool> heddle::model::copiesInto(RepeatOp op) { return flagsOf(op, kCopyIn); }
ArrayRef<bool> heddle::model::copiesBack(RepeatOp op) { return flagsOf(op, kCopyBack); }
void heddle::model::setCopies(RepeatOp op, ArrayRef<bool> into, ArrayRef<bool> back) {
  op->setAttr(kCopyIn, DenseBoolArrayAttr::get(op.getContext(), into));
  op->setAttr(kCopyBack, DenseBoolArrayAttr::get(op.getContext(), back));
}
ArrayRef<bool> heddle::model::copiesOut(Operation *returning) { return flagsOf(returning, kCopies); }
void heddle::model::setCopiesOut(Operation *returning, ArrayRef<bool> copies) {
  returning->setAttr(kCopies, DenseBoolArrayAttr::get(returning->getContext(), copies));
}

bool heddle::model::isInPlace(Operation *op) { return op->hasAttr(kInPlace); }
void heddle::model::setInPlace(Operation *op) { op->setAttr(kInPlace, UnitAttr::get(op->getContext())); }

ScheduleAttr heddle::model::scheduleOf(Operation *op) { return op->getAttrOfType<ScheduleAttr>(kSchedule); }
void heddle::model::setSchedule(Operation *op, ScheduleAttr schedule) { op->setAttr(kSchedule, schedule); }

heddle::WeightLayout heddle::model::rowsTakenBy(LinearOp op) {
  WeightLayout layout;
  if (op.getPart() && op.getParts() && op.getParts()->size() > 1) {
    layout.part = *op.getPart();
    layout.groups = op.getGroups();
    layout.parts.assign(op.getParts()->begin(), op.getParts()->end());
  }
  return layout;
}

PiecesAttr heddle::model::piecesOf(Operation *function) { return function->getAttrOfType<PiecesAttr>(kPieces); }
void heddle::model::setPieces(Operation *function, PiecesAttr pieces) { function->setAttr(kPieces, pieces); }

TargetAttr heddle::model::targetOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<TargetAttr>(kTarget) : TargetAttr();
}
void heddle::model::setTarget(ModuleOp module, TargetAttr target) { module->setAttr(kTarget, target); }

SmallVector<BlobEntryAttr> heddle::model::blobOf(ModuleOp module) {
  auto blob = module->getAttrOfType<ArrayAttr>(kBlob);
  return blob ? llvm::to_vector(blob.getAsRange<BlobEntryAttr>()) : SmallVector<BlobEntryAttr>();
}
int64_t heddle::model::blobBytesOf(ModuleOp module) {
  auto bytes = module->getAttrOfType<IntegerAttr>(kBlobBytes);
  return bytes ? bytes.getInt() : 0;
}
void heddle::model::setBlob(ModuleOp module, ArrayRef<BlobEntryAttr> entries, int64_t bytes) {
  Builder b(module.getContext());
  module->setAttr(kBlob, b.getArrayAttr(SmallVector<Attribute>(entries.begin(), entries.end())));
  module->setAttr(kBlobBytes, b.getI64IntegerAttr(bytes));
}
bool heddle::model::hasBlob(ModuleOp module) { return module->hasAttr(kBlob); }

void heddle::model::setLoweredFrom(Operation *made, StringRef op) {
  made->setAttr(kLoweredFrom, StringAttr::get(made->getContext(), op));
}
StringRef heddle::model::takeLoweredFrom(Operation *made) {
  auto op = dyn_cast_or_null<StringAttr>(made->removeAttr(kLoweredFrom));
  return op ? op.getValue() : StringRef();
}
