// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/findings_panel.h"

#include "core/project/search/tried_remedies.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/files/file_roles.h"
#include "widgets/session/shown/finding_place.h"
#include "widgets/views/base/text/wrapped_text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTimer>
#include <QVBoxLayout>

namespace qs {

namespace {

constexpr int kMaxCards = 100;
constexpr int kStripeWidth = 5;

QColor severityColour(const Theme& theme, Severity severity)
{
    return severity == Severity::Error ? theme.error : severity == Severity::Warning ? theme.warning : theme.note;
}

QString severityIcon(Severity severity)
{
    return severity == Severity::Error  ? QStringLiteral("✖")
        : severity == Severity::Warning ? QStringLiteral("▲")
                                        : QStringLiteral("●");
}

/// What to open next to see findings.
QString missingText(const Snapshot& snapshot)
{
    if (quantizedAlone(snapshot))
        return FindingsPanel::tr(
            "This model is quantized already. Open the float model that it was made from (File menu).");
    if (snapshot.floatModel && !snapshot.quantModel)
        return FindingsPanel::tr("Open the quantized model next, or data alone to quantize this one (File menu).");
    if (snapshot.quantModel && !snapshot.floatModel)
        return FindingsPanel::tr("Open the float model next (File menu).");
    if (snapshot.floatModel && !snapshot.data)
        return FindingsPanel::tr("Open data next to compare the models (File menu).");
    return FindingsPanel::tr("Open a float model, its quantized counterpart and data to compare them.");
}

QLabel* textLabel(const QString& text, const char* name, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setObjectName(QLatin1String(name));
    label->setTextFormat(Qt::PlainText);
    wrapText(*label);
    return label;
}

QLabel* sentenceLabel(const QString& text, const char* name, QWidget* parent)
{
    const QString shown = withShortNames(text);
    QLabel* label = textLabel(shown, name, parent);
    label->setToolTip(shown == text ? QString() : text);
    return label;
}

} // namespace

FindingCard::FindingCard(const Finding& finding, const QString& edit, const Session& session, QWidget* parent)
    : QFrame(parent)
    , m_severity(finding.severity)
    , m_session(session)
    , m_apply(new QPushButton(this))
    , m_gain(nullptr)
{
    setObjectName(QStringLiteral("findingCard"));
    const QString title = findingText(finding.title);
    setAccessibleName(severityText(finding.severity) + QStringLiteral(": ") + title);
    setAccessibleDescription(findingText(finding.summary));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(kStripeWidth + 18, 8, 10, 8);
    column->setSpacing(3);
    auto* heading = sentenceLabel(severityIcon(finding.severity) + u' ' + title, "findingTitle", this);
    heading->setToolTip(severityText(finding.severity) + QStringLiteral(": ") + title);
    column->addWidget(heading);
    column->addWidget(sentenceLabel(findingText(finding.summary), "findingText", this));
    if (!finding.remedy.empty())
        column->addWidget(sentenceLabel(tr("→ %1").arg(findingText(finding.remedy)), "findingMuted", this));

    nameGain(finding, column);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(4);
    connect(m_apply, &QPushButton::clicked, this, &FindingCard::applyRequested);
    column->addWidget(m_apply, 0, Qt::AlignLeft); // beside the others it would be wider than the panel
    setApplied(edit);
    if (finding.activation || finding.weight || !finding.node.empty() || !finding.tensor.empty()) {
        auto* show = new QPushButton(tr("Show"), this);
        show->setAccessibleName(tr("Show %1").arg(title));
        show->setToolTip(tr("Select %1").arg(toQt(finding.tensor.empty() ? finding.node : finding.tensor)));
        connect(show, &QPushButton::clicked, this, &FindingCard::showRequested);
        buttons->addWidget(show);
    }
    QString explanation = ruleExplanation(finding.rule);
    const QString evidence = evidenceText(finding);
    if (!evidence.isEmpty())
        explanation += QStringLiteral("\n") + tr("Measured: %1.").arg(evidence);
    if (const QString places = placesText(finding); !places.isEmpty())
        explanation += QStringLiteral("\n") + tr("Places, the worst first: %1.").arg(places);
    auto* explain = new QPushButton(tr("Explain"), this);
    explain->setProperty("link", true);
    explain->setCheckable(true);
    explain->setAccessibleName(tr("Explain %1").arg(title));
    buttons->addWidget(explain);
    buttons->addStretch(1);
    column->addLayout(buttons);
    auto* text = textLabel(explanation, "findingMuted", this);
    text->hide();
    connect(explain, &QPushButton::toggled, text, &QWidget::setVisible);
    column->addWidget(text);
}

/// A button promises what was measured at the output, where Apply makes what was measured.
void FindingCard::nameGain(const Finding& finding, QVBoxLayout* column)
{
    const auto snapshot = m_session.snapshot();
    const auto& comparison = snapshot->comparison;
    m_gainText = gainText(finding, comparison ? comparison->accuracy : std::nullopt);
    m_open = canBeTried(finding) && !finding.measuredGainDb;
    const bool inFile = comparison && comparison->trials && comparison->trials->inFile;
    if (finding.measuredGainDb && inFile && finding.change.kind != RemedyKind::None)
        m_gainText += u' ' + tr("(Made in the file itself; Apply changes the recipe that was read from it.)");
    const bool promises = finding.measuredGainDb && !inFile;
    m_apply->setText(promises ? tr("Apply: output %1").arg(signedDecibelText(*finding.measuredGainDb)) : tr("Apply"));
    m_gain = textLabel({}, "findingMuted", this);
    column->addWidget(m_gain);
    setMeasuring(false);
}

void FindingCard::setMeasuring(bool measuring)
{
    m_gain->setText(m_open && measuring ? tr("Measuring what this gains at the output…") : m_gainText);
    m_gain->setVisible(!m_gain->text().isEmpty());
}

/// The edit that is left to make.
void FindingCard::setApplied(const QString& edit)
{
    m_apply->setVisible(!edit.isEmpty());
    m_apply->setToolTip(tr("%1, as one step that can be undone").arg(edit));
    m_apply->setAccessibleName(edit);
}

void FindingCard::paintEvent(QPaintEvent* event)
{
    QFrame::paintEvent(event);
    QPainter painter(this);
    painter.fillRect(QRect(9, 9, kStripeWidth, height() - 18), severityColour(m_session.theme(), m_severity));
}

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
    setContent(m_scroll);
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
    auto* content = new QWidget;
    content->setObjectName(QStringLiteral("findingsContent"));
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    const int count = m_model.rowCount();
    m_cards.clear();
    for (int row = 0; row < std::min(count, kMaxCards); ++row) {
        auto* card = new FindingCard(m_model.finding(row), editText(m_model.finding(row)), m_session, content);
        card->setMeasuring(m_session.jobs().running(Session::kRemediesTag));
        m_cards.push_back(card);
        connect(card, &FindingCard::applyRequested, this, [this, row] { apply(row); });
        connect(card, &FindingCard::showRequested, this, [this, row] { show(row); });
        column->addWidget(card);
    }
    QString hint;
    if (count > kMaxCards)
        hint = tr("and %1 more").arg(countText(quint64(count - kMaxCards)));
    else if (count == 0 && m_session.comparison() && m_session.comparison()->partial)
        hint = tr("Findings need the whole result; it is not complete.");
    else if (count == 0 && m_session.comparison())
        hint = m_session.snapshot()->inputs.recipe
            ? tr("No findings: nothing stands out. File ▸ Export the quantized model writes it.")
            : tr("No findings: nothing stands out.");
    else if (count == 0)
        hint = missingText(*m_session.snapshot());
    if (!hint.isEmpty()) {
        auto* label = textLabel(hint, "emptyHint", content);
        label->setContentsMargins(12, 10, 12, 10);
        column->addWidget(label);
    }
    column->addStretch(1);
    m_scroll->setWidget(content); // deletes the previous one
    content->ensurePolished();
    m_scroll->setMinimumWidth(
        content->minimumSizeHint().width() + m_scroll->verticalScrollBar()->sizeHint().width()); // buttons stay whole
    header()->setInfo(count == 0 ? QString() : tr("%1 finding(s)", nullptr, int(count)).arg(countText(quint64(count))));
}

