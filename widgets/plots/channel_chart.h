// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/plots/choice_plot.h"

namespace qs {

/// The range of each channel as a bar, with what can be represented, above a strip of colours, one cell a channel.
class ChannelChart : public ChoicePlot {
    Q_OBJECT
public:
    explicit ChannelChart(QWidget* parent = nullptr);

    void setData(const ChannelData& data);
    const ChannelData& data() const { return m_data; }
    QString csv() const override;

protected:
    void rebuild() override;
    void fitAxes() override;
    size_t itemCount() const override { return m_data.channels.size(); }
    std::optional<size_t> itemAt(double x, double) const override { return numberAt(x); }
    double xOf(size_t item) const override { return double(item); }
    QString itemText(size_t item) const override { return m_data.channels[item].text; }
    void markChosen() override { markByLine(); }

private:
    void addBars();
    void addRepresentable();
    void addStrips();
    void addStrip(QColor ChannelData::Channel::*colour, double top, double bottom);

    ChannelData m_data;
};

} // namespace qs
