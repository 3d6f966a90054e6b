// RUN: heddle-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// The clauses of TileAttrs.td in their order, then the attributes of LaunchAttrs.h on ops that have none, or damaged.

// expected-error @below {{expected a size form of items, got "B*"}}
func.func private @items_c1() attributes {test.x = #tile.items<count = "B*", each = 32>}

// -----

// expected-error @below {{expected items of 1, 32, 64, .. 1024 threads, got 48}}
func.func private @items_c2() attributes {test.x = #tile.items<count = "B", each = 48>}

// -----

// expected-error @below {{expected size forms of operations and bytes, got "4*"}}
func.func private @cost_c1() attributes {test.x = #tile.cost<op = "map", operations = "0", read = "4*", written = "8">}

// -----

// expected-error @below {{expected size forms of operations and bytes, got ""}}
func.func private @cost_c1_operations() attributes {test.x = #tile.cost<op = "map", operations = "", read = "4", written = "8">}

// -----

// expected-error @below {{expected size forms of operations and bytes, got "B//"}}
func.func private @cost_c1_written() attributes {test.x = #tile.cost<op = "map", operations = "0", read = "4", written = "B//">}

// -----

// expected-error @below {{expected a word for the op and one for why it has no tiles, got "a map" and ""}}
func.func private @cost_c2() attributes {test.x = #tile.cost<op = "a map", operations = "0", read = "4", written = "8">}

// -----

// expected-error @below {{expected a word for the op and one for why it has no tiles, got "map" and "two words"}}
func.func private @cost_c2_untiled() attributes {test.x = #tile.cost<op = "map", operations = "0", read = "4", written = "8", untiled = "two words">}

// -----

// expected-error @below {{expected a size form of items, got "B*"}}
func.func private @launch_attr_c1() attributes {test.x = #tile.launch<entry = "run", items = "B*", each = 32, threads = 128>}

// -----

// expected-error @below {{expected items of 1 or 32 threads, got 64}}
func.func private @launch_attr_c2() attributes {test.x = #tile.launch<entry = "run", items = "B", each = 64, threads = 128>}

// -----

// expected-error @below {{expected blocks of 32, 64, .. 1024 threads, got 0}}
func.func private @launch_attr_c3() attributes {test.x = #tile.launch<entry = "run", items = "B", each = 32, threads = 0>}

// -----

// expected-error @below {{expected blocks of 32, 64, .. 1024 threads, got 1056}}
func.func private @launch_attr_c3_most() attributes {test.x = #tile.launch<entry = "run", items = "B", each = 32, threads = 1056>}

// -----

// expected-error @below {{expected 1 launch or more, got 0}}
func.func private @launch_attr_c4() attributes {test.x = #tile.launch<entry = "run", items = "B", each = 32, threads = 128, times = 0>}

// -----

// expected-error @below {{expected 0 or more bytes of shared memory, and names of chips that ask for some, got -1 on []}}
func.func private @launch_attr_c5() attributes {test.x = #tile.launch<entry = "run", items = "B", each = 32, threads = 128, shared = -1>}

// -----

// expected-error @below {{expected 0 or more bytes of shared memory, and names of chips that ask for some, got 0 on ["sm_80"]}}
func.func private @launch_attr_c5_on() attributes {test.x = #tile.launch<entry = "run", items = "B", each = 32, threads = 128, on = ["sm_80"]>}

// -----

// expected-error @below {{expected 0 or more bytes of shared memory, and names of chips that ask for some, got 64 on [1]}}
func.func private @launch_attr_c5_names() attributes {test.x = #tile.launch<entry = "run", items = "B", each = 32, threads = 128, shared = 64, on = [1]>}

// -----

// expected-error @below {{expected costs of #tile.cost, got ["map"]}}
func.func private @launch_attr_c6() attributes {test.x = #tile.launch<entry = "run", items = "B", each = 32, threads = 128, costs = ["map"]>}

// -----

// expected-error @below {{expected the name of an entry, got ""}}
func.func private @launch_attr_c7() attributes {test.x = #tile.launch<entry = "", items = "B", each = 32, threads = 128>}

// -----

// expected-error @below {{expected a launch from number 0 on, got -1}}
func.func private @launch_attr_c8() attributes {test.x = #tile.launch<entry = "run", items = "B", each = 32, threads = 128, number = -1>}

// -----

// expected-error @below {{struct is missing required parameter: items}}
func.func private @launch_lost_key() attributes {test.x = #tile.launch<entry = "run", each = 32, threads = 128>}

// -----

// expected-error @below {{expected an offset of 0 or more, got -64}}
func.func private @regroup_c1() attributes {test.x = #tile.regroup<offset = -64, depth = 16, panels = 2, width = 32>}

// -----

// expected-error @below {{expected a depth, panels and a width of at least 1, got 16, 0 and 32}}
func.func private @regroup_c2() attributes {test.x = #tile.regroup<offset = 0, depth = 16, panels = 0, width = 32>}

// -----

func.func @place_c1(%arena: !llvm.ptr, %offset: i64) {
  // expected-error @below {{'tile.place' op expected the size form of an offset, got "64*"}}
  %place = tile.place %arena at %offset, "64*"
  return
}

// -----

// expected-error @below {{expected 'tile.items' to be a #tile.items, got "B"}}
func.func private @items() attributes {tile.items = "B"}

// -----

// expected-error @below {{expected 'tile.costs' to be an array of #tile.cost, got ["map"]}}
func.func private @costs() attributes {tile.costs = ["map"]}

// -----

// expected-error @below {{expected 'tile.kept' to be the size form of a bound, got "B*"}}
func.func private @kept() attributes {tile.kept = "B*"}

// -----

// expected-error @below {{expected 'tile.dims' to be the names of a function's lengths, got [1]}}
func.func private @dims() attributes {tile.dims = [1]}

// -----

// expected-error @below {{expected 'tile.kernel' to be a flag or a name, on a function, got ""}}
func.func private @kernel() attributes {tile.kernel = ""}

// -----

// expected-error @below {{expected 'tile.chips' to be the names of a kernel's chips, got []}}
func.func private @chips() attributes {tile.chips = []}

// -----

// expected-error @below {{expected 'tile.launches' to be an array of #tile.launch on a function, got "one"}}
func.func private @launches() attributes {tile.launches = "one"}

// -----

// expected-error @below {{expected 'tile.groups' to be a flag, got 1 : i64}}
func.func private @groups() attributes {tile.groups = 1 : i64}

// -----

// expected-error @below {{expected 'tile.regrouped' to be an array of #tile.regroup on a module, got []}}
func.func private @regrouped() attributes {tile.regrouped = []}

// -----

// expected-error @below {{expected an attribute of the dialect, got 'tile.lunch'}}
func.func private @unknown() attributes {tile.lunch}
