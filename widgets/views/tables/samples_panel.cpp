// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/samples_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/findings/finding_model.h"
#include "widgets/models/tables/sample_model.h"
#include "widgets/models/tables/task_words.h"
#include "widgets/plots/point_chart.h"
#include "widgets/session/details/pair_details.h"
#include "widgets/session/shown/empty_texts.h"
#include "widgets/views/base/cell_delegates.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/tables/sample_pictures.h"
#include "widgets/views/tasks/sample_overlay.h"
#include "widgets/views/theme/plot_theme.h"

#include <QKeyEvent>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qs {

namespace {

const QString kSampleTag = QStringLiteral("sample-detail");
constexpr int kPictureSide = 112; ///< font units of the chosen sample's picture
constexpr size_t kMostClasses = 5;
constexpr int kDetailWidth = 190, kLeastScatter = 150; ///< font units
constexpr int kWideEnough = 1000; ///< font units for table, scatter and the chosen sample; below it one of the last two

/// The name of a sample beside its picture.
class PictureDelegate : public CellDelegate {
public:
    PictureDelegate(const Session& session, const SamplePictures& pictures, TablePanel& panel)
        : CellDelegate(session, ColumnKind::Text, &panel)
        , m_pictures(pictures)
    {
    }

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        CellDelegate::initStyleOption(option, index);
        const QPixmap picture = m_pictures.at(index.data(RowRole).toULongLong());
        if (picture.isNull())
            return;
        option->features |= QStyleOptionViewItem::HasDecoration;
        option->icon = QIcon(picture);
        const int side = fontUnits(option->fontMetrics, SamplePictures::kSide);
        option->decorationSize = { side, side };
    }

private:
    const SamplePictures& m_pictures;
};

/// How the samples fit the calibration.
QString coverageText(const Snapshot& snapshot)
{
    if (!snapshot.comparison)
        return {};
    const Comparison& c = *snapshot.comparison;
    QStringList parts;
    if (c.coverage && c.coverage->outside > 0)
        parts << TablePanel::tr("%1 of the values lie outside the calibrated ranges, most in %2: %3")
                     .arg(percentText(c.coverage->outside), toQt(c.coverage->worst),
                         percentText(c.coverage->worstShare));
    else if (c.coverage)
        parts << TablePanel::tr("all values lie inside the calibrated ranges");
    if (!c.duplicates.empty())
        parts << TablePanel::tr("%1 groups of equal samples").arg(countText(c.duplicates.size()));
    for (const InputRow& input : c.inputs)
        if (!input.note.empty())
            parts << QStringLiteral("%1: %2").arg(toQt(input.name), findingText(input.note));
    if (c.rangeGrowth.size() > 1) {
        const RangeGrowth& before = c.rangeGrowth[c.rangeGrowth.size() - 2];
        parts << TablePanel::tr("after %1 samples ranges have %2 of their width")
                     .arg(countText(before.samples), percentText(before.meanShare));
    }
    return parts.join(QStringLiteral(" · "));
}

/// How many samples differ by a task that is not a class for each.
QString differingText(const TaskRow& task)
{
    if (task.what.kind == TaskKind::Mask)
        return TablePanel::tr(" · mean IoU %1").arg(agreementText(task));
    return task.differing == 0 ? TablePanel::tr(" · none differs")
        : task.what.kind == TaskKind::Boxes
        ? TablePanel::tr(" · boxes differ in %1").arg(countText(task.differing))
        : TablePanel::tr(" · positions differ in %1").arg(countText(task.differing));
}

/// Of the chosen sample, by the outputs that were measured for it.
SampleTask sampleTask(
    const Snapshot& snapshot, const std::vector<SampleOutput>& outputs, const std::optional<Feed>& feed)
{
    SampleTask task;
    const OutputRow* telling = tellingOutput(*snapshot.comparison);
    if (!telling)
        return task;
    task.kind = telling->task.what.kind;
    task.output = size_t(telling - snapshot.comparison->outputs.data());
    for (size_t i = 0; feed && i < feed->inputs.size() && task.picture.height == 0; ++i)
        task.picture = pictureSize(feed->inputs[i].shape());
    const ComparePair pair = detailInputs(snapshot).pair;
    if (task.kind == TaskKind::Boxes)
        task.boxes = sampleBoxes(pair, outputs, task.picture);
    else if (task.kind == TaskKind::Mask)
        task.masks = sampleMasks(pair, outputs);
    return task;
}

