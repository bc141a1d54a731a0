// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

#include <set>
#include <string>
#include <vector>

/// Changes to a float graph that leave its results as they are and make it quantize better. Each pass has a name and
/// works alone.
namespace qs {

/// What a pass did.
struct PassReport {
    std::string pass;
    size_t changes = 0; ///< nodes removed or changed, types found
    /// Nodes that had better stay float: together they compute what this opset has no operator for, or codes between
    /// them serve nobody.
    std::vector<std::string> keepFloat {};
};

/// The branch that is taken comes in the place of each If whose condition is constant ("fold_branches").
Result<PassReport> foldBranches(GraphDraft& draft);
/// Nodes whose results do not depend on data become constants ("fold_constants"), in bodies, too. Large results of
/// small inputs (ConstantOfShape, Expand) stay computed.
Result<PassReport> foldConstants(GraphDraft& draft);
/// BatchNormalization behind a Conv, ConvTranspose or Gemm goes into its weight and bias ("fold_batch_norm").
Result<PassReport> foldBatchNorm(GraphDraft& draft);
/// Identity and Dropout, and what no output depends on ("remove_unused").
Result<PassReport> removeUnused(GraphDraft& draft);
/// A layer normalization of single operators becomes LayerNormalization from opset 17 on ("fuse_layer_norm").
Result<PassReport> fuseLayerNorm(GraphDraft& draft);
/// Gelu of single operators, by Erf or by Tanh, becomes Gelu from opset 20 on ("fuse_gelu").
Result<PassReport> fuseGelu(GraphDraft& draft);
/// What an attention does between its two products (scaling, masks, Softmax) stays float: quantized once more on the
/// way it would lose, and nothing is gained by it ("keep_attention").
Result<PassReport> keepAttention(GraphDraft& draft);
/// Types and sizes of values are written into the draft ("infer_shapes").
Result<PassReport> inferShapes(GraphDraft& draft);

/// Attention over heads of single operators becomes Attention, where one value is projected to queries, keys and
/// values, else MultiHeadAttention, both of com.microsoft as ONNX Runtime's optimizers write them ("fuse_attention").
Result<PassReport> fuseAttention(GraphDraft& draft);
/// A sum and the LayerNormalization behind it become SkipLayerNormalization of com.microsoft ("fuse_skip_layer_norm").
Result<PassReport> fuseSkipLayerNorm(GraphDraft& draft);
/// A product with a sum behind it becomes one Gemm, as ONNX Runtime's MatMulAddFusion makes it ("fuse_gemm").
Result<PassReport> fuseGemm(GraphDraft& draft);
/// Outputs of the MatMul that this pass would take away.
std::set<std::string> productsOfGemm(GraphDraft draft);

/// Names of all passes in the order in which they run.
const std::vector<std::string>& preparationPasses();
/// The one of this name, which is one of them.
Result<PassReport> runPreparationPass(const std::string& name, GraphDraft& draft);
/// All of them in that order, without those named in `skip`.
Result<std::vector<PassReport>> prepareGraph(GraphDraft& draft, const std::vector<std::string>& skip = {});

} // namespace qs
