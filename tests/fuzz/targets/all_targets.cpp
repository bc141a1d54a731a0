// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/byte_mutator.h"
#include "tests/fuzz/targets/fuzz_target.h"

#include "core/base/issue_text.h"

#include <algorithm>

namespace qs::test {

bool Trial::command(const Arguments& arguments)
{
    if (m_watch)
        m_cancel = m_watch->next(commandLine(arguments), m_fileBytes);
    return judge(carriedOut(arguments, m_cancel), commandLine(arguments));
}

void Trial::judge(const Issue& issue, const std::string& asked)
{
    if (issue.kind == IssueKind::Internal || issue.what.empty())
        m_faults.push_back(asked + ": " + issueText(issue));
}

const FuzzTargets& fuzzTargets()
{
    static const FuzzTargets all = [] {
        FuzzTargets targets;
        addDataTargets(targets);
        addRecipeTargets(targets);
        addProjectTargets(targets);
        addLessonTargets(targets);
        addModelTargets(targets);
        return targets;
    }();
    return all;
}

const FuzzTarget* fuzzTarget(const std::string& name)
{
    const auto found = std::ranges::find_if(fuzzTargets(), [&](const FuzzTarget& t) { return t.name == name; });
    return found == fuzzTargets().end() ? nullptr : &*found;
}

std::vector<std::string> wordsOf(const FuzzTarget& target)
{
    const std::string name = target.dictionary;
    return name.empty() ? std::vector<std::string>()
                        : dictionaryWords(bytesOf(QS_SOURCE_DIR "/tests/fuzz/dictionaries/" + name));
}

std::string examplePath(const std::string& name) { return QS_SOURCE_DIR "/resources/examples/" + name; }

Arguments exampleRun(const std::string& command, size_t samples)
{
    return { command, examplePath("digits_float.onnx"), "--data", examplePath("digits_samples.npz"), "--limit",
        std::to_string(samples), "--threads", "1" };
}

} // namespace qs::test
