// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/arithmetic/arithmetic_table.h"
#include "core/project/arithmetic/saturation_trials.h"
#include "widgets/models/base/row_model.h"

namespace qs {

/// Every value by each arithmetic, the outputs first.
class ArithmeticModel : public RowModel<ArithmeticRow> {
    Q_OBJECT
public:
    enum class Key { Lost };
    explicit ArithmeticModel(QObject* parent = nullptr);
    void setTable(const ArithmeticTable* table) { setRows(table ? table->rows : std::vector<ArithmeticRow>()); }

protected:
    bool isSame(const ArithmeticRow& a, const ArithmeticRow& b) const override
    {
        return a.output == b.output && a.name == b.name;
    }
    QString filterText(const ArithmeticRow& row) const override;
};

/// The output channels of a node whose sums saturate.
class ChannelLossModel : public RowModel<ChannelLoss> {
    Q_OBJECT
public:
    enum class Key { Share };
    explicit ChannelLossModel(QObject* parent = nullptr);
    void setChannels(std::vector<ChannelLoss> channels) { setRows(std::move(channels)); }

protected:
    bool isSame(const ChannelLoss& a, const ChannelLoss& b) const override { return a.channel == b.channel; }
};

/// A remedy beside what it is measured against.
struct SaturationTrialRow {
    SaturationTrial trial;
    RunNumbers before;
    double shareBefore = 0;
    Number gainDb() const;
};

/// What keeps sums within 16 bits, with what it gives and costs.
class SaturationTrialModel : public RowModel<SaturationTrialRow> {
    Q_OBJECT
public:
    explicit SaturationTrialModel(QObject* parent = nullptr);
    void setTrials(const SaturationTrials* trials);

protected:
    bool isSame(const SaturationTrialRow& a, const SaturationTrialRow& b) const override;
};

/// "Weights of conv_2 in 7 bits", also the name of the step of undo.
QString saturationTrialText(const SaturationTrial& trial);

} // namespace qs
