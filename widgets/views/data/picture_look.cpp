// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/data/picture_look.h"

#include "core/data/images/preview.h"
#include "core/project/snapshot/samples.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/views/tables/sample_pictures.h"

#include <QStringList>

#include <algorithm>
#include <set>

namespace qs {

namespace {

constexpr qsizetype kNamedClasses = 4;
constexpr double kTooWide = 1.3, kTooNarrow = 0.6; ///< widths of the pictures' range to the one that is held

/// Smallest and largest value over all channels.
std::pair<double, double> extent(const std::vector<ChannelStatistics>& channels)
{
    std::pair<double, double> range { channels.front().low, channels.front().high };
    for (const ChannelStatistics& c : channels)
        range = { std::min(range.first, c.low), std::max(range.second, c.high) };
    return range;
}

/// What the quantizer of the first input holds in the quantized file. What a recipe makes is calibrated with the data
/// that are open, and says nothing of others.
std::optional<ChannelStatistics> heldRange(const Snapshot& snapshot)
{
    if (snapshot.inputs.quantPath.empty() || !snapshot.quantModel || !snapshot.quantModel->quant)
        return {};
    const Graph& graph = snapshot.quantModel->graph();
    for (const ValueId input : graph.inputs()) {
        const auto index = snapshot.quantModel->quant->ofValue(input);
        if (!index)
            continue;
        const QuantParams& params = snapshot.quantModel->quant->quantizers()[*index].params;
        if (params.perTensor())
            return ChannelStatistics { 0, 0, params.low(), params.high() };
    }
    return {};
}

std::vector<Tensor> firstInputs(const DataSource& data)
{
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < std::min(data.feeds(), kStatisticsPictures); ++i)
        if (auto feed = data.feed(i); feed.ok() && !feed->inputs.empty())
            tensors.push_back(feed->inputs.front());
    return tensors;
}

} // namespace

Result<std::shared_ptr<const ReadPictures>> readPictures(const std::string& folder)
{
    auto read = std::make_shared<ReadPictures>();
    QS_TRY(read->folder, listImageFolder(folder));
    if (read->folder.files.empty())
        return badInput("there are no pictures (png, jpg, jpeg, bmp)", folder, "choose a folder with pictures");
    const size_t count = std::min(read->folder.files.size(), kStatisticsPictures);
    for (size_t i = 0; i < count; ++i) { // over the whole folder, so that all classes are seen
        QS_TRY(Picture picture, loadPicture(folder + "/" + read->folder.files[i * read->folder.files.size() / count]));
        read->pictures.push_back(std::move(picture));
    }
    return std::shared_ptr<const ReadPictures>(std::move(read));
}

Result<PictureLook> lookAt(const ReadPictures& read, const Preprocess& how, int side)
{
    PictureLook look;
    std::vector<Tensor> prepared;
    for (const Picture& picture : read.pictures) {
        QS_TRY(Tensor tensor, preparedPicture(how, picture));
        if (look.before.size() < kShownPictures) {
            look.before.push_back(imageOf(picture).scaled(side, side, Qt::KeepAspectRatio, Qt::SmoothTransformation));
            const QImage after = imageOf(inputPreview(tensor, 0, 1, side));
            look.after.push_back(after.scaled(side, side, Qt::KeepAspectRatio, Qt::FastTransformation));
        }
        prepared.push_back(std::move(tensor));
    }
    look.statistics = channelStatistics(prepared, how.channelsFirst);
    return look;
}

std::vector<StatisticsRow> knownOfInput(const Snapshot& snapshot, const std::string& folder, bool channelsFirst)
{
    std::vector<StatisticsRow> rows;
    if (const auto held = heldRange(snapshot))
        rows.push_back({ tr("Quantized file holds"),
            tr("Lowest and highest value that the codes of the first input stand for: what it was calibrated with"),
            { *held }, true });
    const bool calibration = snapshot.calibrationData && snapshot.inputs.calibration.spec != folder;
    const DataSource* other = calibration ? snapshot.calibrationData.get()
        : snapshot.inputs.data.spec != folder && !snapshot.inputs.data.spec.starts_with("random:") ? snapshot.data.get()
                                                                                                   : nullptr;
    if (!other)
        return rows;
    StatisticsRow row { calibration ? tr("Calibration data") : tr("Data that are open"),
        toQt(calibration ? snapshot.inputs.calibration.spec : snapshot.inputs.data.spec),
        channelStatistics(firstInputs(*other), channelsFirst) };
    if (!row.channels.empty())
        rows.push_back(std::move(row));
    return rows;
}

QString verdict(const std::vector<ChannelStatistics>& pictures, const std::vector<StatisticsRow>& known)
{
    if (pictures.empty() || known.empty() || known.front().channels.empty())
        return {};
    const auto [low, high] = extent(pictures);
    const auto [heldLow, heldHigh] = extent(known.front().channels);
    const QString here = rangeText({ { low, high } }), there = rangeText({ { heldLow, heldHigh } });
    const double width = heldHigh - heldLow, step = width / 100;
    const bool beyond = low < heldLow - step || high > heldHigh + step;
    if (width > 0 && (high - low > kTooWide * width || (beyond && high - low > kTooNarrow * width)))
        return tr("Does not fit: the pictures reach %1, beyond %2. Another preset may be right.").arg(here, there);
    if (width > 0 && (high - low < kTooNarrow * width || beyond))
        return tr("Does not fit: the pictures fill %1 of %2. Another preset may be right.").arg(here, there);
    return tr("Fits: the pictures have %1, about as expected (%2).").arg(here, there);
}

QString turnedText(const std::vector<Picture>& pictures)
{
    const auto turned = std::ranges::count_if(pictures, [](const Picture& p) { return p.orientation != 1; });
    if (turned == 0)
        return {};
    return tr("%1 of the %2 read here say in their EXIF that they do not stand upright.")
        .arg(countText(quint64(turned)), countText(pictures.size()));
}

QString folderText(const ImageFolder& folder)
{
    const QString pictures
        = folder.files.size() == 1 ? tr("1 picture") : tr("%1 pictures").arg(countText(folder.files.size()));
    if (folder.labels.empty())
        return tr("%1 without labels").arg(pictures);
    if (folder.classes.empty()) {
        const std::set<int64_t> classes(folder.labels.begin(), folder.labels.end());
        QStringList numbers;
        for (const int64_t label : classes)
            if (numbers.size() < kNamedClasses)
                numbers << QString::number(label);
        return tr("%1, labels of %2 classes in labels.csv (%3%4)")
            .arg(pictures, countText(classes.size()), numbers.join(QStringLiteral(", ")),
                classes.size() > size_t(kNamedClasses) ? QStringLiteral(" …") : QString());
    }
    QStringList names;
    for (const std::string& name : folder.classes)
        if (names.size() < kNamedClasses)
            names << toQt(name);
    const QString text = tr("%1 in %2 class folders (%3%4)")
                             .arg(pictures, countText(folder.classes.size()), names.join(QStringLiteral(", ")),
                                 folder.classes.size() > size_t(kNamedClasses) ? QStringLiteral(" …") : QString());
    return folder.numberedOtherwise
        ? text + tr("; their labels are 0, 1, 2 … in this order, not the numbers: labels.csv has those")
        : text;
}

} // namespace qs
