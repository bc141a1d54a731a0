// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/analysis/rows/activation_row.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace qs {

/// The code of zero where as many codes lie on either side of it.
int64_t middleCode(const QuantParams& params);
/// Width of a range that holds zero, too.
double widthWithZero(const std::pair<double, double>& range);
/// What its own quantizer's range does to the tensor is known.
bool hasOwnRange(const ActivationRow& row);
/// The scale and zero point that DynamicQuantizeLinear computes of the float model's typical sample; nothing where its
/// ends are not known.
std::optional<QuantParams> typicalParams(const ActivationRow& row);
/// The values behind the tensor's own quantizer, which cuts at the ends of its range; as observed without one.
std::optional<std::pair<double, double>> passedRange(const ActivationRow& row);
/// The float model's values reach beyond the representable range by more than half a step (of floats: at all).
bool exceedsRange(const ActivationRow& row);
/// What the range of the data would give over a wider one, dB: the steps of whole numbers follow the range; floats only
/// lose what is too small for them.
double unusedDb(const ActivationRow& row);
/// The range is all that the operator can make, whatever these data are: other data need it.
bool isWholeOfOperator(const ActivationRow& row);
/// The representable range is far wider than the data, some of which may lie beside it: dB that are wasted; nothing
/// below kWastedDb, but where a range of the data would leave steps enough and this one does not, kHalfUsedDb.
std::optional<double> wastedDb(const ActivationRow& row);
/// What the range of the data would give over what there is, dB.
double gainOfDataRange(const ActivationRow& row);
/// The increase over what the data permit: increaseDb takes the tensor's own scale for granted, so what a range of at
/// least four times the data's width wastes is added.
Number growthDb(const ActivationRow& row);
/// Clipping the float model's values costs more than rounding them.
bool cutsFloatData(const ActivationRow& row);
/// The same, and most noise that the quantizer makes in the quantized model is clipping.
bool clippingDominates(const ActivationRow& row);
/// Noise that the tensor's own quantizer makes, over signal power; 0 where unknown.
double ownNoiseShare(const ActivationRow& row);
/// The part of the whole noise at the tensor that its own quantizer makes, 0..1; null where unknown.
Number ownPartOfNoise(const ActivationRow& row);
/// What the tensor gains, dB, where the noise of its own quantizer becomes `gainDb` less and the rest stays.
double gainAtTensor(const ActivationRow& row, double gainDb);

/// The range cuts the data and ends at the means over samples of each one's lowest and highest value, as averaging
/// calibrators take them.
bool isAveraged(const ActivationRow& row);
enum class AveragedRanges : uint8_t {
    No,
    Perhaps, ///< most ranges that cut the data end as near to these means as those of other samples may
    Yes, ///< most of them are averaged
};
AveragedRanges averagedRanges(const std::vector<ActivationRow>& rows);

/// The row as the Relu or Clip sees it that alone reads its value: signal, ranges, and what its quantizer cuts off and
/// rounds of what these let pass, from the histograms. Nothing where there is none, or no quantizer of whole numbers.
std::optional<ActivationRow> behindActivation(const ActivationRow& row);

/// Rows as those that read them see them.
class SeenRows {
public:
    explicit SeenRows(const std::vector<ActivationRow>& rows); ///< which have to outlive this
    const ActivationRow& operator[](size_t row) const;

private:
    const std::vector<ActivationRow>& m_rows;
    std::map<size_t, ActivationRow> m_behind;
};

/// It has a quantizer of its own, static or dynamic.
bool hasOwnQuantizer(const ActivationRow& row);
/// Some quantizer stands at what the value's node reads or makes: without one it is in float already.
bool isQuantizedNode(const ComparePair& pair, const ActivationRow& row);
/// What the value's node reads comes out of an activation's quantizer.
bool readsQuantized(const ComparePair& pair, const ActivationRow& row);
/// Left in float, the value's node would have fewer quantizers: it reads quantized values and what it makes, or a step
/// of it, goes through a quantizer that the file stores. DynamicQuantizeLinear belongs to what reads the codes.
bool losesQuantizersInFloat(const ComparePair& pair, const ActivationRow& row);

} // namespace qs
