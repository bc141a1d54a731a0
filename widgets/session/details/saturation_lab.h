// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/arithmetic/arithmetic_table.h"
#include "core/project/arithmetic/saturation_trials.h"
#include "widgets/session/details/shown_checks.h"

namespace qs {

/// The comparison by each arithmetic, while it runs under integer-avx2.
class ShownArithmetics : public ShownCheck {
    Q_OBJECT
public:
    explicit ShownArithmetics(Session& session, QObject* parent = nullptr);
    const ArithmeticTable* table() const { return m_table.get(); } ///< null: not there yet
    const std::shared_ptr<const ArithmeticTable>& shared() const { return m_table; }

protected:
    QString title() const override { return tr("Compare the arithmetics"); }
    bool wanted(const Snapshot& snapshot) const override;
    Work work() override;
    void forget() override { m_table.reset(); }

private:
    std::shared_ptr<const ArithmeticTable> m_table;
};

/// The channels of one node whose sums saturate, over the first samples.
class ShownChannelLosses : public ShownCheck {
    Q_OBJECT
public:
    ShownChannelLosses(Session& session, ShownArithmetics& arithmetics, QObject* parent = nullptr);
    void setNode(const std::optional<SaturationRow>& row);
    const std::vector<ChannelLoss>& channels() const { return m_channels; }

    static constexpr size_t kMostSamples = 16;

protected:
    QString title() const override { return tr("Look at the channels that saturate"); }
    bool wanted(const Snapshot&) const override { return m_row && m_arithmetics.table(); }
    Work work() override;
    void forget() override;

private:
    ShownArithmetics& m_arithmetics;
    std::optional<SaturationRow> m_row;
    std::vector<ChannelLoss> m_channels;
};

/// What keeps sums within 16 bits, measured when it is asked for.
class ShownSaturationTrials : public ShownCheck {
    Q_OBJECT
public:
    explicit ShownSaturationTrials(Session& session, QObject* parent = nullptr);
    void measure(); ///< for what is shown
    const SaturationTrials* trials() const { return m_trials ? &*m_trials : nullptr; }
    bool possible() const; ///< there is something that saturates
    /// Makes the recipe of a trial the current one, as one step of undo; false where recipes cannot be edited.
    bool apply(const SaturationTrial& trial);

    static constexpr size_t kNodes = 4; ///< whose own remedies are tried

protected:
    QString title() const override { return tr("Measure remedies of saturation"); }
    bool wanted(const Snapshot&) const override { return m_asked; }
    Work work() override;
    void forget() override;

private:
    bool m_asked = false;
    std::optional<SaturationTrials> m_trials;
};

} // namespace qs
