// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/samples_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/findings/finding_model.h"
#include "widgets/models/tables/sample_model.h"
#include "widgets/models/tables/task_words.h"
#include "widgets/plots/line_chart.h"
#include "widgets/plots/point_chart.h"
#include "widgets/session/shown/empty_texts.h"
#include "widgets/views/base/cell_delegates.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/tables/chosen_sample.h"
#include "widgets/views/tables/sample_pictures.h"
#include "widgets/views/tasks/position_chart.h"
#include "widgets/views/theme/plot_theme.h"

#include <QKeyEvent>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTableView>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kDetailWidth = 190, kBothWidth = 250, kLeastScatter = 150; ///< font units
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
        parts << TablePanel::tr("after %1 ranges have %2 of their width")
                     .arg(samplesText(before.samples), percentText(before.meanShare));
    }
    return parts.join(QStringLiteral(" · "));
}

/// How many samples differ by a task that is not a class for each.
QString differingText(const TaskRow& task)
{
    if (task.what.kind == TaskKind::Mask)
        return TablePanel::tr(" · mean IoU %1").arg(agreementText(task));
    if (task.what.kind == TaskKind::Boxes && task.boxes.floatBoxes == 0 && task.boxes.quantBoxes == 0)
        return QStringLiteral(" · ") + noBoxesText(task);
    return task.differing == 0 ? TablePanel::tr(" · none differs")
        : task.what.kind == TaskKind::Boxes
        ? TablePanel::tr(" · boxes differ in %1").arg(countText(task.differing))
        : TablePanel::tr(" · positions differ in %1").arg(countText(task.differing));
}

/// The task that tells the samples apart is one of positions.
bool hasPositions(const Snapshot& snapshot)
{
    const OutputRow* telling = snapshot.comparison ? tellingOutput(*snapshot.comparison) : nullptr;
    return telling && telling->task.what.kind == TaskKind::Sequence;
}

/// Shares over all samples, of both quantized models.
LineData sharesByPosition(const Snapshot& snapshot, const Theme& theme)
{
    const OutputRow* a = tellingOutput(*snapshot.comparison);
    const OutputRow* b = snapshot.other ? tellingOutput(*snapshot.other->snapshot->comparison) : nullptr;
    return positionShares(a->task, b ? &b->task : nullptr, theme);
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
    , m_positions(new LineChart(this))
    , m_charts(new QStackedWidget(this))
    , m_chosen(new ChosenSample(session))
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
    connect(m_chosen, &ChosenSample::changed, this, &SamplesPanel::showPositions);
    connect(this, &Panel::lookedAtChanged, m_chosen, &ChosenSample::watch);
    connect(this, &Panel::lookedAtChanged, this, &SamplesPanel::refresh);
    connect(&session, &Session::themeChanged, this, &SamplesPanel::applyTheme);
    applyTheme();
}

void SamplesPanel::buildBeside()
{
    m_scatter->setAccessibleName(tr("Margins of the float model against the quantized one"));
    m_positions->setAccessibleName(tr("Agreement along the positions of the sequence"));
    m_charts->addWidget(m_scatter);
    m_charts->addWidget(m_positions);
    m_charts->setMinimumWidth(fontUnits(fontMetrics(), kLeastScatter));
    addBeside(m_charts, 30);
    auto* scroll = new QScrollArea(this);
    scroll->setWidget(m_chosen);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setMinimumWidth(fontUnits(fontMetrics(), kDetailWidth));
    addBeside(scroll, 20);
    m_single = scroll;
}

void SamplesPanel::applyTheme()
{
    for (PlotWidget* chart : { static_cast<PlotWidget*>(m_scatter), static_cast<PlotWidget*>(m_positions) })
        chart->setStyle(plotStyleOf(m_session.theme()));
    refresh();
}

void SamplesPanel::refresh()
{
    if (lookedAt())
        m_pictures->want();
    sortByTask();
    m_scatter->setData(marginData(*m_session.snapshot(), m_session.theme()));
    m_charts->setCurrentWidget(hasPositions(*m_session.snapshot()) ? static_cast<QWidget*>(m_positions) : m_scatter);
    showPositions();
    followSample();
}

