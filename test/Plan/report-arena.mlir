// RUN: heddle-opt %s --model-report-arena=dims=T=10 --verify-diagnostics
// RUN: %exits 1 heddle-opt %s --model-report-arena=dims=T 2>&1 | FileCheck %s --check-prefix=DIMS
// DIMS: error: dims: expected NAME=NUMBER, found 'T'

!x = !model.tensor<[T, 16], f32>

// `c` could be where `a` was, which nobody reads any more.
// expected-remark @below {{'run' needs 1920 bytes where 1280 live at once, at op 1; 'c' stays above 'a'}}
func.func @run(%x: !x) -> !x attributes {model.arena = "192*T+64"} {
  %a = model.softmax %x axis 1 {model.place = [[#model.place<arena, "0">, {begin = 0 : i64, bytes = "64*T", end = 1 : i64, storage = 0 : i64}]]} : (!x) -> !x loc("a")
  %b = model.softmax %a axis 1 {model.place = [[#model.place<arena, "64*T">, {begin = 1 : i64, bytes = "64*T", end = 2 : i64, storage = 1 : i64}]]} : (!x) -> !x loc("b")
  %c = model.softmax %b axis 1 {model.place = [[#model.place<arena, "128*T">, {begin = 2 : i64, bytes = "64*T", end = 3 : i64, storage = 2 : i64}]]} : (!x) -> !x loc("c")
  return {model.copies = array<i1: true>} %c : !x
}

// expected-remark @below {{'planned' needs 704 bytes where 704 live at once, at op 0}}
func.func @planned(%x: !x) -> !x attributes {model.arena = "64*T+128"} {
  %a = model.softmax %x axis 1 {model.place = [[#model.place<arena, "64">, {begin = 0 : i64, bytes = "64*T", end = 1 : i64, storage = 0 : i64}]], model.scratch = [#model.place<arena, "0">, {begin = 0 : i64, bytes = "8", end = 0 : i64, storage = 1 : i64}]} : (!x) -> !x
  return {model.copies = array<i1: true>} %a : !x
}

// No length of S is known, so nothing is said.
func.func @other(%x: !model.tensor<[S, 16], f32>) attributes {model.arena = "64*S+64"} {
  %a = model.softmax %x axis 1 {model.place = [[#model.place<arena, "0">, {begin = 0 : i64, bytes = "64*S", end = 0 : i64, storage = 0 : i64}]]} : (!model.tensor<[S, 16], f32>) -> !model.tensor<[S, 16], f32>
  return
}
