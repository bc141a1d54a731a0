// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/search/lacking_ranges.h"

#include "core/project/snapshot/loaded_model.h"
#include "core/qdq/name_tails.h"
#include "core/quant/params/float8.h"
#include "core/quant/read_back/quantized_file.h"

#include <algorithm>
#include <string>
#include <utility>

namespace qs {

namespace {

class Lacking {
public:
    Lacking(const Snapshot& snapshot, std::span<const Remedy> changes)
        : m_graph(snapshot.floatModel->graph())
        , m_file(QuantizedFile::read(snapshot.quantModel->model, {}))
        , m_changes(changes)
    {
    }

    LackingRanges find()
    {
        for (const Remedy& change : m_changes) {
            const NodeId id = m_graph.findNode(change.node);
            if (!id.valid())
                continue;
            const Node& node = m_graph.node(id);
            if (change.kind == RemedyKind::KeepActivations && node.hasInput(0))
                read(m_graph.value(node.inputs[0]).name);
            if (change.kind == RemedyKind::ExcludeNode)
                leftOut(node);
        }
        return std::move(m_found);
    }

private:
    void leftOut(const Node& node)
    {
        for (const ValueId out : node.outputs)
            if (out.valid())
                handedOn(m_graph.value(out).name);
        for (const ValueId in : node.inputs) {
            const NodeId made = in.valid() ? m_graph.value(in).producer : NodeId();
            if (made.valid() && m_graph.node(made).is("Constant") && m_graph.value(in).uses.size() == 1
                && m_file.find(m_graph.value(in).name))
                m_found.constants.push_back({ RemedyKind::ExcludeNode, m_graph.node(made).name, {}, 0, 0, 0 });
        }
    }

    /// Codes of float8 hold whatever a Relu or Clip cuts, so that it stays; what it reads is in float in the file, and
    /// scales come from deviations there, which no range tells. Other codes end where it does.
    void read(const std::string& tensor) { m_found.needData |= hasFloat8() && !m_file.find(tensor); }

    /// A range of its own would be one.
    void handedOn(const std::string& tensor)
    {
        const FileTensor* t = m_file.find(tensor);
        if (t && !t->provider.empty() && t->scaleName == t->provider + tails::kScale && !t->params.scale.empty())
            add(tensor, t->params.low(), t->params.high());
    }

    void add(const std::string& tensor, double low, double high)
    {
        const auto gives = [&](const Remedy& r) { return r.tensor == tensor && r.low < r.high; };
        if (std::ranges::any_of(m_changes, gives) || std::ranges::any_of(m_found.ranges, gives))
            return;
        m_found.needData |= hasFloat8();
        if (!hasFloat8())
            m_found.ranges.push_back({ RemedyKind::SetRange, {}, tensor, low, high, 0 });
    }

    bool hasFloat8() const
    {
        return std::ranges::any_of(m_file.tensors,
            [](const auto& entry) { return !entry.second.constant && isFloat8(entry.second.params.dtype); });
    }

    const Graph& m_graph;
    QuantizedFile m_file;
    std::span<const Remedy> m_changes;
    LackingRanges m_found;
};

} // namespace

LackingRanges lackingRanges(const Snapshot& snapshot, std::span<const Remedy> changes)
{
    const auto adds
        = [](const Remedy& r) { return r.kind == RemedyKind::KeepActivations || r.kind == RemedyKind::ExcludeNode; };
    return std::ranges::any_of(changes, adds) ? Lacking(snapshot, changes).find() : LackingRanges {};
}

} // namespace qs