TablePanel::Setup samplesSetup(Session& session)
{
    TablePanel::Setup setup;
    setup.name = QStringLiteral("samples");
    setup.title = TablePanel::tr("Samples");
    setup.model = new SampleModel;
    setup.worstColumn = setup.model->columnOf(SampleModel::Key::QuantMargin);
    const Session* owner = &session;
    setup.select = [owner](Selection& selection, int row) {
        selection.selectSample(owner->comparison()->firstSample + size_t(row));
    };
    setup.rowOf = [owner](const Place& place) -> std::optional<size_t> {
        const Comparison* comparison = owner->comparison();
        if (!comparison || !place.sample || *place.sample < comparison->firstSample)
            return {};
        return *place.sample - comparison->firstSample;
    };
    setup.info = [](const Snapshot& snapshot) {
        if (!snapshot.comparison)
            return QString();
        const size_t count = snapshot.comparison->samples, flipped = snapshot.comparison->flipped.size();
        const QString samples = samplesText(count);
        if (hasOtherTask(*snapshot.comparison))
            return samples + differingText(tellingOutput(*snapshot.comparison)->task);
        if (snapshot.other && !snapshot.comparison->floatClass.empty())
            return samples
                + TablePanel::tr(" · A flips %1, B flips %2")
                      .arg(countText(flipped), countText(snapshot.other->snapshot->comparison->flipped.size()));
        return snapshot.comparison->floatClass.empty() ? samples
                                                       : samples
                + (flipped == 0 ? TablePanel::tr(" · no class flipped")
                                : TablePanel::tr(" · %1 flipped").arg(countText(flipped)));
    };
    setup.footer = [owner](const Theme&) { return coverageText(*owner->snapshot()); };
    setup.emptyText = whyNothingCompared;
    return setup;
}

} // namespace

SamplesPanel::SamplesPanel(Session& session, QWidget* parent)
    : TablePanel(session, samplesSetup(session), parent)
    , m_session(session)
    , m_pictures(new SamplePictures(session, this))
    , m_scatter(new PointChart(this))
    , m_picture(new QLabel(this))
    , m_detail(new QLabel(this))
    , m_all(new QPushButton(tr("All samples"), this))
{
    table()->setItemDelegateForColumn(0, new PictureDelegate(session, *m_pictures, *this));
    m_all->setToolTip(tr("Colour the graph for all samples together again (Esc)"));
    header()->addTool(m_all);
    connect(m_all, &QPushButton::clicked, this, [this] { m_session.selection().selectSample(std::nullopt); });
    buildBeside();
    connect(m_pictures, &SamplePictures::changed, table()->viewport(), qOverload<>(&QWidget::update));
    connect(m_scatter, &PointChart::itemChosen, this,
        [this](size_t row) { m_session.selection().selectSample(m_session.comparison()->firstSample + row); });
    connect(&session, &Session::snapshotChanged, this, &SamplesPanel::refresh);
    connect(&session.selection(), &Selection::changed, this, &SamplesPanel::followSample);
    connect(&session, &Session::themeChanged, this, [this] { m_scatter->setStyle(plotStyleOf(m_session.theme())); });
    connect(this, &Panel::lookedAtChanged, this, &SamplesPanel::refresh);
    m_scatter->setStyle(plotStyleOf(session.theme()));
    refresh();
}

void SamplesPanel::buildBeside()
{
    m_scatter->setAccessibleName(tr("Margins of the float model against the quantized one"));
    m_scatter->setMinimumWidth(fontUnits(fontMetrics(), kLeastScatter));
    addBeside(m_scatter, 30);
    m_picture->setAlignment(Qt::AlignCenter);
    m_picture->setContentsMargins(8, 8, 8, 0);
    m_picture->setAccessibleName(tr("Input of the chosen sample"));
    m_detail->setObjectName(QStringLiteral("findingText"));
    m_detail->setTextFormat(Qt::RichText);
    wrapText(*m_detail);
    m_detail->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_detail->setContentsMargins(10, 6, 10, 6);
    m_detail->setAccessibleName(tr("Outputs of the chosen sample"));
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_picture);
    column->addWidget(m_detail, 1);
    auto* scroll = new QScrollArea(this);
    scroll->setWidget(content);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setMinimumWidth(fontUnits(fontMetrics(), kDetailWidth));
    addBeside(scroll, 20);
    m_single = scroll;
}

void SamplesPanel::refresh()
{
    if (lookedAt())
        m_pictures->want();
    sortByTask();
    const PointData points = marginData(*m_session.snapshot());
    m_scatter->setData(points);
    followSample();
}

