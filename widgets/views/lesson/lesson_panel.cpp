// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/lesson/lesson_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/session/lesson/lesson_run.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/lesson/answer_form.h"
#include "widgets/views/lesson/lesson_text.h"
#include "widgets/views/lesson/offered_lesson.h"
#include "widgets/views/theme/restyling.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollBar>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <set>
#include <utility>

namespace qs {

namespace {

constexpr int kStepsShown = 5, kStepsShownHigh = 12; ///< the second in a panel that is high
constexpr int kHighPanel = 800; ///< font units
constexpr int kSeedWidth = 70; ///< font units
constexpr double kPresentedScale = 1.5;

QPushButton* button(const QString& text, const char* name, QWidget* parent)
{
    auto* made = new QPushButton(text, parent);
    made->setObjectName(QLatin1String(name));
    made->setProperty("plain", true);
    made->setAutoDefault(true); // Return presses it
    return made;
}

/// Of the learner's models, as the text of a lesson shows it.
QString pairName(const LessonRun& run)
{
    if (!run.lesson().own)
        return LessonPanel::tr("none are open");
    const Inputs& own = *run.lesson().own;
    const QString quantized
        = own.quantPath.empty() ? LessonPanel::tr("quantized by its recipe") : fileName(own.quantPath);
    return LessonPanel::tr("`%1`, %2").arg(fileName(own.floatPath).remove(u'`'), quantized.toHtmlEscaped());
}

/// Below the last step, once all are done.
QString ending(const LessonRun& run)
{
    const LessonResult result = run.result();
    if (run.progress().step + 1 != run.lesson().taught() || !result.complete)
        return {};
    const auto alone = std::ranges::count_if(result.steps, [](const StepResult& s) { return s.right && !s.shown; });
    const auto atOnce = std::ranges::count_if(
        result.steps, [](const StepResult& s) { return s.right && !s.shown && s.tries.size() == 1; });
    return LessonPanel::tr(
        "**The lesson is complete:** %1 of %2 questions answered without *Show me*, %3 of them at the first try. "
        "*Lessons ▸ Results as PDF…* and *Results as JSON…* write it down.")
        .arg(alone)
        .arg(result.steps.size())
        .arg(atOnce);
}

/// One line a text of a step has, as CommonMark.
QString wholeText(const LessonRun& run, bool presenting)
{
    const ShownStep& shown = run.shown();
    QStringList parts;
    if (!shown.introduction.isEmpty() && !presenting)
        parts << shown.introduction;
    parts << QStringLiteral("## ") + toQt(run.step().title);
    if (run.step().own())
        parts << LessonPanel::tr("*The same on your models:* %1").arg(pairName(run));
    if (!shown.skipped.isEmpty())
        parts << shown.skipped;
    else
        parts << shown.text;
    if (run.step().own() && !run.lesson().own)
        parts << LessonPanel::tr("Open them now by the menu *File*: *Open float…*, *Open quantized…*, *Open data to "
                                 "judge by…*. Or leave the lesson, open them, and take it again: it goes on here.");
    if (!shown.question.isEmpty())
        parts << QStringLiteral("### ") + LessonPanel::tr("Question") << shown.question;
    for (int i = 0; i < shown.hints.size(); ++i)
        parts << LessonPanel::tr("*Hint %1:* %2").arg(i + 1).arg(shown.hints[i]);
    if (!shown.told.isEmpty())
        parts << shown.told;
    if (!shown.explanation.isEmpty())
        parts << shown.explanation;
    if (const QString end = ending(run); !end.isEmpty())
        parts << end;
    return parts.join(QStringLiteral("\n\n"));
}

bool shownYet(const ShownStep& shown) { return !shown.text.isNull() || !shown.skipped.isEmpty(); }

} // namespace

LessonPanel::LessonPanel(Session& session, LessonRun& run, QWidget* parent)
    : Panel(QStringLiteral("lesson"), tr("Lesson"), parent)
    , m_run(run)
    , m_pages(new QStackedWidget(this))
    , m_offered(new QListWidget(this))
    , m_problem(new QLabel(this))
    , m_steps(new QListWidget(this))
    , m_seed(new QLineEdit(this))
    , m_text(new LessonText(this))
    , m_form(new AnswerForm(session, run, this))
    , m_check(button(tr("&Check"), "lessonCheck", this))
    , m_hint(button(tr("H&int"), "lessonHint", this))
    , m_show(button(tr("Sho&w me"), "lessonShow", this))
    , m_next(button(tr("&Next"), "lessonNext", this))
    , m_setUp(button(tr("Set &up again"), "lessonSetUp", this))
    , m_again(button(tr("S&tart again"), "lessonAgain", this)) // F, E, V, R, L, G, S, H are keys of menus
{
    auto* offer = new QWidget(this);
    auto* column = new QVBoxLayout(offer);
    m_problem->setTextFormat(Qt::PlainText);
    wrapText(*m_problem);
    m_offered->setObjectName(QStringLiteral("lessonList"));
    m_offered->setAccessibleName(tr("Lessons"));
    m_offered->setItemDelegate(new OfferedLesson(m_offered));
    m_offered->setResizeMode(QListView::Adjust); // the texts wrap anew
    m_offered->setMouseTracking(true);
    m_offered->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_offered->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    column->addWidget(m_problem);
    column->addWidget(m_offered, 1);
    m_pages->addWidget(offer);
    m_pages->addWidget(makeLesson());
    setContent(m_pages);
    connect(m_offered, &QListWidget::itemActivated, this,
        [this](const QListWidgetItem* item) { emit chosen(item->data(Qt::UserRole).toString()); });
    connect(m_offered, &QListWidget::itemClicked, this,
        [this](const QListWidgetItem* item) { emit chosen(item->data(Qt::UserRole).toString()); });
    connect(&run, &LessonRun::changed, this, &LessonPanel::refresh);
    connect(&run, &LessonRun::stepShown, this, &LessonPanel::takeStep);
    connect(&session, &Session::settled, this, &LessonPanel::refreshButtons);
    connect(m_form, &AnswerForm::edited, this, &LessonPanel::refreshButtons);
    const auto check = [this] {
        if (!m_check->isEnabled())
            return;
        m_from = m_check;
        m_run.check(m_form->answer());
    };
    connect(m_form, &AnswerForm::submitted, this, check);
    connect(m_check, &QPushButton::clicked, this, check);
    connect(m_hint, &QPushButton::clicked, &run, &LessonRun::hint);
    connect(m_show, &QPushButton::clicked, &run, &LessonRun::showMe);
    connect(m_setUp, &QPushButton::clicked, &run, &LessonRun::setUp);
    connect(m_next, &QPushButton::clicked, this, [this] { next(); });
    connect(m_again, &QPushButton::clicked, this, [this] { emit seedAsked(m_seed->text()); });
    connect(m_seed, &QLineEdit::returnPressed, this, [this] { emit seedAsked(m_seed->text()); });
    refresh();
}

QWidget* LessonPanel::makeLesson()
{
    auto* lesson = new QWidget(this);
    auto* column = new QVBoxLayout(lesson);
    column->setContentsMargins(8, 6, 8, 8);
    column->addWidget(makeSteps());
    column->addWidget(m_text, 100); // as high as its text, so that the answer follows the question
    column->addWidget(m_form);
    column->addWidget(makeButtons());
    column->addStretch(1);
    column->addWidget(m_foot = makeFoot());
    return lesson;
}

QWidget* LessonPanel::makeSteps()
{
    m_steps->setObjectName(QStringLiteral("lessonSteps"));
    m_steps->setAccessibleName(tr("Steps"));
    m_steps->setTextElideMode(Qt::ElideRight);
    m_steps->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_steps->setFrameShape(QFrame::NoFrame);
    connect(m_steps, &QListWidget::currentRowChanged, this, [this](int row) {
        if (row >= 0 && m_run.active() && size_t(row) != m_run.progress().step)
            m_run.goTo(size_t(row));
    });
    return m_steps;
}

QWidget* LessonPanel::makeButtons()
{
    auto* row = new QWidget(this);
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(4);
    for (QPushButton* one : { m_check, m_hint, m_show }) {
        one->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
        line->addWidget(one);
    }
    line->addStretch(1);
    line->addWidget(m_next);
    return row;
}

QWidget* LessonPanel::makeFoot()
{
    auto* row = new QWidget(this);
    auto* lines = new QGridLayout(row); // two rows: one would be too wide for large type on a small screen
    lines->setContentsMargins(0, 0, 0, 0);
    lines->setSpacing(4);
    m_seed->setObjectName(QStringLiteral("lessonSeed"));
    m_seed->setAccessibleName(tr("Seed: which variant of the lesson"));
    m_seed->setToolTip(tr("The same seed is the same lesson everywhere"));
    m_seed->setMaximumWidth(fontUnits(fontMetrics(), kSeedWidth));
    auto* leave = button(tr("Le&ave"), "lessonLeave", this);
    leave->setToolTip(tr("Gives back what was open before"));
    connect(leave, &QPushButton::clicked, this, &LessonPanel::leaveAsked);
    auto* label = new QLabel(tr("Seed"), this);
    label->setBuddy(m_seed);
    lines->addWidget(label, 0, 0);
    lines->addWidget(m_seed, 0, 1);
    lines->addWidget(m_again, 0, 3);
    lines->addWidget(m_setUp, 1, 0, 1, 2);
    lines->addWidget(leave, 1, 3);
    lines->setColumnStretch(2, 1);
    return row;
}

void LessonPanel::offer(
    const std::vector<LessonEntry>& lessons, const std::vector<QString>& states, const QString& problem)
{
    m_problem->setText(problem.isEmpty()
            ? tr("Choose a lesson. Leaving it gives back what is open now. Help ▸ Words explains the terms.")
            : problem);
    m_offered->clear();
    for (size_t i = 0; i < lessons.size(); ++i) {
        const LessonEntry& lesson = lessons[i];
        auto* item = new QListWidgetItem(lesson.title, m_offered);
        item->setData(Qt::UserRole, lesson.folder);
        item->setData(OfferedLesson::StateRole, states[i]);
        item->setData(Qt::AccessibleTextRole, lesson.title + QStringLiteral(", ") + states[i]);
        if (!lesson.problem.isEmpty())
            item->setFlags(Qt::NoItemFlags);
    }
}

void LessonPanel::setTextScale(double scale)
{
    m_scale = scale;
    m_text->setScale(m_scale * (m_presenting ? kPresentedScale : 1));
}

void LessonPanel::setPresenting(bool on)
{
    m_presenting = on;
    m_foot->setVisible(!on);
    m_steps->setVisible(!on);
    setTextScale(m_scale);
    refresh();
}

void LessonPanel::next(int by)
{
    if (m_run.active() && !m_run.busy())
        m_run.goTo(m_run.progress().step + size_t(by)); // before the first wraps to beyond the last: nothing happens
}

void LessonPanel::takeStep()
{
    keepFocus(*m_form, false); // what was asked goes
    m_from = nullptr; // enter() follows
    m_form->ask();
    QWidget* before = m_text; // what is asked is made anew, which would put it last in the window
    for (QWidget* field : m_form->fields() + QList<QWidget*> { m_check, m_hint, m_show, m_next }) {
        setTabOrder(before, field);
        before = field;
    }
    m_seed->setText(QString::number(m_run.lesson().seed));
    m_text->verticalScrollBar()->setValue(0);
    refresh();
}

void LessonPanel::enter()
{
    if (!m_form->isAncestorOf(window()->focusWidget())) // who answers already goes on
        focusAnswer();
}

/// Never what gives the answer away or the lesson up.
void LessonPanel::focusAnswer()
{
    const bool asks = m_run.question() && !m_run.shown().answered;
    if (asks && !m_form->fields().isEmpty())
        return m_form->begin();
    QPushButton* const goes = asks ? m_check : m_next;
    (goes->isEnabled() ? static_cast<QWidget*>(goes) : m_text)->setFocus(Qt::OtherFocusReason);
}

/// Qt gives the focus of what is disabled or hidden to whatever comes next in the window, "Start again" included. The
/// text has it instead until focusNext().
void LessonPanel::keepFocus(QWidget& of, bool stays)
{
    QWidget* const now = window()->focusWidget();
    if (stays || !now || (now != &of && !of.isAncestorOf(now)))
        return;
    if (!m_from)
        m_from = now;
    m_text->setFocus(Qt::OtherFocusReason);
}

void LessonPanel::setUsable(QWidget& one, bool usable)
{
    keepFocus(one, usable);
    one.setEnabled(usable);
}

void LessonPanel::setShown(QWidget& one, bool shown)
{
    keepFocus(one, shown);
    one.setVisible(shown);
}

/// After what was asked of the lesson: further hints are a key away, else the answer is what comes next.
void LessonPanel::focusNext()
{
    if (!m_from || m_run.busy())
        return;
    const QWidget* const from = std::exchange(m_from, nullptr);
    if (!m_run.active())
        return;
    if (from == m_hint && m_hint->isEnabled())
        m_hint->setFocus(Qt::OtherFocusReason);
    else
        focusAnswer();
}

void LessonPanel::refresh()
{
    m_pages->setCurrentIndex(m_run.active() ? 1 : 0);
    header()->setInfo(m_run.active() ? toQt(m_run.lesson().title) : QString(), {});
    refreshSteps();
    refreshText();
    refreshButtons();
}

void LessonPanel::refreshText()
{
    if (m_run.active() && shownYet(m_run.shown()))
        m_text->showText(wholeText(m_run, m_presenting), toQt(m_run.lesson().folder));
}

void LessonPanel::refreshButtons()
{
    if (!m_run.active())
        return;
    const ShownStep& shown = m_run.shown();
    const bool question = m_run.question() != nullptr;
    const bool asks = question && !shown.answered && shownYet(shown);
    setShown(*m_form, question);
    keepFocus(*m_form, asks);
    m_form->setOpen(asks);
    for (QPushButton* one : { m_check, m_show })
        setShown(*one, question);
    setShown(*m_hint, question && !m_run.step().hints.empty()); // an examination has none
    setUsable(*m_check, asks && !m_run.busy() && m_form->complete());
    setUsable(*m_hint, asks && !m_run.busy() && shown.hints.size() < 3);
    m_hint->setText(shown.hints.size() >= 3 ? tr("No more hints") : tr("H&int %1 of 3").arg(shown.hints.size() + 1));
    setUsable(*m_show, asks && !m_run.busy());
    setShown(*m_setUp, m_run.moved());
    const bool last = m_run.progress().step + 1 >= m_run.lesson().steps.size();
    setUsable(*m_next, !last && !m_run.busy());
    m_next->setText(last ? tr("Last step") : tr("&Next"));
    if (m_from && !m_run.busy())
        QMetaObject::invokeMethod(this, &LessonPanel::focusNext, Qt::QueuedConnection); // after panels that come back
    QPushButton* main = asks ? m_check : m_next;
    for (QPushButton* one : { m_check, m_next }) {
        setStyled(*one, "primary", one == main);
        setStyled(*one, "plain", one != main);
    }
}

void LessonPanel::refreshSteps()
{
    if (!m_run.active())
        return;
    const auto& steps = m_run.lesson().steps;
    const QSignalBlocker quiet(m_steps);
    while (m_steps->count() > int(steps.size()))
        delete m_steps->takeItem(m_steps->count() - 1);
    while (m_steps->count() < int(steps.size()))
        new QListWidgetItem(m_steps);
    std::set<std::string> given; ///< steps whose answer was shown
    for (const StepResult& result : m_run.result().steps)
        if (result.shown)
            given.insert(result.step);
    for (size_t i = 0; i < steps.size(); ++i) {
        QListWidgetItem* item = m_steps->item(int(i));
        const bool done = m_run.progress().done.contains(i);
        const QString title = steps[i].own() ? tr("Your models: %1").arg(toQt(steps[i].title))
                                             : QStringLiteral("%1. %2").arg(i + 1).arg(toQt(steps[i].title));
        const bool shown = given.contains(steps[i].id);
        item->setText((!done ? QStringLiteral("    ") : shown ? QStringLiteral("·  ") : QStringLiteral("✓ ")) + title);
        item->setData(Qt::AccessibleTextRole,
            !done       ? title
                : shown ? tr("%1, answer shown").arg(title)
                        : tr("%1, done").arg(title));
    }
    m_steps->setCurrentRow(int(m_run.progress().step));
    fitSteps();
}

void LessonPanel::resizeEvent(QResizeEvent* event)
{
    Panel::resizeEvent(event);
    fitSteps();
}

void LessonPanel::fitSteps()
{
    const int line = m_steps->count() > 0 ? m_steps->sizeHintForRow(0) : fontMetrics().height();
    const int most = height() > fontUnits(fontMetrics(), kHighPanel) ? kStepsShownHigh : kStepsShown;
    m_steps->setFixedHeight(line * std::min(most, m_steps->count()) + 2 * m_steps->frameWidth());
    m_steps->scrollToItem(m_steps->currentItem());
}

} // namespace qs

#include "moc_lesson_panel.cpp"
