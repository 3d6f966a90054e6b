"""The planted faults of runtime/Device and of the emulator: (what is wrong, source, right, wrong, the test that must fail)."""

DEVICE, EMULATOR = "runtime/Device/", "test/Emulator/"

FAULTS = [
    # what goes to the device and back
    ("nobody reads what a kernel recorded", DEVICE + "Staging.cpp", "  if (failure.state)\n", "  if (failure.state == 2)\n", "Device.AKernelsFailureIsTheModels"),
    ("the record of the last call is still there", DEVICE + "Staging.cpp", "  memset(host + layout.failure, 0, sizeof(heddle_failure));\n", "", "Device.SaysWhatTheProcessorSays"),
    ("an input that was left out is no null on the device", DEVICE + "Staging.cpp", "addresses[i] = tensors[i] ? device + place : 0;", "addresses[i] = device + place;", "Device.RunsTensorsThroughUploadedWeights"),
    ("dims are those at the end of the bucket", DEVICE + "Device.cpp", "staging.fill(layout, entry, dims, tensors)", "staging.fill(layout, entry, planned, tensors)", "Device.SaysWhatTheProcessorSays"),
    ("outputs are copied out, but for the last", DEVICE + "Staging.cpp", "layout.end - layout.failure, gpu.stream)", "layout.outputs.back() - layout.failure, gpu.stream)", "Device.CapturesAGraphForABucketOfLengths"),
    ("inputs are not copied in", DEVICE + "Staging.cpp", "gpu.driver.copyIn(device, host, layout.copiedIn, gpu.stream)", "gpu.driver.copyIn(device, host, layout.inputs[0], gpu.stream)", "Device.SaysWhatTheProcessorSays"),
    ("nobody waits for the results", DEVICE + "Device.cpp", "  if (Status status = gpu.wait(); !status.ok())", "  if (Status status; !status.ok())", "Device.SaysWhatTheProcessorSays"),
    ("tensors overlap", DEVICE + "Staging.cpp", "at += (bytes + kAlign - 1) / kAlign * kAlign;", "at += bytes / kAlign * kAlign;", "Device.SaysWhatTheProcessorSays"),
    # graphs
    ("a graph of the bucket before", DEVICE + "Graphs.cpp", "entry == other.entry && dims == other.dims &&", "entry == other.entry &&", "Device.CapturesAGraphForABucketOfLengths"),
    ("a bucket ends behind the capacity", DEVICE + "Graphs.cpp", "std::min(length, dims[capacity]) - 1", "length - 1", "Device.BucketsOfLengths"),
    ("a bucket begins one too late", DEVICE + "Graphs.cpp", "while (length < dims[past] + 1)", "while (length < dims[past])", "Device.BucketsOfLengths"),
    ("a repeat over the past is captured", DEVICE + "Graphs.cpp", "        return false;\n  int64_t length", "        continue;\n  int64_t length", "Device.BucketsOfLengths"),
    ("the prompt is captured too", DEVICE + "Graphs.cpp", "|| dims[past] == 0 ||\n      dims[count] != 1)", ")", "Device.BucketsOfLengths"),
    # launches
    ("indices of repeats are swapped", DEVICE + "Launches.cpp", "int64_t i = index[0], j = index[1];", "int64_t i = index[1], j = index[0];", "Device.LaunchesFollowTheCard"),
    ("an index is left behind by a repeat that ended", DEVICE + "Launches.cpp", "      index[--depth] = 0;\n", "      --depth;\n", "Device.LaunchesFollowTheCard"),
    ("a repeat runs once too often", DEVICE + "Launches.cpp", "} else if (++index[depth - 1] < repeats", "} else if (index[depth - 1]++ < repeats", "Device.LaunchesFollowTheCard"),
    ("a repeat of none runs", DEVICE + "Launches.cpp", "      if (*count > 0) {", "      if (*count >= 0) {", "Device.LaunchesFollowTheCard"),
    ("more blocks than the device holds", DEVICE + "Launches.cpp", "1, kernel.most);", "1, 1 << 20);", "Device.LaunchesFollowTheCard"),
    ("an item is one thread, whatever the card says", DEVICE + "Launches.cpp", "__builtin_mul_overflow(*items, line.lanes, &wanted)", "__builtin_mul_overflow(*items, int64_t(1), &wanted)", "Device.LaunchesFollowTheCard"),
    ("code for another family of chips", DEVICE + "Launches.cpp", "        (binary && number / 10 != capability / 10))", "        (binary && number < 0))", "Device.PicksImages"),
    ("sm_90a runs on sm_100", DEVICE + "Launches.cpp", "(own && number != capability)", "(own && number < 0)", "Device.PicksImages"),
    ("a checked launch is not waited for", DEVICE + "Launches.cpp", "gpu.check(gpu.driver.streamWait(gpu.stream), name.c_str())", "gpu.check(kCuSuccess, name.c_str())", "DeviceErrors.CheckedLaunchesNameTheirKernel"),
    # weights, states
    ("a piece of the weights is overwritten before it is fetched", DEVICE + "Upload.cpp", "(turn++ % 2) * piece;", "(turn++ % 1) * piece;", "Device.RunsTensorsThroughUploadedWeights"),
    ("nobody waits for the piece before", DEVICE + "Upload.cpp", "    status = gpu.wait(); // for the other piece\n", "", "Device.RunsTensorsThroughUploadedWeights"),
    ("beams are moved in place", DEVICE + "Device.cpp", "moved + uint64_t(from[i]) * row, row)", "rows + uint64_t(from[i]) * row, row)", "Device.BatchesWithPadding"),
    ("a refill keeps the states", DEVICE + "Device.cpp", "gpu.driver.fill(addressOf(memory), 0, memory.size(), gpu.stream)", "gpu.driver.fill(addressOf(memory), 0, memory.size() / 2, gpu.stream)", "Device.RefillsOnTheDevice"),
    ("a state begins as NaN", DEVICE + "Device.cpp", "return use == Use::State ? clear(memory) : Status();", "return Status();", "Device.SaysWhatTheProcessorSays"),
    # the emulator itself
    ("copies are done at once", EMULATOR + "Machine.cpp", "  if (options.early)\n", "  if (true)\n", "EmulatedDriver.WorkIsDoneLateOrEarly"),
    ("what is captured is done as well", EMULATOR + "Machine.cpp", "    stream.captured.push_back(operation);\n    return rt::kCuSuccess;\n", "    stream.captured.push_back(operation);\n", "EmulatedDriver.GraphsReplay"),
    ("memory stays open behind a launch", EMULATOR + "Machine.cpp", "  memory.close();\n  return broken;", "  return broken;", "EmulatedDriverDeathTest.TheHostTouchesWhatKernelsMade"),
    ("weights may be written", EMULATOR + "Memory.cpp", "piece.fixed = address == fixed;", "piece.fixed = false;", "EmulatedDriverDeathTest.AKernelStoresToTheWeights"),
    ("fresh memory is zero", EMULATOR + "Memory.cpp", "  memset(begin, 0xff, mapped);\n", "", "Memory.FreshMemoryIsNaN"),
    ("a shuffle orders memory", EMULATOR + "Block.cpp", "  if (meeting == Meeting::Sync)\n    ++warp.syncs;", "  ++warp.syncs;", "Block.RacesBetweenWarpsAndLanes"),
    ("a lane gets what another brings next time", EMULATOR + "Block.cpp", "warp.brought[warp.meetings % 2]", "warp.brought[0]", "Block.LanesMeetAtShuffles"),
    ("two lanes of a warp never race", EMULATOR + "Races.cpp", "return level == 1   ? warp == now.warpSyncs", "return level == 1   ? false", "Block.RacesBetweenWarpsAndLanes"),
    ("a barrier orders all blocks", EMULATOR + "Races.cpp", ": level == 3;", ": false;", "Block.RacesBetweenWarpsAndLanes"),
    ("only the last reader counts", EMULATOR + "Races.cpp", "    s.level = fresh ? Thread : level;", "    s.level = Thread;", "Block.RacesOfOneWriterWithManyReaders"),
    ("the order of blocks is always the same", EMULATOR + "Block.cpp", "    std::reverse(order.begin(), order.end());\n", "    ;\n", "Block.OrderOfBlocksAndThreads"),
    # copies and matrices
    ("a group more than asked for may be pending", EMULATOR + "Block.cpp", "mine.open[done].group + pending < mine.groups)", "mine.open[done].group + pending + 1 < mine.groups)", "Matrices.CopiesAreThereWhenTheyAreWaitedFor"),
    ("late copies are early", EMULATOR + "Block.cpp", "  if (early)\n", "  if (true)\n", "Matrices.CopiesAreThereWhenTheyAreWaitedFor"),
    ("early copies are late", EMULATOR + "Block.cpp", "  if (early)\n", "  if (false)\n", "Matrices.CopiesAreThereWhenTheyAreWaitedFor"),
    ("a copy races with nobody", EMULATOR + "Block.cpp", "  touch(to, size, true); // from now on, whenever it is\n", "", "Matrices.CopiesAreThereWhenTheyAreWaitedFor"),
    ("what is not read keeps its value", EMULATOR + "Block.cpp", "  memset(copy.to + copy.bytes, 0, copy.size - copy.bytes);\n", "", "Matrices.CopiesAreThereWhenTheyAreWaitedFor"),
    ("copies may be forgotten", EMULATOR + "Block.cpp", "  if (!self.copies[self.current].open.empty())\n", "  if (false)\n", "Matrices.CopiesThatFail"),
    ("copies may go past the end of shared memory", EMULATOR + "Block.cpp", " || offset + size > sharedMemory.size())", ")", "Matrices.CopiesThatFail"),
    ("a row of a matrix is a lane's own", EMULATOR + "Matrices.cpp", "rows[8 * matrix + lane / 4]", "rows[8 * matrix + lane % 8]", "Matrices.RowsAreDealtToLanes"),
    ("registers of the left side are row after row", EMULATOR + "Matrices.cpp", "[row / 8 + 2 * (k / 8)]", "[2 * (row / 8) + k / 8]", "Matrices.UnitsMultiply"),
    ("the odd half is the lower one on the left", EMULATOR + "Matrices.cpp", "2 * (k / 8)], k % 2);", "2 * (k / 8)], 1 - k % 2);", "Matrices.UnitsMultiply"),
    ("sums are never cut off", EMULATOR + "Matrices.cpp", "block.chops() && ", "false && ", "Matrices.UnitsMultiply"),
]