/// Worst first by what tells the samples apart: the margin of classes, else the task's agreement, else the SQNR. Only
/// where that changes, so that the user's own sorting stays.
void SamplesPanel::sortByTask()
{
    const Comparison* comparison = m_session.comparison();
    if (!comparison)
        return;
    const auto key = hasClasses(*comparison) ? SampleModel::Key::QuantMargin
        : hasOtherTask(*comparison)          ? SampleModel::Key::Agreement
                                             : SampleModel::Key::Sqnr;
    const int column = model()->columnOf(key);
    if (column == m_sortedBy)
        return;
    m_sortedBy = column;
    sortWorstFirst(column);
}

/// Esc leads back to all samples, before the shortcut that cancels work.
bool SamplesPanel::event(QEvent* event)
{
    const bool key = event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress;
    if (!key || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape || !m_session.selection().current().sample)
        return TablePanel::event(event);
    if (event->type() == QEvent::KeyPress)
        m_session.selection().selectSample(std::nullopt);
    event->accept();
    return true;
}

void SamplesPanel::resizeEvent(QResizeEvent* event)
{
    TablePanel::resizeEvent(event);
    arrange();
}

void SamplesPanel::arrange()
{
    const bool wide = width() >= fontUnits(fontMetrics(), kWideEnough),
               chosen = m_session.selection().current().sample.has_value();
    m_scatter->setVisible(!m_scatter->data().points.empty() && (wide || !chosen));
    m_single->setVisible(wide || chosen || m_scatter->data().points.empty());
    if (wide)
        shareWidth({ 60, 40 });
    else
        shareWidth({ 100, 100 }); // one of them is hidden
}

void SamplesPanel::followSample()
{
    const auto sample = m_session.selection().current().sample;
    const Comparison* comparison = m_session.comparison();
    m_all->setEnabled(sample.has_value());
    arrange();
    const bool known = comparison && sample && *sample >= comparison->firstSample;
    m_scatter->setChosen(known ? std::optional(*sample - comparison->firstSample) : std::nullopt);
    requestDetail();
}

void SamplesPanel::requestDetail()
{
    const SnapshotPtr snapshot = m_session.snapshot();
    const auto sample = m_session.selection().current().sample;
    if (m_shown.snapshot != snapshot.get())
        m_shown = {}; // its address may come again
    if (!lookedAt())
        return;
    const Shown wanted { snapshot.get(), sample };
    if (wanted == m_shown)
        return;
    m_shown = wanted;
    m_session.jobs().cancelTag(kSampleTag);
    const bool possible = sample && snapshot->comparison && !snapshot->comparison->partial && snapshot->data;
    if (!possible) {
        m_picture->hide();
        m_detail->setText(tr("Choose a sample to see its input and outputs; the graph is then coloured for it alone."));
        return;
    }
    JobRequest job;
    job.tag = kSampleTag;
    job.title = tr("Look at %1").arg(toQt(snapshot->data->sampleName(*sample)));
    job.visibility = Visibility::Hidden;
    job.process
        = [self = QPointer(this), snapshot, wanted](const JobContext& context) -> Result<std::function<void()>> {
        SamplePreviews previews(*snapshot->data);
        const Picture picture = previews.of(*wanted.sample, kPictureSide * 2);
        QS_TRY(auto outputs, sampleOutputs(detailInputs(*snapshot), *wanted.sample, detailWork(*snapshot, context)));
        SampleTask task = sampleTask(*snapshot, outputs, previews.feed());
        return std::function<void()>([self, wanted, picture, outputs = std::move(outputs), task = std::move(task)] {
            if (self && self->m_shown == wanted)
                self->showDetail(*wanted.sample, picture, outputs, task);
        });
    };
    job.failed = [self = QPointer(this), wanted](const Issue&) {
        if (self && self->m_shown == wanted)
            self->m_detail->setText(tr("This sample cannot be run alone."));
    };
    m_session.jobs().start(std::move(job));
}

void SamplesPanel::showDetail(
    size_t sample, const Picture& picture, const std::vector<SampleOutput>& outputs, const SampleTask& task)
{
    const DataSource& samples = *m_session.snapshot()->data;
    const ClassNames& names = *m_session.snapshot()->classNames;
    m_picture->setVisible(!picture.pixels.empty());
    if (!picture.pixels.empty() && task.boxes)
        m_picture->setPixmap(
            QPixmap::fromImage(withBoxes(imageOf(picture), *task.boxes, task.picture, m_session.theme(), names)));
    else if (!picture.pixels.empty() && task.masks)
        m_picture->setPixmap(QPixmap::fromImage(withMask(imageOf(picture), *task.masks, m_session.theme())));
    else if (!picture.pixels.empty()) {
        const double scale = devicePixelRatioF();
        const int side = int(fontUnits(fontMetrics(), kPictureSide) * scale);
        QPixmap scaled
            = QPixmap::fromImage(imageOf(picture).scaled(side, side, Qt::KeepAspectRatio, Qt::SmoothTransformation));
        scaled.setDevicePixelRatio(scale);
        m_picture->setPixmap(scaled);
    }
    QString text = QStringLiteral("<b>%1</b>").arg(toQt(samples.sampleName(sample)).toHtmlEscaped());
    if (sample < samples.labels().size())
        text += QStringLiteral("<br>")
            + tr("label %1").arg(toQt(className(names, samples.labels()[sample])).toHtmlEscaped());
    const QString told = sampleTaskText(task, outputs, names, m_session.theme());
    m_detail->setText(text + (told.isEmpty() ? outputsText(outputs, names) : told));
}

