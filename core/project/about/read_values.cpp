// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/read_values.h"

#include "core/analysis/pairs/body_pairs.h"
#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/values/model_value.h"
#include "core/match/graph/canonical.h"
#include "core/project/snapshot/comparing.h"

#include <algorithm>

namespace qs {

namespace {

const LoadedModel* modelOf(const Snapshot& s, bool quantized)
{
    const auto& model = quantized ? s.quantModel : s.floatModel;
    return model ? &*model : nullptr;
}

bool isPaired(const Snapshot& s) { return s.floatModel && s.quantModel && s.alignment; }

bool holds(const Quantizer& q, ValueId id) { return q.codes == id || q.dequantized == id; }

/// The pair of constants that a place means; null: it is none.
const WeightPair* weightAt(const Snapshot& s, const TensorPlace& place)
{
    if (!isPaired(s))
        return nullptr;
    const auto& pairs = s.alignment->weights;
    if (place.weight)
        return *place.weight < pairs.size() ? &pairs[*place.weight] : nullptr;
    const auto found = std::ranges::find_if(pairs, [&](const WeightPair& pair) {
        return place.quantized ? holds(s.quantModel->quant->quantizers()[pair.quantizer], place.value)
                               : pair.floatValue == place.value;
    });
    return found == pairs.end() ? nullptr : &*found;
}

std::shared_ptr<const std::vector<uint32_t>> placesOf(
    const WeightPair& pair, std::vector<uint32_t> WeightPlaces::*which)
{
    return pair.places ? std::shared_ptr<const std::vector<uint32_t>>(pair.places, &((*pair.places).*which)) : nullptr;
}

/// Both sides of a pair of constants, in the order of the row that a comparison makes of them.
void readWeight(const ComparePair& models, const WeightPair& pair, const Tensor& constant, TensorValues& values)
{
    const Quantizer& q = models.quantView->quantizers()[pair.quantizer];
    const Tensor& codes = *storedCodes(*models.quantPlan, q);
    values.name = models.floatPlan->graph().value(pair.floatValue).name;
    values.shape = pair.places ? pair.places->shape : constant.shape();
    const bool exchanged = pair.transposed && codes.rank() == 2;
    values.reference = Elements(constant).ordered(values.shape, { 0, placesOf(pair, &WeightPlaces::floats) });
    values.quantized
        = Elements(codes, q.params)
              .ordered(values.shape,
                  { exchanged ? codes.dim(0) : 0, exchanged ? nullptr : placesOf(pair, &WeightPlaces::codes) });
    if (!pair.places && codes.count() != constant.count())
        values.quantized.reset();
}

/// Row `index` of a comparison's weights, counted behind those of the main graphs.
Status readBodyWeight(const Snapshot& s, size_t index, TensorValues& values)
{
    index -= s.alignment->weights.size();
    for (const BodyPair& body : bodyPairs(comparePairOf(s))) {
        const auto& pairs = body.pair.alignment->weights;
        if (index < pairs.size()) {
            readWeight(body.pair, pairs[index], *FoldedConstants(body.pair.floatPlan).of(pairs[index]), values);
            return {};
        }
        index -= pairs.size();
    }
    return badInput("this weight is not there any more", {}, "choose another tensor");
}

/// What of a snapshot running one of its models takes.
SampleRuns runsOf(const Snapshot& s, bool written)
{
    const LoadedModel* fed = modelOf(s, !s.floatModel);
    return { s.data, fed->plan, s.inputs.carry, written ? s.caches.activations : nullptr };
}

struct Reader {
    const Snapshot& s;
    size_t sample;
    const WorkContext& work;

    Result<Elements> read(const ModelValue& value, bool quantized) const
    {
        if (value.constant())
            return constantElements(value);
        if (const Issue* blocked = value.plan->blocked(value.value))
            return *blocked;
        if (!s.data)
            return badUse("its values depend on data, and there are none", "open data");
        const bool written = !quantized || s.inputs.profile == ArithmeticProfile::Simulated;
        return sampleElements(value, runsOf(s, written), sample, work);
    }

    /// Both sides of an activation, or the one that there is.
    Status readActivation(const TensorPlace& place, TensorValues& values) const
    {
        std::optional<ModelValue> x, y;
        if (isPaired(s)) {
            const ComparePair models = comparePairOf(s);
            const auto plans = planPairs(models);
            const auto found = std::ranges::find_if(plans, [&](const PairPlan& p) {
                return place.quantized ? p.pair.quantValue == place.value : place.isPair(p.x, p.y);
            });
            if (found != plans.end()) {
                x = modelValue(models.floatPlan, s.floatModel->quant.get(), found->x);
                y = quantizedValue(models, *found);
            } else if (place.quantized) {
                y = modelValue(models.quantPlan, models.quantView.get(), place.value);
            }
        } else if (place.quantized) {
            y = modelValue(s.quantModel->plan, s.quantModel->quant.get(), place.value);
        }
        if (!x && !place.quantized)
            x = modelValue(s.floatModel->plan, s.floatModel->quant.get(), place.value);
        if (x) {
            QS_TRY(values.reference, read(*x, false));
            values.name = s.floatModel->graph().value(x->value).name;
        }
        if (y) {
            QS_TRY(values.quantized, read(*y, true));
            if (!x)
                values.name = s.quantModel->graph().value(place.value).name;
        }
        if (!(x ? *x : *y).constant())
            values.sample = sample;
        values.shape = (x ? values.reference : values.quantized)->shape();
        return {};
    }

