// Why an op of constants is left to the program.
// RUN: heddle-opt %s --model-fold-constants --remarks-filter-missed='fold.constant' -o /dev/null 2>&1 | FileCheck %s

// CHECK: [Missed] fold.constant {{.*}}Function=long{{.*}}more than 2^20 elements are computed sooner than they are read{{.*}}elements=2000000
func.func @long() -> !model.tensor<[2000000], i64> {
  %r = model.range "0" to "2000000" : !model.tensor<[2000000], i64>
  return %r : !model.tensor<[2000000], i64>
}

// In the interpreter's words.
// CHECK: [Missed] fold.constant {{.*}}Function=row{{.*}}Reason="'model.gather' op takes 0 >= 6
func.func @row() -> !model.tensor<[1, 2], i64> {
  %x = model.constant dense<[[[1, 2], [3, 4]]]> : tensor<1x2x2xi64> : !model.tensor<[1, 2, 2], i64>
  %at = model.constant dense<[7]> : tensor<1xi64> : !model.tensor<[1], i64>
  %y = model.gather %x at %at : (!model.tensor<[1, 2, 2], i64>, !model.tensor<[1], i64>) -> !model.tensor<[1, 2], i64>
  return %y : !model.tensor<[1, 2], i64>
}