QString SamplesPanel::detailText() const { return m_detail->text(); }

PointData marginData(const Snapshot& snapshot)
{
    PointData data;
    data.joined = false;
    data.xLabel = SamplesPanel::tr("margin, float");
    data.yLabel = SamplesPanel::tr("margin, quantized");
    if (!snapshot.comparison || !snapshot.data)
        return data;
    const Comparison& c = *snapshot.comparison;
    const ClassNames& names = *snapshot.classNames;
    const size_t count = std::min({ c.floatMargin.size(), c.quantMargin.size(), c.floatClass.size() });
    double low = 0, high = 0;
    for (size_t i = 0; i < count; ++i) {
        if (!std::isfinite(c.floatMargin[i]) || !std::isfinite(c.quantMargin[i]))
            continue;
        const bool flips = i < c.quantClass.size() && c.floatClass[i] != c.quantClass[i];
        data.points.push_back({ c.floatMargin[i], c.quantMargin[i],
            SamplesPanel::tr("%1\nclass %2 → %3\nmargin %4 → %5")
                .arg(toQt(snapshot.data->sampleName(c.firstSample + i)), toQt(className(names, c.floatClass[i])),
                    toQt(className(names, i < c.quantClass.size() ? c.quantClass[i] : -1)),
                    numberText(c.floatMargin[i]), numberText(c.quantMargin[i])),
            flips });
        low = std::min({ low, c.floatMargin[i], c.quantMargin[i] });
        high = std::max({ high, c.floatMargin[i], c.quantMargin[i] });
    }
    if (data.points.size() != count)
        data.points.clear(); // a point is a row
    data.lines = { { low, low, high, high }, { low, 0, high, 0 } }; // equal margins, and where the class flips
    return data;
}

QString outputsText(const std::vector<SampleOutput>& outputs, const ClassNames& names)
{
    const auto largest = std::ranges::find_if(outputs, [](const SampleOutput& out) { return !out.x.empty(); });
    if (largest == outputs.end())
        return {};
    const SampleOutput& out = *largest;
    std::vector<size_t> order(out.x.size());
    std::iota(order.begin(), order.end(), size_t(0));
    const size_t shown = std::min(order.size(), kMostClasses);
    const auto byFloat = [&](size_t a, size_t b) { return out.x[a] > out.x[b]; };
    std::ranges::partial_sort(order, order.begin() + ptrdiff_t(shown), byFloat);
    order.resize(shown);
    const auto other = size_t(std::ranges::max_element(out.y) - out.y.begin()); // the quantized model's own choice
    if (std::ranges::find(order, other) == order.end())
        order.back() = other;
    QString text = QStringLiteral("<p>%1</p><table cellspacing=0 cellpadding=1><tr><td>%2&nbsp;&nbsp;</td>"
                                  "<td align=right>%3&nbsp;&nbsp;</td><td align=right>%4</td></tr>")
                       .arg(toQt(out.name).toHtmlEscaped(),
                           out.x.size() > 1 ? SamplesPanel::tr("class") : SamplesPanel::tr("element"),
                           SamplesPanel::tr("float"), SamplesPanel::tr("quantized"));
    const auto nameOf = [&](size_t i) {
        const QString name = toQt(className(names, int64_t(i))), number = QString::number(i);
        return name == number ? number : number + QStringLiteral(" ") + name.toHtmlEscaped();
    };
    for (const size_t i : order) {
        const auto bold = [&](float value, bool top) {
            return top ? QStringLiteral("<b>%1</b>").arg(numberText(double(value))) : numberText(double(value));
        };
        text += QStringLiteral(
            "<tr><td>%1&nbsp;&nbsp;</td><td align=right>%2&nbsp;&nbsp;</td><td align=right>%3</td></tr>")
                    .arg(nameOf(i), bold(out.x[i], i == order.front()), bold(out.y[i], i == other));
    }
    return text + QStringLiteral("</table>");
}

} // namespace qs
