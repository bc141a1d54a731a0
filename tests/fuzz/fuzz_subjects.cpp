// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_subjects.h"

#include "core/base/issue_text.h"
#include "tests/fuzz/targets/fuzz_target.h"

#include <QDirIterator>
#include <QStringList>

#include <iterator>
#include <sstream>

namespace qs::test {

namespace {

FuzzSubject quantizedSubject(
    const FuzzFolder& folder, const std::string& floats, const Arguments& data, const std::string& options)
{
    const std::string made = folder.path("made.onnx");
    Arguments command { "quantize", floats, "-o", made };
    std::istringstream words(options);
    command.insert(command.end(), std::istream_iterator<std::string>(words), {});
    prepare(command + data);
    return { floats + ' ' + options, data, bytesOf(floats), bytesOf(made) };
}

QStringList modelsIn(const QString& folder, QDirIterator::IteratorFlags flags)
{
    QStringList found;
    for (QDirIterator it(folder, { QStringLiteral("*.onnx") }, QDir::Files, flags); it.hasNext();)
        found << it.next();
    found.sort();
    return found;
}

} // namespace

std::vector<FuzzSubject> subjectPairs(const FuzzFolder& folder)
{
    folder.written("weights.bin", std::string(4096, '\1'));
    const std::string digits = examplePath("digits_float.onnx"), small = folder.written("small.onnx", smallModel());
    const Arguments samples { "--data", examplePath("digits_samples.npz"), "--limit", "2" };
    std::vector<FuzzSubject> made;
    for (const std::string options : { "--format qdq", "--format qdq --per-channel --activation-type uint8",
             "--format qdq --activation-type int16 --weight-type int4", "--format qoperator --reduce-range",
             "--format qoperator --per-channel --activation-type uint8", "--format dynamic",
             "--format weight-only --block-size " }) {
        const bool blocks = options.ends_with(' ');
        made.push_back(quantizedSubject(folder, digits, samples, options + (blocks ? "32" : "")));
        for (int copy = 0; copy < 3; ++copy)
            made.push_back(quantizedSubject(folder, small, { "--data", "random:2" }, options + (blocks ? "16" : "")));
    }
    return made;
}

std::vector<int> carryOutRound(const FuzzRound& round, const FuzzFolder& folder, CostWatch& watch, ModelMutator& random)
{
    const bool pair = round.subject.pair();
    ModelFiles files { folder.written("float.onnx", round.floats),
        pair ? folder.written("quantized.onnx", round.quantized) : "", round.damagedQuantized,
        round.subject.data + round.options };
    std::vector<int> codes;
    for (const Arguments& command : drawnCommands(files, folder, random)) {
        const std::string name = round.name + ", " + round.subject.name + ": " + commandLine(command);
        if (qEnvironmentVariableIsSet("QS_FUZZ_VERBOSE"))
            std::fprintf(stderr, "%s\n", name.c_str());
        const CancelToken cancel = watch.begin(name);
        const auto result = carriedOut(command, cancel);
        watch.end(round.floats.size() + round.quantized.size());
        codes.push_back(result ? *result : -1 - int(result.issue().kind));
        if (!result && result.issue().kind == IssueKind::Internal)
            watch.fault(issueText(result.issue()));
    }
    return codes;
}

std::vector<FuzzSubject> subjectModels()
{
    QStringList found
        = modelsIn(qEnvironmentVariable("QS_FUZZ_MODELS", QS_ONNX_TESTDATA), QDirIterator::Subdirectories);
    for (const char* own : { QS_SOURCE_DIR "/tests/data/microsoft", QS_SOURCE_DIR "/tests/data/origin" })
        found += modelsIn(QString::fromUtf8(own), QDirIterator::NoIteratorFlags);
    std::vector<FuzzSubject> models;
    for (const QString& file : found)
        if (const std::string bytes = bytesOf(file.toStdString()); bytes.size() < 200'000)
            models.push_back({ file.toStdString(), samplesFor(bytes), bytes, {} });
    return models;
}

} // namespace qs::test
