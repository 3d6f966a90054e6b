// Two ops as a contributor may write them: one forgets how rows depend on rows, one says it.
include "dialects/Model/IR/ModelOps.td"

def Model_ForgetfulOp : Model_Infer<"forgetful"> {
  let arguments = (ins Model_Any:$operand);
  let results = (outs Model_Any:$result);
}
def Model_RowsOp : Model_Infer<"rows", [], RowWise> {
  let arguments = (ins Model_Any:$operand);
  let results = (outs Model_Any:$result);
}
