// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/chosen_sample.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/tables/task_words.h"
#include "widgets/session/details/pair_details.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/tables/sample_pictures.h"
#include "widgets/views/tasks/picture_row.h"

#include <QLabel>
#include <QPointer>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

const QString kSampleTag = QStringLiteral("sample-detail");
constexpr int kSamplePicture = 112; ///< font units of a picture alone
constexpr int kFoundSide = 232; ///< pixels of one with boxes or a mask

/// Of one sample, by the outputs that were measured for it.
SampleTask sampleTask(const Snapshot& snapshot, const std::vector<SampleOutput>& outputs, const PictureSize& picture)
{
    SampleTask task;
    const OutputRow* telling = tellingOutput(*snapshot.comparison);
    if (!telling)
        return task;
    task.kind = telling->task.what.kind;
    task.output = size_t(telling - snapshot.comparison->outputs.data());
    task.scored = telling->task.scored;
    task.named = telling->choices;
    task.picture = picture;
    const ComparePair pair = detailInputs(snapshot).pair;
    if (task.kind == TaskKind::Boxes)
        task.boxes = sampleBoxes(pair, outputs, task.picture);
    else if (task.kind == TaskKind::Mask)
        task.masks = sampleMasks(pair, outputs);
    return task;
}

Result<SampleSide> sampleSide(
    const Snapshot& snapshot, size_t sample, const PictureSize& picture, const JobContext& context)
{
    QS_TRY(auto outputs, sampleOutputs(detailInputs(snapshot), sample, detailWork(snapshot, context)));
    SampleTask task = sampleTask(snapshot, outputs, picture);
    return SampleSide { std::move(outputs), std::move(task) };
}

Result<SampleFacts> sampleFacts(const Snapshot& snapshot, size_t sample, const JobContext& context)
{
    SampleFacts facts;
    facts.name = snapshot.data->sampleName(sample);
    facts.label = snapshot.data->label(sample);
    facts.classNames = snapshot.classNames;
    SamplePreviews previews(*snapshot.data);
    facts.picture = previews.of(sample, kFoundSide);
    PictureSize size;
    const auto& feed = previews.feed();
    for (size_t i = 0; feed && i < feed->inputs.size() && size.height == 0; ++i)
        size = pictureSize(feed->inputs[i].shape());
    QS_TRY(facts.a, sampleSide(snapshot, sample, size, context));
    if (const Snapshot* other = snapshot.other ? snapshot.other->snapshot.get() : nullptr; other && other->data) {
        QS_TRY(facts.b, sampleSide(*other, sample, size, context));
    }
    return facts;
}

/// The picture with what one model finds in it.
QImage overlaid(const QImage& picture, const SampleTask& task, const Theme& theme, const ClassNames& names)
{
    if (task.boxes)
        return withBoxes(picture, *task.boxes, task.picture, theme, names);
    return task.masks ? withMask(picture, *task.masks, theme) : picture;
}

} // namespace

ChosenSample::ChosenSample(Session& session, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_pictures(new PictureRow(this))
    , m_text(new QLabel(this))
{
    m_text->setObjectName(QStringLiteral("findingText"));
    m_text->setTextFormat(Qt::RichText);
    wrapText(*m_text);
    m_text->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_text->setContentsMargins(10, 6, 10, 6);
    m_text->setAccessibleName(tr("Outputs of the chosen sample"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(6, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_pictures);
    column->addWidget(m_text, 1);
    connect(&session, &Session::snapshotChanged, this, &ChosenSample::refresh);
    connect(&session.selection(), &Selection::changed, this, &ChosenSample::refresh);
    connect(&session, &Session::themeChanged, this, &ChosenSample::showFacts);
    showFacts();
}

QString ChosenSample::text() const { return m_text->text(); }

void ChosenSample::watch(bool looks)
{
    m_watched = looks;
    refresh();
}

void ChosenSample::refresh()
{
    const SnapshotPtr snapshot = m_session.snapshot();
    const auto sample = m_session.selection().current().sample;
    if (m_asked.snapshot != snapshot.get())
        m_asked = {}; // its address may come again
    const Asked wanted { snapshot.get(), sample };
    if (!m_watched || wanted == m_asked)
        return;
    m_asked = wanted;
    m_session.jobs().cancelTag(kSampleTag);
    const bool possible = sample && snapshot->comparison && !snapshot->comparison->partial && snapshot->data;
    if (!possible) {
        m_facts.reset();
        showFacts();
        emit changed();
        return;
    }
    JobRequest job;
    job.tag = kSampleTag;
    job.title = tr("Look at %1").arg(toQt(snapshot->data->sampleName(*sample)));
    job.visibility = Visibility::Hidden;
    job.process
        = [self = QPointer(this), snapshot, wanted](const JobContext& context) -> Result<std::function<void()>> {
        QS_TRY(SampleFacts found, sampleFacts(*snapshot, *wanted.sample, context));
        auto facts = std::make_shared<const SampleFacts>(std::move(found));
        return std::function<void()>([self, wanted, facts] {
            if (!self || self->m_asked != wanted)
                return;
            self->m_facts = facts;
            self->showFacts();
            emit self->changed();
        });
    };
    job.failed = [self = QPointer(this), wanted](const Issue&) {
        if (!self || self->m_asked != wanted)
            return;
        self->m_facts.reset();
        self->m_text->setText(tr("This sample cannot be run alone."));
        emit self->changed();
    };
    m_session.jobs().start(std::move(job));
}

void ChosenSample::showFacts()
{
    showPictures();
    if (!m_facts) {
        m_text->setText(tr("Choose a sample to see its input and outputs; the graph is then coloured for it alone."));
        return;
    }
    const ClassNames& names = *m_facts->classNames;
    QString text = QStringLiteral("<b>%1</b>").arg(toQt(m_facts->name).toHtmlEscaped());
    if (m_facts->label)
        text += QStringLiteral("<br>") + tr("label %1").arg(toQt(className(names, *m_facts->label)).toHtmlEscaped());
    m_text->setText(text + sampleText(m_facts->a, m_facts->other(), names, m_session.theme()));
}

/// Twice only where the models' boxes or masks lie in it.
void ChosenSample::showPictures()
{
    if (!m_facts || m_facts->picture.pixels.empty())
        return m_pictures->show({}, 0);
    const Theme& theme = m_session.theme();
    const ClassNames& names = *m_facts->classNames;
    const QImage picture = imageOf(m_facts->picture);
    const SampleTask& task = m_facts->a.task;
    const bool found = task.boxes || task.masks, both = found && m_facts->b;
    std::vector<PictureRow::Shown> shown { { overlaid(picture, task, theme, names), both ? tr("A") : QString() } };
    if (both)
        shown.push_back({ overlaid(picture, m_facts->b->task, theme, names), tr("B") });
    m_pictures->setAccessibleName(
        both ? tr("Input of the chosen sample with what A and B find in it") : tr("Input of the chosen sample"));
    m_pictures->show(std::move(shown), found ? kFoundSide : fontUnits(fontMetrics(), kSamplePicture));
}

} // namespace qs

#include "moc_chosen_sample.cpp"
