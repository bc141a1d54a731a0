// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/findings/finding_card.h"

#include "core/project/search/tried_remedies.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/findings/finding_model.h"
#include "widgets/session/lesson/lesson_topics.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/theme/focus_ring.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

namespace qs {

namespace {

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

QLabel* sentenceLabel(const QString& text, const char* name, QWidget* parent)
{
    const QString shown = withShortNames(text);
    QLabel* label = findingLabel(shown, name, parent);
    label->setToolTip(shown == text ? QString() : text);
    return label;
}

/// Of a group: the worst, and how many more say the same.
QString groupTitle(const Finding& worst, size_t members)
{
    const QString title = findingText(worst.title);
    return members < 2 ? title : FindingCard::tr("%1, and %2 more like it").arg(title, countText(quint64(members - 1)));
}

/// As it is copied: names are whole, and each place has a line.
QString wholeText(const std::vector<Finding>& findings, const FindingGroup& group)
{
    const Finding& worst = findings[group.members.front()];
    QStringList lines { severityText(worst.severity) + QStringLiteral(": ") + groupTitle(worst, group.members.size()),
        findingText(worst.summary) };
    if (!worst.remedy.empty())
        lines << FindingCard::tr("→ %1").arg(findingText(worst.remedy));
    for (size_t i = 1; i < group.members.size(); ++i) {
        const Finding& f = findings[group.members[i]];
        lines << toQt(f.tensor.empty() ? f.node : f.tensor) + QStringLiteral(": ") + findingText(f.summary);
    }
    return lines.join(u'\n');
}

} // namespace

QLabel* findingLabel(const QString& text, const char* name, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setObjectName(QLatin1String(name));
    label->setTextFormat(Qt::PlainText);
    wrapText(*label);
    return label;
}

FindingCard::FindingCard(const std::vector<Finding>& findings, const FindingGroup& group, const QString& edit,
    const Session& session, QWidget* parent)
    : QFrame(parent)
    , m_severity(findings[group.members.front()].severity)
    , m_session(session)
    , m_summary(nullptr)
    , m_apply(new QPushButton(this))
    , m_gain(nullptr)
{
    setObjectName(QStringLiteral("findingCard"));
    const Finding& finding = findings[group.members.front()];
    const QString title = groupTitle(finding, group.members.size());
    setAccessibleName(severityText(finding.severity) + QStringLiteral(": ") + title);
    setAccessibleDescription(findingText(finding.summary));
    setFocusPolicy(Qt::StrongFocus);
    m_text = wholeText(findings, group);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(kStripeWidth + 18, 8, 10, 8);
    column->setSpacing(3);
    auto* heading = sentenceLabel(severityIcon(finding.severity) + u' ' + title, "findingTitle", this);
    heading->setToolTip(severityText(finding.severity) + QStringLiteral(": ") + title);
    column->addWidget(heading);
    m_summary = sentenceLabel(findingText(finding.summary), "findingText", this);
    column->addWidget(m_summary);
    if (!finding.remedy.empty())
        column->addWidget(sentenceLabel(tr("→ %1").arg(findingText(finding.remedy)), "findingMuted", this));

    nameGain(finding, column);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(4);
    connect(m_apply, &QPushButton::clicked, this, &FindingCard::applyRequested);
    column->addWidget(m_apply, 0, Qt::AlignLeft); // beside the others it would be wider than the panel
    setApplied(edit);
    if (finding.activation || finding.weight || !finding.node.empty() || !finding.tensor.empty()) {
        m_show = new QPushButton(tr("Show"), this);
        m_show->setAccessibleName(tr("Show %1").arg(title));
        m_show->setToolTip(tr("Select %1").arg(toQt(finding.tensor.empty() ? finding.node : finding.tensor)));
        connect(m_show, &QPushButton::clicked, this, [this] { emit showRequested(0); });
        buttons->addWidget(m_show);
    }
    if (group.members.size() > 1)
        addPlaces(findings, group, buttons);
    addExplanation(finding, buttons, column);
    if (m_places)
        column->addWidget(m_places);
    watchLabels();
}

void FindingCard::watchLabels()
{
    for (QLabel* label : findChildren<QLabel*>())
        label->installEventFilter(this);
}

QString FindingCard::text() const { return m_gainText.isEmpty() ? m_text : m_text + u'\n' + m_gainText; }

void FindingCard::copy() const { QGuiApplication::clipboard()->setText(text()); }

void FindingCard::showMenu(const QPoint& global, const QString& marked)
{
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (!marked.isEmpty())
        menu->addAction(tr("Copy the &marked text"), this, [marked] { QGuiApplication::clipboard()->setText(marked); });
    menu->addAction(tr("&Copy"), this, [this] { copy(); });
    menu->addAction(tr("Copy &all findings"), this, &FindingCard::copyAllRequested);
    if (m_show || !m_apply->isHidden())
        menu->addSeparator();
    if (m_show)
        menu->addAction(tr("&Show"), this, [this] { emit showRequested(0); });
    if (!m_apply->isHidden())
        menu->addAction(m_apply->text(), this, &FindingCard::applyRequested);
    menu->popup(global);
}

bool FindingCard::eventFilter(QObject* watched, QEvent* event)
{
    const auto* label = qobject_cast<QLabel*>(watched);
    if (label && event->type() == QEvent::ContextMenu) {
        showMenu(static_cast<QContextMenuEvent*>(event)->globalPos(), label->selectedText());
        return true;
    }
    if (label && event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)
        && label->selectedText().isEmpty()) {
        copy();
        return true;
    }
    return QFrame::eventFilter(watched, event);
}

void FindingCard::contextMenuEvent(QContextMenuEvent* event) { showMenu(event->globalPos(), {}); }

