// RUN: heddle-opt --heddle-share-loops %s | FileCheck %s

// Loops are one function where they are the same code of what they read from outside: the first two. The third adds
// another number, made outside; the fourth subtracts the other way round.

// CHECK-LABEL: func.func @heddle_entry_run(
// CHECK: call @[[LOOP:heddle_loop_[0-9A-Fa-f]+]](%arg2, %arg0, %arg1)
// CHECK-NEXT: call @[[LOOP]](%arg2, %arg1, %arg0)
// CHECK-NEXT: scf.for
// CHECK: scf.for
// CHECK-NOT: call @
// CHECK: func.func private @[[LOOP]](
// CHECK-NOT: func.func
module attributes {card.entries = [#card.entry<name = "run", dims = [], arena = "0">]} {
func.func @heddle_entry_run(%x: !llvm.ptr, %y: !llvm.ptr, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %k = arith.constant 1.0 : f32
  %m = arith.constant 2.0 : f32
  scf.for %i = %zero to %n step %one {
    %a = llvm.load %x : !llvm.ptr -> f32
    %c0 = arith.addf %a, %k : f32 %c1 = arith.addf %c0, %k : f32 %c2 = arith.addf %c1, %k : f32
    %c3 = arith.addf %c2, %k : f32 %c4 = arith.addf %c3, %k : f32 %c5 = arith.addf %c4, %k : f32
    %c6 = arith.addf %c5, %k : f32 %c7 = arith.addf %c6, %k : f32 %c8 = arith.addf %c7, %k : f32
    %c9 = arith.addf %c8, %k : f32 %c10 = arith.addf %c9, %k : f32 %c11 = arith.addf %c10, %k : f32
    %c12 = arith.addf %c11, %k : f32 %c13 = arith.addf %c12, %k : f32 %c14 = arith.addf %c13, %k : f32
    %c15 = arith.addf %c14, %k : f32 %c16 = arith.addf %c15, %k : f32 %c17 = arith.addf %c16, %k : f32
    %c18 = arith.addf %c17, %k : f32 %c19 = arith.addf %c18, %k : f32 %c20 = arith.addf %c19, %k : f32
    %c21 = arith.addf %c20, %k : f32 %c22 = arith.addf %c21, %k : f32 %c23 = arith.addf %c22, %k : f32
    %c24 = arith.addf %c23, %k : f32 %c25 = arith.addf %c24, %k : f32 %c26 = arith.addf %c25, %k : f32
    %c27 = arith.addf %c26, %k : f32 %c28 = arith.addf %c27, %k : f32 %c29 = arith.addf %c28, %k : f32
    %c30 = arith.addf %c29, %k : f32 %c31 = arith.addf %c30, %k : f32 %c32 = arith.addf %c31, %k : f32
    %c33 = arith.addf %c32, %k : f32 %c34 = arith.addf %c33, %k : f32 %c35 = arith.addf %c34, %k : f32
    %d = arith.subf %c35, %a : f32
    llvm.store %d, %y : f32, !llvm.ptr
  }
  scf.for %i = %zero to %n step %one {
    %a = llvm.load %y : !llvm.ptr -> f32
    %c0 = arith.addf %a, %k : f32 %c1 = arith.addf %c0, %k : f32 %c2 = arith.addf %c1, %k : f32
    %c3 = arith.addf %c2, %k : f32 %c4 = arith.addf %c3, %k : f32 %c5 = arith.addf %c4, %k : f32
    %c6 = arith.addf %c5, %k : f32 %c7 = arith.addf %c6, %k : f32 %c8 = arith.addf %c7, %k : f32
    %c9 = arith.addf %c8, %k : f32 %c10 = arith.addf %c9, %k : f32 %c11 = arith.addf %c10, %k : f32
    %c12 = arith.addf %c11, %k : f32 %c13 = arith.addf %c12, %k : f32 %c14 = arith.addf %c13, %k : f32
    %c15 = arith.addf %c14, %k : f32 %c16 = arith.addf %c15, %k : f32 %c17 = arith.addf %c16, %k : f32
    %c18 = arith.addf %c17, %k : f32 %c19 = arith.addf %c18, %k : f32 %c20 = arith.addf %c19, %k : f32
    %c21 = arith.addf %c20, %k : f32 %c22 = arith.addf %c21, %k : f32 %c23 = arith.addf %c22, %k : f32
    %c24 = arith.addf %c23, %k : f32 %c25 = arith.addf %c24, %k : f32 %c26 = arith.addf %c25, %k : f32
    %c27 = arith.addf %c26, %k : f32 %c28 = arith.addf %c27, %k : f32 %c29 = arith.addf %c28, %k : f32
    %c30 = arith.addf %c29, %k : f32 %c31 = arith.addf %c30, %k : f32 %c32 = arith.addf %c31, %k : f32
    %c33 = arith.addf %c32, %k : f32 %c34 = arith.addf %c33, %k : f32 %c35 = arith.addf %c34, %k : f32
    %d = arith.subf %c35, %a : f32
    llvm.store %d, %x : f32, !llvm.ptr
  }
  scf.for %i = %zero to %n step %one {
    %a = llvm.load %x : !llvm.ptr -> f32
    %c0 = arith.addf %a, %m : f32 %c1 = arith.addf %c0, %m : f32 %c2 = arith.addf %c1, %m : f32
    %c3 = arith.addf %c2, %m : f32 %c4 = arith.addf %c3, %m : f32 %c5 = arith.addf %c4, %m : f32
    %c6 = arith.addf %c5, %m : f32 %c7 = arith.addf %c6, %m : f32 %c8 = arith.addf %c7, %m : f32
    %c9 = arith.addf %c8, %m : f32 %c10 = arith.addf %c9, %m : f32 %c11 = arith.addf %c10, %m : f32
    %c12 = arith.addf %c11, %m : f32 %c13 = arith.addf %c12, %m : f32 %c14 = arith.addf %c13, %m : f32
    %c15 = arith.addf %c14, %m : f32 %c16 = arith.addf %c15, %m : f32 %c17 = arith.addf %c16, %m : f32
    %c18 = arith.addf %c17, %m : f32 %c19 = arith.addf %c18, %m : f32 %c20 = arith.addf %c19, %m : f32
    %c21 = arith.addf %c20, %m : f32 %c22 = arith.addf %c21, %m : f32 %c23 = arith.addf %c22, %m : f32
    %c24 = arith.addf %c23, %m : f32 %c25 = arith.addf %c24, %m : f32 %c26 = arith.addf %c25, %m : f32
    %c27 = arith.addf %c26, %m : f32 %c28 = arith.addf %c27, %m : f32 %c29 = arith.addf %c28, %m : f32
    %c30 = arith.addf %c29, %m : f32 %c31 = arith.addf %c30, %m : f32 %c32 = arith.addf %c31, %m : f32
    %c33 = arith.addf %c32, %m : f32 %c34 = arith.addf %c33, %m : f32 %c35 = arith.addf %c34, %m : f32
    %d = arith.subf %c35, %a : f32
    llvm.store %d, %y : f32, !llvm.ptr
  }
  scf.for %i = %zero to %n step %one {
    %a = llvm.load %x : !llvm.ptr -> f32
    %c0 = arith.addf %a, %k : f32 %c1 = arith.addf %c0, %k : f32 %c2 = arith.addf %c1, %k : f32
    %c3 = arith.addf %c2, %k : f32 %c4 = arith.addf %c3, %k : f32 %c5 = arith.addf %c4, %k : f32
    %c6 = arith.addf %c5, %k : f32 %c7 = arith.addf %c6, %k : f32 %c8 = arith.addf %c7, %k : f32
    %c9 = arith.addf %c8, %k : f32 %c10 = arith.addf %c9, %k : f32 %c11 = arith.addf %c10, %k : f32
    %c12 = arith.addf %c11, %k : f32 %c13 = arith.addf %c12, %k : f32 %c14 = arith.addf %c13, %k : f32
    %c15 = arith.addf %c14, %k : f32 %c16 = arith.addf %c15, %k : f32 %c17 = arith.addf %c16, %k : f32
    %c18 = arith.addf %c17, %k : f32 %c19 = arith.addf %c18, %k : f32 %c20 = arith.addf %c19, %k : f32
    %c21 = arith.addf %c20, %k : f32 %c22 = arith.addf %c21, %k : f32 %c23 = arith.addf %c22, %k : f32
    %c24 = arith.addf %c23, %k : f32 %c25 = arith.addf %c24, %k : f32 %c26 = arith.addf %c25, %k : f32
    %c27 = arith.addf %c26, %k : f32 %c28 = arith.addf %c27, %k : f32 %c29 = arith.addf %c28, %k : f32
    %c30 = arith.addf %c29, %k : f32 %c31 = arith.addf %c30, %k : f32 %c32 = arith.addf %c31, %k : f32
    %c33 = arith.addf %c32, %k : f32 %c34 = arith.addf %c33, %k : f32 %c35 = arith.addf %c34, %k : f32
    %d = arith.subf %a, %c35 : f32
    llvm.store %d, %y : f32, !llvm.ptr
  }
  return
}
}
