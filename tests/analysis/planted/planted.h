// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN // moc stumbles over the standard library's concepts
#include "core/quant/write/quantizer.h"
#endif
#include "tests/analysis/comparing.h"

#include <functional>
#include <string>
#include <vector>

/// Small networks with a fault in one known place.
namespace qs::test {

/// What a fault may change on the way from a float network to a comparison. Everything left alone is healthy.
struct Planted {
    std::string network; ///< "cnn", "residual", "attention", "branches"
    std::string fault; ///< what was done, for people
    std::vector<std::string> places; ///< nodes and tensors of the float network: naming any of them finds the fault
    std::function<void(GraphDraft&)> floatModel; ///< before anything else
    std::function<void(Recipe&)> recipe;
    std::function<void(Ranges&)> ranges; ///< of the calibration
    std::function<void(GraphDraft&)> quantized; ///< the finished file
    std::function<float(float)> data; ///< what the models are compared on; calibrated on the data without it
    ArithmeticProfile profile = ArithmeticProfile::Simulated;
};

std::vector<std::string> networkNames();
/// At least 40 faults over all networks.
std::vector<Planted> plantedFaults();

/// The float network, its quantized file with the fault in it, and the samples that both are compared on.
struct PlantedPair {
    std::shared_ptr<const Model> floatModel, quantModel;
    std::shared_ptr<FixedData> data;
};
PlantedPair plantedPair(const Planted& planted);
/// Quantizes the network by min-max calibration, plants the fault and compares.
Comparison comparePlanted(const Planted& planted);

} // namespace qs::test
