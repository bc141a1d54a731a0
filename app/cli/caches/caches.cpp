// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "core/base/work/memory.h"
#include "core/project/files/used_files.h"
#include "core/project/language/caches.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/report/json/caches_json.h"
#include "core/report/text/caches_table.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>

namespace qs::cli {

namespace {

struct CachesCommand {
    std::string floatPath, scales, per = "channel", method = "mse", map;
    int64_t bits = 8;
    bool anyPosition = false;
    DataOptions data;
};

/// LAYER:key|value|key_before_rotary:HEAD.
struct AskedMap {
    size_t layer = 0, head = 0;
    std::string kind;
};

std::optional<size_t> wholeNumber(std::string_view text)
{
    size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Result<AskedMap> askedMap(const std::string& text)
{
    const size_t first = text.find(':'), last = text.rfind(':');
    if (first != std::string::npos && last > first) {
        const auto layer = wholeNumber(std::string_view(text).substr(0, first));
        const auto head = wholeNumber(std::string_view(text).substr(last + 1));
        const std::string kind = text.substr(first + 1, last - first - 1);
        if (layer && head && (kind == "key" || kind == "value" || kind == "key_before_rotary"))
            return AskedMap { *layer, *head, kind };
    }
    return badUse("--map '" + text + "' is not LAYER:KIND:HEAD", "write 0:key:1, 0:value:1 or 0:key_before_rotary:1");
}

Status checkCaches(const CachesCommand& o, const CommonOptions& common)
{
    if (o.bits != 8 && o.bits != 4)
        return badUse("--bits " + std::to_string(o.bits) + " is no width of a cache", "give 8 or 4");
    if (o.per != "tensor" && o.per != "channel")
        return badUse("--per '" + o.per + "' is unknown", "give tensor or channel");
    if (o.method != "mse" && o.method != "minmax")
        return badUse("--method '" + o.method + "' is unknown", "give mse or minmax");
    if (!o.map.empty())
        QS_CHECK(askedMap(o.map));
    if (!o.map.empty() && common.json.empty())
        return badUse("--map is told in JSON", "add --json F.json, or --json -");
    return {};
}

/// What is asked of a model and its prompts.
struct CachesRun {
    SnapshotPtr snapshot;
    CacheOptions options;
    CacheReport found;
};

Result<CachesRun> runCaches(const CachesCommand& o, const Inputs& inputs, const Context& context)
{
    CachesRun run;
    run.options.choice = o.method == "mse" ? ScaleChoice::LeastError : ScaleChoice::Largest;
    run.options.anyPosition = o.anyPosition;
    QS_TRY(run.options.carry, carryPairs(context.common));
    const ProgressFn progress = progressBar(context.common);
    QS_TRY(run.snapshot, buildSnapshot(inputs, nullptr, progress, context.cancel));
    QS_TRY(run.found, cachesOf(*run.snapshot, run.options, progress, context.cancel));
    QS_CHECK(unchanged(*run.snapshot));
    return run;
}

/// Where a map was asked for: of which row, and what is there.
Result<std::optional<CacheMap>> mapOfCaches(
    const CachesCommand& o, const CachesRun& run, CachesReport& report, const Context& context)
{
    if (o.map.empty())
        return std::optional<CacheMap>();
    QS_TRY(const AskedMap asked, askedMap(o.map));
    const auto& rows = run.found.rows;
    const auto row = std::ranges::find_if(
        rows, [&](const CacheRow& r) { return r.layer == asked.layer && cacheKindName(r.kind) == asked.kind; });
    if (row == rows.end())
        return badInput("has no " + asked.kind + " in a layer " + std::to_string(asked.layer), o.floatPath,
            "give a layer and kind that the table lists");
    report.mapRow = size_t(row - rows.begin());
    report.mapHead = asked.head;
    QS_TRY(CacheMap map,
        cacheMapOf(*run.snapshot, run.options, report.mapRow, asked.head, progressBar(context.common), context.cancel));
    return std::optional(std::move(map));
}

Result<Inputs> cachesInputs(const CachesCommand& o, const CommonOptions& common)
{
    Inputs inputs;
    inputs.compare = false;
    inputs.floatPath = o.floatPath;
    QS_TRY(inputs.data, dataRequest(o.data, common));
    QS_TRY(inputs.threads, threadCount(common));
    QS_TRY(inputs.memoryLimit, memoryLimit(common));
    return inputs;
}

Result<int> caches(const CachesCommand& o, Context& context)
{
    const CommonOptions& common = context.common;
    QS_CHECK(checkCaches(o, common));
    QS_TRY(const Inputs inputs, cachesInputs(o, common));
    FileRoles files;
    addFilesOf(files, inputs);
    addFilesOf(files, common);
    files.writes(o.scales, "the scales");
    QS_CHECK(checkFiles(files));
    QS_TRY(const CachesRun run, runCaches(o, inputs, context));
    addFilesOf(files, *run.snapshot);
    QS_CHECK(files.check());
    CachesReport report { *run.snapshot, run.found };
    QS_TRY(const std::optional<CacheMap> map, mapOfCaches(o, run, report, context));
    report.map = map ? &*map : nullptr;
    clearProgress(common);
    printWarnings(run.snapshot->warnings, common);
    const ReportInfo info { peakMemoryBytes(), common.verbose };
    if (!o.scales.empty()) {
        const CacheBits bits = o.bits == 8 ? CacheBits::Eight : CacheBits::Four;
        auto text
            = cacheScaleFile(run.found, bits, o.per == "tensor" ? CacheScales::PerTensor : CacheScales::PerChannel);
        if (!text) {
            Issue issue = text.issue();
            issue.file = o.floatPath;
            return issue;
        }
        QS_CHECK(writeOutput(o.scales, *text));
    }
    if (!common.json.empty())
        QS_CHECK(writeOutput(common.json, cachesJson(report, info)));
    if (common.json != "-" && o.scales != "-")
        std::cout << cachesTable(report, info);
    return int(kDone);
}

} // namespace

Command addCaches(CLI::App& app, Context& context)
{
    auto o = std::make_shared<CachesCommand>();
    app.add_option("FLOAT", o->floatPath, "decoder with caches of floats")->required();
    addDataOptions(app, o->data);
    addCommonOptions(app, context.common);
    app.add_option(
        "--scales", o->scales, "write the scales as the kv_cache_scale_file of onnxruntime-genai's model builder");
    takesWords(app.add_option("--per", o->per,
                   "with --scales: one for each channel of each head (default), or for the whole tensor"),
        { "channel", "tensor" });
    takesWords(app.add_option("--bits", o->bits, "with --scales: of codes of 8 (default) or 4 bits"), { "8", "4" });
    takesWords(app.add_option("--method", o->method,
                   "how scales of all prompts are chosen: mse = of the least squared error (default), minmax = of the "
                   "largest magnitude"),
        { "mse", "minmax" });
    app.add_flag("--any-position", o->anyPosition,
        "choose scales of keys by the length of the pairs of channels that rotary embedding turns: they hold at "
        "positions beyond the prompts, too, and are coarser");
    app.add_option("--map", o->map,
        "LAYER:KIND:HEAD, such as 0:key:1 (KIND key, value or key_before_rotary): add the largest magnitudes of that "
        "head to the JSON, channels by positions");
    return [o](Context& c) { return caches(*o, c); };
}

} // namespace qs::cli
