//===- DeviceTest.cpp - Programs on the emulated device -------------------===//
//
// Whole calls of the program with --device=emulator: the same texts as on the
// processor, whatever the order of threads; graphs, weights, and what is said
// when something fails.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Graphs.h"
#include "runtime/Device/Launches.h"
#include "runtime/Device/Upload.h"
#include "test/Emulator/DeviceModel.h"
#include "test/Emulator/Machine.h"
#include "test/Runtime/Files.h"
#include "test/Runtime/Program.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::rt;
using test::program;
using test::Result;

namespace {

/// `words` on the processor and on the device: both must say the same.
std::string both(const std::vector<std::string> &words, const std::string &options = "") {
  std::vector<std::string> host = words, device = words;
  host.push_back("--device=cpu");
  device.push_back("--device=emulator" + options);
  Result there = program(fake::onDevice(), device);
  EXPECT_EQ(there.exit, 0) << there.err;
  EXPECT_EQ(there.out, program(fake::onDevice(), host).out);
  return there.out;
}

int64_t called(const char *symbol) { return emulator::machine()->calls[symbol]; }

/// An error with its code and exit code; it says all of `parts`.
void refused(const Result &result, const char *code, int exit, const std::vector<std::string> &parts) {
  EXPECT_EQ(result.exit, exit) << result.err;
  EXPECT_EQ(result.err.rfind(std::string("error[") + code + "]", 0), 0u) << result.err;
  for (const std::string &part : parts)
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
}

const std::vector<std::string> kGenerate = {"generate", "--ids", "1,2,3", "--print-ids", "--ignore-eos"};
std::vector<std::string> generating(std::vector<std::string> more) {
  more.insert(more.begin(), kGenerate.begin(), kGenerate.end());
  return more;
}

TEST(Device, SaysWhatTheProcessorSays) {
  std::string greedy = both(generating({"-n", "30"}));
  EXPECT_FALSE(greedy.empty());
  for (const char *options :
       {":order=reverse", ":order=random,seed=1", ":order=random,seed=2,sms=3", ":early", ":sms=1"})
    EXPECT_EQ(both(generating({"-n", "30"}), options), greedy) << options;
  both(generating({"-n", "30", "--temp", "1", "--seed", "5"}));
  both(generating({"-n", "20", "--num-beams", "4"}));
}

TEST(Device, RefillsOnTheDevice) {
  fake::refillAt = 9;
  std::string text = both(generating({"-n", "20"}));
  fake::refillAt = -1;
  EXPECT_EQ(both(generating({"-n", "20"})), text);
}

TEST(Device, BatchesWithPadding) {
  test::TemporaryFile in;
  Tensor ids = test::makeTensor("input_ids", {3, 4}, {3, 3, 1, 2, 4, 5, 6, 7, 3, 8, 9, 10});
  Tensor mask = test::makeTensor("attention_mask", {3, 4}, {0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1});
  ASSERT_TRUE(writeTensors(in.path(), {&ids, &mask}).ok());
  for (std::vector<std::string> more : {std::vector<std::string>(), {"--num-beams", "3"}}) {
    std::string texts[2];
    for (const char *device : {"cpu", "emulator"}) {
      test::TemporaryFile out;
      std::vector<std::string> words = {"generate", "--input", in.path(),  "--output", out.path(),
                                        "-n",       "9",       "--device", device};
      words.insert(words.end(), more.begin(), more.end());
      Result result = program(fake::onDevice(), words);
      EXPECT_EQ(result.exit, 0) << result.err;
      texts[device[0] == 'e'] = out.read();
    }
    EXPECT_EQ(texts[0], texts[1]);
  }
}

TEST(Device, EncodersAndDecoders) {
  for (std::vector<std::string> more : {std::vector<std::string>(), {"--num-beams", "4"}}) {
    std::vector<std::string> words = {"generate", "--ids", "4,9,2,30", "-n", "12", "--print-ids", "--ignore-eos"};
    words.insert(words.end(), more.begin(), more.end());
    std::string texts[2];
    for (const char *device : {"cpu", "emulator"}) {
      words.push_back(std::string("--device=") + device);
      Result result = program(fake::encoderOnDevice(), words);
      EXPECT_EQ(result.exit, 0) << result.err;
      texts[device[0] == 'e'] = result.out;
      words.pop_back();
    }
    EXPECT_FALSE(texts[0].empty());
    EXPECT_EQ(texts[0], texts[1]);
  }
}

TEST(Device, TheEmulatorCounts) {
  Result result = program(fake::onDevice(), generating({"-n", "5", "--device=emulator:count"}));
  EXPECT_EQ(result.exit, 0);
  EXPECT_NE(result.err.find("emulator: 10 kernels run, 4 launches asked for, 1 "
                            "graphs captured, 4 launched"),
            std::string::npos)
      << result.err;
}

TEST(Device, RunsTensorsThroughUploadedWeights) {
  test::TemporaryFile in, there, here;
  Tensor ids = test::makeTensor("input_ids", {2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(writeTensors(in.path(), {&ids}).ok());
  // Three pieces of an upload.
  constexpr int64_t kBytes = (16 << 20) + 4321;
  for (const char *options : {"emulator", "emulator:early"}) {
    Result result = program(fake::onDeviceAlone(kBytes),
                            {"run", "--input", in.path(), "--output", there.path(), "--device", options});
    ASSERT_EQ(result.exit, 0) << result.err;
    result = program(fake::onDevice(), {"run", "--input", in.path(), "--output", here.path(), "--device", "cpu"});
    EXPECT_EQ(there.read(), here.read());
  }
  EXPECT_EQ(emulator::machine()->memory.free(),
            emulator::machine()->memory.total()); // all was given back
}

TEST(Device, RegroupsWeightsOnTheirWay) {
  // Word i is i; two weights with something before, between and behind them.
  const std::vector<Regroup> regroups = {{64, 8, 3, 32}, {64 + 3072 + 128, 12, 1, 16}};
  std::vector<uint32_t> words(1200), there(1200), pieces(1200);
  for (uint32_t i = 0; i < 1200; ++i)
    words[i] = i;
  auto *from = reinterpret_cast<const char *>(words.data());
  arrange(regroups, from, 0, 4800, reinterpret_cast<char *>(there.data()));
  std::vector<uint32_t> right = words;
  for (const Regroup &r : regroups)
    for (int64_t k = 0; k < r.depth; ++k)
      for (int64_t n = 0; n < r.panels * r.width; ++n) {
        int64_t first = r.offset / 4, panel = n / r.width;
        right[size_t(first + (k / 4 * r.panels * r.width + n) * 4 + k % 4)] =
            words[size_t(first + (panel * r.depth + k) * r.width + n % r.width)];
      }
  EXPECT_EQ(there, right);
  // However the weights are cut.
  for (uint64_t size : {16, 48, 336, 3072}) {
    for (uint64_t at = 0; at < 4800; at += size)
      arrange(regroups, from, at, std::min<uint64_t>(size, 4800 - at), reinterpret_cast<char *>(pieces.data()) + at);
    EXPECT_EQ(pieces, right) << size;
  }
}

TEST(Device, CapturesAGraphForABucketOfLengths) {
  both(generating({"-n", "200"}));
  // Lengths 4 to 128, and 129 to 202.
  EXPECT_EQ(called("cuStreamEndCapture"), 2);
  EXPECT_EQ(called("cuGraphLaunch"), 199);
  EXPECT_EQ(called("cuGraphExecDestroy"), 2);
  // The prompt, then two captures.
  EXPECT_EQ(called("cuLaunchKernel"), 3 * 2);
  EXPECT_EQ(emulator::machine()->launches, 200 * 2);
}

TEST(Device, BucketsOfLengths) {
  Card card;
  ASSERT_TRUE(Card::parse(R"(heddle-card 1
device sm_80
entry step
dims B past new capacity
launch k items past of 32 threads 32
entry scans
dims past new capacity
repeat past
launch k items 1 of 32 threads 32
again
entry run
dims T
end
)",
                          card)
                  .ok());
  std::vector<int64_t> ends;
  auto endOf = [&](int64_t past, int64_t count, int64_t capacity) {
    bool step = isStep(card.entries[0], {7, past, count, capacity}, ends);
    return step ? ends[1] : -1;
  };
  EXPECT_EQ(endOf(0, 1, 1000), -1);
  EXPECT_EQ(endOf(1, 2, 1000), -1);
  EXPECT_EQ(endOf(1, 1, 1000), 127);
  EXPECT_EQ(endOf(127, 1, 1000), 127);
  EXPECT_EQ(endOf(128, 1, 1000), 255);
  EXPECT_EQ(endOf(600, 1, 1000), 999);
  EXPECT_EQ(endOf(3, 1, 20), 19);
  EXPECT_EQ(ends, (std::vector<int64_t>{7, 19, 1, 20}));
  EXPECT_FALSE(isStep(card.entries[1], {5, 1, 100}, ends));
  EXPECT_FALSE(isStep(card.entries[2], {5}, ends));
}

TEST(Device, LaunchesFollowTheCard) {
  test::TemporaryFile in, out;
  Tensor x;
  ASSERT_TRUE(Tensor::make("x", Type::F32, {4}, x).ok());
  ASSERT_TRUE(writeTensors(in.path(), {&x}).ok());
  Result result =
      program(fake::logging(), {"run", "--input", in.path(), "--output", out.path(), "--device=emulator:sms=2"});
  ASSERT_EQ(result.exit, 0) << result.err;
  TensorFile file;
  ASSERT_TRUE(file.open(out.path()).ok());
  float log[32];
  ASSERT_TRUE(file.read(file.tensors()[0], Type::F32, log).ok());
  const float expected[] = {1001, 2002, 3001, 3011, 2102, 3101, 3111, 4002, 0};
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(log[i], expected[i]) << i;
  // The forms of the card, of which the launch names the second and the first.
  EXPECT_EQ(log[30], 16);
  EXPECT_EQ(log[31], 13);
}

TEST(Device, PicksImages) {
  const heddle_device_image images[] = {{"sm_80", "ptx", "", 0},
                                        {"sm_90a", "ptx", "", 0},
                                        {"sm_86", "cubin", "", 0},
                                        {"sm_80", "cubin", "", 0},
                                        {nullptr, nullptr, nullptr, 0}};
  EXPECT_EQ(pickImage(images, 75), nullptr);
  EXPECT_EQ(pickImage(images, 80), images + 3);
  EXPECT_EQ(pickImage(images, 86), images + 2);
  EXPECT_EQ(pickImage(images, 89), images + 2);
  EXPECT_EQ(pickImage(images, 90), images + 1);
  EXPECT_EQ(pickImage(images, 100), images + 0);
  EXPECT_EQ(pickImage(nullptr, 80), nullptr);
}

TEST(Device, MemoryIsForTheChipsThatAreNamed) {
  LaunchLine line;
  line.shared = 1 << 16;
  EXPECT_EQ(sharedOn(line, "sm_80"), 1 << 16);
  line.chips = {"sm_89", "sm_90a"};
  EXPECT_EQ(sharedOn(line, "sm_80"), 0);
  EXPECT_EQ(sharedOn(line, "sm_90a"), 1 << 16);
}

TEST(Device, AKernelsFailureIsTheModels) {
  test::TemporaryFile in, out;
  Tensor ids = test::makeTensor("input_ids", {1, 3}, {1, 60, 3});
  ASSERT_TRUE(writeTensors(in.path(), {&ids}).ok());
  out.write("as it was");
  for (const char *device : {"cpu", "emulator"})
    refused(program(fake::onDevice(), {"run", "--input", in.path(), "--output", out.path(), "--device", device}),
            "H0110", 1, {"id 60 is outside a table of 50 rows"});
  EXPECT_EQ(out.read(), "as it was");
}

Result failing(const std::string &options) {
  return program(fake::onDeviceAlone(1 << 20), generating({"-n", "30", "--device=emulator:" + options}));
}

TEST(DeviceErrors, InjectedFailures) {
  refused(failing("driver=11080"), "H0802", 3, {"CUDA 11.8", "525"});
  refused(failing("capability=75"), "H0803", 3, {"sm_75", "sm_80"});
  refused(failing("devices=0"), "H0804", 2, {"there is no GPU 0", "none"});
  refused(failing("memory=1000000"), "H0805", 4, {"the weights", "1.0 MiB are needed", "976.6 KiB"});
  refused(failing("fail=cuMemAlloc_v2:2:1"), "H0805", 4, {"the state `", "are free", "1.0 MiB of weights"});
  refused(failing("fail=cuMemHostAlloc:2"), "H0601", 4, {"page-locked"});
  refused(failing("fail=cuModuleLoadDataEx:218"), "H0806", 70, {"sm_90a", "CUDA_ERROR_INVALID_PTX (218)", "line 7"});
  refused(failing("fail=cuModuleGetFunction:500:1"), "H0901", 70, {"no kernel `runHashes`"});
  refused(failing("fail=cuLaunchKernel:719:3"), "H0807", 70,
          {"the kernel `stepLogits` (logits, $.head) was launched", "CUDA_ERROR_LAUNCH_FAILED"});
  refused(failing("fail=cuStreamSynchronize:700:5"), "H0807", 70,
          {"CUDA_ERROR_ILLEGAL_ADDRESS", "in a call of `step`"});
  // Every function may fail; what is in front of its error does not matter.
#define HEDDLE_CUDA(member, symbol, parameters)                                                                        \
  {                                                                                                                    \
    bool frees = std::string(#symbol).find("Destroy") != std::string::npos ||                                          \
                 std::string(#symbol).find("Free") != std::string::npos ||                                             \
                 std::string(#symbol).find("Release") != std::string::npos ||                                          \
                 std::string(#symbol).find("Unload") != std::string::npos;                                             \
    Result result = failing("fail=" #symbol ":999");                                                                   \
    if (called(#symbol) && !frees)                                                                                     \
      EXPECT_NE(result.exit, 0) << #symbol;                                                                            \
  }
#include "runtime/Device/driver.def"
#undef HEDDLE_CUDA
}

/// `logging` where the third kernel gets `asked` bytes of shared memory from the card, and names `own` itself.
Result sharing(const std::string &options, int64_t asked, uint64_t own = 0) {
  test::TemporaryFile in, out;
  Tensor x;
  EXPECT_TRUE(Tensor::make("x", Type::F32, {4}, x).ok());
  EXPECT_TRUE(writeTensors(in.path(), {&x}).ok());
  Image image = fake::logging();
  std::string card = image.card;
  for (size_t at = 0; (at = card.find("launch third", at)) != std::string::npos;)
    card.insert(at = card.find('\n', at), " shared " + std::to_string(asked));
  std::vector<heddle_emulated_kernel> kernels;
  for (const auto *kernel = image.emulatedKernels; kernel->name; ++kernel) {
    kernels.push_back(*kernel);
    if (kernel->name == std::string("third"))
      kernels.back().shared = own;
  }
  kernels.push_back({});
  image.card = card.c_str();
  image.emulatedKernels = kernels.data();
  return program(image, {"run", "--input", in.path(), "--output", out.path(), "--device=emulator" + options});
}

TEST(Device, AsksForSharedMemory) {
  for (int64_t bytes : {48 << 10, 60000, 227 << 10})
    EXPECT_EQ(sharing("", bytes).exit, 0) << bytes;
  EXPECT_EQ(called("cuFuncSetAttribute"), 1);
}

TEST(DeviceErrors, KernelsThatDoNotFit) {
  refused(sharing("", (227 << 10) + 1), "H0807", 70, {"shared memory was asked for", "CUDA_ERROR_INVALID_VALUE"});
  refused(sharing(":capability=86", 163 << 10), "H0807", 70, {"shared memory was asked for"});
  refused(sharing("", 20000, 40000), "H0807", 70, {"the kernel `third` does not fit the GPU"});
}

TEST(DeviceErrors, CheckedLaunchesNameTheirKernel) {
  EXPECT_EQ(both(generating({"-n", "9"}), ":checked"), both(generating({"-n", "9"}), ":order=reverse,checked,sms=1"));
  EXPECT_EQ(called("cuStreamEndCapture"), 0);
  EXPECT_EQ(called("cuLaunchKernel"), 9 * 2);
  // The prompt's two kernels, then those of steps; upload and start wait too.
  refused(failing("checked,fail=cuStreamSynchronize:700:6"), "H0807", 70,
          {"the kernel `step", "blocks ran", "ILLEGAL_ADDRESS"});
}

TEST(DeviceErrors, WhichDevice) {
  Image both = fake::onDevice(), alone = fake::onDeviceAlone(), host = fake::decoderOnly();
  auto with = [](const char *device) { return generating({"-n", "2", std::string("--device=") + device}); };
  refused(program(alone, with("cpu")), "H0120", 2, {"--target=cpu,cuda"});
  refused(program(host, with("0")), "H0120", 2, {"--target=cuda"});
  refused(program(host, with("emulator")), "H0120", 2, {"--target=cuda"});
  refused(program(both, with("gpu")), "H0120", 2, {"`gpu`"});
  for (const char *device : {"-1", "256", "0:fast", "emulatorchecked", "0:unchecked", "checked", "cpu:checked"})
    refused(program(both, with(device)), "H0120", 2, {"not `"});
  refused(program(both, with("")), "H0120", 2, {"--device"});
  refused(program(both, with("emulator:fast")), "H0120", 2, {"option fast"});
  both.emulator = nullptr;
  refused(program(both, with("emulator")), "H0120", 2, {"--emulate"});
  EXPECT_EQ(program(host, with("cpu")).exit, 0);
}

TEST(DeviceErrors, WithoutADriver) {
  if (void *library = dlopen("libcuda.so.1", RTLD_NOW)) {
    dlclose(library);
    GTEST_SKIP() << "there is a driver here";
  }
  Result result = program(fake::onDeviceAlone(), generating({"-n", "2"}));
  refused(result, "H0801", 3, {"libcuda.so.1", "525", "compile the model with --target=cpu"});
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
  refused(program(fake::onDevice(), generating({"-n", "2", "--device=1"})), "H0801", 3, {"say --device=cpu"});
}

TEST(Device, AsksNobodyToSayWhatItIs) {
  Result info = program(fake::onDeviceAlone(), {"info"});
  EXPECT_EQ(info.exit, 0);
  EXPECT_NE(info.out.find("kernels for GPUs: 5, for sm_80 (ptx"), std::string::npos) << info.out;
  EXPECT_NE(program(fake::onDeviceAlone(), {"info", "--json"}).out.find(R"("devices":["sm_80","sm_90a"],"kernels":5)"),
            std::string::npos);
  for (const char *word : {"--help", "licences", "--version"})
    EXPECT_EQ(program(fake::onDeviceAlone(), {word}).exit, 0);
  EXPECT_NE(program(fake::onDevice(), {"--help"}).out.find("--device N"), std::string::npos);
  EXPECT_EQ(program(fake::decoderOnly(), {"--help"}).out.find("--device"), std::string::npos);
}

TEST(Device, Benches) {
  Result text = program(fake::onDevice(),
                        {"bench", "--prompt-tokens", "4", "--new-tokens", "4", "--device", "emulator:capability=86"});
  EXPECT_EQ(text.exit, 0) << text.err;
  EXPECT_NE(text.out.find("GPU emulator, sm_86, kernels for sm_80"), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("peak"), std::string::npos) << text.out;
  Result json =
      program(fake::onDevice(), {"bench", "--prompt-tokens", "4", "--new-tokens", "4", "--device=emulator", "--json"});
  EXPECT_EQ(json.exit, 0) << json.err;
  EXPECT_NE(json.out.find(R"("device":"GPU emulator)"), std::string::npos);
  EXPECT_EQ(json.out.find("fraction"), std::string::npos) << json.out;
  // Prompts of every pass are equal: no graph was made twice.
  EXPECT_EQ(called("cuStreamEndCapture"), 1);
}

} // namespace
