// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// What an output is for, and so which numbers tell whether a quantized model still does it.
enum class TaskKind : uint8_t {
    Values, ///< numbers of no known meaning: SQNR and cosine alone
    Classes, ///< scores of classes, one row a sample
    Sequence, ///< scores of classes by position
    Mask, ///< scores of classes by pixel, one score by pixel, or the classes themselves
    Boxes, ///< what a detector found
};

/// How a detector says what it found. A is the number of candidates, K that of boxes, C that of classes.
enum class BoxForm : uint8_t {
    None,
    Yolov5, ///< [N, A, 5 + C]: centre, size, objectness, probabilities. YOLOv5, v7; YOLOX where its file decodes
    Yolov8, ///< [N, 4 + C, A]: centre, size, probabilities. YOLOv8, v9, 11
    Yolox, ///< [N, A, 5 + C]: offsets in cells of strides 8, 16, 32 and logarithms of sizes, as YOLOX is exported
    EndToEnd, ///< [N, K, 6]: corners, confidence, class; nothing is left to suppress. YOLOv10, 26
    List, ///< boxes [N, K, 4] of corners, scores [N, K], classes [N, K]; torchvision, TensorFlow, ONNX's SSD
    Ssd, ///< corners [N, K, 4] and probabilities [N, K, C], class 0 is the background
    Detr, ///< centre and size [N, K, 4], logits [N, K, C], the last class is "no object"
    DetrSigmoid, ///< centre and size [N, K, 4], logits [N, K, C] of classes by themselves. RT-DETR, D-FINE
    Nms, ///< NonMaxSuppression's [K, 3] beside its boxes [N, A, 4] and scores [N, C, A]
};

/// An answer to what an output is.
struct TaskChoice {
    TaskKind kind = TaskKind::Values;
    BoxForm form = BoxForm::None; ///< of boxes
    bool operator==(const TaskChoice&) const = default;
};

/// "classes", "boxes"; "yolov8".
std::string_view taskKindName(TaskKind kind);
std::string_view boxFormName(BoxForm form);
/// "mask", "boxes:yolov8", and back; nothing where it is neither.
std::string taskText(const TaskChoice& choice);
std::optional<TaskChoice> taskFromText(std::string_view text);
/// All of them, in the order in which they are offered.
const std::vector<TaskChoice>& allTaskChoices();

/// From which candidates boxes are made, and which are one box in two models.
struct BoxThresholds {
    double score = 0.25; ///< least confidence
    double suppression = 0.45; ///< IoU with a better box of its class at which a candidate is dropped
    double match = 0.5; ///< least IoU of two boxes that are one
    bool operator==(const BoxThresholds&) const = default;
    /// All of them are shares.
    bool valid() const;
};

/// What the user says of outputs.
struct TaskChoices {
    std::map<std::string, TaskChoice> told; ///< by name in the float file; others are recognized
    BoxThresholds boxes;
    bool operator==(const TaskChoices&) const = default;
};

} // namespace qs
