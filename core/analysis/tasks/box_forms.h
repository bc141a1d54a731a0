// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/tasks/boxes.h"

#include <string>

namespace qs {

/// One output of a run, as far as reading boxes needs it.
struct BoxPart {
    const float* data = nullptr;
    Shape shape;
};

/// Height and width of the picture that a model is fed; 0 = there is none.
struct PictureSize {
    int64_t height = 0, width = 0;
};
/// Of an input [N, C, H, W] or [N, H, W, C] with at most four channels.
PictureSize pictureSize(const Shape& input);

/// Which of the samples of a run.
struct SampleOfRun {
    size_t index = 0, samples = 1;
};

/// How the parts of boxes are read.
struct BoxReading {
    BoxReading(BoxForm boxForm, bool ofCentres = false)
        : form(boxForm)
        , centres(ofCentres)
    {
    }
    BoxForm form;
    bool centres; ///< of Nms: centre and size in place of corners (center_point_box)
};

/// Candidates of the form overlap; others were suppressed by the model, or are one by query.
bool leavesSuppression(BoxForm form);

/// Boxes of one sample with at least the confidence of the thresholds, suppressed where the form leaves that to others.
/// `parts` in the order of the form: the one tensor; boxes, scores, classes (List); boxes, scores (Ssd, Detr); indices,
/// boxes, scores (Nms). Nothing where their shapes are none of the form. Axes of one element in front do not count.
/// Sources: the export code and post-processing of ultralytics/yolov5, ultralytics, YOLOX, torchvision, transformers.
std::optional<std::vector<Box>> boxesOf(const BoxReading& reading, std::span<const BoxPart> parts,
    const PictureSize& picture, const SampleOfRun& sample, const BoxThresholds& thresholds);

} // namespace qs
