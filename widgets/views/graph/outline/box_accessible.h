// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/graph/graph_canvas.h"

#include <QAccessible>
#include <QPointer>

namespace qs {

/// "conv_1, Conv, accumulated 23.4 dB, excluded in draft"
QString boxSentence(const GraphScene& scene, const GraphLook& look, uint32_t box);

/// One drawn box of a canvas.
class BoxAccessible : public QAccessibleInterface, public QAccessibleActionInterface {
public:
    BoxAccessible(GraphCanvas& canvas, uint32_t box);

    bool isValid() const override;
    QObject* object() const override { return nullptr; }
    QAccessibleInterface* parent() const override;
    QAccessibleInterface* child(int) const override { return nullptr; }
    QAccessibleInterface* childAt(int, int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    QString text(QAccessible::Text kind) const override;
    void setText(QAccessible::Text, const QString&) override { }
    QRect rect() const override;
    QAccessible::Role role() const override { return QAccessible::TreeItem; }
    QAccessible::State state() const override;
    QWindow* window() const override;
    void* interface_cast(QAccessible::InterfaceType type) override;

    QStringList actionNames() const override;
    void doAction(const QString& name) override;
    QStringList keyBindingsForAction(const QString& name) const override;
    QString localizedActionName(const QString& name) const override;

    static QString openAction() { return QStringLiteral("Open"); } ///< of a closed group

private:
    bool isGroup() const;

    QPointer<GraphCanvas> m_canvas;
    const GraphScene* m_scene; ///< that the box is of
    uint32_t m_box;
};

} // namespace qs
