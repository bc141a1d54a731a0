// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/alignment_state.h"

#include "core/base/files/byte_stream.h"

namespace qs {

namespace {

class Writer {
public:
    void values(const std::vector<ValuePair>& pairs)
    {
        m_out.number<uint64_t>(pairs.size());
        for (const ValuePair& p : pairs) {
            found(p.floatValue.index(), p.quantValue.index(), p.method, p.confidence);
            m_out.number<uint64_t>(p.quantizer ? *p.quantizer + 1 : 0);
            m_out.number<uint64_t>(p.unrounded.valid() ? p.unrounded.index() + 1 : 0);
        }
    }
    void weights(const std::vector<WeightPair>& pairs)
    {
        m_out.number<uint64_t>(pairs.size());
        for (const WeightPair& w : pairs) {
            found(w.floatValue.index(), w.quantizer, w.method, w.confidence);
            m_out.number<uint64_t>(w.floatNode.valid() ? w.floatNode.index() + 1 : 0);
            m_out.number<uint64_t>(w.quantNode.valid() ? w.quantNode.index() + 1 : 0);
            m_out.number<uint8_t>(w.transposed);
        }
    }
    void links(const std::vector<NumericLink>& list)
    {
        m_out.number<uint64_t>(list.size());
        for (const NumericLink& l : list) {
            found(l.floatValue.index(), l.quantValue.index(), MatchMethod::Numeric, l.confidence);
            m_out.number<uint8_t>(l.permuted);
        }
    }
    void ids(const std::vector<ValueId>& list)
    {
        m_out.number<uint64_t>(list.size());
        for (const ValueId id : list)
            m_out.number<uint64_t>(id.index());
    }
    void inside(const std::vector<InsideValue>& list)
    {
        m_out.number<uint64_t>(list.size());
        for (const InsideValue& value : list) {
            m_out.number<uint64_t>(value.value.index());
            m_out.number<uint64_t>(value.node.index() + 1);
        }
    }
    void reasons(const std::map<ValueId, WhyAlone>& reasons)
    {
        m_out.number<uint64_t>(reasons.size());
        for (const auto& [value, why] : reasons) {
            m_out.number<uint64_t>(value.index());
            m_out.number<uint8_t>(uint8_t(why));
        }
    }
    std::string bytes() && { return m_out.bytes(); }

private:
    void found(size_t ofFloat, size_t ofQuant, MatchMethod method, double confidence)
    {
        m_out.number<uint64_t>(ofFloat);
        m_out.number<uint64_t>(ofQuant);
        m_out.number<uint8_t>(uint8_t(method));
        m_out.number(confidence);
    }
    ByteWriter m_out;
};

class Reader {
public:
    Reader(std::string_view bytes, const Graph& f, const Graph& q, size_t quantizers)
        : m_in(bytes)
        , m_f(f)
        , m_q(q)
        , m_quantizers(quantizers)
    {
    }