void FindingCard::keyPressEvent(QKeyEvent* event)
{
    const int key = event->key();
    if (event->matches(QKeySequence::Copy))
        copy();
    else if (key == Qt::Key_Down || key == Qt::Key_Up)
        emit stepRequested(key == Qt::Key_Down ? 1 : -1);
    else if (m_show && hasFocus() && (key == Qt::Key_Return || key == Qt::Key_Enter))
        emit showRequested(0);
    else
        QFrame::keyPressEvent(event);
}

void FindingCard::focusInEvent(QFocusEvent* event)
{
    QFrame::focusInEvent(event);
    update();
}

void FindingCard::focusOutEvent(QFocusEvent* event)
{
    QFrame::focusOutEvent(event);
    update();
}

/// The members of a group, the worst first; each is a link to its place.
void FindingCard::addPlaces(const std::vector<Finding>& findings, const FindingGroup& group, QHBoxLayout* buttons)
{
    QStringList lines, places, names;
    for (const size_t member : group.members) {
        places << toQt(findings[member].tensor.empty() ? findings[member].node : findings[member].tensor);
        names << withShortNames(places.back());
    }
    for (qsizetype i = 0; i < places.size(); ++i)
        if (names.count(names[i]) > 1) // what tells them apart is what was cut
            places[i] = breakable(places[i]);
        else
            places[i] = names[i];
    for (size_t i = 0; i < group.members.size(); ++i) {
        const Finding& f = findings[group.members[i]];
        lines << QStringLiteral("<a href=\"%1\">%2</a>: %3")
                     .arg(QString::number(i), places[qsizetype(i)].toHtmlEscaped(),
                         withShortNames(findingText(f.summary)).toHtmlEscaped());
    }
    m_places = findingLabel({}, "findingMuted", this);
    m_places->setTextFormat(Qt::RichText);
    m_places->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    m_places->setText(lines.join(QStringLiteral("<br>")));
    m_places->hide();
    connect(m_places, &QLabel::linkActivated, this, [this](const QString& link) { emit showRequested(link.toInt()); });
    const QString count = countText(quint64(group.members.size()));
    auto* all = new QPushButton(tr("%1 places").arg(count), this);
    all->setObjectName(QStringLiteral("findingPlaces"));
    all->setProperty("link", true);
    all->setCheckable(true);
    all->setAccessibleName(tr("Show all %1 places").arg(count));
    connect(all, &QPushButton::toggled, m_places, &QWidget::setVisible);
    buttons->addWidget(all);
}

void FindingCard::addExplanation(const Finding& finding, QHBoxLayout* buttons, QVBoxLayout* column)
{
    QString explanation = ruleExplanation(finding.rule);
    const QString evidence = evidenceText(finding);
    if (!evidence.isEmpty())
        explanation += QStringLiteral("\n") + tr("Measured: %1.").arg(evidence);
    if (const QString places = placesText(finding); !places.isEmpty())
        explanation += QStringLiteral("\n") + tr("Places, the worst first: %1.").arg(places);
    auto* explain = new QPushButton(tr("Explain"), this);
    explain->setProperty("link", true);
    explain->setCheckable(true);
    explain->setAccessibleName(tr("Explain %1").arg(findingText(finding.title)));
    buttons->addWidget(explain);
    buttons->addStretch(1);
    column->addLayout(buttons);
    auto* text = findingLabel(explanation, "findingMuted", this);
    text->hide();
    connect(explain, &QPushButton::toggled, text, &QWidget::setVisible);
    column->addWidget(text);
    addLesson(finding, explain, column);
}

/// Beside the explanation: the step of a lesson that teaches the finding, where there is one.
void FindingCard::addLesson(const Finding& finding, QPushButton* explain, QVBoxLayout* column)
{
    const QString topic = toQt(ruleId(finding.rule));
    setProperty("lessonTopic", topic);
    auto* topics = m_session.findChild<LessonTopics*>();
    if (!topics)
        return;
    auto* learn = new QPushButton(tr("Learn this"), this);
    learn->setProperty("link", true);
    learn->setAccessibleName(tr("Learn this: %1").arg(findingText(finding.title)));
    const auto refresh = [learn, topics, topic, explain] {
        learn->setVisible(explain->isChecked() && topics->spots().contains(topic));
    };
    connect(topics, &LessonTopics::changed, learn, refresh);
    connect(explain, &QPushButton::toggled, learn, refresh);
    connect(
        learn, &QPushButton::clicked, topics, [topics, topic] { topics->ask(topic); }, Qt::QueuedConnection);
    column->addWidget(learn, 0, Qt::AlignLeft);
    refresh();
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
        m_gainText += u' '
            + tr("(Measured by changing the file itself. Apply makes the same change in the recipe that the file was "
                 "read as.)");
    const bool promises = finding.measuredGainDb && !inFile;
    m_apply->setText(promises ? tr("Apply: output %1").arg(signedDecibelText(*finding.measuredGainDb)) : tr("Apply"));
    m_gain = findingLabel({}, "findingMuted", this);
    column->addWidget(m_gain);
    setMeasuring(false);
}

void FindingCard::setMeasuring(bool measuring)
{
    m_gain->setText(m_open && measuring ? tr("Measuring what this gains at the output…") : m_gainText);
    m_gain->setVisible(!m_gain->text().isEmpty());
}

void FindingCard::setStale(bool stale)
{
    m_summary->setEnabled(!stale);
    setToolTip(stale ? tr("The recipe was changed since; these are the numbers before.") : QString());
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
    if (hasFocus())
        paintFocusRing(painter, *this);
}

} // namespace qs

#include "moc_finding_card.cpp"
