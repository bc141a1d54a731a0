// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/issue.h"

#include <QFrame>

class QLabel;

namespace qs {

/// The latest trouble: one sentence, the remedy, details to copy. Never closes what is open; stays until closed or
/// until the next success.
class ErrorBar : public QFrame {
    Q_OBJECT
public:
    explicit ErrorBar(QWidget* parent = nullptr);
    void showIssue(const Issue& issue);

private:
    Issue m_issue;
    QLabel* m_headline;
    QLabel* m_remedy;
};

} // namespace qs
