// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/error_bar.h"

#include "widgets/models/base/error_text.h"

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
{
    setObjectName(QStringLiteral("errorBar"));
    setAccessibleName(tr("Error"));
    m_headline->setObjectName(QStringLiteral("errorHeadline"));
    m_remedy->setObjectName(QStringLiteral("errorRemedy"));
    for (QLabel* label : { m_headline, m_remedy }) {
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    auto* texts = new QVBoxLayout;
    texts->setSpacing(2);
    texts->addWidget(m_headline);
    texts->addWidget(m_remedy);
    auto* copy = new QPushButton(tr("Copy details"), this);
    auto* close = new QPushButton(tr("Close"), this);
    close->setProperty("link", true);
    close->setAccessibleName(tr("Close the error message"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 6, 8, 6);
    row->addLayout(texts, 1);
    row->addWidget(copy);
    row->addWidget(close);
    connect(
        copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(issueDetails(m_issue)); });
    connect(close, &QPushButton::clicked, this, &QWidget::hide);
    hide();
}

void ErrorBar::showIssue(const Issue& issue)
{
    m_issue = issue;
    m_headline->setText(issueHeadline(issue));
    m_remedy->setText(issueRemedy(issue));
    m_remedy->setVisible(!issue.remedy.empty());
    setAccessibleDescription(m_headline->text() + u' ' + m_remedy->text());
    show();
}

} // namespace qs
