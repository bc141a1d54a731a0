// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/shown/suggestion.h"

#include <QScopedValueRollback>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

std::optional<size_t> worstActivation(const Comparison& comparison, Metric metric)
{
    for (const Finding& finding : comparison.findings) {
        if (finding.activation)
            return finding.activation;
    }
    const auto worst = std::min_element(comparison.activations.begin(), comparison.activations.end(),
        [metric](const ActivationRow& a, const ActivationRow& b) {
            return worstFirstKey(metric, a) < worstFirstKey(metric, b);
        });
    return worst == comparison.activations.end() ? std::nullopt
                                                 : std::optional(size_t(worst - comparison.activations.begin()));
}

} // namespace

Suggestion::Suggestion(Selection& selection)
    : m_selection(selection)
{
    // Our own changes say afterwards what they suggested.
    QObject::connect(&selection, &Selection::changed, &selection, [this] { m_place = {}; });
}

void Suggestion::rebind(const SnapshotPtr& snapshot)
{
    const bool ours = m_selection.current().empty() || m_selection.current() == m_place;
    const Inputs& inputs = snapshot->inputs;
    const std::string model = inputs.floatPath.empty() ? inputs.quantPath : inputs.floatPath;
    m_open = std::exchange(m_model, model) != model || m_open;
    m_selection.rebind(snapshot);
    m_place = ours ? m_selection.current() : Place {};
}

void Suggestion::suggest(const Comparison& comparison, Metric metric)
{
    if (!std::exchange(m_open, m_open && comparison.partial) || !(m_selection.current() == m_place))
        return;
    Place place;
    place.activation = worstActivation(comparison, metric);
    if (!place.activation)
        return;
    const QScopedValueRollback suggesting(m_suggesting, true);
    m_selection.replace(place);
    m_place = m_selection.current();
}

} // namespace qs
