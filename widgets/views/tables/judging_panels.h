// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/details/shown_checks.h"
#include "widgets/views/base/table_panel.h"

class QLineEdit;
class QPushButton;

namespace qs {

/// A against B, or the float model against the quantized one, element by element.
class ElementsPanel : public TablePanel {
    Q_OBJECT
public:
    ElementsPanel(Session& session, ShownElements& elements, QWidget* parent = nullptr);

private:
    QLineEdit* addNumber(const QString& name, const QString& toolTip, double value);
    void compare();
    void refresh();

    Session& m_session;
    ShownElements& m_elements;
    QLineEdit *m_relative, *m_absolute;
    QPushButton* m_compare;
};

/// The models side by side: size, multiplications, time, accuracy.
class FilesPanel : public TablePanel {
    Q_OBJECT
public:
    FilesPanel(Session& session, ShownFiles& files, QWidget* parent = nullptr);

private:
    void refresh();

    Session& m_session;
    ShownFiles& m_files;
    QPushButton* m_measure;
};

} // namespace qs
