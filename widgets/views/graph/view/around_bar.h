// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/groups/neighbourhood.h"

#include <QFrame>

#include <optional>

class QCheckBox;
class QLabel;
class QToolButton;

namespace qs {

/// Small bar over the graph while only a neighbourhood is drawn: around what, how far, and the way back.
class AroundBar : public QFrame {
    Q_OBJECT
public:
    explicit AroundBar(QWidget* parent = nullptr);
    /// Hidden without a neighbourhood.
    void showAround(const std::optional<Neighbourhood>& wanted, const QString& middle);

signals:
    void changed(const qs::Neighbourhood& wanted);
    void closed();

private:
    QToolButton* button(const QString& symbol, const QString& tip);
    void step(int by);
    void tell();
    Neighbourhood m_wanted;
    QLabel *m_middle, *m_steps;
    QCheckBox *m_inputs, *m_outputs;
};

} // namespace qs
