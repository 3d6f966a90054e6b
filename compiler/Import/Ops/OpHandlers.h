// Internal to the importer: the function that imports each op, by the file that has it (OpsWeights, OpsShape,
// OpsAttention).
#ifndef HEDDLE_COMPILER_IMPORT_OPS_OPHANDLERS_H
#define HEDDLE_COMPILER_IMPORT_OPS_OPHANDLERS_H

#include <vector>

namespace heddle {
class OpCall;
class Value;

namespace ops {
using Handler = std::vector<Value>(OpCall &);
Handler linear, embedding, parameter, conv, experts;
Handler layerNorm, rmsNorm, groupNorm, batchNorm, l2Norm;
Handler matmul, reduce, cumsum, softmax, topK, concat, pad, gather, rearrange;
Handler sinusoidal, rotary, interpolate;
Handler attention, alibi, alibiSlopes, bucketBias, relativeDot, denseBias;
} // namespace ops
} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_OPS_OPHANDLERS_H
