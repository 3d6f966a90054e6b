// The `model` dialect: what a description says that is neither attention nor mask.
// Its one tensor type carries the identity of dims: a T is never an S.
#ifndef HEDDLE_DIALECTS_MODEL_IR_MODELDIALECT_TD
#define HEDDLE_DIALECTS_MODEL_IR_MODELDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Model_Dialect : Dialect {
  let name = "model";
  let cppNamespace = "::heddle::model";
  let summary = "what a transformer's description says, one op for one statement";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

class Model_Type<string name, string mnemonicText> : TypeDef<Model_Dialect, name> {
  let mnemonic = mnemonicText;
}

def Model_TensorType : Model_Type<"ModelTensor", "tensor"> {
  let summary = "a tensor whose lengths are forms over dims";
  let description = [{
    `!model.tensor<[B, T, 768], f32>`. Each axis is a size form in normal form (Size.h);
    a form that is neither a name nor an integer is quoted: `[B, "H//6+1"]`.
    Element types: `f32` (the type of computation), `i64`, `i1`. Types are equal exactly
    when the forms are, so two dims never silently become one.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ModelTensorType get(::mlir::MLIRContext *ctx, ::llvm::ArrayRef<Size> sizes, ::mlir::Type element);
    int64_t getRank() const { return getAxes().size(); }
    Size getSize(int64_t axis) const;
    ::llvm::SmallVector<Size> getSizes() const;
    /// The product of all lengths.
    Size getCount() const;
    ModelTensorType withElement(::mlir::Type element) const;
    ModelTensorType withSizes(::llvm::ArrayRef<Size> sizes) const;
    ModelTensorType withSize(int64_t axis, Size size) const;
  }];
}

def Model_StateType : Model_Type<"State", "state"> {
  let summary = "a store that outlives a call: what a cached step remembers";
  let description = [{
    `!model.state<[12, B, capacity, 768], f32>`. Owned by the caller, zero at first; one
    op writes it (`model.append`, `model.store`). Exists from the stage `entries` on.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static StateType get(::mlir::MLIRContext *ctx, ::llvm::ArrayRef<Size> sizes, ::mlir::Type element);
    int64_t getRank() const { return getAxes().size(); }
    Size getSize(int64_t axis) const;
    ::llvm::SmallVector<Size> getSizes() const;
  }];
}

class Model_TensorOf<list<Type> elements, string summary>
    : Type<And<[CPred<"::llvm::isa<::heddle::model::ModelTensorType>($_self)">,
                Or<!foreach(t, elements, SubstLeaves<"$_self",
                   "::llvm::cast<::heddle::model::ModelTensorType>($_self).getElementType()", t.predicate>)>]>,
           summary, "::heddle::model::ModelTensorType">;
def Model_Real : Model_TensorOf<[F32], "tensor of f32">;
def Model_Int : Model_TensorOf<[I64], "tensor of i64">;
def Model_Bool : Model_TensorOf<[I1], "tensor of i1">;
def Model_Any : Model_TensorOf<[F32, I64, I1], "tensor">;

#endif
