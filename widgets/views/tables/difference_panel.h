// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/base/table_panel.h"

class QToolButton;

namespace qs {

/// What a second quantized file, or another run, does otherwise than the first, and what that costs.
class DifferencePanel : public TablePanel {
    Q_OBJECT
public:
    explicit DifferencePanel(Session& session, QWidget* parent = nullptr);

private:
    void fillMenu();

    Session& m_session;
    QToolButton* m_choose;
};

} // namespace qs
