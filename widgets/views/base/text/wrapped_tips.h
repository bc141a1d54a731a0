// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

namespace qs {

/// The tool tip as it is shown: a plain text that is wide goes over several lines, which Qt does with rich text alone.
QString wrappedTip(const QString& text);

/// Shows what widgets, rows and column heads say in tool tips so that it fits on a screen. Works as long as it lives,
/// for the whole application.
class WrappedTips : public QObject {
public:
    explicit WrappedTips(QObject* parent);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace qs
