// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/named_values.h"
#include "core/quant/calibrate/calibrator_options.h"
#include "core/tensor/dtype.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qs {

enum class RecipeFormat {
    Qdq, ///< QuantizeLinear / DequantizeLinear pairs around float operators
    QOperator, ///< QLinear* operators
    Dynamic, ///< activations quantized from their own values while running
    WeightOnly, ///< weights in blocks of few bits, activations float
};
inline constexpr NamedValues<RecipeFormat, 4> kRecipeFormats { { { RecipeFormat::Qdq, "qdq" },
    { RecipeFormat::QOperator, "qoperator" }, { RecipeFormat::Dynamic, "dynamic" },
    { RecipeFormat::WeightOnly, "weight-only" } } };
/// Ranges of activations are known before the model runs: found by calibration, or given.
constexpr bool isStatic(RecipeFormat format)
{
    return format == RecipeFormat::Qdq || format == RecipeFormat::QOperator;
}

/// Release of ONNX Runtime whose quantization tools are followed to the bit. 1.32 keeps float16 scales below the normal
/// numbers, gives float16 biases that a float16 scale would cut or lose a float32 one, and leaves the weight of a Gemm
/// beside the transposed one that a dynamic product reads.
enum class OrtVersion { V1_31, V1_32 };
inline constexpr NamedValues<OrtVersion, 2> kOrtVersions { { { OrtVersion::V1_31, "1.31" },
    { OrtVersion::V1_32, "1.32" } } };

/// Types of codes that a recipe can ask for.
inline constexpr NamedValues<DType, 9> kCodeTypes { { { DType::Int8, "int8" }, { DType::UInt8, "uint8" },
    { DType::Int16, "int16" }, { DType::UInt16, "uint16" }, { DType::Int4, "int4" }, { DType::UInt4, "uint4" },
    { DType::Int2, "int2" }, { DType::UInt2, "uint2" }, { DType::Float8E4M3FN, "float8e4m3fn" } } };

/// What is asked of one tensor (or one channel of it) in place of what the recipe's defaults say.
struct QuantOverride {
    std::optional<DType> type;
    std::optional<double> scale; ///< together with zeroPoint
    std::optional<int64_t> zeroPoint;
    std::optional<bool> symmetric;
    std::optional<bool> reduceRange; ///< constants only
    std::optional<double> lowest, highest; ///< real range
    bool operator==(const QuantOverride&) const = default;
};

/// A second quantization of an activation for some of its readers (mixed precision).
struct QuantConversion {
    QuantOverride to;
    std::vector<std::string> readers; ///< node names; empty: all
    bool operator==(const QuantConversion&) const = default;
};

/// Overrides of one tensor. A constant with `axis` is quantized per channel: one entry for all channels, or one each.
struct TensorOverride {
    std::vector<QuantOverride> parts = { {} };
    std::optional<int64_t> axis;
    std::optional<QuantConversion> convert;
    /// Of an activation: its range follows from what was seen by this one in place of the recipe's. A range or scale of
    /// its own goes before, and ranges that come from a file.
    std::optional<CalibratorOptions> calibrator;
    bool operator==(const TensorOverride&) const = default;
};

/// Passes that change the float graph before it is quantized.
struct GraphPreparation {
    bool enabled = false; ///< those below that are switched on run
    std::vector<std::string> fixedInputs; ///< NAME=VALUE: inputs that become constants before the passes run
    std::vector<std::string> fixedShapes; ///< NAME=2x3x4: sizes that inputs get
    bool foldBranches = true; ///< of If, where the condition is constant
    bool foldConstants = true;
    bool removeUnused = true; ///< Identity, Dropout, what no output depends on
    bool foldBatchNorm = true; ///< into Conv and ConvTranspose
    bool fuseLayerNorm = true; ///< from opset 17 on; in older ones its single operators stay float
    bool fuseGelu = true; ///< from opset 20 on; in older ones its single operators stay float
    bool fuseAttention = false; ///< to operators of com.microsoft
    bool fuseSkipLayerNorm = false; ///< to an operator of com.microsoft
    bool fuseGemm = false; ///< a product and the sum behind it
    bool keepAttention = true; ///< scaling, masks and Softmax between an attention's two products stay float
    bool inferShapes = true;
    bool operator==(const GraphPreparation&) const = default;
};

/// How the codes of a block are found: MLAS' way, round to nearest, HQQ, GPTQ (needs samples), k-quant.
enum class WeightOnlyAlgorithm { Default, RoundToNearest, Hqq, Gptq, KQuant };
inline constexpr NamedValues<WeightOnlyAlgorithm, 5> kWeightOnlyAlgorithms {
    { { WeightOnlyAlgorithm::Default, "default" }, { WeightOnlyAlgorithm::RoundToNearest, "rtn" },
        { WeightOnlyAlgorithm::Hqq, "hqq" }, { WeightOnlyAlgorithm::Gptq, "gptq" },
        { WeightOnlyAlgorithm::KQuant, "k-quant" } }
};

struct GptqOptions {
    double damping = 0.01; ///< share of the mean of the Hessian's diagonal that is added to it
    bool reorder = false; ///< rows of large activations first ("actorder")
    bool searchScale = false; ///< scales of least error in place of those that hold everything ("mse")
    bool perChannel = true;
    /// What rounding one row leaves is made up for by the rows after it, as the algorithm means it. ONNX Runtime's code
    /// multiplies with the empty half of the matrix that spreads it: off, the result is that of ONNX Runtime.
    bool spreadErrors = false;
    bool operator==(const GptqOptions&) const = default;
};

