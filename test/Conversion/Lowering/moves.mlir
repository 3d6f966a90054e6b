// RUN: %loops %s | FileCheck %s

// Elements to other places: one copy of a box, whose innermost axis moves as vectors where it is contiguous on both sides.
// What is one stretch on both sides is cut into blocks of 4096. One barrier an op, not one a part.
!x = !model.tensor<[B, T, 12], f32>
!z = !model.tensor<[B, T, 2], f32>

// Rows 1 to T - 2 of each element.
!slice = !model.tensor<[B, "T-2", 12], f32>
// CHECK-LABEL: heddle_entry_slice:
// CHECK-NEXT: n0 := ((12*T + 4071)/4096)
// CHECK-NEXT: for i = share(n0*B)
// CHECK-NEXT: | n1 := min(12*T - 4096*(i%n0) - 24, 4096)
// CHECK-NEXT: | for j = 0 to 16*(n1/16) step 16
// CHECK-NEXT: | | y[4096*(i%n0) + 12*(i/n0)*T + j - 24*(i/n0) : 16] = x[4096*(i%n0) + 12*(i/n0)*T + j + 12 : 16]
// CHECK-NEXT: | for j = 16*(n1/16) to n1 step 16
// CHECK-NEXT: | | y[4096*(i%n0) + 12*(i/n0)*T + j - 24*(i/n0) : min(16, n1 - j)] = x[4096*(i%n0) + 12*(i/n0)*T + j + 12 : min(16, n1 - j)]
// CHECK-NEXT: barrier
func.func @slice(%x: !x {model.name = "x"}) -> (!slice {model.name = "y"}) {
  %y = model.slice %x axis 1 from "1" to "T-1" : (!x) -> !slice
  return %y : !slice
}

// Features 2 to 7: short rows of vectors.
!columns = !model.tensor<[B, T, 6], f32>
// CHECK-LABEL: heddle_entry_columns:
// CHECK-NEXT: for i = share(B*T)
// CHECK-NEXT: | y[6*i : min(16, 6)] = x[12*i + 2 : min(16, 6)]
// CHECK-NEXT: barrier
func.func @columns(%x: !x {model.name = "x"}) -> (!columns {model.name = "y"}) {
  %y = model.slice %x axis 2 from "2" to "8" : (!x) -> !columns
  return %y : !columns
}

!heads = !model.tensor<[B, 3, T, 4], f32>
// CHECK-LABEL: heddle_entry_heads:
// CHECK-NEXT: for i = share(3*B*T)
// CHECK-NEXT: | y[4*((i/T)%3)*T + 12*((i/T)/3)*T + 4*(i%T) : min(16, 4)] = x[4*((i/T)%3) + 12*((i/T)/3)*T + 12*(i%T) : min(16, 4)]
// CHECK-NEXT: barrier
func.func @heads(%x: !x {model.name = "x"}) -> (!heads {model.name = "y"}) {
  %y = model.rearrange %x "b t (h d) -> b h t d" sizes {h = "3"} : (!x) -> !heads
  return %y : !heads
}

// Not contiguous in x: element by element, 12 apart.
!turned = !model.tensor<[B, 12, T], f32>
// CHECK-LABEL: heddle_entry_transpose:
// CHECK-NEXT: n0 := ((T + 4095)/4096)
// CHECK-NEXT: for i = share(12*n0*B)
// CHECK-NEXT: | n1 := min(4096, T - 4096*(i%n0))
// CHECK-NEXT: | for j = 0 to n1
// CHECK-NEXT: | | y[((i/n0)%12)*T + 12*((i/n0)/12)*T + 4096*(i%n0) + j] = x[((i/n0)%12) + 12*((i/n0)/12)*T + 49152*(i%n0) + 12*j]
// CHECK-NEXT: barrier
func.func @transpose(%x: !x {model.name = "x"}) -> (!turned {model.name = "y"}) {
  %y = model.rearrange %x "b t d -> b d t" : (!x) -> !turned
  return %y : !turned
}

!both = !model.tensor<[B, T, 14], f32>
// CHECK-LABEL: heddle_entry_concat:
// CHECK-NEXT: for i = share(B*T)
// CHECK-NEXT: | y[14*i : min(16, 12)] = x[12*i : min(16, 12)]
// CHECK-NEXT: for i = share(B*T)
// CHECK-NEXT: | y[14*i + 12 : min(16, 2)] = z[2*i : min(16, 2)]
// CHECK-NEXT: barrier
func.func @concat(%x: !x {model.name = "x"}, %z: !z {model.name = "z"}) -> (!both {model.name = "y"}) {
  %y = model.concat %x, %z axis 2 : (!x, !z) -> !both
  return %y : !both
}

// The fill where x is not, then x behind one row.
!padded = !model.tensor<[B, "T+3", 2], f32>
// CHECK-LABEL: heddle_entry_pad:
// CHECK-NEXT: for i = share(3*B + B*T)
// CHECK-NEXT: | if not (((i%(T + 3)) > 0) & ((i%(T + 3)) < T + 1))
// CHECK-NEXT: | | y[2*i : min(16, 2)] = 0.5
// CHECK-NEXT: n0 := ((2*T + 4095)/4096)
// CHECK-NEXT: for i = share(n0*B)
// CHECK-NEXT: | n1 := min(2*T - 4096*(i%n0), 4096)
// CHECK-NEXT: | for j = 0 to 16*(n1/16) step 16
// CHECK-NEXT: | | y[4096*(i%n0) + 6*(i/n0) + 2*(i/n0)*T + j + 2 : 16] = x[4096*(i%n0) + 2*(i/n0)*T + j : 16]
// CHECK-NEXT: | for j = 16*(n1/16) to n1 step 16
// CHECK-NEXT: | | y[4096*(i%n0) + 6*(i/n0) + 2*(i/n0)*T + j + 2 : min(16, n1 - j)] = x[4096*(i%n0) + 2*(i/n0)*T + j : min(16, n1 - j)]
// CHECK-NEXT: barrier
func.func @pad(%x: !z {model.name = "x"}) -> (!padded {model.name = "y"}) {
  %y = model.pad %x axis 1 before "1" after "2" value 0.5 : (!z) -> !padded
  return %y : !padded
}
