// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/issue.h"
#include "tests/fuzz/command_runner.h"
#include "tests/fuzz/cost_watch.h"

#include <string>
#include <vector>

/// One kind of file each that people are given: what the program does with it, whatever it holds. The same functions
/// run under libFuzzer, over the corpora of past crashes and in long series of rounds.
namespace qs::test {

/// One input, what it is given to, and what was wrong with the answers.
class Trial {
public:
    /// `watch` has begun, and sees each command apart; `fileBytes`: of the input.
    explicit Trial(
        const FuzzFolder& folder, CostWatch* watch = nullptr, uint64_t fileBytes = 0, CancelToken cancel = {})
        : m_folder(folder)
        , m_watch(watch)
        , m_fileBytes(fileBytes)
        , m_cancel(std::move(cancel))
    {
    }
    const FuzzFolder& folder() const { return m_folder; }
    const CancelToken& cancel() const { return m_cancel; }
    /// Carries a command of the program out. Issues are right answers, but not one that is our own fault. False: an
    /// issue.
    bool command(const Arguments& arguments);
    /// What a function says.
    void judge(const Issue& issue, const std::string& asked);
    template <class T> bool judge(const Result<T>& result, const std::string& asked)
    {
        if (!result.ok())
            judge(result.issue(), asked);
        return result.ok();
    }
    const std::vector<std::string>& faults() const { return m_faults; }

private:
    const FuzzFolder& m_folder;
    CostWatch* m_watch;
    uint64_t m_fileBytes;
    CancelToken m_cancel;
    std::vector<std::string> m_faults;
};

/// How its bytes are changed.
enum class FuzzForm { Bytes, Text, Model, Pair };

struct FuzzTarget {
    const char* name; ///< of its folder in tests/fuzz/corpus, too
    FuzzForm form;
    const char* dictionary; ///< a file in tests/fuzz/dictionaries; "": none
    std::vector<std::string> (*seeds)(const FuzzFolder& folder); ///< right files to begin with, small
    void (*run)(Trial& trial, const std::string& bytes);
    unsigned rounds; ///< in a short run of all tests
};

using FuzzTargets = std::vector<FuzzTarget>;
const FuzzTargets& fuzzTargets();
/// nullptr where there is none.
const FuzzTarget* fuzzTarget(const std::string& name);
std::vector<std::string> wordsOf(const FuzzTarget& target);

void addDataTargets(FuzzTargets& targets);
void addRecipeTargets(FuzzTargets& targets);
void addProjectTargets(FuzzTargets& targets);
void addLessonTargets(FuzzTargets& targets);
void addModelTargets(FuzzTargets& targets);

/// A file of the bundled example.
std::string examplePath(const std::string& name);
/// The bundled float model with a few of its samples.
Arguments exampleRun(const std::string& command, size_t samples = 2);

/// A convolution, its activation and a product: small, and with what quantizers look for.
std::string smallModel();

/// A float and a quantized model in one input.
std::string pairBytes(const std::string& floats, const std::string& quantized);
struct ModelPair {
    std::string floats, quantized;
};
ModelPair pairOf(const std::string& bytes);

} // namespace qs::test
