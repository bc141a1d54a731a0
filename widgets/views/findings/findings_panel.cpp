// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/findings/findings_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/session/files/file_roles.h"
#include "widgets/session/shown/empty_texts.h"
#include "widgets/session/shown/finding_place.h"

#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kMaxCards = 100;

/// What to open next to see findings.
QString missingText(const Snapshot& snapshot)
{
    if (numbersFollow(snapshot))
        return FindingsPanel::tr("The models are read; findings follow when they have run.");
    if (quantizedAlone(snapshot))
        return FindingsPanel::tr(
            "This model is quantized already. Open the float model that it was made from (File menu).");
    if (snapshot.floatModel && !snapshot.quantModel && snapshot.data)
        return whyNothingQuantized(snapshot);
    if (snapshot.floatModel && !snapshot.quantModel)
        return FindingsPanel::tr("Open the quantized model next, or data alone to quantize this one (File menu).");
    if (snapshot.quantModel && !snapshot.floatModel)
        return FindingsPanel::tr("Open the float model next (File menu).");
    if (snapshot.floatModel && !snapshot.data)
        return FindingsPanel::tr("Open data next to compare the models (File menu).");
    return FindingsPanel::tr("Open a float model, its quantized counterpart and data to compare them.");
}

QString nothingFoundText(const Snapshot& snapshot)
{
    if (const QString note = bothFloatNote(snapshot); !note.isEmpty()) // a false all-clear else
        return note;
    return snapshot.inputs.recipe
        ? FindingsPanel::tr("No findings: nothing stands out. File ▸ Export the quantized model writes it.")
        : FindingsPanel::tr("No findings: nothing stands out.");
}

} // namespace

FindingsPanel::FindingsPanel(Session& session, QWidget* parent)
    : Panel(QStringLiteral("findings"), tr("Findings"), parent)
    , m_session(session)
    , m_scroll(new QScrollArea(this))
    , m_try(new QPushButton(tr("Try all"), this))
    , m_rebuild(new QTimer(this))
{
    m_try->setToolTip(
        tr("Measures what each remedy gains at the outputs: quantizes and runs the network once for each"));
    m_try->setProperty("link", true);
    header()->addEndTool(m_try);
    connect(m_try, &QPushButton::clicked, &session, &Session::tryRemedies);
    connect(&session.jobs(), &JobList::started, this, &FindingsPanel::refreshTry);
    connect(&session.jobs(), &JobList::finished, this, &FindingsPanel::refreshTry);
    connect(&session, &Session::snapshotChanged, this, &FindingsPanel::refreshTry);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setAccessibleName(tr("Findings"));
    m_scroll->installEventFilter(this);
    setContent(m_scroll);
    setFocusProxy(m_scroll);
    m_rebuild->setSingleShot(true);
    m_rebuild->setInterval(0);
    connect(m_rebuild, &QTimer::timeout, this, &FindingsPanel::rebuild);
    connect(this, &Panel::lookedAtChanged, this, &FindingsPanel::rebuildLater);
    connect(&m_model, &QAbstractItemModel::modelReset, this, &FindingsPanel::outdate);
    connect(&session, &Session::snapshotChanged, this, [this](const SnapshotPtr& now, const SnapshotPtr& before) {
        m_model.setSnapshot(now);
        const auto stage = [](const Snapshot& s) { return !s.comparison ? 0 : s.comparison->partial ? 1 : 2; };
        if (stage(*now) != stage(*before) || (!now->comparison && missingText(*now) != missingText(*before)))
            outdate(); // the hint of an empty list differs
    });
    connect(&session.recipe(), &RecipeEdits::recipeChanged, this, &FindingsPanel::refreshEdits);
    connect(&session.numbers(), &NumbersAge::changed, this, [this] {
        for (FindingCard* card : m_cards)
            card->setStale(m_session.numbers().stale());
    });
    connect(&session, &Session::themeChanged, this, qOverload<>(&QWidget::update));
    m_model.setSnapshot(session.snapshot());
    rebuild();
    refreshTry();
}

void FindingsPanel::outdate()
{
    m_outdated = true;
    rebuildLater();
}

void FindingsPanel::rebuildLater()
{
    if (m_outdated && lookedAt())
        m_rebuild->start();
}

