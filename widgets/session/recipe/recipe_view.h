// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe_state.h"
#include "widgets/session/session.h"

#include <QObject>

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// What the recipe means for a node, against what the shown numbers were measured with.
enum class NodeMark { Quantized, Float, FloatInDraft, QuantizedInDraft };
QString nodeMarkText(NodeMark mark); ///< "left in float", "excluded in draft" ...; "" for Quantized

/// The recipe seen from the nodes of the float model: which are quantized, and the edits that views offer for them.
/// Follows the session.
class RecipeView : public QObject {
    Q_OBJECT
public:
    explicit RecipeView(Session& session, QObject* parent = nullptr);

    const std::vector<RecipeNode>& nodes() const { return m_nodes; }
    const std::vector<NodeState>& states() const { return m_now; }
    std::optional<size_t> find(const std::string& name) const;
    /// Nothing for names that are no node of the float model, and where nothing can be edited.
    std::optional<NodeMark> mark(const std::string& name) const;
    /// The node a place speaks of: its own, else the one that makes or reads the tensor.
    std::optional<size_t> nodeOf(const Place& place) const;
    /// Settings that differ from what the shown numbers were measured with.
    int changesNotRun() const;

    /// One edit each; nothing happens where nothing can be edited.
    void setQuantized(std::span<const size_t> members, bool quantized, const QString& title);
    void toggle(size_t node) { toggleNodes({ node }); }
    void toggle(const Place& place) { toggleAll({ place }); }
    /// All of them quantized when none is, else all left in float.
    void toggleAll(const std::vector<Place>& places);
    void toggleNodes(std::vector<size_t> members);

signals:
    void changed();

private:
    void refresh();

    Session& m_session;
    const Model* m_nodesOf = nullptr;
    const Quantization* m_quantization = nullptr;
    std::vector<RecipeNode> m_nodes;
    std::unordered_map<std::string, size_t> m_byName;
    std::vector<NodeState> m_now, m_before; ///< by the recipe, and by that of the shown numbers
    Recipe m_shown;
};

} // namespace qs
