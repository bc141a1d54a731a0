// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/weight_lab.h"

#include "core/base/issue_text.h"
#include "core/base/work/parallel.h"
#include "core/prepare/prepare.h"
#include "core/quant/correct/equalize.h"
#include "core/quant/correct/layers.h"
#include "core/quant/params/weights.h"
#include "core/quant/weight_only/block_codes.h"
#include "core/tensor/channel_major.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace qs {

namespace {

constexpr size_t kLevels = 1000; ///< of magnitude, for the share that holds the bulk
constexpr double kBulk = 0.99;

/// Squared error of rounding x to the codes of one scale, in float32 as the quantizer rounds.
double roundingNoise(std::span<const float> x, float scale, float lowestStep, float highestStep)
{
    constexpr float kRound = 0x1.8p23f; // sums near it are whole numbers
    return sumOf(0, x.size(), [&](size_t i) {
        const float steps = std::min(std::max(x[i] / scale, lowestStep), highestStep) + kRound - kRound;
        const float error = steps * scale - x[i];
        return double(error) * double(error);
    });
}

std::vector<double> signalPowers(const ChannelMajor& x)
{
    std::vector<double> powers;
    for (size_t c = 0; c < x.channels(); ++c) {
        const auto values = x.channel(c);
        powers.push_back(sumOf(0, values.size(), [&](size_t i) { return double(values[i]) * double(values[i]); }));
    }
    return powers;
}

/// Fills in what each channel loses.
void fill(WeightTrial& trial, const std::vector<double>& powers, const std::vector<double>& noises)
{
    double signal = 0, noise = 0;
    for (size_t c = 0; c < powers.size(); ++c) {
        trial.channelSqnrDb.push_back(powerRatioDb(powers[c], noises[c]));
        const Number& db = trial.channelSqnrDb.back();
        if (db && (!trial.worstChannelDb || *db < *trial.worstChannelDb))
            trial.worstChannelDb = db;
        signal += powers[c];
        noise += noises[c];
    }
    trial.sqnrDb = powerRatioDb(signal, noise);
    trial.exact = noise == 0;
}

double noiseOf(std::span<const float> x, const QuantParams& params, size_t s)
{
    const CodeRange codes = params.codes();
    const auto zero = float(params.zero(s));
    return roundingNoise(x, params.scale[s], float(codes.low) - zero, float(codes.high) - zero);
}

/// What one channel of a matrix loses in blocks.
double blockedNoise(std::span<const float> channel, size_t c, int64_t axis, const QuantParams& params, size_t channels)
{
    const auto size = size_t(params.blockSize);
    const size_t along = *params.axis == axis ? channels : channel.size(); // elements on the axis of the blocks
    const size_t blocks = (along + size - 1) / size;
    const size_t across = params.scale.size() / blocks;
    const auto scaleAt = [&](size_t block, size_t other) {
        return *params.axis == 0 ? block * across + other : other * blocks + block;
    };
    double noise = 0;
    if (*params.axis == axis) { // each element lies in a block with elements of other channels
        for (size_t i = 0; i < channel.size(); ++i)
            noise += noiseOf(channel.subspan(i, 1), params, scaleAt(c / size, i));
        return noise;
    }
    for (size_t b = 0; b < blocks; ++b)
        noise += noiseOf(channel.subspan(b * size, std::min(size, channel.size() - b * size)), params, scaleAt(b, c));
    return noise;
}

bool isUnsigned(DType type) { return codeRange(type).value_or(CodeRange { -1, 0 }).low == 0; }

/// Of the stored parameters, in the weight's own shape.
std::optional<int64_t> storedAxis(const WeightRow& row)
{
    return row.params.axis && row.turned ? std::optional(1 - *row.params.axis) : row.params.axis;
}

/// A weight, and how the file stores it.
struct Tried {
    const Tensor& weight;
    const ChannelMajor& x;
    int64_t axis; ///< of the channels
    const WeightRow& row;
    std::vector<double> powers;
    /// MatMulNBits makes its scales in a way of its own.
    bool forOperator() const { return row.turned && axis == 1 && storedAxis(row) == 0 && isUnsigned(row.params.dtype); }
};

/// What each column of a matrix [K, N] loses in the blocks of MatMulNBits, as MLAS makes them (the default of ONNX
/// Runtime's quantizer and of the model builder).
Result<std::vector<double>> operatorNoises(const Tensor& weight, const WeightTrial& trial)
{
    BlockRules rules;
    rules.bits = int(dtypeBits(trial.type));
    rules.blockSize = trial.blockSize;
    rules.symmetric = trial.symmetric;
    QS_TRY(const BlockMatrix made, quantizeBlocks(weight, rules));
    const auto x = weight.data<float>();
    std::vector<double> noises(size_t(made.columns));
    for (size_t c = 0; c < noises.size(); ++c)
        for (size_t k = 0; k < size_t(made.rows); ++k) {
            const size_t block = made.at(c, k / size_t(trial.blockSize));
            const int code = made.codes[c * size_t(made.rows) + k];
            const int zero = trial.symmetric ? 1 << (rules.bits - 1) : made.zeroPoints[block];
            const double error = double(float(code - zero) * made.scales[block]) - double(x[k * noises.size() + c]);
            noises[c] += error * error;
        }
    return noises;
}

/// Fills in what the trial asks for; false where the weight cannot be quantized so.
bool tryOut(const Tried& of, WeightTrial& trial)
{
    const ScaleRules rules { trial.type, DType::Float32, trial.symmetric, trial.reduced, std::nullopt, false };
    const bool blocked = trial.blockSize > 0;
    if (blocked && of.forOperator()) {
        const auto noises = operatorNoises(of.weight, trial);
        if (noises.ok())
            fill(trial, of.powers, *noises);
        return noises.ok();
    }
    const auto params = blocked
        ? blockedWeightParams(of.weight, rules, *storedAxis(of.row), trial.blockSize)
        : weightParams(of.weight, rules, trial.perChannel ? std::optional(of.axis) : std::nullopt);
    if (!params.ok())
        return false;
    std::vector<double> noises;
    for (size_t c = 0; c < of.x.channels(); ++c)
        noises.push_back(blocked ? blockedNoise(of.x.channel(c), c, of.axis, *params, of.x.channels())
                                 : noiseOf(of.x.channel(c), *params, trial.perChannel ? c : 0));
    fill(trial, of.powers, noises);
    return true;
}

/// Blocks have the parameters of a matrix only.
bool triesBlocks(const Tensor& weight, const QuantParams& stored)
{
    return stored.blockSize > 0 && stored.axis && *stored.axis >= 0 && *stored.axis < 2 && weight.rank() == 2;
}

/// The stored form with one bit less, if the scales are those that it would have; nothing where they are others.
std::optional<WeightTrial> reducedForm(const Tensor& weight, const WeightRow& row)
{
    constexpr float kSame = 0.01f; // of a scale
    const QuantParams& stored = row.params;
    const bool plain = stored.blockSize == 0 && !stored.kept && isInteger(stored.dtype) && dtypeBits(stored.dtype) == 8;
    if (!plain || stored.scale.empty() || (!stored.perTensor() && storedAxis(row) != row.channelAxis))
        return std::nullopt;
    WeightTrial trial { .type = stored.dtype, .perChannel = !stored.perTensor(), .reduced = true };
    trial.symmetric = std::ranges::all_of(stored.zeroPoint, [](int32_t zero) { return zero == 0; });
    const auto params = weightParams(weight, { trial.type, DType::Float32, trial.symmetric, true },
        trial.perChannel ? std::optional(row.channelAxis) : std::nullopt);
    const auto near = [](float a, float b) { return std::fabs(a - b) <= kSame * b; };
    return params.ok() && std::ranges::equal(stored.scale, params->scale, near) ? std::optional(trial) : std::nullopt;
}

/// `reduced`: one with fewer bits, to be tried, too.
std::vector<WeightTrial> allTrials(
    const Tensor& weight, const ChannelMajor& x, const WeightRow& row, const std::optional<WeightTrial>& reduced)
{
    const QuantParams& stored = row.params;
    const Tried of { weight, x, row.channelAxis, row, signalPowers(x) };
    std::vector<WeightTrial> trials;
    const auto add = [&](WeightTrial trial) {
        if (tryOut(of, trial))
            trials.push_back(std::move(trial));
    };
    for (const bool eight : { true, false })
        for (const bool symmetric : { true, false })
            for (const bool perChannel : { false, true }) {
                const DType type
                    = eight ? (symmetric ? DType::Int8 : DType::UInt8) : (symmetric ? DType::Int4 : DType::UInt4);
                add({ .type = type, .symmetric = symmetric, .perChannel = perChannel });
            }
    for (const bool eight : { true, false })
        for (const bool symmetric : { true, false }) {
            const bool plain = !symmetric || isUnsigned(stored.dtype); // a zero point in the middle
            const DType type = eight ? (plain ? DType::UInt8 : DType::Int8) : (plain ? DType::UInt4 : DType::Int4);
            if (triesBlocks(weight, stored))
                add({ .type = type, .symmetric = symmetric, .blockSize = stored.blockSize });
        }
    if (reduced)
        add(*reduced);
    return trials;
}

double largestMagnitude(std::span<const float> x)
{
    float most = 0;
    for (const float v : x)
        most = std::max(most, std::fabs(v));
    return most;
}

double outlierShare(std::span<const float> x, double largest)
{
    const auto half = float(largest / 2);
    size_t beyond = 0;
    for (const float v : x)
        beyond += std::fabs(v) > half;
    return x.empty() ? 0 : double(beyond) / double(x.size());
}

double bulkRange(std::span<const float> x, double largest)
{
    if (largest <= 0)
        return 0;
    std::vector<size_t> counts(kLevels + 1);
    const auto perUnit = float(double(kLevels) / largest);
    for (const float v : x)
        ++counts[std::min(size_t(std::fabs(v) * perUnit), kLevels)];
    size_t below = 0, level = 0;
    while (level < kLevels && double(below + counts[level]) < kBulk * double(x.size()))
        below += counts[level++];
    return std::min(1.0, double(level + 1) / double(kLevels));
}

/// A plain float32 tensor of the same values.
Tensor asFloat32(const Tensor& t)
{
    const Tensor plain = toPlain(t);
    return plain.dtype() == DType::Float32 ? plain : Tensor::of<float>(plain.shape(), toFloats(plain));
}

std::vector<WeightChannel> channelsOfRow(const WeightRow& row, const ChannelMajor& x)
{
    std::vector<WeightChannel> channels(x.channels());
    const QuantParams& params = row.params;
    const bool along = storedAxis(row) == row.channelAxis && params.blockSize == 0;
    for (size_t c = 0; c < channels.size(); ++c) {
        const auto values = x.channel(c);
        const auto [low, high] = std::ranges::minmax_element(values);
        channels[c].lowest = *low;
        channels[c].highest = *high;
        channels[c].outlierShare = outlierShare(values, largestMagnitude(values));
        const size_t s = params.perTensor() ? 0 : c;
        if ((params.perTensor() || along) && s < params.scale.size()) {
            channels[c].scale = params.scale[s];
            if (s < params.zeroPoint.size())
                channels[c].zeroPoint = params.zeroPoint[s];
        }
        if (c < row.channelSqnrDb.size())
            channels[c].sqnrDb = row.channelSqnrDb[c];
    }
    return channels;
}

EqualizedTrial equalizedTrial(const Tensor& weight, const WeightRow& row, const std::optional<WeightTrial>& reduced)
{
    EqualizedTrial trial;
    const ChannelMajor x(weight.data<float>(), channelsOf(weight.shape(), row.channelAxis));
    for (size_t c = 0; c < x.channels(); ++c)
        trial.channelAbsMax.push_back(largestMagnitude(x.channel(c)));
    trial.rangeRatio = largestOverMedian(trial.channelAbsMax);
    trial.trials = allTrials(weight, x, row, reduced);
    return trial;
}

/// The weights of a draft's layers by the node of the source that uses them.
std::map<NodeId, Tensor> layerWeights(const GraphDraft& draft)
{
    std::map<NodeId, Tensor> weights;
    for (const LinearLayer& layer : linearLayers(draft, DraftLinks(draft)))
        if (draft.nodes[layer.node].origin.valid())
            weights.emplace(draft.nodes[layer.node].origin, *draft.constant(layer.weight));
    return weights;
}

} // namespace

