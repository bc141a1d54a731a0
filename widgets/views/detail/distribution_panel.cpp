// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/detail/distribution_panel.h"

#include "core/quant/recipe/recipe_edit.h"
#include "widgets/models/base/formatting.h"
#include "widgets/plots/histogram_plot.h"
#include "widgets/session/details/element_search.h"
#include "widgets/views/base/noise_bar.h"
#include "widgets/views/detail/distribution_data.h"
#include "widgets/views/theme/plot_theme.h"

#include <QPointer>
#include <QPushButton>

namespace qs {

namespace {

QString calibratorTitle(Calibrator calibrator)
{
    return calibrator == Calibrator::MinMax ? DistributionPanel::tr("min-max")
        : calibrator == Calibrator::Mse     ? DistributionPanel::tr("MSE")
        : calibrator == Calibrator::Entropy ? DistributionPanel::tr("entropy")
                                            : DistributionPanel::tr("percentile");
}

QString predictedLabel(const PlotRange& range, const PredictedNoise& noise)
{
    const QString ends = -range.first == range.second
        ? QStringLiteral("±%1").arg(numberText(range.second))
        : QStringLiteral("%1 … %2").arg(numberText(range.first), numberText(range.second));
    return DistributionPanel::tr("range %1 · clips %2 of quantized · %3")
        .arg(ends, percentText(noise.clippedFraction), decibelText(noise.sqnrDb));
}

} // namespace

DistributionPanel::DistributionPanel(Session& session, RecipeEdits& edits, QWidget* parent)
    : Panel(QStringLiteral("distribution"), tr("Distribution"), parent)
    , m_session(session)
    , m_place(session)
    , m_edits(edits)
    , m_plot(new HistogramPlot(this))
    , m_noise(new NoiseBar(this))
    , m_logarithmic(new QPushButton(tr("log y"), this))
{
    setShownPlace(&m_place);
    m_logarithmic->setCheckable(true);
    m_logarithmic->setChecked(true);
    m_logarithmic->setProperty("chip", true);
    m_logarithmic->setToolTip(tr("Logarithmic or linear counts"));
    connect(m_logarithmic, &QPushButton::toggled, this,
        [this](bool on) { m_plot->setScale(on ? AxisScale::Logarithmic : AxisScale::Linear); });
    header()->addEndTool(m_logarithmic);
    setContent(m_plot);
    addFooter(m_noise);
    setFocusProxy(m_plot);
    connect(m_plot, &HistogramPlot::rangeDragged, this, &DistributionPanel::preview);
    connect(m_plot, &HistogramPlot::rangeReleased, this, [this](const PlotRange& range) { setRange(range, {}); });
    connect(m_plot, &HistogramPlot::binChosen, this,
        [this](const PlotRange& edges) { selectLargestError(m_session, m_place, {}, edges); });
    connect(m_plot, &HistogramPlot::rangeStepped, this, [this](const PlotRange& range) {
        if (const ActivationRow* at = m_place.activation())
            setRange(range, QStringLiteral("range ") + toQt(at->name));
    });
    connect(&m_session, &Session::snapshotChanged, this, &DistributionPanel::refresh);
    connect(&m_session, &Session::themeChanged, this, &DistributionPanel::applyTheme);
    connect(&m_session.numbers(), &NumbersAge::changed, this, &DistributionPanel::refresh);
    connect(&m_place, &ShownPlace::changed, this, &DistributionPanel::refresh);
    connect(&m_edits, &RecipeEdits::recipeChanged, this, &DistributionPanel::refresh);
    applyTheme();
}

void DistributionPanel::applyTheme()
{
    m_plot->setStyle(plotStyleOf(m_session.theme()));
    m_noise->setTheme(m_session.theme());
    refresh();
}

bool DistributionPanel::movable(const ActivationRow& row) const
{
    const RecipeFormat format = m_edits.recipe().format;
    return m_edits.editable() && row.quantizer && !row.dynamic && row.range && row.params.perTensor()
        && isInteger(row.params.dtype) && !row.beforeHistogram.empty() && isStatic(format);
}

std::optional<PlotRange> DistributionPanel::draftRange(const ActivationRow& row) const
{
    const QuantOverride part = firstPart(m_edits.recipe(), row.name);
    if (!part.lowest || !part.highest)
        return std::nullopt;
    const QuantParams params = paramsForRange(row, m_edits.recipe(), *part.lowest, *part.highest);
    // Of several pairs of quantizers a recipe that was read from the file holds the range of one.
    const auto holds = [&](const ActivationRow& pair) {
        return pair.floatValue == row.floatValue && pair.params.scale == params.scale
            && pair.params.zeroPoint == params.zeroPoint;
    };
    if (holds(row) || (row.siblings > 0 && std::ranges::any_of(m_session.comparison()->activations, holds)))
        return std::nullopt;
    return PlotRange { *part.lowest, *part.highest };
}

void DistributionPanel::refresh()
{
    if (m_plot->dragging())
        return; // what is shown stays in the hand
    DistributionView view = distributionOf(*m_session.snapshot(), m_place.current(), m_session.theme());
    const ActivationRow* at = m_place.activation();
    const bool canMove = at && movable(*at);
    view.data.movable = canMove;
    view.data.symmetric = canMove && symmetricRange(m_edits.recipe(), at->name);
    if (at && at->name == m_ticksOf)
        view.data.ticks = m_plot->data().ticks;
    m_plot->setData(view.data);
    header()->setInfo(view.subtitle);
    m_noise->setVisible(at && at->noise.inherited && !at->beforeHistogram.empty());
    if (!at) {
        m_ticksOf.clear();
        return;
    }
    m_noise->setNoise(at->noise, at->accumulated.sqnrDb, tr("measured"));
    m_noise->setStale(m_session.numbers().stale());
    if (const auto draft = canMove ? draftRange(*at) : std::nullopt)
        preview(*draft);
    requestTicks();
}

void DistributionPanel::preview(const PlotRange& range)
{
    const ActivationRow* at = m_place.activation();
    if (!at)
        return;
    const QuantParams params = paramsForRange(*at, m_edits.recipe(), range.first, range.second);
    const auto noise = predictNoise(*at, params);
    if (!noise)
        return;
    m_plot->showRange(range, predictedLabel(range, *noise));
    m_noise->setNoise(noise->split, noise->sqnrDb, tr("predicted"), noise->kernelWithin);
    m_noise->setStale(false); // it is of the range that is shown
}

void DistributionPanel::setRange(const PlotRange& range, const QString& mergeKey)
{
    const ActivationRow* at = m_place.activation();
    if (!at)
        return;
    const QString text = tr("Range of %1").arg(toQt(at->name));
    m_edits.apply(text, withRange(m_edits.recipe(), at->name, range.first, range.second), mergeKey);
    refresh(); // also where the edit changed nothing
}

/// Of this panel alone: another one may look at another tensor.
QString DistributionPanel::ticksTag() const { return QStringLiteral("range-ticks-") + objectName(); }

void DistributionPanel::requestTicks()
{
    const SnapshotPtr snapshot = m_session.snapshot();
    const ActivationRow& at = *m_place.activation();
    if (!movable(at) || snapshot->comparison->partial) {
        m_session.jobs().cancelTag(ticksTag());
        return;
    }
    JobRequest job;
    job.tag = ticksTag();
    job.title = tr("Ranges of other calibrators");
    job.visibility = Visibility::Hidden;
    job.process = [panel = QPointer(this), snapshot, index = *m_place.current().activation, recipe = m_edits.recipe()](
                      const JobContext&) -> Result<std::function<void()>> {
        const ActivationRow& tensor = snapshot->comparison->activations[index];
        const auto& quantization = snapshot->quantization;
        const CalibrationData* seen = quantization && quantization->kept ? &quantization->kept->data : nullptr;
        const auto candidates = rangeCandidates(tensor, recipe, seen);
        return std::function<void()>([panel, name = tensor.name, candidates] {
            const ActivationRow* now = panel ? panel->m_place.activation() : nullptr;
            if (!now || now->name != name)
                return;
            panel->m_ticksOf = name;
            panel->showTicks(candidates);
        });
    };
    m_session.jobs().start(std::move(job));
}

void DistributionPanel::showTicks(const std::vector<RangeCandidate>& candidates)
{
    std::vector<RangeTick> ticks;
    for (const RangeCandidate& candidate : candidates) {
        QString title = calibratorTitle(candidate.calibrator.kind);
        if (candidate.calibrator.kind == Calibrator::Percentile)
            title = QString::number(candidate.calibrator.percentile, 'g', 8) + QStringLiteral(" %");
        ticks.push_back({ { candidate.lowest, candidate.highest }, title, decibelText(candidate.noise.sqnrDb) });
    }
    m_plot->showTicks(std::move(ticks));
}

} // namespace qs

#include "moc_distribution_panel.cpp"