/// What the remedy is called as an edit; empty where there is nothing to edit, or it is done already.
QString FindingsPanel::editText(const Finding& finding) const
{
    const RecipeEdits& edits = m_session.recipe();
    const SnapshotPtr snapshot = m_session.snapshot();
    const RemedyKind kind = finding.change.kind;
    const bool editsSomething = kind != RemedyKind::None && kind != RemedyKind::Requantize;
    if (!editsSomething || !edits.editable() || !snapshot->floatModel || !snapshot->floatModel->draft)
        return {};
    const bool done = withRemedies(edits.recipe(), changesOf(finding), *snapshot->floatModel->draft) == edits.recipe();
    return done ? QString() : remediesText(changesOf(finding));
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
    for (size_t row = 0; row < m_cards.size(); ++row)
        m_cards[row]->setApplied(editText(m_model.finding(int(row))));
}

void FindingsPanel::apply(int row)
{
    const SnapshotPtr snapshot = m_session.snapshot();
    if (m_outdated || !snapshot->floatModel || !snapshot->floatModel->draft)
        return;
    RecipeEdits& edits = m_session.recipe();
    const std::vector<Remedy> changes = changesOf(m_model.finding(row));
    edits.apply(remediesText(changes), withRemedies(edits.recipe(), changes, *snapshot->floatModel->draft));
}

void FindingsPanel::show(int row)
{
    if (m_outdated)
        return;
    selectFinding(m_session.selection(), m_model.finding(row));
}

} // namespace qs