    void values(std::vector<ValuePair>& pairs)
    {
        pairs.clear();
        for (size_t i = m_in.count(kPairBytes + 2 * sizeof(uint64_t)); i > 0 && m_in.ok(); --i) {
            ValuePair p { value(m_f), value(m_q), method(), m_in.number<double>(), std::nullopt, NodeId() };
            if (const auto number = m_in.number<uint64_t>())
                p.quantizer = quantizer(number - 1);
            p.unrounded = node(m_q);
            pairs.push_back(p);
        }
    }
    void weights(std::vector<WeightPair>& pairs)
    {
        pairs.clear();
        for (size_t i = m_in.count(kPairBytes + 2 * sizeof(uint64_t) + 1); i > 0 && m_in.ok(); --i) {
            WeightPair w;
            w.floatValue = value(m_f);
            w.quantizer = quantizer(m_in.number<uint64_t>());
            w.method = method();
            w.confidence = m_in.number<double>();
            w.floatNode = node(m_f);
            w.quantNode = node(m_q);
            w.transposed = m_in.number<uint8_t>() != 0;
            pairs.push_back(w);
        }
    }
    void links(std::vector<NumericLink>& list)
    {
        list.clear();
        for (size_t i = m_in.count(kPairBytes + 1); i > 0 && m_in.ok(); --i) {
            NumericLink l { value(m_f), value(m_q), 0, false };
            method();
            l.confidence = m_in.number<double>();
            l.permuted = m_in.number<uint8_t>() != 0;
            list.push_back(l);
        }
    }
    void ids(const Graph& graph, std::vector<ValueId>& list)
    {
        list.clear();
        for (size_t i = m_in.count(sizeof(uint64_t)); i > 0 && m_in.ok(); --i)
            list.push_back(value(graph));
    }
    void inside(const Graph& graph, const Graph& other, std::vector<InsideValue>& list)
    {
        list.clear();
        for (size_t i = m_in.count(2 * sizeof(uint64_t)); i > 0 && m_in.ok(); --i) {
            const ValueId id = value(graph);
            list.push_back({ id, node(other) });
            if (!list.back().node.valid())
                m_in.fail();
        }
    }
    void reasons(const Graph& graph, std::map<ValueId, WhyAlone>& reasons)
    {
        reasons.clear();
        for (size_t i = m_in.count(sizeof(uint64_t) + 1); i > 0 && m_in.ok(); --i) {
            const ValueId id = value(graph);
            const auto why = m_in.number<uint8_t>();
            if (why > uint8_t(WhyAlone::OtherSteps))
                m_in.fail();
            else
                reasons.emplace(id, WhyAlone(why));
        }
    }
    bool good() const { return m_in.ok() && m_in.atEnd(); }

private:
    static constexpr size_t kPairBytes = 2 * sizeof(uint64_t) + 1 + sizeof(double);

    ValueId value(const Graph& graph)
    {
        const auto index = m_in.number<uint64_t>();
        if (index >= graph.values().size())
            m_in.fail();
        return ValueId(m_in.ok() ? size_t(index) : 0);
    }
    NodeId node(const Graph& graph)
    {
        const auto index = m_in.number<uint64_t>();
        if (index > graph.nodes().size())
            m_in.fail();
        return m_in.ok() && index > 0 ? NodeId(size_t(index - 1)) : NodeId();
    }
    uint32_t quantizer(uint64_t index)
    {
        if (index >= m_quantizers)
            m_in.fail();
        return m_in.ok() ? uint32_t(index) : 0;
    }
    MatchMethod method()
    {
        const auto number = m_in.number<uint8_t>();
        if (number > uint8_t(MatchMethod::Numeric))
            m_in.fail();
        return m_in.ok() ? MatchMethod(number) : MatchMethod::Name;
    }

    ByteReader m_in;
    const Graph &m_f, &m_q;
    const size_t m_quantizers; ///< of the quantized model
};

} // namespace

std::string alignmentBytes(const Alignment& alignment)
{
    Writer out;
    out.values(alignment.values);
    out.weights(alignment.weights);
    out.links(alignment.links);
    out.ids(alignment.unmatchedFloat);
    out.ids(alignment.unmatchedQuant);
    out.inside(alignment.insideFloat);
    out.inside(alignment.insideQuant);
    out.reasons(alignment.whyFloat);
    out.reasons(alignment.whyQuant);
    return std::move(out).bytes();
}

bool readAlignment(
    std::string_view bytes, const Graph& floatGraph, const Graph& quantGraph, size_t quantizers, Alignment& alignment)
{
    Reader in(bytes, floatGraph, quantGraph, quantizers);
    in.values(alignment.values);
    in.weights(alignment.weights);
    in.links(alignment.links);
    in.ids(floatGraph, alignment.unmatchedFloat);
    in.ids(quantGraph, alignment.unmatchedQuant);
    in.inside(floatGraph, quantGraph, alignment.insideFloat);
    in.inside(quantGraph, floatGraph, alignment.insideQuant);
    in.reasons(floatGraph, alignment.whyFloat);
    in.reasons(quantGraph, alignment.whyQuant);
    return in.good();
}

} // namespace qs
