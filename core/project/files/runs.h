// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "core/quant/recipe/recipe_diff.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Stands for the hash of the samples in RunNumbers::measuredOn while it is not known.
inline constexpr std::string_view kDataOfProject = "data: of the project";

/// What one run is worth, in the numbers that runs are compared by.
struct RunNumbers {
    Number outputSqnrDb; ///< of the worst result; null when exact
    bool exact = false; ///< every result equals the float model's
    Number accuracy, floatAccuracy; ///< fractions; null without labels
    Number top1Agreement; ///< of the first result that has one; null with one element a sample
    Number quantizedMacShare; ///< of all multiplications; null where sizes are unknown
    std::optional<uint64_t> fileBytes; ///< of the quantized model as ONNX
    size_t samples = 0;
    std::string data; ///< what people call the samples: the name of their file
    /// Hash of the samples, wherever they lie, their number, arithmetic and tasks, a line each: numbers of two runs are
    /// only comparable where it is equal.
    std::string measuredOn;
    bool operator==(const RunNumbers&) const = default;
};

using RunId = uint32_t; ///< 0: none

/// One state of a recipe that was run.
struct RecipeRun {
    RunId id = 0;
    RunId parent = 0; ///< that it was edited from; 0: a root
    std::string name, note;
    Recipe recipe;
    bool imported = false; ///< the quantized file as it was loaded; `recipe` is what could be read out of it
    std::optional<RunNumbers> numbers;
    bool operator==(const RecipeRun&) const = default;
};

/// How `after` differs from `before`; a number is null where either has none or they were measured on different data.
struct RunDifference {
    std::vector<RecipeChange> settings;
    Number outputSqnrDb, accuracy, top1Agreement, quantizedMacShare; ///< after minus before
    std::optional<int64_t> fileBytes;
};
RunDifference runDifference(const RecipeRun& before, const RecipeRun& after);

/// The runs of one piece of work: a value. Ids are never used again.
class RunTree {
public:
    /// Runs that were saved; those without an id, or with one that was there before, are left out.
    static RunTree of(std::vector<RecipeRun> runs, RunId current);

    const std::vector<RecipeRun>& runs() const { return m_runs; } ///< parents before their children
    const RecipeRun* find(RunId id) const;
    std::vector<RunId> childrenOf(RunId parent) const; ///< 0: the roots
    RunId current() const { return m_current; } ///< that is shown; 0: none

    /// Adds a run (its id is given here) and makes it the current one. A parent that is unknown counts as none.
    RunId add(RecipeRun run);
    /// The work goes on from this run: the next one is its child.
    void branch(RunId id);
    void rename(RunId id, std::string name);
    void annotate(RunId id, std::string note);
    void measured(RunId id, RunNumbers numbers);
    void forgetNumbers(bool importedOnly); ///< which were measured on files that have changed since
    void nameData(const std::string& measuredOn); ///< that of the data of the project which the runs came with
    /// The same run with another recipe, which is not measured yet: a step of undo that took up another.
    void replaceRecipe(RunId id, Recipe recipe);
    /// Its children become those of its parent. The imported run stays.
    void remove(RunId id);
    /// Highest accuracy, then output SQNR, among those measured on the same as the current one; 0: nothing measured.
    RunId best() const;
    bool operator==(const RunTree&) const = default;

private:
    RecipeRun* at(RunId id);
    std::vector<RecipeRun> m_runs;
    RunId m_current = 0;
    RunId m_next = 1;
};

/// The numbers of a snapshot with a comparison. File bytes are those of `fileBytes` (see quantizedFileBytes).
RunNumbers runNumbers(const Snapshot& snapshot, std::optional<uint64_t> fileBytes = {});
/// RunNumbers::measuredOn of a snapshot with a comparison.
std::string measuredOn(const Snapshot& snapshot);
/// What differs between the measurements of two runs.
enum class Measurement { Same, OtherData, OtherArithmetic };
Measurement measurementOf(const RunNumbers& before, const RunNumbers& after);
/// Older projects name the path of the data in place of their hash. Those that are the data of the current run, which
/// are the project's, say so until RunTree::nameData().
void replacePaths(std::vector<RecipeRun>& runs, RunId current);
/// Size of the quantized model: of its file, or of what exporting it would write. Takes time; nullopt: it cannot be
/// said.
std::optional<uint64_t> quantizedFileBytes(const Snapshot& snapshot);

} // namespace qs
