// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/images/image_folder.h"
#include "core/data/images/prepared.h"
#include "core/project/snapshot/snapshot.h"

#include <QImage>
#include <QString>

namespace qs {

/// The first pictures of a folder, read once.
struct ReadPictures {
    ImageFolder folder;
    std::vector<Picture> pictures; ///< the first kStatisticsPictures
};
inline constexpr size_t kStatisticsPictures = 16; ///< that statistics are over
inline constexpr size_t kShownPictures = 4; ///< that are drawn before and after

/// Issues name the file. At least one picture.
Result<std::shared_ptr<const ReadPictures>> readPictures(const std::string& folder);

/// What becomes of the first pictures.
struct PictureLook {
    std::vector<QImage> before, after; ///< as many; after: the channels as the network gets them, red first
    std::vector<ChannelStatistics> statistics; ///< of all that were read
};
/// The size must be given. `side`: pixels of the longer side of what is drawn.
Result<PictureLook> lookAt(const ReadPictures& read, const Preprocess& how, int side);

/// One line of the table that statistics are held against.
struct StatisticsRow {
    QString title, toolTip;
    std::vector<ChannelStatistics> channels;
    bool rangeOnly = false; ///< only the smallest and largest value are known
};
/// What the open files say of the first input: the range that the quantized file holds, and the data that ranges
/// were found with, else those that are open, where they are no pictures of `folder`. Reads samples: on a worker.
std::vector<StatisticsRow> knownOfInput(const Snapshot& snapshot, const std::string& folder, bool channelsFirst);

/// How the pictures lie to what is known, in a sentence; empty where nothing is known.
QString verdict(const std::vector<ChannelStatistics>& pictures, const std::vector<StatisticsRow>& known);
/// How many of them lie otherwise than their file says they were taken; empty: none.
QString turnedText(const std::vector<Picture>& pictures);
/// "1,200 pictures in 10 classes (cat, dog, … from folders)".
QString folderText(const ImageFolder& folder);

} // namespace qs
