// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/build_context.h"

namespace qs {

/// Inputs that data must provide: graph inputs without initializer, without carried ones.
std::vector<InputSpec> dataInputs(const Graph& graph, const CarryNames& carry = {});
/// Classes that the first output tells apart; 0 where they are not known before it is run, or it has none.
size_t classesOf(const Plan& plan);
std::vector<InputSpec> carriedInputs(const Graph& graph, const CarryNames& carry); ///< the others
/// Which of another file's inputs takes what each of the float model's does, as feeds reach it (FedModel); null where
/// there is none.
std::vector<const InputSpec*> partnersOf(const std::vector<InputSpec>& floats, const std::vector<InputSpec>& others);
FixedBatches fixedBatches(const Graph& floatGraph, const Graph& quantGraph, const CarryNames& carry);

/// Opens data for a model: its inputs, without those that are carried, and each prompt of a language model held against
/// what the model has room for when it is read.
Result<std::shared_ptr<const DataSource>> openDataFor(
    const Graph& graph, const DataRequest& request, const CarryNames& carry = {}, const FixedBatches& batches = {});
/// Opens data for the inputs of the float model.
Result<std::shared_ptr<const DataSource>> openSamples(const SamplesKey& key, const BuildContext& context);

/// What is wrong with a value that comes from the data is the matter of their file, `spec`, not of the model's.
Issue blamedOnData(Issue issue, const Graph& graph, const std::string& spec);

/// As the file says, else the model, else the data.
Result<std::shared_ptr<const ClassNames>> findClassNames(const ClassNamesKey& key);

} // namespace qs