void FindingsPanel::rebuild()
{
    m_outdated = false;
    m_rebuild->stop();
    const std::optional<size_t> before = current();
    auto* content = new QWidget;
    content->setObjectName(QStringLiteral("findingsContent"));
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    const int count = m_model.rowCount();
    m_cards.clear();
    m_groups = count > 0 ? findingGroups(m_model.findings()) : std::vector<FindingGroup> {};
    for (size_t g = 0; g < std::min(m_groups.size(), kMaxCards); ++g) {
        const FindingGroup& group = m_groups[g];
        auto* card = new FindingCard(m_model.findings(), group, editText(group), m_session, content);
        card->setMeasuring(m_session.jobs().running(Session::kRemediesTag));
        card->setStale(m_session.numbers().stale());
        m_cards.push_back(card);
        connect(card, &FindingCard::applyRequested, this, [this, g] { apply(g); });
        connect(card, &FindingCard::showRequested, this,
            [this, g](int member) { show(m_groups[g].members[size_t(member)]); });
        connect(card, &FindingCard::copyAllRequested, this, &FindingsPanel::copyAll);
        connect(card, &FindingCard::stepRequested, this, [this, g](int step) { goTo(qsizetype(g) + step); });
        column->addWidget(card);
    }
    QString hint;
    if (m_groups.size() > kMaxCards)
        hint = tr("and %1 more").arg(countText(quint64(m_groups.size() - kMaxCards)));
    else if (count == 0 && m_session.comparison() && m_session.comparison()->partial)
        hint = tr("Findings need the whole result; it is not complete.");
    else if (count == 0 && m_session.comparison())
        hint = nothingFoundText(*m_session.snapshot());
    else if (count == 0)
        hint = missingText(*m_session.snapshot());
    if (!hint.isEmpty()) {
        auto* label = findingLabel(hint, "emptyHint", content);
        label->setContentsMargins(12, 10, 12, 10);
        column->addWidget(label);
    }
    column->addStretch(1);
    m_scroll->setWidget(content); // deletes the previous one
    content->ensurePolished();
    m_scroll->setMinimumWidth(
        content->minimumSizeHint().width() + m_scroll->verticalScrollBar()->sizeHint().width()); // buttons stay whole
    if (before)
        goTo(qsizetype(*before));
    header()->setInfo(count == 0 ? QString() : tr("%1 finding(s)", nullptr, int(count)).arg(countText(quint64(count))));
}

/// What the remedy is called as an edit; empty where there is nothing to edit, or it is done already.
QString FindingsPanel::editText(const FindingGroup& group) const
{
    const std::vector<Finding>& findings = m_model.findings();
    const RecipeEdits& edits = m_session.recipe();
    const SnapshotPtr snapshot = m_session.snapshot();
    const RemedyKind kind = findings[group.members.front()].change.kind;
    const bool editsSomething = kind != RemedyKind::None && kind != RemedyKind::Requantize
        && kind != RemedyKind::StoreConstant && kind != RemedyKind::OpenClip;
    if (!editsSomething || !edits.editable() || !snapshot->floatModel || !snapshot->floatModel->draft)
        return {};
    const std::vector<Remedy> changes = changesOf(findings, group);
    const bool done = withRemedies(edits.recipe(), changes, *snapshot->floatModel->draft) == edits.recipe();
    return done ? QString() : remediesText(changes);
}

void FindingsPanel::refreshTry()
{
    const bool trying = m_session.jobs().running(Session::kRemediesTag);
    m_try->setVisible(trying || m_session.canTryRemedies());
    m_try->setEnabled(!trying);
    m_try->setText(trying ? tr("Trying…") : tr("Try all"));
    if (!m_outdated)
        for (FindingCard* card : m_cards)
            card->setMeasuring(trying);
}

void FindingsPanel::refreshEdits()
{
    refreshTry();
    if (m_outdated) // cards of other findings
        return;
    for (size_t card = 0; card < m_cards.size(); ++card)
        m_cards[card]->setApplied(editText(m_groups[card]));
}

void FindingsPanel::apply(size_t card)
{
    const SnapshotPtr snapshot = m_session.snapshot();
    if (m_outdated || !snapshot->floatModel || !snapshot->floatModel->draft)
        return;
    RecipeEdits& edits = m_session.recipe();
    const std::vector<Remedy> changes = changesOf(m_model.findings(), m_groups[card]);
    edits.apply(remediesText(changes), withRemedies(edits.recipe(), changes, *snapshot->floatModel->draft));
}

void FindingsPanel::show(size_t index)
{
    if (m_outdated)
        return;
    selectFinding(m_session.selection(), m_model.findings()[index]);
}

void FindingsPanel::showFinding(size_t finding)
{
    if (m_outdated)
        rebuild();
    const auto group = std::ranges::find_if(m_groups,
        [finding](const FindingGroup& g) { return std::ranges::find(g.members, finding) != g.members.end(); });
    if (group == m_groups.end() || m_cards.empty())
        return;
    goTo(group - m_groups.begin());
    if (FindingCard* card = m_cards[std::min(size_t(group - m_groups.begin()), m_cards.size() - 1)]) // laid out later
        QTimer::singleShot(0, card, [this, card] { m_scroll->ensureWidgetVisible(card, 0, 0); });
}

void FindingsPanel::copyAll() const
{
    QStringList texts;
    for (const FindingCard* card : m_cards)
        texts << card->text();
    QGuiApplication::clipboard()->setText(texts.join(QStringLiteral("\n\n")));
}

std::optional<size_t> FindingsPanel::current() const
{
    const QWidget* focus = QApplication::focusWidget();
    for (size_t card = 0; focus && card < m_cards.size(); ++card)
        if (m_cards[card] == focus || m_cards[card]->isAncestorOf(focus))
            return card;
    return std::nullopt;
}

void FindingsPanel::goTo(qsizetype card)
{
    if (m_cards.empty())
        return;
    FindingCard* to = m_cards[size_t(std::clamp<qsizetype>(card, 0, qsizetype(m_cards.size()) - 1))];
    to->setFocus(Qt::OtherFocusReason);
    m_scroll->ensureWidgetVisible(to, 0, 0);
}

/// While no card is the current one.
bool FindingsPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_scroll || event->type() != QEvent::KeyPress || m_cards.empty())
        return Panel::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->matches(QKeySequence::Copy))
        copyAll();
    else if (key->key() == Qt::Key_Down || key->key() == Qt::Key_Up)
        goTo(0);
    else
        return Panel::eventFilter(watched, event);
    return true;
}

} // namespace qs

#include "moc_findings_panel.cpp"
