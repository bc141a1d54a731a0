// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/findings/evidence_labels.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr auto kLabels = std::to_array<EvidenceLabel>({
    { "clipped_fraction", "clipped of its own values", true },
    { "float_clipped_fraction", "clipped of the float data", true },
    { "range_low", "representable from" },
    { "range_high", "representable to" },
    { "data_low", "float data from" },
    { "data_high", "float data to" },
    { "local_sqnr_db", "SQNR with this quantizer alone" },
    { "ideal_sqnr_db", "SQNR that its step allows" },
    { "sqnr_db", "SQNR" },
    { "source_sqnr_db", "SQNR at the source" },
    { "per_channel_sqnr_db", "SQNR with scales per channel" },
    { "gain_db", "to be gained" },
    { "used_codes", "codes in use", true },
    { "range_ratio", "largest over median channel range" },
    { "off_by_more_than_half_step", "off by more than half a step", true },
    { "off_by_one", "codes off by one", true },
    { "noise_share", "share of the noise", true },
    { "saturated_pairs", "saturated pairs", true },
    { "saturation_sqnr_db", "SQNR left by saturation alone" },
    { "worst_channel_pairs", "saturated in the worst channel", true },
    { "worst_channel", "worst channel" },
    { "median_channel_sqnr_db", "SQNR of the median channel" },
    { "increase_db", "increase" },
    { "mean_error", "mean error" },
    { "max_abs_error", "largest error" },
    { "zero_point", "zero point" },
    { "fitting_zero_point", "zero point that would fit" },
    { "reader", "misread by" },
    { "written_scale", "scale as written" },
    { "read_scale", "scale as read" },
    { "written_zero_point", "zero point as written" },
    { "read_zero_point", "zero point as read" },
    { "read_sqnr_db", "SQNR of what is read" },
    { "overflowed", "elements that overflow" },
    { "largest", "largest value" },
    { "peak_over_rms", "peak over RMS" },
    { "bits_lost", "bits lost" },
    { "width_ratio", "widest over narrowest range" },
    { "largest_branch", "widest branch" },
    { "output_distance", "relative distance of the output" },
    { "distance_at_place", "relative distance there" },
    { "scale_distance", "relative distance of the scales" },
    { "median_sample_width", "median width of the samples' ranges", true },
    { "cost_db", "cost of one range" },
    { "calibration_cost_db", "cost of the calibration data" },
    { "half_range_share", "width after half of the samples", true },
    { "settled_after", "samples until ranges settle" },
    { "judged_samples", "samples that judge, too" },
    { "repeated_samples", "equal samples" },
    { "all_classes", "classes of the model" },
    { "drop_points", "percentage points less" },
    { "float_accuracy", "float model right", true },
    { "quantized_accuracy", "quantized model right", true },
    { "lost", "samples lost" },
    { "gained", "samples gained" },
    { "chance", "chance in equally good models" },
    { "risky_share", "weights that can leave 16 bits", true },
    { "mac_share", "share of the multiplications", true },
    { "source", "source" },
    { "places", "places" },
    { "tensors", "tensors" },
    { "float", "without a partner in the float file" },
    { "quantized", "without a partner in the quantized file" },
    { "noise_over_signal", "noise over the signal at the node", true },
    { "noise_over_output", "noise over that of the output", true },
    { "beyond", "codes off by more than one", true },
    { "bits", "bits" },
    { "channels", "channels" },
    { "classes", "classes in the data" },
    { "labels", "labels" },
    { "lowest", "lowest" },
    { "highest", "highest" },
    { "nodes", "nodes" },
    { "output_lost_db", "lost at the output" },
    { "pairs", "pairs" },
    { "quantizers", "quantizers" },
    { "samples", "samples" },
    { "scale", "scale" },
    { "broken_scales", "scales that are none" },
    { "share_beyond", "beyond the bounds" },
    { "steps", "error in steps" },
    { "tolerance", "tolerance" },
    { "fitting_sqnr_db", "SQNR with a scale of its own range" },
    { "activation", "activation" },
    { "causes", "causes" },
    { "stored_parameter", "parameter as stored" },
    { "float_parameter", "parameter of the float model" },
    { "blocks_of_128_sqnr_db", "SQNR with blocks of 128" },
    { "blocks_of_32_sqnr_db", "SQNR with blocks of 32" },
    { "one_more_bit_sqnr_db", "SQNR with one more bit" },
    { "eight_bits_sqnr_db", "SQNR with 8 bits" },
    { "eight_bits_per_channel_sqnr_db", "SQNR with 8 bits per channel" },
});

} // namespace

std::optional<EvidenceLabel> evidenceLabel(std::string_view key)
{
    const auto known = std::ranges::find(kLabels, key, &EvidenceLabel::key);
    return known == kLabels.end() ? std::nullopt : std::optional(*known);
}

} // namespace qs
