// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_state.h"
#include "widgets/models/recipe/node_units.h"
#include "widgets/session/session.h"

#include <QObject>

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// What the recipe means for a node, against what the shown numbers were measured with.
enum class NodeMark {
    Quantized,
    Float,
    StaysFloat, ///< the recipe quantizes it, and the quantizer could not
    OfFile, ///< the recipe that was read from a file cannot say what the file has there, which is no float
    FloatInDraft,
    QuantizedInDraft
};
QString nodeMarkText(NodeMark mark); ///< "left in float", "excluded in draft" ...; "" for Quantized

/// The recipe seen from the nodes of the float model: which are quantized, and the edits that views offer for them.
/// Whatever is clicked, an edit concerns the whole unit that it shows (NodeUnits), unless a part is asked for. Follows
/// the session.
class RecipeView : public QObject {
    Q_OBJECT
public:
    explicit RecipeView(Session& session, QObject* parent = nullptr);

    const std::vector<RecipeNode>& nodes() const { return m_nodes; }
    const NodeUnits& units() const { return m_units; }
    const std::vector<NodeState>& states() const { return m_now; }
    std::optional<size_t> find(const std::string& name) const;
    /// Nothing for names that are no node of the float model, and where nothing can be edited.
    std::optional<NodeMark> mark(const std::string& name) const;
    /// How much of these nodes the recipe quantizes; nothing of none, and where nothing can be edited.
    std::optional<TriState> state(std::span<const size_t> members) const;
    /// All of them are as the file has them, which the recipe cannot say.
    bool isOfFile(std::span<const size_t> members) const;
    QString title(std::span<const size_t> members) const { return unitTitle(m_nodes, members); }
    /// What toggleNodes() would do: "Exclude conv_3 + relu_4", "Quantize conv_3 + relu_4".
    QString toggleText(std::span<const size_t> members) const;
    /// The node a place speaks of: its own, in the quantized file the one that makes the same tensor, the one that it
    /// became part of when the model was prepared, the one that makes the tensor or reads the constant. Nothing of the
    /// model's inputs.
    std::optional<size_t> nodeOf(const Place& place) const;
    /// The whole units that these places speak of; ascending, each node once.
    std::vector<size_t> membersOf(std::span<const Place> places) const;
    std::vector<size_t> membersOf(const Place& place) const { return membersOf({ &place, 1 }); }
    /// Settings that differ from what the shown numbers were measured with.
    int changesNotRun() const;

    /// One edit each; nothing happens where nothing can be edited.
    void setQuantized(std::span<const size_t> members, bool quantized, const QString& title);
    void toggle(size_t node) { toggleNodes({ node }); }
    void toggle(const Place& place) { toggleAll({ place }); }
    /// All of them quantized when none is, else all left in float.
    void toggleAll(const std::vector<Place>& places);
    void toggleNodes(const std::vector<size_t>& nodes);
    void togglePart(size_t node); ///< without the rest of its unit

signals:
    void changed();

private:
    void refresh();
    void takeNodes(const Snapshot& snapshot);
    void toggleExactly(std::span<const size_t> members);
    void takePairs(const Snapshot& snapshot);
    void takeFloatNodes(const Snapshot& snapshot);
    void takeFileNodes(const Snapshot& snapshot);
    std::optional<size_t> makerOf(Side side, const Graph& graph, ValueId value) const;
    bool standsForOther(Side side, const Graph& graph, NodeId node, size_t named) const;
    std::optional<size_t> whereItWent(Side side, const Graph& graph, NodeId node) const;

    Session& m_session;
    const Model* m_nodesOf = nullptr;
    const Quantization* m_quantization = nullptr;
    std::vector<RecipeNode> m_nodes;
    std::unordered_map<std::string, size_t> m_byName;
    std::unordered_map<std::string, size_t> m_byOutput; ///< by the tensors that they make
    std::shared_ptr<const Alignment> m_pairsOf;
    std::unordered_map<ValueId, std::string> m_pairs; ///< the float tensors that the quantized file's stand for
    std::vector<ClipBehind> m_clips;
    NodeUnits m_units;
    std::vector<NodeState> m_now, m_before; ///< by the recipe, and by that of the shown numbers
    Recipe m_shown;
};

} // namespace qs
