// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/groups/grouping.h"
#include "core/layout/groups/neighbourhood.h"
#include "core/project/snapshot/loaded_model.h"

#include <QString>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace qs {

/// All that a drawing of one model can show, before anything is joined or left out. Immutable.
struct GraphContent {
    FoldMode mode = FoldMode::Folded;
    GroupBy by = GroupBy::Blocks;
    std::shared_ptr<const Model> model;
    FoldedGraph whole;
    Grouping grouping;
    std::vector<bool> layers; ///< by group: blocks and runs of a transformer, which have attention in them

    static std::shared_ptr<const GraphContent> of(const LoadedModel& model, FoldMode mode, GroupBy by);
    /// Whether a group is closed while nobody opened or closed it: scopes and the layers of transformers
    /// are, and blocks of large graphs.
    bool closedAtFirst(uint32_t group) const;
    std::string nameOf(uint32_t box) const; ///< of its node, or of its tensor
    std::optional<uint32_t> find(const std::string& name) const; ///< the box of that name
};

/// What is shown of a content. A value: two drawings with equal views of one model are equal.
struct GraphView {
    /// Boxes and what is around them.
    struct Around {
        std::vector<std::string> middle; ///< names, as another version of the graph has them, too
        Neighbourhood wanted;
        auto operator<=>(const Around&) const = default;
    };
    FoldMode mode = FoldMode::Folded;
    GroupBy by = GroupBy::Blocks;
    std::set<std::string> opened, closed; ///< keys of groups that are not as at first
    std::optional<Around> around; ///< nothing else is drawn then, and no groups; not where nothing has such a name

    auto operator<=>(const GraphView&) const = default;
    bool isClosed(const GraphContent& content, uint32_t group) const;
    void setClosed(const GraphContent& content, uint32_t group, bool closed);
    /// With all that is in it.
    void setAllClosed(const GraphContent& content, bool closed);
    /// Opens what a box lies in; false where it is to be seen already.
    bool openPathTo(const GraphContent& content, uint32_t box);

    FoldedGraph drawnOf(const GraphContent& content) const;

    /// What a project keeps: grouping, opened and closed groups.
    QString toText() const;
    static std::optional<GraphView> fromText(const QString& text);
};

} // namespace qs
