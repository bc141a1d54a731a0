// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/rounding.h"
#include "core/engine/lower/common/codes.h"
#include "core/engine/lower/product/stacked_product.h"
#include "core/explain/operators/operation.h"
#include "core/explain/operators/product_places.h"
#include "core/graph/domains.h"
#include "core/kernels/quantize/quantize.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <map>

/// Products of 8-bit codes: QLinearConv, ConvInteger, QLinearMatMul, QGemm, MatMulInteger, MatMulIntegerToFloat,
/// DynamicQuantizeMatMul.
namespace qs {

namespace {

constexpr size_t kNone = SIZE_MAX;

/// Where an operator has its operands.
struct ProductSlots {
    size_t a = 0, aScale = kNone, aZero = kNone;
    size_t b = kNone, bScale = kNone, bZero = kNone;
    size_t bias = kNone; ///< int32
    size_t realBias = kNone; ///< added behind the scales
    size_t outScale = kNone, outZero = kNone;
    enum class Places { Conv, MatMul, Gemm } places = Places::MatMul;
    bool pairs = true; ///< its kernel adds pairs in 16 bits where the profile says so
};

const ProductSlots* slotsOf(const Node& node)
{
    using Places = ProductSlots::Places;
    static const std::map<std::pair<std::string, std::string>, ProductSlots> all {
        { { "", "QLinearConv" }, { 0, 1, 2, 3, 4, 5, 8, kNone, 6, 7, Places::Conv, true } },
        { { "", "ConvInteger" }, { 0, kNone, 2, 1, kNone, 3, kNone, kNone, kNone, kNone, Places::Conv, false } },
        { { "", "QLinearMatMul" }, { 0, 1, 2, 3, 4, 5, kNone, kNone, 6, 7, Places::MatMul, true } },
        { { "", "MatMulInteger" }, { 0, kNone, 2, 1, kNone, 3, kNone, kNone, kNone, kNone, Places::MatMul, true } },
        { { kMicrosoftDomain, "QGemm" }, { 0, 1, 2, 3, 4, 5, 6, kNone, 7, 8, Places::Gemm, true } },
        { { kMicrosoftDomain, "MatMulIntegerToFloat" },
            { 0, 2, 4, 1, 3, 5, kNone, 6, kNone, kNone, Places::MatMul, true } },
        { { kMicrosoftDomain, "DynamicQuantizeMatMul" },
            { 0, kNone, kNone, 1, 2, 3, kNone, 4, kNone, kNone, Places::MatMul, true } },
    };
    const auto it = all.find({ node.domain, node.opType });
    return it == all.end() ? nullptr : &it->second;
}

/// An operator on codes with what its slots hold.
class CodeProductReader {
public:
    CodeProductReader(const Operation& op, const ProductSlots& slots, int64_t element, ElementExplanation& e)
        : m_op(op)
        , m_slots(slots)
        , m_element(element)
        , m_e(e)
    {
    }

    bool read()
    {
        if (!m_op.in(m_slots.a) || !m_op.in(m_slots.b))
            return false;
        m_a = m_op.inputs[m_slots.a];
        if (isFloat(m_a.dtype()))
            quantizeRow();
        const Shape &a = m_a.shape(), &b = m_op.inputs[m_slots.b].shape();
        auto found = m_slots.places == ProductSlots::Places::Conv ? convPlaces(*m_op.node, a, b, m_element)
            : m_slots.places == ProductSlots::Places::Gemm        ? gemmPlaces(*m_op.node, a, b, m_element)
                                                                  : matMulPlaces(a, b, m_element);
        if (!found.ok() || !isCode(m_a.dtype()) || !isCode(m_op.inputs[m_slots.b].dtype()))
            return false;
        m_places = std::move(found).value();
        readGrids();
        m_e.kind = ElementExplanation::Kind::Integer;
        m_e.relation = Relation::Products;
        addTerms();
        addPairs();
        finish();
        return true;
    }

private:
    const Tensor* at(size_t slot) const { return slot == kNone ? nullptr : m_op.in(slot); }

