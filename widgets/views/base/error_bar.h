// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/issue.h"

#include <QFrame>

#include <functional>
#include <vector>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace qs {

/// The latest trouble: one sentence, the remedy, details to copy. Never closes what is open; stays until closed or
/// until the next success.
class ErrorBar : public QFrame {
    Q_OBJECT
public:
    explicit ErrorBar(QWidget* parent = nullptr);
    void showIssue(const Issue& issue);

    struct Answer {
        QString text;
        std::function<void()> given;
    };
    /// An issue with ways out of it, a button each; any of them closes the bar.
    void ask(const Issue& issue, const std::vector<Answer>& answers);

private:
    void dropAnswers();

    Issue m_issue;
    QLabel* m_headline;
    QLabel* m_remedy;
    QPushButton* m_copy;
    QHBoxLayout* m_row;
    std::vector<QPushButton*> m_answers;
};

} // namespace qs