std::string weightTrialName(const WeightTrial& trial)
{
    return std::string(dtypeName(trial.type)) + (trial.symmetric ? " symmetric" : " asymmetric")
        + (trial.reduced ? ", 7 bits (reduced range)" : "")
        + (trial.blockSize > 0     ? ", blocks of " + std::to_string(trial.blockSize)
                : trial.perChannel ? ", per channel"
                                   : ", per tensor");
}

bool storesLike(const WeightTrial& trial, const QuantParams& stored)
{
    const bool blocked = stored.blockSize > 0;
    const int64_t middle = blocked && isUnsigned(stored.dtype) ? (stored.codes().high + 1) / 2 : 0;
    const bool symmetric = std::ranges::all_of(stored.zeroPoint, [&](int32_t zero) { return zero == middle; });
    const bool sameType = stored.kept ? dtypeBits(trial.type) == stored.bits() && isInteger(trial.type)
            && isSigned(trial.type) == isSigned(stored.dtype)
                                      : trial.type == stored.dtype;
    return sameType && trial.symmetric == symmetric && trial.blockSize == stored.blockSize
        && (blocked || trial.perChannel != stored.perTensor());
}

Result<EqualizationPreview> previewEqualization(
    std::shared_ptr<const Model> floatModel, const std::vector<WeightRow>& rows)
{
    GraphDraft draft(std::move(floatModel));
    QS_CHECK(foldConstants(draft));
    QS_CHECK(foldBatchNorm(draft));
    QS_CHECK(removeUnused(draft));
    std::set<NodeId> quantized;
    for (const WeightRow& row : rows)
        if (!row.bias)
            quantized.insert(row.floatNode);
    std::vector<bool> chosen;
    for (const DraftNode& node : draft.nodes)
        chosen.push_back(node.origin.valid() && quantized.contains(node.origin));
    const auto before = layerWeights(draft);
    EqualizeReport report = equalizeLayers(draft, chosen);
    EqualizationPreview preview { {}, report.pairs, std::move(report.clips) };
    for (auto& [node, weight] : layerWeights(draft))
        if (const auto old = before.find(node);
            old == before.end() || !std::ranges::equal(old->second.bytes(), weight.bytes()))
            preview.weights.emplace(node, weight);
    return preview;
}