    /// DynamicQuantizeMatMul: floats become codes inside.
    void quantizeRow()
    {
        const auto x = toFloats(m_a);
        const DynamicScale made = dynamicScale(rangeWithZero(x.data(), x.size()));
        m_aGrid = { made.scale, made.zeroPoint };
        m_a = Tensor::allocate(DType::UInt8, m_a.shape());
        for (size_t i = 0; i < x.size(); ++i)
            m_a.fill<uint8_t>()[i] = static_cast<uint8_t>(quantizeOne(x[i], made.scale, made.zeroPoint, 0, 255));
        m_dynamic = true;
    }

    template <class T> T entry(const std::vector<T>& list, int64_t perMatrix, int64_t matrix, int64_t i, T fallback)
    {
        const auto own = entriesOf(list, perMatrix, matrix);
        return own.empty() ? fallback : own[own.size() == 1 ? 0 : static_cast<size_t>(i)];
    }

    void readGrids()
    {
        const ProductPlaces& p = m_places;
        const auto floats = [&](size_t slot) { return at(slot) ? toFloats(*at(slot)) : std::vector<float> {}; };
        if (!m_dynamic)
            m_aGrid = { entry(floats(m_slots.aScale), p.rows, p.aMatrix, p.row, 1.0f),
                entry(zeroPointsOf(at(m_slots.aZero)), p.rows, p.aMatrix, p.row, 0) };
        m_bGrid = { entry(floats(m_slots.bScale), p.columns, p.bMatrix, p.column, 1.0f),
            entry(zeroPointsOf(at(m_slots.bZero)), p.columns, p.bMatrix, p.column, 0) };
        m_hasScales = m_dynamic || (at(m_slots.aScale) && at(m_slots.bScale));
    }

    Operand left(int64_t element) const
    {
        Operand o;
        o.source = m_slots.a;
        o.element = element;
        o.code = elementAsInt(m_a, element);
        o.zeroPoint = m_aGrid.zeroPoint;
        if (m_hasScales)
            o.scale = double(m_aGrid.scale);
        o.real = double(static_cast<float>(*o.code - o.zeroPoint) * m_aGrid.scale);
        return o;
    }

    void addTerms()
    {
        int32_t sum = 0;
        for (const ProductPlaces::Pair& place : m_places.pairs) {
            m_termOf.push_back(place.a < 0 ? std::nullopt : std::optional(m_e.terms.size()));
            if (place.a < 0)
                continue;
            ElementTerm term;
            term.a = left(place.a);
            term.b = codeAt(m_op, m_slots.b, place.b, m_bGrid);
            if (!m_hasScales)
                term.b->scale.reset();
            term.product = (*term.a.code - m_aGrid.zeroPoint) * (*term.b->code - m_bGrid.zeroPoint);
            sum = wrapped(int64_t(sum) + *term.product);
            term.sum = sum;
            m_e.terms.push_back(std::move(term));
        }
        m_sum = sum;
    }

    /// Raw codes of product k of the depth, as the instruction multiplies them; 0 behind the end.
    std::pair<int32_t, int32_t> raw(size_t k) const
    {
        if (k >= m_places.pairs.size())
            return {};
        const ProductPlaces::Pair& place = m_places.pairs[k];
        const int64_t a = place.a < 0 ? m_aGrid.zeroPoint : elementAsInt(m_a, place.a);
        return { static_cast<uint8_t>(a + leftShift(m_op.saturation)),
            static_cast<int32_t>(elementAsInt(m_op.inputs[m_slots.b], place.b)) };
    }

    void addPairs()
    {
        if (!m_slots.pairs || m_places.ownKernel
            || !saturates(m_op.saturation, m_a.dtype(), m_op.inputs[m_slots.b].dtype()))
            return;
        m_e.pairs = (m_places.pairs.size() + 1) / 2;
        int64_t lost = 0; // of pairs before the next term
        size_t nextTerm = 0;
        for (size_t k = 0; k < m_places.pairs.size(); k += 2) {
            const auto [a0, w0] = raw(k);
            const auto [a1, w1] = raw(k + 1);
            const SaturatedPair codes { m_places.column, int64_t(k / 2), a0, a1, w0, w1 };
            const auto first = m_termOf[k], second = k + 1 < m_termOf.size() ? m_termOf[k + 1] : std::nullopt;
            const auto last = second ? second : first;
            for (; last && nextTerm < *last; ++nextTerm)
                take(nextTerm, lost);
            if (codes.lost() != 0) {
                const int32_t own = codes.sum() - codes.kept();
                for (const auto& term : { first, second })
                    if (term)
                        m_e.terms[*term].pair = m_e.saturated.size();
                m_e.saturated.push_back({ { first, second }, codes, own });
                lost += own;
            }
        }
        for (; nextTerm < m_e.terms.size(); ++nextTerm)
            take(nextTerm, lost);
        m_lost = lost;
    }

