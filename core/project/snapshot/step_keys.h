// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/class_names.h"
#include "core/project/quantize/quantization.h"
#include "core/project/snapshot/inputs.h"
#include "core/project/snapshot/loaded_model.h"

#include <map>

namespace qs {

/// The key of a step holds all that its result follows from, and a step is given nothing else but a BuildContext. What
/// earlier steps made is in it by pointer: equal pointers are the same thing, which the key keeps alive.
struct ModelKey {
    std::string path;
    bool operator==(const ModelKey&) const = default;
};

/// Samples in a run that the quantized file fixes and the float model leaves open, by the float model's input.
using FixedBatches = std::map<std::string, int64_t>;

struct SamplesKey {
    LoadedModel floatModel;
    DataRequest request;
    CarryNames carry;
    FixedBatches batches;
    bool operator==(const SamplesKey&) const = default;
};

struct ClassNamesKey {
    std::optional<ClassNames> given; ///< by a file
    std::string path; ///< of that file
    std::optional<LoadedModel> floatModel;
    std::shared_ptr<const DataSource> data;
    bool operator==(const ClassNamesKey&) const = default;
};

/// The float model over a set of samples.
struct SampledModel {
    LoadedModel floatModel;
    std::shared_ptr<const DataSource> data; ///< null: none
    CarryNames carry;
    bool operator==(const SampledModel&) const = default;
};

struct ExpansionKey {
    LoadedModel model;
    std::shared_ptr<const DataSource> data; ///< null: none, or nothing is compared
    LoadedModel dataModel; ///< whose inputs the data give
    CarryNames carry;
    bool operator==(const ExpansionKey&) const = default;
};

struct QuantizationKey {
    SampledModel calibrated;
    Recipe recipe;
    std::string rangesPath, calibrationCache;
    bool operator==(const QuantizationKey&) const = default;
};

struct AlignmentKey {
    LoadedModel floatModel, quantModel;
    bool oneNetwork = false; ///< the second was made of the first
    ManualLinks links; ///< by hand, those of a file included
    CarryNames carry;
    std::shared_ptr<const DataSource> data; ///< to pair what names and structure left single; null: they stay so
    bool operator==(const AlignmentKey&) const = default;
};

struct ComparisonKey {
    SampledModel sampled;
    LoadedModel quantModel;
    std::shared_ptr<const Alignment> alignment;
    std::shared_ptr<const Quantization> quantization; ///< that made the quantized model; null: a file
    std::shared_ptr<const DataSource> calibrationData; ///< that it was calibrated with
    ArithmeticProfile profile = ArithmeticProfile::Simulated;
    bool nodeAlone = false, histograms = true;
    bool prove = false; ///< CompareOptions::prove
    TaskChoices tasks {};
    std::optional<Shard> shard;
    bool operator==(const ComparisonKey&) const = default;
};

/// Of two files, whether the recipe of one is that of the other.
struct ReadBackKey {
    LoadedModel floatModel, quantModel;
    bool operator==(const ReadBackKey&) const = default;
};

/// Of the comparison with the second quantized model.
struct OtherKey {
    ComparisonKey first;
    Asked asked; ///< of the second
    std::shared_ptr<const DataSource> calibrationData;
    bool operator==(const OtherKey&) const = default;
};

/// Of all steps that were done.
struct StepKeys {
    std::optional<ModelKey> floatModel, quantModel;
    std::optional<SamplesKey> data, calibrationData;
    std::optional<ClassNamesKey> classNames;
    std::optional<QuantizationKey> quantization;
    std::optional<ExpansionKey> floatBodies, quantBodies;
    std::optional<AlignmentKey> alignment;
    std::optional<ComparisonKey> comparison;
    std::optional<ReadBackKey> recipeMakes;
    std::optional<OtherKey> other;
};

} // namespace qs