/// Of the chosen sample, else of all together.
void SamplesPanel::showPositions()
{
    const Snapshot& now = *m_session.snapshot();
    if (!hasPositions(now))
        return m_positions->setData({});
    const SampleFacts* facts = m_chosen->facts();
    m_positions->setData(facts ? positionMargins(facts->a, facts->other(), *facts->classNames, m_session.theme())
                               : sharesByPosition(now, m_session.theme()));
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
    const bool charted = hasPositions(*m_session.snapshot()) || !m_scatter->data().points.empty();
    m_charts->setVisible(charted && (wide || !chosen));
    m_single->setMinimumWidth(fontUnits(fontMetrics(), m_session.snapshot()->other ? kBothWidth : kDetailWidth));
    m_single->setVisible(wide || chosen || !charted);
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
}

namespace {

/// One quantized model's margins of all samples that the float model has; empty where some are no numbers.
std::vector<PointData::Point> marginPoints(const Comparison& floats, const Comparison& quantized)
{
    std::vector<PointData::Point> points;
    const size_t count
        = std::min({ floats.floatMargin.size(), quantized.quantMargin.size(), floats.floatClass.size() });
    for (size_t i = 0; i < count; ++i) {
        if (!std::isfinite(floats.floatMargin[i]) || !std::isfinite(quantized.quantMargin[i]))
            return {}; // a point is a row
        const bool flips = i < quantized.quantClass.size() && floats.floatClass[i] != quantized.quantClass[i];
        points.push_back({ floats.floatMargin[i], quantized.quantMargin[i], {}, flips });
    }
    return points;
}

/// "class cat → dog, margin 1.2 → −0.3"
QString marginText(const Comparison& floats, const Comparison& quantized, size_t i, const ClassNames& names)
{
    return SamplesPanel::tr("class %1 → %2\nmargin %3 → %4")
        .arg(toQt(className(names, floats.floatClass[i])),
            toQt(className(names, i < quantized.quantClass.size() ? quantized.quantClass[i] : -1)),
            numberText(floats.floatMargin[i]), numberText(quantized.quantMargin[i]));
}

/// Equal margins, and where the class flips, over all points.
std::vector<PlotLine> marginLines(const PointData& data)
{
    double low = 0, high = 0;
    for (const auto* points : { &data.points, &data.others })
        for (const PointData::Point& point : *points) {
            low = std::min({ low, point.x, point.y });
            high = std::max({ high, point.x, point.y });
        }
    return { { low, low, high, high }, { low, 0, high, 0 } };
}

} // namespace

PointData marginData(const Snapshot& snapshot, const Theme& theme)
{
    PointData data;
    data.joined = false;
    data.xLabel = SamplesPanel::tr("margin, float");
    data.yLabel = SamplesPanel::tr("margin, quantized");
    if (!snapshot.comparison || !snapshot.data)
        return data;
    const Comparison& a = *snapshot.comparison;
    const Comparison* b = snapshot.other ? &*snapshot.other->snapshot->comparison : nullptr;
    data.points = marginPoints(a, a);
    if (b)
        data.others = marginPoints(a, *b);
    if (data.others.size() != data.points.size())
        data.others.clear();
    if (!data.others.empty()) {
        data.name = SamplesPanel::tr("A");
        data.otherName = SamplesPanel::tr("B");
        data.otherColour = theme.otherSeries;
    }
    for (size_t i = 0; i < data.points.size(); ++i) {
        const QString ofA = marginText(a, a, i, *snapshot.classNames);
        QString& text = data.points[i].text = toQt(snapshot.data->sampleName(a.firstSample + i)) + u'\n';
        text += data.others.empty()
            ? ofA
            : SamplesPanel::tr("A: %1\nB: %2").arg(ofA, marginText(a, *b, i, *snapshot.classNames));
    }
    data.lines = marginLines(data);
    return data;
}

} // namespace qs

#include "moc_samples_panel.cpp"