std::optional<WeightLab> weightLab(
    const FoldedConstants& constants, const WeightRow& row, const EqualizationPreview* preview)
{
    const Tensor* constant = row.floatValue.valid() ? constants.of(row.floatNode, row.floatValue) : nullptr;
    if (!constant || row.bias || constant->rank() < 2 || constant->count() == 0
        || size_t(row.channelAxis) >= constant->rank())
        return std::nullopt;
    const Tensor weight = asFloat32(*constant);
    const ChannelMajor x(weight.data<float>(), channelsOf(weight.shape(), row.channelAxis));
    WeightLab lab;
    const auto reduced = reducedForm(weight, row);
    lab.reduced = reduced.has_value();
    lab.trials = allTrials(weight, x, row, reduced);
    if (lab.trials.empty()) // not finite
        return std::nullopt;
    lab.channels = channelsOfRow(row, x);
    std::vector<double> absMax;
    for (const WeightChannel& channel : lab.channels)
        absMax.push_back(std::max(std::fabs(channel.lowest), std::fabs(channel.highest)));
    const double largest = std::ranges::max(absMax);
    lab.outlierShare = outlierShare(x.all(), largest);
    lab.bulkRange = bulkRange(x.all(), largest);
    lab.rangeRatio = largestOverMedian(std::move(absMax));
    if (preview)
        if (const auto found = preview->weights.find(row.floatNode); found != preview->weights.end())
            lab.equalized = equalizedTrial(asFloat32(found->second), row, reduced);
    return lab;
}

WeightLaboratory weightLaboratory(const FoldedConstants& constants, std::shared_ptr<const Model> floatModel,
    const std::vector<WeightRow>& rows, size_t threads)
{
    WeightLaboratory laboratory;
    if (auto preview = previewEqualization(std::move(floatModel), rows); preview.ok())
        laboratory.preview = std::move(preview).value();
    else
        laboratory.note = issueText(preview.issue());
    laboratory.weights.resize(rows.size());
    parallelFor(rows.size(), std::min(threads, std::max<size_t>(rows.size(), 1)),
        [&](size_t i, size_t) { laboratory.weights[i] = weightLab(constants, rows[i], &laboratory.preview); });
    return laboratory;
}

} // namespace qs
