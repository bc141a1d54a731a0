// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/graph/graph_canvas.h"

#include <QAccessibleWidget>
#include <QPointer>

#include <optional>
#include <unordered_map>

namespace qs {

/// Sends what changes in a canvas to screen readers: other boxes, another selection, another number of the selected
/// box. With the focus in the canvas the selected box counts as the one that has it.
class CanvasAnnouncer : public QObject {
    Q_OBJECT
public:
    explicit CanvasAnnouncer(GraphCanvas& canvas);

signals:
    void told(QAccessible::Event event, std::optional<uint32_t> box); ///< of the canvas itself: no box

private:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void takeScene();
    void takeLook();
    void tell(QAccessible::Event event, std::optional<uint32_t> box);

    GraphCanvas& m_canvas;
    std::optional<uint32_t> m_selected;
    QString m_name; ///< of the selected box, as it was told
};

/// A canvas as a tree of boxes in a topological order; their interfaces are made when they are asked for.
class CanvasAccessible : public QAccessibleWidget {
public:
    explicit CanvasAccessible(GraphCanvas& canvas);
    ~CanvasAccessible() override;

    int childCount() const override;
    QAccessibleInterface* child(int index) const override;
    int indexOfChild(const QAccessibleInterface* child) const override;
    QAccessibleInterface* childAt(int x, int y) const override;
    QAccessibleInterface* focusChild() const override;
    QString text(QAccessible::Text kind) const override;
    void forgetBoxes(); ///< there are others

private:
    const GraphScene* scene() const;

    QPointer<GraphCanvas> m_canvas;
    mutable std::unordered_map<uint32_t, QAccessible::Id> m_ids; ///< of those that were asked for
};

} // namespace qs
