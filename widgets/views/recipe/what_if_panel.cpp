// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/recipe/what_if_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/tables/run_model.h"
#include "widgets/session/shown/empty_texts.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/elided_label.h"
#include "widgets/views/base/emptied_layout.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/recipe/exclusion_tree.h"
#include "widgets/views/recipe/recipe_form.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

constexpr int kLeastWidth = 185; ///< font units

} // namespace

WhatIfPanel::WhatIfPanel(Session& session, RecipeView& recipe, QWidget* parent)
    : Panel(QStringLiteral("what-if"), tr("What-if"), parent)
    , m_session(session)
    , m_recipe(recipe)
    , m_form(new RecipeForm(session, this))
    , m_nodes(new ExclusionTree(session, recipe, this))
    , m_difference(new QGridLayout)
    , m_why(new QLabel(this))
    , m_run(new QPushButton(tr("Run"), this))
    , m_autoRun(new QCheckBox(tr("run when quick"), this))
    , m_state(new ElidedLabel(Qt::ElideRight, this))
{
    auto* scroll = new QScrollArea(this);
    scroll->setWidget(m_form);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setAccessibleName(tr("Settings for all nodes"));
    scroll->setMinimumHeight(fontUnits(fontMetrics(), 34)); // a row
    for (QWidget* part : std::initializer_list<QWidget*> { scroll, m_nodes })
        part->setMinimumWidth(fontUnits(fontMetrics(), kLeastWidth)); // else the widest line would decide
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(scroll);
    splitter->addWidget(m_nodes);
    splitter->setStretchFactor(0, 4);
    splitter->setStretchFactor(1, 5);
    auto* content = new QWidget(this);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_why);
    column->addWidget(splitter, 1);
    m_why->setObjectName(QStringLiteral("whyNoRecipe"));
    m_why->setTextFormat(Qt::PlainText);
    m_why->setAlignment(Qt::AlignCenter);
    m_why->setMargin(16);
    wrapText(*m_why);
    m_recipeParts = splitter;
    setContent(content);
    addFooter(makeFooter());
    setFocusProxy(m_form);
    connect(m_run, &QPushButton::clicked, &session, &Session::run);
    connect(m_autoRun, &QCheckBox::toggled, &session, &Session::setAutoRun);
    connect(&session, &Session::autoRunChanged, m_autoRun, &QCheckBox::setChecked);
    connect(&m_recipe, &RecipeView::changed, this, &WhatIfPanel::refresh);
    connect(&session, &Session::needsRunChanged, this, &WhatIfPanel::refresh);
    connect(&session, &Session::settled, this, &WhatIfPanel::refresh);
    connect(&session.jobs(), &JobList::idleChanged, this, &WhatIfPanel::refresh);
    connect(&session, &Session::themeChanged, this, &WhatIfPanel::refreshDifference);
    connect(&session.numbers(), &NumbersAge::changed, this, &WhatIfPanel::refreshDifference);
    refresh();
}

QWidget* WhatIfPanel::makeFooter()
{
    auto* footer = new QFrame(this);
    footer->setObjectName(QStringLiteral("panelFooter"));
    footer->setMinimumWidth(fontUnits(fontMetrics(), kLeastWidth));
    auto* column = new QVBoxLayout(footer);
    column->setContentsMargins(12, 6, 10, 8);
    column->setSpacing(6);
    m_difference->setHorizontalSpacing(8);
    m_difference->setVerticalSpacing(2);
    m_difference->setColumnStretch(0, 1); // what the numbers leave
    column->addLayout(m_difference);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    m_run->setProperty("primary", true);
    setKeyTip(*m_run, QStringLiteral("recipe.run"), tr("Quantize and compare with the recipe as it is now"));
    m_autoRun->setChecked(m_session.autoRun());
    m_autoRun->setToolTip(
        tr("Run after each edit that is expected to take less than %1").arg(durationText(Session::kAutoRunMs)));
    m_state->setObjectName(QStringLiteral("formLabel"));
    row->addWidget(m_run);
    row->addWidget(m_autoRun);
    row->addWidget(m_state, 1);
    column->addLayout(row);
    return footer;
}

