// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/quant/calibrate/calibration_parts.h"
#include "core/quant/ranges/range_files.h"
#include "tests/fuzz/targets/fuzz_target.h"

namespace qs::test {

namespace {

using Seeds = std::vector<std::string>;

Arguments quantizing(const FuzzFolder& folder)
{
    Arguments command = exampleRun("quantize");
    command.insert(command.end(), { "-o", folder.path("out.onnx") });
    return command;
}

void runRecipe(Trial& trial, const std::string& bytes)
{
    const std::string path = trial.folder().written("recipe.json", bytes);
    trial.command(quantizing(trial.folder())
        + Arguments { "--recipe", path, "--script", trial.folder().path("s.py"), "--save-recipe",
            trial.folder().path("r.json") });
    trial.command(exampleRun("compare") + Arguments { "--recipe", path, "--json", trial.folder().path("c.json") });
}

/// What the program itself writes for some options.
Seeds recipes(const FuzzFolder& folder)
{
    const Arguments options[] { { "--format", "qdq", "--per-channel", "--activation-type", "uint8" },
        { "--format", "qoperator", "--method", "percentile", "--preprocess-graph" }, { "--format", "dynamic" },
        { "--format", "weight-only", "--block-size", "32" } };
    Seeds made { R"({"schema_version": 1, "calibration": {"method": "mse", "percentile": 99.9},
        "exclude": ["re:^/stem/.*"], "tensors": {"image": {"lowest": -1, "highest": 2.5,
        "calibrator": {"method": "entropy", "bins": 128}}}, "nodes": {"/classifier/Gemm": {"weight_type": "int4"}}})",
        "{}" };
    for (const Arguments& some : options) {
        prepare(quantizing(folder) + some + Arguments { "--save-recipe", folder.path("seed.json") });
        made.push_back(bytesOf(folder.path("seed.json")));
    }
    return made;
}

void runRanges(Trial& trial, const std::string& bytes)
{
    const std::string path = trial.folder().written("ranges.json", bytes);
    trial.command({ "quantize", examplePath("digits_float.onnx"), "-o", trial.folder().path("out.onnx"), "--ranges",
        path, "--save-ranges", trial.folder().path("again.json") });
}

Seeds rangeFiles(const FuzzFolder& folder)
{
    prepare(quantizing(folder) + Arguments { "--save-ranges", folder.path("seed.json") });
    return { bytesOf(folder.path("seed.json")), R"({"image": [-1.0, 2.5], "scores": [0, 1]})",
        R"({"CLASS": "TensorsData", "data": {"image": {"CLASS": "TensorData", "data": {"lowest": {"CLASS":)"
        R"( "numpy.array", "data": [-1.0], "dtype": "float32"}, "highest": {"CLASS": "numpy.array",)"
        R"( "data": [1.0], "dtype": "float32"}}}}, "calibration_method": "MinMax"})",
        "image 2.5\nscores 12.25\n", "TRT-8601-EntropyCalibration2\nimage: 3c010a14\nscores: 3d010a14\n",
        formatRanges(*parseRanges("image 2.5\nscores 12.25\n", "seed"), RangeFormat::FlatBuffers).value() };
}

void runCache(Trial& trial, const std::string& bytes)
{
    const std::string path = trial.folder().written("calibration.cache", bytes);
    trial.command(quantizing(trial.folder()) + Arguments { "--calibration-cache", path });
}

Seeds caches(const FuzzFolder& folder)
{
    prepare(
        quantizing(folder) + Arguments { "--calibration-cache", folder.path("seed.cache"), "--method", "percentile" });
    return { bytesOf(folder.path("seed.cache")) };
}

/// With a checksum that fits, so that what is inside is read.
std::string signedPart(std::string bytes)
{
    constexpr size_t kChecksum = 16;
    if (bytes.size() < kChecksum)
        return bytes;
    bytes.resize(bytes.size() - kChecksum);
    const Hash128 hash = hashText(bytes);
    bytes.append(reinterpret_cast<const char*>(&hash.low), 8);
    return bytes.append(reinterpret_cast<const char*>(&hash.high), 8);
}

Arguments shardOf(const FuzzFolder& folder, const std::string& name)
{
    return exampleRun("quantize")
        + Arguments { "--method", "percentile", "--shard", "1/1", "--state", folder.path(name) };
}

void runPart(Trial& trial, const std::string& bytes)
{
    const FuzzFolder& folder = trial.folder();
    for (const std::string& some : { bytes, signedPart(bytes) }) {
        const std::string path = folder.written("one.qcal", some);
        trial.judge(readCalibrationPart(path), "a state of a calibration");
        trial.command(quantizing(folder) + Arguments { "--calibrated", path });
        trial.command(quantizing(folder)
            + Arguments { "--method", "percentile", "--calibrated", path, folder.path("first.qcal") });
        trial.command(shardOf(folder, "other.qcal") + Arguments { "--calibrated", path });
    }
}

Seeds parts(const FuzzFolder& folder)
{
    prepare(shardOf(folder, "first.qcal"));
    prepare(shardOf(folder, "second.qcal") + Arguments { "--calibrated", folder.path("first.qcal") });
    return { bytesOf(folder.path("first.qcal")), bytesOf(folder.path("second.qcal")) };
}

} // namespace

void addRecipeTargets(FuzzTargets& targets)
{
    targets.push_back({ "recipe", FuzzForm::Text, "recipe.dict", recipes, runRecipe, 5 });
    targets.push_back({ "ranges", FuzzForm::Text, "recipe.dict", rangeFiles, runRanges, 10 });
    targets.push_back({ "calibration-cache", FuzzForm::Bytes, "", caches, runCache, 5 });
    targets.push_back({ "qcal", FuzzForm::Bytes, "", parts, runPart, 5 });
}

} // namespace qs::test
