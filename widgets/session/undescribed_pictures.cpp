// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/undescribed_pictures.h"

#include "core/data/images/image_folder.h"
#include "widgets/models/base/formatting.h"

#include <QFileInfo>

namespace qs {

namespace {

bool undescribed(const DataRequest& data)
{
    return data.preprocess.empty() && !data.spec.empty() && QFileInfo(toQt(data.spec)).isDir()
        && holdsPictures(data.spec);
}

} // namespace

std::optional<UndescribedPictures> takeUndescribed(Inputs& inputs, const Inputs& open)
{
    if (inputs.floatPath.empty())
        return {};
    const bool sameModels = inputs.floatPath == open.floatPath && inputs.quantPath == open.quantPath;
    for (const bool calibration : { false, true }) {
        DataRequest& data = calibration ? inputs.calibration : inputs.data;
        if (!undescribed(data))
            continue;
        UndescribedPictures found { data, calibration };
        data = sameModels ? (calibration ? open.calibration : open.data) : DataRequest {};
        return found;
    }
    return {};
}

} // namespace qs
