// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/detail/channel_data.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/base/translated.h"

#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

/// What the scale of a channel can express; one for all where there is one scale.
void addRepresentable(const QuantParams& params, bool alongChannels, ChannelData* data)
{
    if (params.scale.empty() || !isInteger(params.dtype))
        return;
    if (params.perTensor())
        data->representable = PlotRange { params.low(0), params.high(0) };
    else if (alongChannels && params.scale.size() == data->channels.size())
        for (size_t c = 0; c < data->channels.size(); ++c)
            data->channels[c].representable = PlotRange { params.low(c), params.high(c) };
}

QColor channelColour(const Theme& theme, const Number& sqnrDb)
{
    return sqnrDb ? theme.magnitude(metricBadness(Metric::Accumulated, *sqnrDb)) : theme.raised;
}

QString channelText(size_t channel, double low, double high, const Number& sqnrDb, bool exact)
{
    return tr("channel %1\nvalues %2 … %3\nSQNR %4")
        .arg(channel)
        .arg(numberText(low), numberText(high), decibelText(sqnrDb, exact));
}

/// "worst channel 12: 20.3 dB".
void addWorst(const std::vector<Number>& sqnrDb, QStringList* parts)
{
    std::optional<size_t> worst;
    for (size_t c = 0; c < sqnrDb.size(); ++c)
        if (sqnrDb[c] && (!worst || *sqnrDb[c] < *sqnrDb[*worst]))
            worst = c;
    if (worst && sqnrDb.size() > 1)
        *parts << tr("worst channel %1: %2").arg(*worst).arg(decibelText(sqnrDb[*worst]));
}

QString countOf(size_t channels) { return tr("%1 channel(s)", int(channels)).arg(countText(channels)); }

/// A second strip, and its numbers in words.
void addOther(const std::vector<Number>& sqnrDb, const Theme& theme, ChannelView* view, QStringList* parts)
{
    if (sqnrDb.size() != view->data.channels.size())
        return;
    for (size_t c = 0; c < sqnrDb.size(); ++c) {
        ChannelData::Channel& channel = view->data.channels[c];
        channel.below = channelColour(theme, sqnrDb[c]);
        channel.text += u'\n' + tr("B: SQNR %1").arg(decibelText(sqnrDb[c], !sqnrDb[c]));
    }
    view->data.xLabel = tr("channel · colour: SQNR, A above B");
    QStringList worst;
    addWorst(sqnrDb, &worst);
    if (!worst.isEmpty())
        *parts << tr("B: %1").arg(worst.front());
}

void addNames(ChannelData* data)
{
    data->xLabel = tr("channel · colour: SQNR");
    data->yLabel = tr("float range");
}

} // namespace

ChannelView channelsOfWeight(const WeightRow& row, const WeightRow* other, const Theme& theme)
{
    ChannelView view;
    const size_t count = std::max(row.channelAbsMax.size(), row.channelSqnrDb.size());
    for (size_t c = 0; c < count; ++c) {
        const double reach = c < row.channelAbsMax.size() ? row.channelAbsMax[c] : 0;
        const Number db = c < row.channelSqnrDb.size() ? row.channelSqnrDb[c] : Number();
        view.data.channels.push_back(
            { -reach, reach, {}, channelColour(theme, db), {}, channelText(c, -reach, reach, db, !db) });
    }
    addRepresentable(row.params, row.params.axis == row.channelAxis, &view.data);
    addNames(&view.data);
    view.data.yLabel = tr("± largest");
    QStringList parts { countOf(count) };
    if (row.rangeRatio)
        parts << tr("range ratio %1").arg(numberText(row.rangeRatio));
    if (row.perTensorSqnrDb && row.perChannelSqnrDb)
        parts << tr("one scale would give %1, one a channel %2")
                     .arg(decibelText(row.perTensorSqnrDb), decibelText(row.perChannelSqnrDb));
    addWorst(row.channelSqnrDb, &parts);
    if (other)
        addOther(other->channelSqnrDb, theme, &view, &parts);
    view.summary = parts.join(QStringLiteral(" · "));
    return view;
}

ChannelView channelsOfTensor(
    const ActivationRow& row, const PairDetail& detail, const PairDetail* other, const Theme& theme)
{
    ChannelView view;
    std::vector<Number> all;
    for (size_t c = 0; c < detail.channels.size(); ++c) {
        const PartSums& part = detail.channels[c];
        const Number db = part.sqnrDb();
        all.push_back(db);
        view.data.channels.push_back({ part.lowX, part.highX, {}, channelColour(theme, db), {},
            channelText(c, part.lowX, part.highX, db, part.exact()) });
    }
    addRepresentable(row.params, row.params.axis == int64_t(detail.channelAxis), &view.data);
    addNames(&view.data);
    QStringList parts { countOf(detail.channels.size()) };
    if (const Number ratio = detail.rangeRatio())
        parts << tr("range ratio %1").arg(numberText(ratio));
    if (const Number gain = detail.perChannelGainDb(); gain && row.params.perTensor())
        parts << tr("scales per channel: %1 by the ranges").arg(signedDecibelText(*gain));
    addWorst(all, &parts);
    if (other && other->channelAxis == detail.channelAxis) {
        std::vector<Number> second;
        for (const PartSums& part : other->channels)
            second.push_back(part.sqnrDb());
        addOther(second, theme, &view, &parts);
    }
    view.summary = parts.join(QStringLiteral(" · "));
    return view;
}

} // namespace qs
