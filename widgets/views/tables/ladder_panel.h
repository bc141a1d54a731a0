// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/details/shown_checks.h"
#include "widgets/views/base/table_panel.h"

class QToolButton;

namespace qs {

class LadderModel;

/// From the framework that the float model came from to the device that runs the quantized one: where agreement ends.
/// The user names the files with what the two computed for the samples that are open.
class LadderPanel : public TablePanel {
    Q_OBJECT
public:
    LadderPanel(Session& session, ShownLadder& ladder, QWidget* parent = nullptr);

private:
    void addSource(const QString& text, const QString& toolTip, std::string SavedFiles::*file);
    void refresh();

    ShownLadder& m_ladder;
    std::vector<QToolButton*> m_sources;
};

} // namespace qs