void WhatIfPanel::refresh()
{
    const int changes = m_recipe.changesNotRun();
    const std::optional<double> expected = m_session.expectedMs();
    m_run->setEnabled(m_session.recipe().editable() && changes > 0 && !m_session.busy());
    m_state->setText(m_session.busy() ? tr("running…") : changes == 0 ? QString() : tr("%1 not run").arg(changes));
    m_state->setToolTip(expected && changes > 0 ? tr("A run takes about %1").arg(durationText(*expected)) : QString());
    const bool editable = m_session.recipe().editable();
    m_why->setText(editable ? QString() : whyNoRecipe(*m_session.snapshot()));
    for (QWidget* part : std::initializer_list<QWidget*> { m_recipeParts, m_run, m_autoRun, m_state })
        part->setVisible(m_why->text().isEmpty());
    m_why->setVisible(!m_why->text().isEmpty());
    refreshDifference();
}

namespace {

/// "other data", in place of a number
bool isWords(const QString& value)
{
    return value != absentText() && std::ranges::none_of(value, [](QChar letter) { return letter.isDigit(); });
}

} // namespace

void WhatIfPanel::refreshDifference()
{
    emptyLayout(*m_difference);
    const RunTree& tree = m_session.runs().tree();
    const RecipeRun* run = tree.find(tree.current());
    const RecipeRun* parent = run ? tree.find(run->parent) : nullptr;
    header()->setInfo(parent ? tr("vs %1").arg(toQt(parent->name)) : run ? toQt(run->name) : QString());
    if (!run)
        return;
    const Theme& theme = m_session.theme();
    int row = 0;
    QString note; ///< why numbers stand alone
    for (const NumberChange& change : numberChanges(parent ? *parent : *run, *run)) {
        auto* title = new ElidedLabel(Qt::ElideRight, this);
        title->setText(change.title);
        title->setToolTip(change.title);
        title->setObjectName(QStringLiteral("formLabel"));
        const bool same = !parent || change.before == change.after || isWords(change.before);
        const int better = same ? 0 : change.better;
        const QString arrow = better > 0 ? QStringLiteral(" ▲") : better < 0 ? QStringLiteral(" ▼") : QString();
        const QString verdict = better > 0 ? tr("better") : better < 0 ? tr("worse") : QString();
        auto* value = new QLabel(this); // whole: half a number reads as another one
        value->setTextFormat(Qt::PlainText);
        value->setText(same ? change.after : changeText(change) + arrow);
        value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        value->setObjectName(QStringLiteral("summaryValue"));
        value->setToolTip(!change.note.isEmpty() ? changeText(change) + u'\n' + change.note
                : same                           ? QString()
                                                 : value->text() + u'\n' + verdict);
        value->setAccessibleName(change.title + u' ' + value->text() + u' ' + value->toolTip());
        QPalette colours = value->palette();
        value->setEnabled(!m_session.numbers().stale());
        colours.setColor(QPalette::Disabled, QPalette::WindowText, theme.muted);
        colours.setColor(QPalette::Active, QPalette::WindowText,
            better > 0       ? theme.rounding
                : better < 0 ? theme.clipping
                             : theme.text);
        value->setPalette(colours);
        m_difference->addWidget(title, row, 0);
        m_difference->addWidget(value, row++, 1);
        if (isWords(change.before))
            note = tr("before: %1").arg(change.before);
    }
    if (note.isEmpty())
        return;
    auto* line = new ElidedLabel(Qt::ElideRight, this);
    line->setText(note);
    line->setToolTip(note);
    line->setObjectName(QStringLiteral("formLabel"));
    m_difference->addWidget(line, row, 0, 1, 2);
}

} // namespace qs

#include "moc_what_if_panel.cpp"
