// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/details/saturation_lab.h"

#include "core/project/arithmetic/saturating_node.h"
#include "widgets/models/arithmetic/saturation_lab_models.h"
#include "widgets/models/base/formatting.h"

#include <algorithm>
#include <numeric>

namespace qs {

namespace {

bool saturating(const Snapshot& snapshot)
{
    return snapshot.inputs.profile == ArithmeticProfile::IntegerAvx2 && snapshot.floatModel && !snapshot.inputs.shard;
}

} // namespace

ShownArithmetics::ShownArithmetics(Session& session, QObject* parent)
    : ShownCheck(session, QStringLiteral("arithmetics"), parent)
{
}

bool ShownArithmetics::wanted(const Snapshot& snapshot) const { return saturating(snapshot); }

ShownCheck::Work ShownArithmetics::work()
{
    return [this](const SnapshotPtr& now, const JobContext& job) -> Result<std::function<void()>> {
        QS_TRY(ArithmeticTable table, arithmeticTable(now, job.progress, job.cancel));
        auto made = std::make_shared<const ArithmeticTable>(std::move(table));
        return std::function<void()>([this, made] { m_table = made; });
    };
}

ShownChannelLosses::ShownChannelLosses(Session& session, ShownArithmetics& arithmetics, QObject* parent)
    : ShownCheck(session, QStringLiteral("saturating-channels"), parent)
    , m_arithmetics(arithmetics)
{
    connect(&arithmetics, &ShownCheck::changed, this, [this] {
        if (m_row && m_channels.empty())
            ask();
    });
}

void ShownChannelLosses::setNode(const std::optional<SaturationRow>& row)
{
    if (row.has_value() == m_row.has_value() && (!row || row->quantNode == m_row->quantNode))
        return;
    m_row = row;
    m_channels.clear();
    ask();
}

void ShownChannelLosses::forget()
{
    m_row.reset();
    m_channels.clear();
}

ShownCheck::Work ShownChannelLosses::work()
{
    return [this, table = m_arithmetics.shared(), row = *m_row](
               const SnapshotPtr& now, const JobContext& job) -> Result<std::function<void()>> {
        std::vector<size_t> samples(std::min(kMostSamples, now->comparison->samples));
        std::iota(samples.begin(), samples.end(), now->comparison->firstSample);
        QS_TRY(std::vector<ChannelLoss> channels,
            channelLosses(*table, row, samples, workFor(now->inputs, job.progress, job.cancel)));
        return std::function<void()>([this, channels = std::move(channels)] { m_channels = channels; });
    };
}

ShownSaturationTrials::ShownSaturationTrials(Session& session, QObject* parent)
    : ShownCheck(session, QStringLiteral("saturation-remedies"), parent)
{
}

bool ShownSaturationTrials::possible() const
{
    const Snapshot& now = *session().snapshot();
    return saturating(now) && now.comparison && saturatingShare(*now.comparison) > 0;
}

void ShownSaturationTrials::measure()
{
    m_asked = true;
    m_trials.reset();
    ask();
}

void ShownSaturationTrials::forget()
{
    m_asked = false;
    m_trials.reset();
}

ShownCheck::Work ShownSaturationTrials::work()
{
    return [this](const SnapshotPtr& now, const JobContext& job) -> Result<std::function<void()>> {
        QS_TRY(SaturationTrials trials, trySaturationRemedies(now, kNodes, job.progress, job.cancel));
        return std::function<void()>([this, trials = std::move(trials)] { m_trials = trials; });
    };
}

bool ShownSaturationTrials::apply(const SaturationTrial& trial)
{
    if (!session().recipe().editable() || !trial.problem.empty())
        return false;
    session().recipe().apply(saturationTrialText(trial), Recipe(trial.recipe));
    return true;
}

} // namespace qs

#include "moc_saturation_lab.cpp"
