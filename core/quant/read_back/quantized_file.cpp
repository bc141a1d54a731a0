// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/quantized_file.h"

#include "core/engine/plan/plan.h"
#include "core/qdq/name_tails.h"
#include "core/qdq/qlinear_signature.h"
#include "core/qdq/quantization_fault.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

/// What quantizers add to the names of float values, longest first.
constexpr std::array<std::string_view, 6> kTails { tails::kDequantizeOutput, tails::kQuantizeOutput,
    tails::kQuantizeInput, tails::kSums, tails::kCodes, "quantized" };

std::string withoutTail(const std::string& name)
{
    std::string stem = name;
    // Dedicated pairs are numbered.
    const size_t number = stem.find_last_not_of("0123456789");
    if (number != std::string::npos && number + 1 < stem.size() && stem[number] == '_')
        if (const std::string cut = stem.substr(0, number); cut.ends_with("_Output"))
            stem = cut;
    for (std::string_view tail : kTails)
        if (stem.size() > tail.size() && stem.ends_with(tail))
            return stem.substr(0, stem.size() - tail.size());
    return name;
}

class FileReader {
public:
    FileReader(const std::shared_ptr<const Model>& model, const ValueNames& names)
        : m_plan(Plan::make(model))
        , m_graph(m_plan->graph())
        , m_names(names)
        , m_view(QuantView::of(m_graph, [this](ValueId id) { return m_plan->constant(id); }))
    {
        m_file.model = model;
    }
    QuantizedFile read();

private:
    std::string nameOf(const Quantizer& q) const;
    std::string floatName(ValueId id) const;
    ValueId scaleOf(const Quantizer& q) const;
    /// How a product or a normalization reads a value as its weight, through what moves elements.
    struct Product {
        bool reads = false, exchanged = false; ///< rows and columns, on the way
    };
    Product productOf(ValueId id) const;
    void quantizer(const Quantizer& q);
    /// The quantizer whose dequantized value this one quantizes again; null when there is none.
    const Quantizer* convertedFrom(const Quantizer& q) const;
    void conversion(const Quantizer& from, const Quantizer& q);
    std::vector<std::string> floatReaders(const Quantizer& q) const;
    void shareScales();

    std::shared_ptr<const Plan> m_plan;
    const Graph& m_graph;
    const ValueNames& m_names;
    QuantView m_view;
    QuantizedFile m_file;
    std::vector<std::string> m_order;
};

std::string FileReader::floatName(ValueId id) const
{
    const std::string& name = m_graph.value(id).name;
    const auto it = m_names.find(name);
    return it != m_names.end() ? it->second : withoutTail(name);
}

std::string FileReader::nameOf(const Quantizer& q) const
{
    for (ValueId id : { q.real, q.dequantized, q.codes })
        if (id.valid() && m_names.contains(m_graph.value(id).name))
            return m_names.at(m_graph.value(id).name);
    // An operator on codes may have taken in a Relu, whose output is what is dequantized.
    const bool byOperator = q.quantize.valid() && !isQuantizeLinear(m_graph.node(q.quantize));
    return floatName(q.real.valid() ? q.real : q.dequantized.valid() && !byOperator ? q.dequantized : q.codes);
}

ValueId FileReader::scaleOf(const Quantizer& q) const
{
    const auto input = [&](const Node& node, int slot) {
        const auto at = static_cast<size_t>(slot);
        return slot >= 0 && node.hasInput(at) ? node.inputs[at] : ValueId();
    };
    if (q.quantize.valid()) {
        const Node& node = m_graph.node(q.quantize);
        if (isQuantizeLinear(node))
            return input(node, 1);
        const auto signature = qlinearSignature(node);
        return signature ? input(node, signature->output.scale) : ValueId();
    }
    return q.dequantize.empty() ? ValueId() : input(m_graph.node(q.dequantize.front()), 1);
}

FileReader::Product FileReader::productOf(ValueId id) const
{
    if (!id.valid())
        return {};
    for (const Use& use : m_graph.value(id).uses) {
        const Node& node = m_graph.node(use.node);
        const std::string type = floatOpType(node);
        const bool second = use.slot == 1 || (use.slot == 3 && node.opType != type);
        if (type == "MatMul"
            || (second
                && (type == "Conv" || type == "ConvTranspose" || type == "Gemm" || type.ends_with("Normalization"))))
            return { true, false };
        const bool moves = (movesElements(node) || node.is("Cast")) && use.slot == 0 && node.hasOutput(0)
            && m_plan->constant(node.outputs[0]);
        if (Product behind = moves ? productOf(node.outputs[0]) : Product {}; behind.reads) {
            behind.exchanged ^= node.is("Transpose") && m_plan->constant(node.outputs[0])->rank() == 2;
            return behind;
        }
    }
    return {};
}

const Quantizer* FileReader::convertedFrom(const Quantizer& q) const
{
    if (!q.real.valid())
        return nullptr;
    const NodeId made = m_graph.value(q.real).producer;
    if (!made.valid() || !isDequantizeLinear(m_graph.node(made)) || m_plan->constant(q.real))
        return nullptr;
    const auto from = std::ranges::find_if(m_view.quantizers(),
        [&](const Quantizer& other) { return std::ranges::find(other.dequantize, made) != other.dequantize.end(); });
    return from == m_view.quantizers().end() || &*from == &q ? nullptr : &*from;
}

