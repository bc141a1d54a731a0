// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/error_bar.h"

#include "widgets/models/words/error_text.h"
#include "widgets/views/base/text/wrapped_text.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace qs {

ErrorBar::ErrorBar(QWidget* parent)
    : QFrame(parent)
    , m_headline(new QLabel(this))
    , m_remedy(new QLabel(this))
    , m_copy(new QPushButton(tr("Copy details"), this))
    , m_row(new QHBoxLayout(this))
{
    setObjectName(QStringLiteral("errorBar"));
    setAccessibleName(tr("Error"));
    m_headline->setObjectName(QStringLiteral("errorHeadline"));
    m_remedy->setObjectName(QStringLiteral("errorRemedy"));
    for (QLabel* label : { m_headline, m_remedy }) {
        label->setTextFormat(Qt::PlainText);
        wrapText(*label);
    }
    auto* texts = new QVBoxLayout;
    texts->setSpacing(2);
    texts->addWidget(m_headline);
    texts->addWidget(m_remedy);
    auto* close = new QPushButton(tr("Close"), this);
    close->setProperty("link", true);
    close->setAccessibleName(tr("Close the error message"));
    for (QPushButton* button : { m_copy, close })
        button->setAutoDefault(true); // Return presses it, too
    m_row->setContentsMargins(12, 6, 8, 6);
    m_row->addLayout(texts, 1);
    m_row->addWidget(m_copy);
    m_row->addWidget(close);
    connect(
        m_copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(issueDetails(m_issue)); });
    connect(close, &QPushButton::clicked, this, &QWidget::hide);
    hide();
}

void ErrorBar::ask(const Issue& issue, const std::vector<Answer>& answers)
{
    showIssue(issue);
    for (const Answer& answer : answers) {
        auto* button = new QPushButton(answer.text, this);
        button->setAutoDefault(true);
        connect(button, &QPushButton::clicked, this, [this, given = answer.given] {
            hide();
            given();
        });
        m_row->insertWidget(int(m_answers.size()) + 1, button); // behind the texts
        button->setProperty("primary", m_answers.empty());
        m_answers.push_back(button);
        button->show();
    }
    for (size_t i = m_answers.size(); i-- > 0;)
        setTabOrder(m_answers[i], i + 1 < m_answers.size() ? m_answers[i + 1] : m_copy);
}

void ErrorBar::dropAnswers()
{
    for (QPushButton* button : m_answers) {
        button->hide();
        button->deleteLater(); // it may be the one that was pressed
    }
    m_answers.clear();
}

void ErrorBar::showIssue(const Issue& issue)
{
    dropAnswers();
    m_issue = issue;
    m_headline->setText(issueHeadline(issue));
    m_remedy->setText(issueRemedy(issue));
    m_remedy->setVisible(!issue.remedy.empty());
    setAccessibleDescription(m_headline->text() + u' ' + m_remedy->text());
    show();
}

} // namespace qs

#include "moc_error_bar.cpp"
