// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/lesson/lesson_room.h"

#include "widgets/models/base/formatting.h"
#include "widgets/plots/save_dialog.h"
#include "widgets/session/files/open_work.h"
#include "widgets/session/lesson/lesson_topics.h"
#include "widgets/views/lesson/lesson_panel.h"
#include "widgets/views/lesson/lesson_paper.h"
#include "widgets/views/lesson/step_panels.h"

#include <QApplication>
#include <QFileDialog>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>

#include <algorithm>

namespace qs {

namespace {

const QString kSizeKey = QStringLiteral("lessonWindow/textSize");
constexpr double kScales[] { 1.0, 1.25, 1.6 };

/// Whether the panels show the same in both; views and selections aside.
bool sameNumbers(const LessonSetup& a, const LessonSetup& b)
{
    return a.own == b.own && a.model == b.model && a.recipe == b.recipe && a.arithmetic == b.arithmetic;
}

} // namespace

QString topicOf(Metric metric)
{
    switch (metric) {
    case Metric::Accumulated:
        return QStringLiteral("accumulated");
    case Metric::Added:
        return QStringLiteral("added");
    case Metric::Increase:
        return QStringLiteral("increase");
    case Metric::NodeAlone:
        return QStringLiteral("node_alone");
    case Metric::Ideal:
        return QStringLiteral("ideal");
    case Metric::Clipped:
        return QStringLiteral("clipped");
    case Metric::OtherGain:
        return QStringLiteral("other_gain");
    }
    return {};
}

QStringList topicsInFocus(Metric metric)
{
    QStringList topics;
    for (const QWidget* at = QApplication::focusWidget(); at; at = at->parentWidget()) {
        if (const QString topic = at->property("lessonTopic").toString(); !topic.isEmpty())
            topics << topic;
        if (const auto* panel = qobject_cast<const Panel*>(at))
            topics << panel->kind();
    }
    return topics << topicOf(metric);
}

LessonRoom::LessonRoom(Session& session, LessonPanel& panel, LessonStage stage, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_panel(panel)
    , m_stage(std::move(stage))
    , m_run(panel.findChild<LessonRun*>())
    , m_topics(session.findChild<LessonTopics*>())
    , m_places(lessonsOfProgram())
{
    if (!m_places.lessons.empty())
        m_lessons = lessonEntries(m_places, &m_problem);
    if (m_stage.remembered)
        m_textSize = std::clamp(QSettings().value(kSizeKey).toInt(), 0, 2);
    m_panel.setTextScale(kScales[m_textSize]);
    connect(&panel, &LessonPanel::chosen, this, [this](const QString& folder) { begin(folder); });
    connect(m_topics, &LessonTopics::asked, this, [this](const QString& topic) { learn({ topic }); });
    connect(&panel, &LessonPanel::leaveAsked, this, &LessonRoom::leave);
    connect(&panel, &LessonPanel::seedAsked, this, &LessonRoom::startAgain);
    connect(m_run, &LessonRun::failed, this, [this](const Issue& issue) { m_stage.tell(issue); });
    connect(m_run, &LessonRun::changed, this, &LessonRoom::keepProgress);
    connect(m_run, &LessonRun::changed, this, &LessonRoom::arrangeAnswered);
    connect(m_run, &LessonRun::stepShown, this, [this] {
        m_stage.forgetTyped();
        m_toArrange = true;
        arrangeStep();
    });
    connect(&session, &Session::settled, this, &LessonRoom::arrangeStep);
    refreshOffer();
}

QString LessonRoom::title() const { return m_run->active() ? toQt(m_run->lesson().title) : QString(); }

QString LessonRoom::stateText(const LessonEntry& lesson) const
{
    if (!lesson.problem.isEmpty())
        return lesson.problem;
    const auto kept = m_kept.find(lesson.id);
    const auto progress = kept != m_kept.end() ? std::optional(kept->second)
        : m_stage.remembered                   ? readProgress(lesson.id)
                                               : std::nullopt;
    const QString minutes = tr("%1\u00a0minutes").arg(lesson.minutes);
    const size_t done = progress ? doneOf(*progress, lesson.steps) : 0;
    if (done == 0)
        return minutes;
    if (done >= lesson.steps)
        return tr("%1, done").arg(minutes);
    return tr("%1, %2 of %3 steps done").arg(minutes).arg(done).arg(lesson.steps);
}

void LessonRoom::refreshOffer()
{
    std::vector<QString> states;
    for (const LessonEntry& lesson : m_lessons)
        states.push_back(stateText(lesson));
    m_panel.offer(m_lessons, states, m_problem);
    QHash<QString, LessonSpot> spots;
    for (const LessonEntry& lesson : m_lessons)
        for (const auto& [topic, step] : lesson.teaches)
            if (!spots.contains(topic))
                spots[topic] = { lesson.folder, step };
    m_topics->setSpots(spots);
    emit lessonsChanged();
}

void LessonRoom::learn(const QStringList& topics)
{
    for (const QString& topic : topics)
        if (const auto spot = m_topics->spots().constFind(topic); spot != m_topics->spots().constEnd())
            return begin(LessonSpot(*spot).folder, LessonSpot(*spot).step);
    m_stage.tell(badUse("no lesson is about this", "the menu Lessons has them all"));
}

void LessonRoom::openFolder(const QString& folder)
{
    QString problem;
    LessonPlaces places = m_places;
    places.lessons = folder.toStdString();
    const auto lessons = lessonEntries(places, &problem);
    if (!problem.isEmpty())
        return m_stage.tell(badInput(problem.toStdString()));
    m_places = places;
    m_lessons = lessons;
    m_problem.clear();
    refreshOffer();
    if (m_lessons.size() == 1)
        begin(m_lessons.front().folder);
    else if (!m_run->active())
        m_stage.raise(QStringLiteral("lesson"));
}

void LessonRoom::begin(const QString& folder, std::optional<size_t> step)
{
    leave();
    const auto entry = std::ranges::find(m_lessons, folder, &LessonEntry::folder);
    const QString id = entry == m_lessons.end() ? QString() : entry->id;
    const auto kept = m_kept.find(id);
    LessonProgress from;
    if (kept != m_kept.end())
        from = kept->second;
    else if (m_stage.remembered)
        from = readProgress(id).value_or(LessonProgress {});
    from.step = step.value_or(from.step);
    m_restoreLayout = m_stage.keepLayout();
    if (const Status begun = m_run->begin(folder, m_places.examples, from); !begun.ok())
        return m_stage.tell(begun.issue());
    emit activeChanged(true);
}

void LessonRoom::beginById(const QString& id)
{
    const auto found = std::ranges::find(m_lessons, id, &LessonEntry::id);
    if (m_lessons.empty())
        return m_stage.tell(badInput("the lessons that came with the program are not beside it", {},
            "open a folder of lessons by Lessons, or install the program with its files"));
    if (found == m_lessons.end())
        return m_stage.tell(badUse("there is no lesson '" + id.left(80).toStdString() + "'", "see the menu Lessons"));
    begin(found->folder);
}

void LessonRoom::leave()
{
    if (!m_run->active())
        return;
    keepProgress();
    setPresenting(false);
    m_toArrange = false;
    m_arranged.reset();
    m_run->leave();
    m_stage.forgetTyped();
    m_restoreLayout();
    refreshOffer();
    emit activeChanged(false);
}

void LessonRoom::startAgain(const QString& seed)
{
    bool number = false;
    const qulonglong value = seed.trimmed().toULongLong(&number);
    if (!number)
        return m_stage.tell(badUse("'" + seed.left(40).toStdString() + "' is no seed", "give a whole number from 0"));
    if (!m_run->active() || !hasAnswers(m_run->progress()))
        return startWith(value);
    auto* box = new QMessageBox(QMessageBox::Warning, tr("Quantscope"), tr("Start “%1” again?").arg(title()),
        QMessageBox::Cancel, m_stage.window);
    box->setObjectName(QStringLiteral("startAgainQuestion"));
    box->setTextFormat(Qt::PlainText);
    box->setInformativeText(tr("The answers that were given are lost then."));
    const QPushButton* again = box->addButton(tr("&Start again"), QMessageBox::AcceptRole);
    box->button(QMessageBox::Cancel)->setText(tr("&Cancel"));
    box->setDefaultButton(QMessageBox::Cancel);
    box->setEscapeButton(QMessageBox::Cancel);
    box->setAttribute(Qt::WA_DeleteOnClose);
    connect(box, &QMessageBox::finished, this, [this, box, again, value, id = m_run->lesson().id] {
        if (box->clickedButton() == again && m_run->active() && m_run->lesson().id == id)
            startWith(value);
    });
    box->open();
}

void LessonRoom::startWith(uint64_t seed)
{
    if (!m_run->active())
        return;
    if (const Status begun = m_run->startAgain(seed); !begun.ok())
        m_stage.tell(begun.issue());
}

/// Once the step's models are open: panels come with them.
void LessonRoom::arrangeStep()
{
    if (!m_toArrange || !m_run->active() || m_session.busy())
        return;
    m_toArrange = false;
    arrange();
    m_stage.showFirstRows();
    m_panel.enter();
}

/// Panels that show an answer: the step's, as long as it is asked for; then those of them that show the next one's,
/// too.
QStringList LessonRoom::hiddenPanels() const
{
    QStringList hidden;
    if (!m_run->question())
        return hidden;
    const std::vector<LessonStep>& steps = m_run->lesson().steps;
    const LessonProgress& progress = m_run->progress();
    const size_t next = progress.step + 1;
    const bool answered = m_run->shown().answered;
    const bool asksOn = next < steps.size() && !progress.done.contains(next) && steps[next].question
        && sameNumbers(steps[progress.step].setup, steps[next].setup);
    for (const std::string& name : m_run->step().hide)
        if (!answered || (asksOn && std::ranges::find(steps[next].hide, name) != steps[next].hide.end()))
            hidden << toQt(name);
    return hidden;
}

void LessonRoom::arrange()
{
    const auto wanted = std::pair(panelsOfStep(m_run->step()), hiddenPanels());
    if (m_arranged != wanted) {
        m_arranged = wanted;
        m_stage.arrange(wanted.first, wanted.second);
    }
    m_stage.sayWhyHidden(m_run->shown().answered);
    m_stage.raise(QStringLiteral("lesson"));
}

/// What was hidden since it shows the answer comes back.
void LessonRoom::arrangeAnswered()
{
    if (!m_toArrange && m_run->active() && m_run->shown().answered && !m_run->step().hide.empty())
        arrange();
}

void LessonRoom::keepProgress()
{
    if (!m_run->active())
        return;
    LessonProgress progress = m_run->progress();
    progress.seconds = m_run->result().seconds;
    const QString id = toQt(m_run->lesson().id);
    m_kept[id] = progress;
    if (m_stage.remembered)
        qs::keepProgress(id, progress);
}

void LessonRoom::askForFolder()
{
    auto* dialog = new QFileDialog(m_stage.window, tr("Folder of lessons"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, this, &LessonRoom::openFolder);
    dialog->open();
}

/// Unless it would take the place of what is open, or was.
void LessonRoom::writeFile(const QString& path, const std::function<Status()>& write)
{
    Status status = OpenWork(m_session).mayWrite(path);
    if (status.ok())
        status = write();
    if (!status.ok())
        return m_stage.tell(status.issue());
    emit written(path);
}

void LessonRoom::askForResults(bool pdf)
{
    if (!m_run->active())
        return;
    const QString suffix = pdf ? QStringLiteral("pdf") : QStringLiteral("json");
    askWhereToWrite(m_stage.window, tr("Results"), toQt(m_run->lesson().id) + u'.' + suffix,
        pdf ? tr("PDF (*.pdf)") : tr("JSON (*.json)"), suffix, [this, pdf](const QString& path) {
            const auto write = pdf ? writeResultPdf : writeResultJson;
            writeFile(path, [&] { return write(path.toStdString(), m_run->lesson(), m_run->result()); });
        });
}

void LessonRoom::askForHandout(bool answers)
{
    if (!m_run->active())
        return;
    askWhereToWrite(m_stage.window, tr("Print lesson"), toQt(m_run->lesson().id) + QStringLiteral(".pdf"),
        tr("PDF (*.pdf)"), QStringLiteral("pdf"), [this, answers](const QString& path) {
            m_run->print(answers, [this, path, answers](const std::vector<PrintedStep>& steps) {
                writeFile(path, [&] { return writeLessonPdf(path.toStdString(), m_run->lesson(), steps, answers); });
            });
        });
}

void LessonRoom::setTextSize(int size)
{
    m_textSize = std::clamp(size, 0, 2);
    if (m_stage.remembered)
        QSettings().setValue(kSizeKey, m_textSize);
    m_panel.setTextScale(kScales[m_textSize]);
}

void LessonRoom::setPresenting(bool on)
{
    if (on == m_presenting || (on && !m_run->active()))
        return;
    m_presenting = on;
    m_panel.setPresenting(on);
    m_stage.present(on);
}

} // namespace qs

#include "moc_lesson_room.cpp"
