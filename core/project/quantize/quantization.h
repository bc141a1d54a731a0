// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"
#include "core/engine/run/carry.h"
#include "core/graph/draft.h"
#include "core/prepare/prepare.h"
#include "core/quant/calibrate/calibration_data.h"
#include "core/quant/correct/report.h"
#include "core/quant/model/float_model.h"
#include "core/quant/recipe/recipe.h"
#include "core/quant/weight_only/weight_only.h"

namespace qs {

/// Statistics that another recipe on the same model and data may be computed from.
struct KeptCalibration {
    std::string key; ///< of what was looked at in each tensor and what the model was then
    std::vector<std::string> opTypes; ///< Recipe::opTypes, which say what tensors these are
    CalibrationData data;
    bool fromFile = false; ///< QuantizeInputs::calibrationCache held it
    std::vector<uint64_t>
        sampleHashes {}; ///< of the samples (core/data/sample_hash.h); empty where there were no data at all
};

struct Quantization;

/// A float model and how to quantize it.
struct QuantizeInputs {
    std::shared_ptr<const Model> model;
    Recipe recipe;
    std::shared_ptr<const DataSource> data; ///< null: none
    std::string rangesPath; ///< ranges to take in place of calibrating; empty: none
    std::string calibrationCache; ///< file for the statistics; empty: none
    bool othersFollow = false; ///< statistics serve other calibrators, too, which will be asked for
    CarryNames carry;
    std::shared_ptr<const Quantization> earlier; ///< of the same model and data; may be null
    std::optional<Ranges> ranges; ///< in place of calibrating, where they are known
};

struct Quantization {
    GraphDraft draft; ///< the quantized model
    GraphDraft prepared; ///< the float model that it was made of, corrected
    bool preparationChanged = false;
    Recipe recipe; ///< that makes it of `prepared`, where all corrections are done
    std::vector<CorrectionReport> corrections;
    Ranges ranges; ///< that it was made with; empty for forms that need none
    std::shared_ptr<const KeptCalibration> kept; ///< null where nothing was calibrated
    bool calibrated = false; ///< `ranges` come of `kept`, which else only waits for another recipe
    std::vector<std::string> warnings;
    std::vector<LeftInFloat> left; ///< nodes that stayed as they were, and why
    double prepareMs = 0, calibrateMs = 0, quantizeMs = 0;
    std::vector<PassReport> preparation; ///< what each pass did; empty without preparation
    std::shared_ptr<const ReadyBlocks> blocks; ///< of weights, where data chose the codes
    std::optional<GraphPreparation> preparedBy; ///< of which `prepared` comes; nullopt where it was corrected, too
    std::shared_ptr<QuantizedConstants> constants; ///< of `prepared`
    std::shared_ptr<const KeptCodes> fileCodes; ///< that the recipe takes from a file; null: none
    CodeOrigins codes; ///< of these constants
};

} // namespace qs