/// What is asked of the weight of one node in place of what the recipe says for all.
struct WeightOnlyNode {
    std::optional<DType> type;
    std::optional<int64_t> blockSize; ///< -1: the whole column
    bool operator==(const WeightOnlyNode&) const = default;
};

/// MatMulNBits and its relatives. Signed weight types are symmetric without zero points, unsigned ones have them.
struct WeightOnlyOptions {
    int64_t blockSize = 128;
    WeightOnlyAlgorithm algorithm = WeightOnlyAlgorithm::Default;
    bool dequantizeForm = false; ///< DequantizeLinear + MatMul in place of MatMulNBits
    bool channelWise = false; ///< one block a column; dequantizeForm only
    int64_t accuracyLevel = 0; ///< attribute of MatMulNBits; 0: not written
    int64_t tableAxis = 1; ///< axis of the blocks in a table that Gather reads
    std::map<std::string, double> clipRatios; ///< by weight: share of its range that is kept; RoundToNearest only
    GptqOptions gptq;
    std::map<std::string, WeightOnlyNode> nodes; ///< by node name
    bool operator==(const WeightOnlyOptions&) const = default;
};

/// What ONNX Runtime's tools do not do; see core/quant/correct. SmoothQuant, which they know, is a field of its own.
struct CorrectionOptions {
    bool equalize = false; ///< cross-layer equalization
    bool equalizeClips = false; ///< it makes Relu of a Clip from 0 on that stands between two layers
    bool adaround = false; ///< weights rounded up or down by what it does to the outputs of their layer
    bool biasCorrection = false;
    bool operator==(const CorrectionOptions&) const = default;
};

/// Where a quantized file had its quantizers. Of what `nodes` read and make, `tensors` are quantized and nothing else,
/// whatever the rules of their operators say; each has parameters of its own. Other nodes follow the rules. Names that
/// the model does not have are passed over.
struct FilePlacement {
    std::vector<std::string> nodes;
    std::vector<std::string> tensors;
    bool operator==(const FilePlacement&) const = default;
};

/// Codes of one constant in a quantized file.
struct FileConstant {
    std::string value; ///< of the file, which holds them
    std::string key; ///< codesKey() of the float constant, the parameters and the codes
    bool operator==(const FileConstant&) const = default;
};

/// Codes of weights and biases that a quantized file has and rounding the float constants does not give. They hold as
/// long as the float constant and the parameters are those that they were read with; otherwise they are computed anew.
struct FileCodes {
    std::string file; ///< empty: none
    std::map<std::string, FileConstant> constants; ///< by names of the float model
    bool operator==(const FileCodes&) const = default;
};

/// How a float model is to be quantized: a plain value. The defaults are those of ONNX Runtime's quantize_static (or
/// quantize_dynamic, see withDefaultsOf()). Names of nodes and tensors are those of the float file; a node without a
/// name goes by its first output's.
struct Recipe {
    RecipeFormat format = RecipeFormat::Qdq;
    DType activationType = DType::Int8;
    DType weightType = DType::Int8;
    bool perChannel = false;
    bool reduceRange = false;
    std::vector<std::string> opTypes; ///< empty: those ONNX Runtime quantizes by default
    std::vector<std::string> include; ///< patterns of node names; empty: all
    std::vector<std::string> exclude; ///< patterns of node names

    CalibratorOptions calibration;

    bool symmetricActivations = false;
    bool restrictedAsymmetric = false; ///< ActivationRestrictedAsymmetric
    std::optional<bool> symmetricWeights; ///< unset: signed types are
    std::optional<double> minimumRange; ///< MinimumRealRange
    bool quantizeUnquantizedInputs = false; ///< ForceQuantizeNoInputCheck
    std::optional<bool> matmulConstantOnly; ///< MatMulConstBOnly; unset: on for the dynamic format alone
    bool pairsForWeights = false; ///< AddQDQPairToWeight
    bool dedicatedPairs = false; ///< DedicatedQDQPair
    bool quantizeBias = true; ///< QuantizeBias
    bool keepRemovable = false; ///< QDQKeepRemovableActivations
    bool adjustWeightsForBias = true; ///< not QDQDisableWeightAdjustForInt32Bias
    bool contribOperators = false; ///< UseQDQContribOps
    bool subgraphs = false; ///< EnableSubgraph
    bool sigmoidNnapi = false; ///< extra.Sigmoid.nnapi
    int64_t blockSize = 0; ///< BlockSize: blocked weights in Q/DQ form; 0 = off
    std::vector<std::string> noOutputTypes; ///< OpTypesToExcludeOutputQuantization
    std::map<std::string, int64_t> perChannelAxis; ///< QDQOpTypePerChannelSupportToAxis
    std::map<std::string, TensorOverride> tensors; ///< TensorQuantOverrides
    FilePlacement placement; ///< qdq format only; empty: the rules decide for all nodes
    FileCodes codes; ///< static formats only
    bool completeOverrides = false; ///< of `tensors`: types around them, and conversions at the borders
    bool smoothQuant = false;
    double smoothQuantAlpha = 0.5;
    bool smoothQuantFolding = true;
    CorrectionOptions corrections;

    WeightOnlyOptions weightOnly;
    GraphPreparation preparation;
    bool keepExtremeConstants = false; ///< constants beyond any useful scale (-3.4e38 in masks) stay float
    /// Relu and Clip are left to a quantizer only where its range does their work; ONNX Runtime's tools do not look.
    bool exactActivations = false;
    OrtVersion ortVersion = OrtVersion::V1_31;

    bool operator==(const Recipe&) const = default;
};

/// The preset the program starts from: ONNX Runtime's defaults by the newest rules known, but graph preparation,
/// extreme constants in float, and Relu and Clip removed only where the range does their work.
Recipe quantscopeRecipe();

} // namespace qs