    /// The second quantized model's side of a tensor that the float model has.
    void readOther(const TensorPlace& place, TensorValues& values) const
    {
        const Snapshot& b = *s.other->snapshot;
        const auto there = place.quantized ? tensorNamed(b, values.name, false) : tensorInOther(s, place);
        if (!there)
            return;
        auto found = readValues(b, *there, sample, work);
        if (found && found->quantized && found->count() == values.count())
            values.other = std::move(found->quantized);
    }
};

bool isEqualized(const Snapshot& s, const TensorPlace& place)
{
    if (!s.comparison || !s.comparison->equalized)
        return false;
    const auto& rows = s.comparison->activations;
    return std::ranges::any_of(rows, [&](const ActivationRow& row) {
        return row.equalized && (place.quantized ? row.quantValue : row.floatValue) == place.value;
    });
}

/// Why one of the models has nothing here.
std::string noteOf(const Snapshot& s, const TensorPlace& place, const TensorValues& values)
{
    if (!isPaired(s) || (values.reference && values.quantized))
        return {};
    const auto& inside = place.quantized ? s.alignment->insideQuant : s.alignment->insideFloat;
    const std::string which = place.quantized ? "float" : "quantized";
    if (const NodeId node = nodeAround(inside, place.value); node.valid())
        return "the " + which + " model computes it inside " + modelOf(s, !place.quantized)->graph().node(node).name;
    const auto& why = place.quantized ? s.alignment->whyQuant : s.alignment->whyFloat;
    const auto known = why.find(place.value);
    return "no partner in the " + which + " model"
        + (known == why.end() ? std::string() : ": " + std::string(whyAloneText(known->second)));
}

} // namespace

std::string nameOf(const Snapshot& s, const TensorPlace& place)
{
    if (place.weight && s.comparison && *place.weight < s.comparison->weights.size())
        return s.comparison->weights[*place.weight].name;
    const LoadedModel* model = modelOf(s, place.quantized);
    return model && place.value.valid() && place.value.index() < model->graph().values().size()
        ? model->graph().value(place.value).name
        : std::string();
}

std::optional<TensorPlace> tensorNamed(const Snapshot& s, const std::string& name, bool quantized)
{
    const LoadedModel* model = modelOf(s, quantized);
    const ValueId value = model && !name.empty() ? model->graph().findValue(name) : ValueId();
    return value.valid() ? std::optional(TensorPlace { quantized, value, std::nullopt }) : std::nullopt;
}

std::optional<TensorPlace> tensorInOther(const Snapshot& s, const TensorPlace& place)
{
    if (!s.other || !s.other->snapshot)
        return std::nullopt;
    const Snapshot& b = *s.other->snapshot;
    auto there = tensorNamed(b, nameOf(s, place), place.quantized);
    if (!there || !place.partner.valid() || !s.comparison || !b.comparison)
        return there;
    const auto& rows = s.comparison->activations;
    const auto row = std::ranges::find_if(rows, [&](const ActivationRow& r) {
        return r.floatValue == place.value && r.quantValue == place.partner && r.other;
    });
    if (row != rows.end() && row->other->row < b.comparison->activations.size())
        there->partner = b.comparison->activations[row->other->row].quantValue;
    return there;
}

bool isConstant(const Snapshot& s, const TensorPlace& place)
{
    return place.weight || weightAt(s, place) || modelOf(s, place.quantized)->plan->constant(place.value);
}

Result<TensorValues> readValues(const Snapshot& s, const TensorPlace& place, size_t sample, const WorkContext& work)
{
    const Reader reader { s, sample, work };
    TensorValues values;
    if (const WeightPair* pair = weightAt(s, place))
        readWeight(comparePairOf(s), *pair, *foldedConstantsOf(s).of(*pair), values);
    else if (place.weight)
        QS_CHECK(readBodyWeight(s, *place.weight, values));
    else
        QS_CHECK(reader.readActivation(place, values));
    if (values.reference && values.quantized && values.reference->count() != values.quantized->count()) {
        values.quantized.reset();
        values.note = "the quantized model has another number of elements here";
    }
    if (values.note.empty())
        values.note = noteOf(s, place, values);
    if (values.note.empty() && values.reference && values.quantized && isEqualized(s, place))
        values.note = "the quantized model's channels have factors here that the next layers take away again "
                      "(cross-layer equalization): differences hold these, too";
    if (s.other && s.other->snapshot && values.reference)
        reader.readOther(place, values);
    if (work.cancel.cancelled())
        return cancelled();
    return values;
}

} // namespace qs
