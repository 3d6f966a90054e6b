//===- DeviceModel.h - A model of kernels written by hand -------*- C++ -*-===//
//
// The decoder of test/Runtime/Fake.h once more, as kernels: what it says must be
// what its entries say on the processor. Its image has both.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_DEVICEMODEL_H
#define HEDDLE_TEST_EMULATOR_DEVICEMODEL_H

#include "heddle/image.h"

namespace heddle::fake {

/// Entries and kernels, with `bytes` bytes of weights; a kernel of `run` fails
/// with code 2 if a byte of them is wrong. The last image's weights are lost.
rt::Image onDevice(int64_t bytes = 4321);
/// The same without code for the processor.
rt::Image onDeviceAlone(int64_t bytes = 4321);
/// A source, `once` and `step`: the encoder and decoder of Fake.h.
rt::Image encoderOnDevice();
/// One entry `run` without input. Its output `log` [32] says which kernel ran
/// when: the kernel's number, its indices i and j and its blocks, as decimals.
rt::Image logging();

} // namespace heddle::fake

#endif // HEDDLE_TEST_EMULATOR_DEVICEMODEL_H
