// Each clause of the attributes of a card, broken.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected an input with a default or an optional output, got both of "x"}}
#tensor_c1 = #card.tensor<name = "x", type = !model.tensor<[], f32>, has_default = true, optional = true>
module attributes {a = #tensor_c1} {}

// -----

// expected-error @below {{expected bytes that are a form, got "4*"}}
#state_c1 = #card.state<name = "k", bytes = "4*">
module attributes {a = #state_c1} {}

// -----

// expected-error @below {{expected 0 or more groups and rows of a ring, got -1 and 0}}
#state_c2 = #card.state<name = "k", bytes = "4", groups = -1>
module attributes {a = #state_c2} {}

// -----

// expected-error @below {{expected three positive numbers of rows, got array<i64: 1, 2>}}
#state_c3 = #card.state<name = "k", bytes = "4", groups = 1, rows = [1, 2]>
module attributes {a = #state_c3} {}

// -----

// expected-error @below {{expected groups with either rows or a ring}}
#state_c4 = #card.state<name = "k", bytes = "4", ring = 8>
module attributes {a = #state_c4} {}

// -----

// expected-error @below {{expected two forms, got "T" and ""}}
#require_c1 = #card.require<left = "T", right = "", op = "slice", place = "-">
module attributes {a = #require_c1} {}

// -----

// expected-error @below {{expected operations and bytes that are forms, got "2*T" and "T T"}}
#phase_c1 = #card.phase<ops = "map", repeats = 1, operations = "2*T", bytes = "T T">
module attributes {a = #phase_c1} {}

// -----

// expected-error @below {{expected 1 repeat or more, got 0}}
#phase_c2 = #card.phase<ops = "map", repeats = 0, operations = "0", bytes = "0">
module attributes {a = #phase_c2} {}

// -----

// expected-error @below {{expected the math "dots" or "integers", got "wide"}}
#phase_c3 = #card.phase<ops = "map", math = "wide", repeats = 1, operations = "0", bytes = "0">
module attributes {a = #phase_c3} {}

// -----

// expected-error @below {{expected names of kernels, got [7]}}
#phase_c4 = #card.phase<ops = "map", repeats = 1, operations = "0", bytes = "0", kernels = [7]>
module attributes {a = #phase_c4} {}

// -----

// expected-error @below {{expected a count from 0 on, got -1}}
#repeat_c1 = #card.repeat<count = -1, first = 0, end = 1>
module attributes {a = #repeat_c1} {}

// -----

// expected-error @below {{expected 0 <= first < end, got 2 and 2}}
#repeat_c2 = #card.repeat<count = 3, first = 2, end = 2>
module attributes {a = #repeat_c2} {}

// -----

#tensor = #card.tensor<name = "x", type = !model.tensor<[], f32>>
// expected-error @below {{expected lists of #card attributes of their kinds in the entry "run"}}
#entry_c1 = #card.entry<name = "run", dims = [], states = [#tensor], arena = "0">
module attributes {a = #entry_c1} {}

// -----

// expected-error @below {{expected different names of dims, inputs and outputs in the entry "run"}}
#entry_c2 = #card.entry<name = "run", dims = ["T", "T"], arena = "0">
module attributes {a = #entry_c2} {}

// -----

// expected-error @below {{expected operations, bytes, lengths and an arena that are forms in the entry "run"}}
#entry_c3 = #card.entry<name = "run", dims = ["T"], arena = "64", lengths = ["T", "T+"]>
module attributes {a = #entry_c3} {}

// -----

#state = #card.state<name = "k", bytes = "4*capacity">
// expected-error @below {{expected forms over the dims of the entry "run", got the dim 'capacity'}}
#entry_c4 = #card.entry<name = "run", dims = ["T"], states = [#state], arena = "T*threads">
module attributes {a = #entry_c4} {}

// -----

#tensor = #card.tensor<name = "x", type = !model.tensor<[], f32>, optional = true>
// expected-error @below {{expected no optional input of the entry "run", got "x"}}
#entry_c5 = #card.entry<name = "run", dims = [], inputs = [#tensor], arena = "0">
module attributes {a = #entry_c5} {}

// -----

#tensor = #card.tensor<name = "x", type = !model.tensor<[], f32>>
#need = #card.require<left = "1", right = "1", op = "slice", place = "-", without = "x">
// expected-error @below {{expected an input of the entry "run" that may be left out, got "x"}}
#entry_c6 = #card.entry<name = "run", dims = [], inputs = [#tensor], requirements = [#need], arena = "0">
module attributes {a = #entry_c6} {}

// -----

// expected-error @below {{expected an array 'card.entries' or 'card.lookups' on a module, got 'card.other'}}
module attributes {card.other = []} {}

// -----

// expected-error @below {{expected texts in 'card.lookups'}}
module attributes {card.lookups = [1]} {}

// -----

#run = #card.entry<name = "run", dims = [], arena = "0">
// expected-error @below {{expected 'card.entries' to hold #card.entry of different names}}
module attributes {card.entries = [#run, #run]} {}
