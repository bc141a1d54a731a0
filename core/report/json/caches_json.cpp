// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/caches_json.h"

#include "core/report/json_number.h"

namespace qs {

namespace {

using CachesDocument = nlohmann::ordered_json;

CachesDocument spanJson(const ValueSpan& span)
{
    if (span.empty())
        return CachesDocument::array();
    return { double(span.low), double(span.high) };
}

CachesDocument spansJson(const std::vector<ValueSpan>& spans, size_t first, size_t step, size_t count)
{
    auto list = CachesDocument::array();
    for (size_t i = 0; i < count; ++i)
        list.push_back(spanJson(spans[first + i * step]));
    return list;
}

CachesDocument errorJson(const CodingError& error)
{
    return { { "sqnr_db", jsonNumber(error.sqnrDb) }, { "exact", error.exact },
        { "mean_abs_error", jsonNumber(error.meanAbsError) }, { "max_abs_error", jsonNumber(error.maxAbsError) } };
}

CachesDocument errorsJson(const CodingErrors& errors)
{
    CachesDocument all;
    for (const CacheBits bits : kCacheBits) {
        CachesDocument of;
        for (const CacheScales scales : kCacheScales)
            of[std::string(cacheScalesName(scales))] = errorJson(errorOf(errors, bits, scales));
        all["int" + std::to_string(bitsOf(bits))] = std::move(of);
    }
    return all;
}

CachesDocument headsJson(const CacheRow& row)
{
    auto list = CachesDocument::array();
    for (size_t h = 0; h < row.heads.size(); ++h) {
        const CacheHead& head = row.heads[h];
        list.push_back({ { "head", h }, { "range", spanJson(head.range) }, { "outliers", head.outliers },
            { "channels", spansJson(row.channels, h * row.size, 1, row.size) },
            { "positions", spansJson(row.byPosition, h, row.headCount, row.positions) },
            { "errors", errorsJson(head.errors) } });
    }
    return list;
}

CachesDocument rowJson(const CacheRow& row)
{
    auto outliers = CachesDocument::array();
    for (const OutlierChannel& outlier : row.outliers)
        outliers.push_back({ { "head", outlier.channel / row.size }, { "channel", outlier.channel % row.size },
            { "ratio", outlier.ratio } });
    CachesDocument scales;
    for (const CacheBits bits : kCacheBits) {
        auto channels = CachesDocument::array();
        for (const float scale : row.channelScales[size_t(bits)])
            channels.push_back(double(scale));
        scales["int" + std::to_string(bitsOf(bits))]
            = { { "per_tensor", double(row.tensorScale[size_t(bits)]) }, { "per_channel", std::move(channels) } };
    }
    return { { "layer", row.layer }, { "kind", cacheKindName(row.kind) }, { "name", row.name },
        { "head_size", row.size }, { "positions", row.positions }, { "elements", row.elements },
        { "non_finite", row.nonFinite }, { "range", spanJson(row.range) },
        { "max_abs", row.range.empty() ? CachesDocument(nullptr) : CachesDocument(double(row.range.largest())) },
        { "outliers", std::move(outliers) }, { "errors", errorsJson(row.errors) }, { "scales", std::move(scales) },
        { "heads", headsJson(row) } };
}

CachesDocument mapJson(const CachesReport& report)
{
    const CacheRow& row = report.found.rows[report.mapRow];
    auto values = CachesDocument::array();
    for (size_t d = 0; d < report.map->channels; ++d) {
        auto line = CachesDocument::array();
        for (size_t p = 0; p < report.map->positions; ++p)
            line.push_back(jsonNumber(double(report.map->largest[d * report.map->positions + p])));
        values.push_back(std::move(line));
    }
    return { { "layer", row.layer }, { "kind", cacheKindName(row.kind) }, { "head", report.mapHead },
        { "max_abs", std::move(values) } };
}

} // namespace

std::string cachesJson(const CachesReport& report, const ReportInfo& info)
{
    const CacheReport& found = report.found;
    auto layers = CachesDocument::array(), leftOut = layers;
    for (const CacheRow& row : found.rows)
        layers.push_back(rowJson(row));
    for (const LeftOutCache& cache : found.leftOut)
        leftOut.push_back({ { "name", cache.name }, { "reason", cache.reason } });
    CachesDocument json = { { "schema_version", 1 }, { "path", report.snapshot.inputs.floatPath },
        { "prompts", found.prompts }, { "method", scaleChoiceName(found.choice) },
        { "any_position", found.anyPosition }, { "caches", std::move(layers) }, { "left_out", std::move(leftOut) } };
    if (report.map)
        json["map"] = mapJson(report);
    json["warnings"] = report.snapshot.warnings;
    json["peak_memory_bytes"] = info.peakMemoryBytes;
    return json.dump(2, ' ', false, CachesDocument::error_handler_t::replace) + "\n";
}

} // namespace qs
