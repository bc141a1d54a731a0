// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/formulas.h"
#include "widgets/models/tables/output_model.h"
#include "widgets/models/tables/tensor_model.h"
#include "widgets/models/tables/weight_model.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/session/shown/empty_texts.h"
#include "widgets/views/base/table_panel.h"
#include "widgets/views/tasks/output_tasks.h"

#include <algorithm>

namespace qs {

namespace {

QString coloured(const QString& text, const QColor& colour)
{
    return QStringLiteral("<span style='color:%1'>■</span> %2").arg(colour.name(), text);
}

QString noiseLegend(const Theme& theme, bool kernel)
{
    QStringList parts { coloured(TablePanel::tr("clipping"), theme.clipping),
        coloured(TablePanel::tr("rounding"), theme.rounding), coloured(TablePanel::tr("weights"), theme.weights) };
    if (kernel)
        parts << coloured(TablePanel::tr("kernel"), theme.kernel);
    parts << coloured(TablePanel::tr("inputs"), theme.inherited);
    return TablePanel::tr("dB: higher is better, of the increase lower · noise: %1").arg(parts.join(u' '));
}

QString nothingComparedText(const Snapshot& snapshot)
{
    const QString why = whyNothingCompared(snapshot);
    return why.isEmpty() ? TablePanel::tr("There is nothing of this kind in the comparison.") : why;
}

/// The recipe's node that makes a row's tensor, or reads its weight.
template <class Row> auto nodesOfRows(Session& session, RecipeView& recipe, std::vector<Row> Comparison::*rows)
{
    return [&session, &recipe, rows](int row) -> std::optional<size_t> {
        const Comparison* comparison = session.comparison();
        if (!comparison || row < 0 || size_t(row) >= (comparison->*rows).size())
            return std::nullopt;
        const std::string& node = (comparison->*rows)[size_t(row)].node;
        return node.empty() ? std::nullopt : recipe.find(node);
    };
}

} // namespace

TablePanel* makeTensorsPanel(Session& session, RecipeView& recipe, QWidget* parent)
{
    TablePanel::Setup setup;
    setup.recipe = &recipe;
    setup.nodeOf = nodesOfRows(session, recipe, &Comparison::activations);
    setup.name = QStringLiteral("tensors");
    setup.title = TablePanel::tr("Tensors");
    setup.model = new TensorModel;
    setup.worstColumn = setup.model->columnOf(session.metric());
    setup.tellsOrder = true;
    setup.select = [](Selection& selection, int row) { selection.selectActivation(size_t(row)); };
    setup.rowOf = [](const Place& place) { return place.activation; };
    setup.info = [](const Snapshot& snapshot) {
        if (!snapshot.comparison || !snapshot.alignment)
            return QString();
        const size_t unmatched = snapshot.alignment->unmatchedFloat.size() + snapshot.alignment->unmatchedQuant.size();
        const size_t pairs = snapshot.comparison->activations.size();
        return TablePanel::tr("%1 pair(s)", nullptr, int(pairs)).arg(countText(pairs))
            + TablePanel::tr(" · %1 unmatched · [ ] walk").arg(countText(unmatched));
    };
    setup.footer
        = [owner = &session](const Theme& theme) { return noiseLegend(theme, hasKernelNoise(owner->comparison())); };
    setup.emptyText = nothingComparedText;
    auto* panel = new TablePanel(session, std::move(setup), parent);
    QObject::connect(&session, &Session::metricChanged, panel,
        [panel](Metric metric) { panel->sortWorstFirst(panel->model()->columnOf(metric)); });
    return panel;
}

TablePanel* makeWeightsPanel(Session& session, RecipeView& recipe, QWidget* parent)
{
    TablePanel::Setup setup;
    setup.recipe = &recipe;
    setup.nodeOf = nodesOfRows(session, recipe, &Comparison::weights);
    setup.name = QStringLiteral("weights");
    setup.title = TablePanel::tr("Weights");
    setup.model = new WeightModel;
    setup.worstColumn = setup.model->columnOf(WeightModel::Key::Sqnr);
    setup.tellsOrder = true;
    setup.select = [](Selection& selection, int row) { selection.selectWeight(size_t(row)); };
    setup.rowOf = [](const Place& place) { return place.weight; };
    setup.info = [](const Snapshot& snapshot) {
        return snapshot.comparison
            ? TablePanel::tr("%1 weights and biases").arg(countText(snapshot.comparison->weights.size()))
            : QString();
    };
    setup.emptyText = nothingComparedText;
    setup.footer = [](const Theme&) {
        return TablePanel::tr("SQNR in dB, higher is better · range ratio: largest over median channel");
    };
    return new TablePanel(session, std::move(setup), parent);
}

TablePanel* makeOutputsPanel(Session& session, QWidget* parent)
{
    TablePanel::Setup setup;
    setup.name = QStringLiteral("outputs");
    setup.title = TablePanel::tr("Outputs");
    setup.model = new OutputModel;
    setup.worstColumn = setup.model->columnOf(OutputModel::Key::Sqnr);
    Session* owner = &session;
    setup.select = [owner](Selection& selection, int row) {
        selection.selectValue(Side::Float, owner->comparison()->outputs[size_t(row)].floatValue);
    };
    setup.rowOf = [owner](const Place& place) -> std::optional<size_t> {
        const Comparison* comparison = owner->comparison();
        if (!comparison || place.weight || !place.value.valid())
            return {};
        const auto& rows = comparison->outputs;
        const auto it = std::find_if(
            rows.begin(), rows.end(), [&](const OutputRow& row) { return row.floatValue == place.value; });
        return it == rows.end() ? std::nullopt : std::optional<size_t>(size_t(it - rows.begin()));
    };
    setup.emptyText = nothingComparedText;
    setup.info = [](const Snapshot& snapshot) {
        const size_t count = snapshot.comparison ? snapshot.comparison->outputs.size() : 0;
        return count == 0 ? QString() : TablePanel::tr("%1 output(s)", nullptr, int(count)).arg(countText(count));
    };
    auto* panel = new TablePanel(session, std::move(setup), parent);
    addTaskMenu(*panel, session);
    return panel;
}

} // namespace qs
