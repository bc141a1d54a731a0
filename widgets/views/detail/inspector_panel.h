// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/inspector/inspector_model.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/views/base/panel.h"

class QTableView;
class QTimer;

namespace qs {

class OverrideEditor;
class RecipeView;

/// Key, value and formula (as tool tip) of everything known about the selection, or about what was pinned, and what the
/// recipe says of it.
class InspectorPanel : public Panel {
    Q_OBJECT
public:
    InspectorPanel(Session& session, RecipeView& recipe, QWidget* parent = nullptr);
    QTableView* table() const { return m_table; }

protected:
    void showEvent(QShowEvent* event) override;

private:
    void refresh();
    void shapeRows();
    void fitRows(); ///< the current value may go over several lines

    Session& m_session;
    ShownPlace m_place;
    InspectorModel m_model;
    QTableView* m_table;
    OverrideEditor* m_overrides;
    QTimer* m_fit; ///< row heights after the widths
};

} // namespace qs