void FileReader::conversion(const Quantizer& from, const Quantizer& q)
{
    const auto found = m_file.tensors.find(nameOf(from));
    if (found == m_file.tensors.end())
        return;
    FileTensor& tensor = found->second;
    tensor.converted = q.params;
    const auto readers = [&](ValueId id, std::vector<std::string>& names) {
        for (const Use& use : m_graph.value(id).uses)
            if (!isQuantizeLinear(m_graph.node(use.node)))
                names.push_back(m_graph.node(use.node).name);
    };
    std::vector<std::string> first, second;
    for (NodeId node : from.dequantize)
        readers(m_graph.node(node).outputs.front(), first);
    for (NodeId node : q.dequantize)
        readers(m_graph.node(node).outputs.front(), second);
    const bool all = first.empty() && !(from.dequantized.valid() && m_graph.isOutput(from.dequantized));
    tensor.convertedReaders = all ? std::vector<std::string> {} : second;
}

std::vector<std::string> FileReader::floatReaders(const Quantizer& q) const
{
    std::vector<std::string> names;
    if (!q.real.valid() || !q.quantize.valid() || !isQuantizeLinear(m_graph.node(q.quantize)))
        return names;
    for (const Use& use : m_graph.value(q.real).uses) {
        const Node& node = m_graph.node(use.node);
        if (!isQuantizeLinear(node) && !m_view.isPlumbing(use.node) && !node.is("Shape") && !node.is("Size"))
            names.push_back(node.name);
    }
    return names;
}

void FileReader::quantizer(const Quantizer& q)
{
    if (q.params.scale.empty() && !q.dynamic)
        return;
    const std::string name = nameOf(q);
    FileTensor tensor;
    tensor.role = q.role;
    tensor.params = q.params;
    tensor.params.kept.reset(); // no recipe says it
    const Tensor* codes = q.codes.valid() ? m_plan->constant(q.codes) : nullptr;
    tensor.constant = codes || q.logicalCodes.valid() || (q.real.valid() && m_plan->constant(q.real));
    if (tensor.constant) {
        tensor.codes = q.logicalCodes.valid() ? q.logicalCodes : codes ? *codes : Tensor();
        if (codes && !q.logicalCodes.valid())
            tensor.codesName = m_graph.value(q.codes).name;
        const Product dequantized = productOf(q.dequantized);
        tensor.weight = q.role == QuantRole::Weight && (dequantized.reads || productOf(q.codes).reads);
        tensor.exchanged = tensor.weight && dequantized.exchanged;
        if (tensor.exchanged && tensor.params.axis && tensor.params.blockSize == 0)
            tensor.params.axis = 1 - *tensor.params.axis;
    }
    if (const ValueId scale = scaleOf(q); scale.valid()) {
        tensor.scaleName = m_graph.value(scale).name;
        if (const Tensor* values = m_plan->constant(scale))
            tensor.real = values->dtype();
    }
    tensor.pairs = q.quantize.valid() && isQuantizeLinear(m_graph.node(q.quantize));
    if (!tensor.constant)
        tensor.floatReaders = floatReaders(q);
    const NodeId last = q.codes.valid() ? m_graph.value(q.codes).producer : NodeId();
    tensor.clipped = last.valid() && m_graph.node(last).is("Clip");
    const auto [it, fresh] = m_file.tensors.try_emplace(name, tensor);
    if (fresh) {
        m_order.push_back(name);
    } else {
        it->second.pairs += tensor.pairs;
        it->second.ambiguous |= !sameParameters(it->second.params, tensor.params);
    }
}

void FileReader::shareScales()
{
    std::map<std::string, std::string> owners;
    for (const std::string& name : m_order)
        if (const FileTensor& t = m_file.tensors.at(name); t.scaleName == name + tails::kScale)
            owners.emplace(t.scaleName, name);
    for (const std::string& name : m_order) {
        FileTensor& tensor = m_file.tensors.at(name);
        if (tensor.constant || tensor.scaleName.empty())
            continue;
        const auto [owner, fresh] = owners.emplace(tensor.scaleName, name);
        if (owner->second != name)
            tensor.provider = owner->second;
    }
}

QuantizedFile FileReader::read()
{
    m_file.form = m_view.form();
    m_file.ownNames = !m_names.empty();
    const KnownFact known = knownFrom(m_graph, [this](ValueId id) { return m_plan->constant(id); });
    for (const Node& node : m_graph.nodes())
        if ((m_file.fault = quantizationFault(node, known))) {
            m_file.fault->file = m_file.model->path;
            return std::move(m_file);
        }
    for (const Quantizer& q : m_view.quantizers())
        if (!convertedFrom(q))
            quantizer(q);
    for (const Quantizer& q : m_view.quantizers())
        if (const Quantizer* from = convertedFrom(q))
            conversion(*from, q);
    shareScales();
    for (size_t n = 0; n < m_graph.nodes().size(); ++n) {
        const Node& node = m_graph.nodes()[n];
        m_file.nodes.emplace(node.name, NodeId(n));
        if (isQuantizeLinear(node) || isDequantizeLinear(node))
            continue;
        for (ValueId out : node.outputs)
            if (out.valid())
                m_file.producers.emplace(floatName(out), NodeId(n));
    }
    return std::move(m_file);
}

} // namespace

bool sameParameters(const QuantParams& a, const QuantParams& b)
{
    const bool whole = a.scale.size() == 1 && b.scale.size() == 1;
    return a.dtype == b.dtype && a.scale == b.scale && a.zeroPoint == b.zeroPoint && (whole || a.axis == b.axis)
        && a.blockSize == b.blockSize;
}

QuantizedFile QuantizedFile::read(const std::shared_ptr<const Model>& model, const ValueNames& names)
{
    return FileReader(model, names).read();
}

const FileTensor* QuantizedFile::find(const std::string& name) const
{
    const auto it = tensors.find(name);
    return it == tensors.end() ? nullptr : &it->second;
}

const Node* QuantizedFile::producer(const std::string& name) const
{
    const auto it = producers.find(name);
    return it == producers.end() ? nullptr : &model->graph.node(it->second);
}

} // namespace qs