    void take(size_t term, int64_t lost) { m_e.terms[term].sum = wrapped(int64_t(*m_e.terms[term].sum) - lost); }

    void finish()
    {
        m_e.steps.push_back({ "sum of products of codes less zero points", double(m_sum) });
        int32_t sum = wrapped(int64_t(m_sum) - m_lost);
        if (m_lost != 0)
            m_e.steps.push_back({ "what 16-bit pair sums keep of it", double(sum) });
        if (const Tensor* bias = at(m_slots.bias)) {
            const int64_t place = m_slots.places == ProductSlots::Places::Gemm
                ? broadcastElement(m_op.output.shape(), m_element, bias->shape())
                : m_places.column;
            m_e.bias = codeAt(m_op, m_slots.bias, place, { alpha() * m_aGrid.scale * m_bGrid.scale, 0 });
            sum = wrapped(int64_t(sum) + *m_e.bias->code);
            m_e.steps.push_back({ "plus bias", double(sum) });
        }
        m_e.accumulator = sum;
        if (at(m_slots.outScale))
            return finishCodes(sum);
        if (!m_hasScales) {
            m_e.confirmed = elementAsInt(m_op.output, m_element) == sum;
            m_e.real = double(sum);
            return;
        }
        finishFloat(sum);
    }

    /// QGemm's; the left scale is multiplied by it first.
    float alpha() const
    {
        return m_slots.places == ProductSlots::Places::Gemm ? m_op.node->attributes.real("alpha", 1) : 1.0f;
    }

    void finishCodes(int32_t sum)
    {
        const CodeGrid out = gridOf(m_op, m_slots.outScale, m_slots.outZero);
        const float scale = (alpha() * m_aGrid.scale) * m_bGrid.scale;
        const float multiplier = scale / out.scale;
        m_e.factor = double(alpha());
        m_e.multiplier = double(multiplier);
        const float quotient = static_cast<float>(sum) * multiplier;
        m_e.steps.push_back({ "times input scale * weight scale / output scale", double(quotient) });
        const int64_t code = roundToCode(m_e, quotient, m_op.output.dtype(), out, true);
        m_e.confirmed = code == elementAsInt(m_op.output, m_element);
        setCode(m_e, elementAsInt(m_op.output, m_element), out);
    }

    void finishFloat(int32_t sum)
    {
        const float scale = (alpha() * m_aGrid.scale) * m_bGrid.scale;
        m_e.factor = double(alpha());
        m_e.multiplier = double(scale);
        float value = static_cast<float>(sum) * scale;
        m_e.steps.push_back({ "times input scale * weight scale", double(value) });
        if (at(m_slots.realBias)) {
            m_e.bias = operandAt(m_op, m_slots.realBias, m_places.column);
            value += static_cast<float>(m_e.bias->real);
            m_e.steps.push_back({ "plus bias", double(value) });
        }
        m_e.confirmed = value == static_cast<float>(elementAsDouble(m_op.output, m_element));
    }

    const Operation& m_op;
    const ProductSlots& m_slots;
    int64_t m_element;
    ElementExplanation& m_e;
    Tensor m_a;
    bool m_dynamic = false, m_hasScales = false;
    CodeGrid m_aGrid, m_bGrid;
    ProductPlaces m_places;
    std::vector<std::optional<size_t>> m_termOf; ///< by product of the depth; nothing: padding
    int32_t m_sum = 0;
    int64_t m_lost = 0;
};

} // namespace

bool explainCodeProduct(const Operation& op, int64_t element, ElementExplanation& e)
{
    const ProductSlots* slots = slotsOf(*op.node);
    return slots && CodeProductReader(op, *slots, element, e).read();
}

} // namespace qs
