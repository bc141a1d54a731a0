// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/byte_source.h"
#include "core/data/images/preprocess.h"
#include "core/data/input_fit.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using nlohmann::json;

constexpr int kLargestSide = 16384;

/// Reads values by key and keeps the first thing that is wrong.
class KeyReader {
public:
    KeyReader(const json& object, const std::string& path)
        : m_object(object)
        , m_path(path)
    {
    }

    const std::optional<Issue>& issue() const { return m_issue; }
    void fail(const std::string& key, const std::string& expected)
    {
        if (!m_issue)
            m_issue = badInput("\"" + key + "\" must be " + expected, m_path, "correct the preprocessing file");
    }

    template <class T> void choice(const char* key, T& to, const std::vector<std::pair<std::string, T>>& choices)
    {
        const json* value = find(key);
        if (!value)
            return;
        std::string allowed;
        for (const auto& [name, result] : choices) {
            if (value->is_string() && value->get<std::string>() == name) {
                to = result;
                return;
            }
            allowed += (allowed.empty() ? "\"" : ", \"") + name + "\"";
        }
        fail(key, (choices.size() > 1 ? "one of " : "") + allowed);
    }

    void number(const char* key, double& to, double low, double high, const std::string& expected)
    {
        const json* value = find(key);
        if (!value)
            return;
        if (!value->is_number() || !(value->get<double>() >= low && value->get<double>() <= high))
            fail(key, expected);
        else
            to = value->get<double>();
    }

    std::optional<int> side(const char* key, const json& value)
    {
        if (value.is_number_integer() && value.get<int64_t>() >= 1 && value.get<int64_t>() <= kLargestSide)
            return static_cast<int>(value.get<int64_t>());
        fail(key, "whole pixels from 1 to " + std::to_string(kLargestSide));
        return {};
    }

    /// A number for all channels, or a list with one for each.
    void perChannel(const char* key, std::vector<double>& to, int channels, double fallback)
    {
        to.assign(static_cast<size_t>(channels), fallback);
        const json* value = find(key);
        if (!value)
            return;
        const json list = value->is_array() ? *value : json::array({ *value });
        bool good = list.size() == 1 || list.size() == to.size();
        for (const json& v : list)
            good = good && v.is_number() && std::isfinite(v.get<double>());
        if (!good)
            return fail(key, "a list of " + std::to_string(channels) + (channels == 1 ? " number" : " numbers"));
        for (size_t c = 0; c < to.size(); ++c)
            to[c] = list[list.size() == 1 ? 0 : c].get<double>();
    }

    const json* find(const char* key)
    {
        m_known.emplace_back(key);
        const auto it = m_object.find(key);
        return it == m_object.end() ? nullptr : &*it;
    }

    void checkUnknown()
    {
        for (const auto& item : m_object.items())
            if (std::find(m_known.begin(), m_known.end(), item.key()) == m_known.end() && !m_issue)
                m_issue = badInput(
                    "has the unknown key \"" + item.key() + "\"", m_path, "the keys are " + nameList(m_known));
    }

private:
    const json& m_object;
    const std::string& m_path;
    std::vector<std::string> m_known;
    std::optional<Issue> m_issue;
};

void readSize(KeyReader& keys, Preprocess& how)
{
    const json* size = keys.find("size");
    if (!size)
        return;
    if (!size->is_array() || size->size() != 2)
        return keys.fail("size", "[width, height] in pixels");
    how.width = keys.side("size", (*size)[0]).value_or(1);
    how.height = keys.side("size", (*size)[1]).value_or(1);
}

} // namespace

Result<Preprocess> readPreprocess(const std::string& path)
{
    QS_TRY(const std::string text, readSmallFile(path, uint64_t(1) << 20));
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object())
        return badInput("is no JSON object", path, "write for instance {\"size\": [224, 224], \"scale\": 0.0039}");
    Preprocess how;
    KeyReader keys(object, path);
    readSize(keys, how);
    keys.choice<ResizeMode>("resize", how.resize,
        { { "short_side", ResizeMode::ShortSide }, { "stretch", ResizeMode::Stretch },
            { "letterbox", ResizeMode::Letterbox } });
    if (const json* side = keys.find("short_side"))
        how.shortSide = keys.side("short_side", *side);
    keys.choice<Interpolation>("interpolation", how.interpolation,
        { { "bilinear", Interpolation::Bilinear }, { "nearest", Interpolation::Nearest },
            { "bicubic", Interpolation::Bicubic } });
    keys.choice<CropPlace>("crop", how.crop, { { "center", CropPlace::Centre }, { "top_left", CropPlace::TopLeft } });
    keys.number("pad_value", how.padValue, 0, 255, "a number from 0 to 255");
    keys.choice<ColorOrder>(
        "color", how.color, { { "rgb", ColorOrder::Rgb }, { "bgr", ColorOrder::Bgr }, { "gray", ColorOrder::Gray } });
    keys.number("scale", how.scale, -1e30, 1e30, "a finite number");
    keys.perChannel("mean", how.mean, how.channels(), 0);
    keys.perChannel("std", how.deviation, how.channels(), 1);
    for (const double d : how.deviation)
        if (d == 0)
            keys.fail("std", "other than 0");
    keys.choice<bool>("layout", how.channelsFirst, { { "nchw", true }, { "nhwc", false } });
    keys.choice<DType>("dtype", how.dtype, { { "float32", DType::Float32 }, { "uint8", DType::UInt8 } });
    keys.checkUnknown();
    if (keys.issue())
        return *keys.issue();
    return how;
}

} // namespace qs
