// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/json_text.h"
#include "core/data/arrays/byte_source.h"
#include "core/data/images/presets.h"
#include "core/data/input_fit.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using json = nlohmann::ordered_json;

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

    void flag(const char* key, bool& to)
    {
        const json* value = find(key);
        if (value && !value->is_boolean())
            fail(key, "true or false");
        else if (value)
            to = value->get<bool>();
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
        if (value.is_number_unsigned() && naturalOf(value) >= 1 && naturalOf(value) <= uint64_t(kLargestSide))
            return static_cast<int>(naturalOf(value));
        fail(key, "whole pixels from 1 to " + std::to_string(kLargestSide));
        return {};
    }

    /// A number for all channels, or a list with one for each. What `to` has already stays where nothing is said.
    void perChannel(const char* key, std::vector<double>& to, int channels, double fallback)
    {
        if (to.empty())
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

constexpr std::pair<ResizeMode, const char*> kResizes[] { { ResizeMode::ShortSide, "short_side" },
    { ResizeMode::Stretch, "stretch" }, { ResizeMode::Letterbox, "letterbox" } };
constexpr std::pair<Interpolation, const char*> kInterpolations[] { { Interpolation::Bilinear, "bilinear" },
    { Interpolation::Nearest, "nearest" }, { Interpolation::Bicubic, "bicubic" } };
constexpr std::pair<CropPlace, const char*> kCrops[] { { CropPlace::Centre, "center" },
    { CropPlace::TopLeft, "top_left" } };
constexpr std::pair<PixelRounding, const char*> kRoundings[] { { PixelRounding::Nearest, "nearest" },
    { PixelRounding::Torchvision, "torchvision" } };
constexpr std::pair<ColorOrder, const char*> kColors[] { { ColorOrder::Rgb, "rgb" }, { ColorOrder::Bgr, "bgr" },
    { ColorOrder::Gray, "gray" } };
constexpr std::pair<bool, const char*> kLayouts[] { { true, "nchw" }, { false, "nhwc" } };
constexpr std::pair<DType, const char*> kTypes[] { { DType::Float32, "float32" }, { DType::UInt8, "uint8" } };

template <class T, size_t N> std::vector<std::pair<std::string, T>> byName(const std::pair<T, const char*> (&names)[N])
{
    std::vector<std::pair<std::string, T>> choices;
    for (const auto& [value, name] : names)
        choices.emplace_back(name, value);
    return choices;
}

template <class T, size_t N> const char* nameIn(const std::pair<T, const char*> (&names)[N], T value)
{
    return std::find_if(names, names + N - 1, [&](const auto& one) { return one.first == value; })->second;
}

/// What the keys change: a preset, or nothing.
Preprocess readPreset(KeyReader& keys)
{
    std::vector<std::pair<std::string, std::string_view>> choices;
    for (const PicturePreset& preset : picturePresets())
        choices.emplace_back(preset.name, preset.name);
    std::string_view name;
    keys.choice<std::string_view>("preset", name, choices);
    return name.empty() ? Preprocess {} : presetPreprocess(name);
}

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
    const char* remedy = "write for instance {\"size\": [224, 224], \"scale\": 0.0039}";
    const auto read = readJson(text);
    if (!read)
        return badInput(read.issue().what, path, remedy);
    const json& object = *read;
    if (!object.is_object())
        return badInput("is no JSON object", path, remedy);
    KeyReader keys(object, path);
    Preprocess how = readPreset(keys);
    readSize(keys, how);
    keys.flag("exif", how.exif);
    keys.choice<ResizeMode>("resize", how.resize, byName(kResizes));
    if (const json* side = keys.find("short_side"))
        how.shortSide = keys.side("short_side", *side);
    keys.number("crop_share", how.cropShare, 0.01, 1, "a number from 0.01 to 1");
    keys.choice<PixelRounding>("rounding", how.rounding, byName(kRoundings));
    keys.choice<Interpolation>("interpolation", how.interpolation, byName(kInterpolations));
    keys.choice<CropPlace>("crop", how.crop, byName(kCrops));
    keys.number("pad_value", how.padValue, 0, 255, "a number from 0 to 255");
    ColorOrder color = how.color;
    keys.choice<ColorOrder>("color", color, byName(kColors));
    how = withColor(std::move(how), color);
    keys.number("scale", how.scale, -1e30, 1e30, "a finite number");
    keys.perChannel("mean", how.mean, how.channels(), 0);
    keys.perChannel("std", how.deviation, how.channels(), 1);
    for (const double d : how.deviation)
        if (d == 0)
            keys.fail("std", "other than 0");
    keys.choice<bool>("layout", how.channelsFirst, byName(kLayouts));
    keys.choice<DType>("dtype", how.dtype, byName(kTypes));
    keys.checkUnknown();
    if (keys.issue())
        return *keys.issue();
    return how;
}

std::string preprocessJson(const Preprocess& how)
{
    json object;
    if (how.width > 0)
        object["size"] = { how.width, how.height };
    object["exif"] = how.exif;
    object["resize"] = nameIn(kResizes, how.resize);
    if (how.shortSide)
        object["short_side"] = *how.shortSide;
    object["crop_share"] = how.cropShare;
    object["rounding"] = nameIn(kRoundings, how.rounding);
    object["interpolation"] = nameIn(kInterpolations, how.interpolation);
    object["crop"] = nameIn(kCrops, how.crop);
    object["pad_value"] = how.padValue;
    object["color"] = nameIn(kColors, how.color);
    object["scale"] = how.scale;
    object["mean"] = how.mean;
    object["std"] = how.deviation;
    object["layout"] = nameIn(kLayouts, how.channelsFirst);
    object["dtype"] = nameIn(kTypes, how.dtype);
    return object.dump(2) + "\n";
}

} // namespace qs
