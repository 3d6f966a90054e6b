// Every attribute of a card, read and printed, and the lines that become of it.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-translate --card %s | FileCheck %s --check-prefix=CARD

#ids = #card.tensor<name = "input_ids", type = !model.tensor<[B, T], i64>>
#mask = #card.tensor<name = "mask", type = !model.tensor<[B, "max(2,T)"], i1>, has_default = true>
#logits = #card.tensor<name = "the logits", type = !model.tensor<[], f32>, optional = true>
#keys = #card.state<name = "k", bytes = "64*B", groups = 2, rows = [4, 128, 8]>
#ring = #card.state<name = "r", bytes = "8", groups = 1, ring = 768>
#need = #card.require<left = "T", right = "5", op = "conv", place = "model.json:12:5", without = "mask">
#other = #card.require<left = "B", right = "T", op = "slice", place = "-", differ = true>
#linear = #card.phase<ops = "linear+map", math = "dots", repeats = 12, operations = "2*B*T", bytes = "T", weight = "h.{0} w">
#rest = #card.phase<ops = "-", repeats = 1, operations = "0", bytes = "0">
#placed = #card.phase<ops = "map", repeats = 1, operations = "0", bytes = "8", place = "$.body[3] (12:5)", statement = "stdlib.json:40:7", node = "q", kernels = ["heddle_map_1", "heddle_map_2"]>
#run = #card.entry<name = "run", dims = ["B", "T"], inputs = [#ids, #mask], outputs = [#logits], states = [#keys, #ring], requirements = [#need, #other], pieces = #model.pieces<longest = 512, beyond = 768>, flops = "2*B*T", integers = "B", reads = "T", arena = "4*B*threads", phases = [#linear, #placed, #rest]>
#step = #card.entry<name = "step", dims = [], arena = "64", lengths = ["64", "8"], repeats = [#card.repeat<count = 3, first = 0, end = 2>]>
// CHECK: !B_T_i = !model.tensor<[B, T], i64>
// CHECK: module attributes {card.entries = [#card.entry<name = "run", dims = ["B", "T"], inputs = [#card.tensor<name = "input_ids", type = !B_T_i>
// CHECK-SAME: has_default = true
// CHECK-SAME: optional = true
// CHECK-SAME: #card.state<name = "k", bytes = "64*B", groups = 2, rows = [4, 128, 8]>, #card.state<name = "r", bytes = "8", groups = 1, ring = 768>
// CHECK-SAME: without = "mask"
// CHECK-SAME: pieces = <longest = 512, beyond = 768>
// CHECK-SAME: #card.phase<ops = "linear+map", math = "dots", repeats = 12
// CHECK-SAME: place = "$.body[3] (12:5)", statement = "stdlib.json:40:7", node = "q", kernels = ["heddle_map_1", "heddle_map_2"]>
// CHECK-SAME: repeats = [#card.repeat<count = 3, first = 0, end = 2>]>], card.lookups = ["embed, by input `ids`"]
module attributes {card.entries = [#run, #step], card.lookups = ["embed, by input `ids`"], model.dims = {T = 8 : i64}, model.name = "two words"} {}
// CARD: heddle-card 1
// CARD-NEXT: name two%20words
// CARD-NEXT: masked_rows zero
// CARD-NEXT: lookup embed,%20by%20input%20%60ids%60
// CARD-NEXT: dim B -
// CARD-NEXT: dim T 8
// CARD-NEXT: entry run
// CARD-NEXT: dims B T
// CARD-NEXT: input input_ids i64 [B, T]
// CARD-NEXT: input mask bool [B, max(2,T)] default
// CARD-NEXT: output the%20logits f32 [] optional-all
// CARD-NEXT: state k 64*B groups 2 rows 4 128 8
// CARD-NEXT: state r 8 groups 1 ring 768
// CARD-NEXT: require T >= 5 at conv model.json:12:5 without mask
// CARD-NEXT: require B != T at slice -
// CARD-NEXT: pieces 512 beyond 768
// CARD-NEXT: flops 2*B*T
// CARD-NEXT: integers B
// CARD-NEXT: reads T
// CARD-NEXT: arena 4*B*threads
// CARD-NEXT: phase linear+map dots turns 12 operations 2*B*T bytes T # h.{0}%20w
// CARD-NEXT: phase map turns 1 operations 0 bytes 8 at %24.body[3]%20(12:5) in stdlib.json:40:7 of q by heddle_map_1 heddle_map_2
// CARD-NEXT: phase - turns 1 operations 0 bytes 0
// CARD-NEXT: entry step
// CARD-NEXT: dims
// CARD-NEXT: arena 64
// CARD-NEXT: length 64
// CARD-NEXT: length 8
// CARD-NEXT: end
