// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/control/sequence_parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"
#include "core/kernels/movement/strided_copy.h"
#include "core/tensor/container.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <charconv>
#include <map>

/// Operators of ai.onnx.ml on maps.
namespace qs {

namespace {

/// A list of words or of integers, whichever attribute is there; invalid when none is.
Tensor keysOf(const Attributes& a, const std::string& words, const std::string& numbers)
{
    if (const auto* s = a.get<std::vector<std::string>>(words); s && !s->empty())
        return Tensor::strings({ static_cast<int64_t>(s->size()) }, *s);
    if (const auto* i = a.get<std::vector<int64_t>>(numbers); i && !i->empty())
        return Tensor::of<int64_t>({ static_cast<int64_t>(i->size()) }, *i);
    return {};
}

Result<std::span<const Tensor>> mapInput(const StepContext& s)
{
    const Tensor& t = s.in(0);
    if (t.dtype() == DType::Map && itemsOf(t).size() == 2)
        return itemsOf(t);
    return badInput("its input is " + std::string(dtypeName(t.dtype())) + ", not a map");
}

/// A map for each row, from the keys of the attributes to the numbers of the row.
Status runZipMap(const Node& node, KernelMode mode, StepContext& s)
{
    const Tensor keys = keysOf(node.attributes, "classlabels_strings", "classlabels_int64s");
    const Tensor& x = s.in(0);
    if (!keys.valid())
        return badInput("it has no class labels", {}, "export the model again");
    if (x.rank() != 1 && x.rank() != 2)
        return badInput("its input has shape " + shapeText(x.shape()) + ", but needs rank 1 or 2");
    const int64_t columns = x.shape().back(), rows = x.rank() == 2 ? x.dim(0) : 1;
    if (columns != keys.count())
        return badInput(
            "it has " + std::to_string(keys.count()) + " class labels for " + std::to_string(columns) + " columns");
    const Movable movable({ &x });
    std::vector<Tensor> maps;
    for (int64_t r = 0; r < rows; ++r) {
        Tensor values = s.allocate(movable.dtype(), { columns });
        copyStrided(mode, movable[0], r * columns, values, 0, { { columns }, { 1 }, { 1 } });
        maps.push_back(makeMap(keys, movable.back(values)));
    }
    s.setOutput(0, makeSequence(std::move(maps), DType::Map));
    return {};
}

/// One row with the map's value for each word (or number) of the vocabulary, zero or "" where the map has none.
Status runDictVectorizer(const Node& node, KernelMode mode, StepContext& s)
{
    const Tensor vocabulary = keysOf(node.attributes, "string_vocabulary", "int64_vocabulary");
    QS_TRY(const auto map, mapInput(s));
    const Tensor &keys = map[0], &values = map[1];
    if (!vocabulary.valid() || vocabulary.dtype() != keys.dtype())
        return badInput("its vocabulary does not fit the keys of the map");
    std::map<std::string, int64_t> words;
    std::map<int64_t, int64_t> numbers;
    for (int64_t i = 0; i < keys.count(); ++i)
        if (keys.dtype() == DType::String)
            words[keys.stringData()[static_cast<size_t>(i)]] = i;
        else
            numbers[elementAsInt(keys, i)] = i;
    const auto placeOf = [](const auto& places, const auto& key) {
        const auto it = places.find(key);
        return it == places.end() ? int64_t(-1) : it->second;
    };
    const Movable movable({ &values });
    const std::vector<std::byte> none = movable.fillElement(nullptr);
    Tensor row = s.allocate(movable.dtype(), { 1, vocabulary.count() });
    std::byte* const bytes = row.fill<std::byte>().data();
    for (int64_t i = 0; i < vocabulary.count(); ++i) {
        const int64_t at = keys.dtype() == DType::String
            ? placeOf(words, vocabulary.stringData()[static_cast<size_t>(i)])
            : placeOf(numbers, elementAsInt(vocabulary, i));
        if (at >= 0)
            copyStrided(mode, movable[0], at, row, i, { { 1 }, { 1 }, { 1 } });
        else
            std::ranges::copy(none, bytes + static_cast<size_t>(i) * none.size());
    }
    s.setOutput(0, movable.back(row));
    return {};
}

/// A number as text and back, as ONNX Runtime's CastMap writes and reads it.
std::string asText(const Tensor& values, int64_t i)
{
    if (values.dtype() == DType::String)
        return values.stringData()[static_cast<size_t>(i)];
    return std::to_string(elementAsDouble(values, i));
}

Result<double> asNumber(const Tensor& values, int64_t i)
{
    if (values.dtype() != DType::String)
        return elementAsDouble(values, i);
    const std::string& text = values.stringData()[static_cast<size_t>(i)];
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return badInput("'" + text + "' is no number");
    return value;
}

/// Places of a map's values in the row that CastMap makes of it, and the row's length.
struct CastPlaces {
    std::map<int64_t, int64_t> valueAt; ///< by place in the row
    int64_t length = 0;
};

Result<CastPlaces> castPlaces(const Attributes& a, const Tensor& keys)
{
    constexpr int64_t kLongest = int64_t(1) << 28;
    std::map<int64_t, int64_t> byKey;
    for (int64_t i = 0; i < keys.count(); ++i)
        byKey[elementAsInt(keys, i)] = i;
    CastPlaces places;
    if (a.text("map_form", "DENSE") != "SPARSE") {
        for (const auto& [key, i] : byKey)
            places.valueAt[places.length++] = i;
        return places;
    }
    places.length = a.integer("max_map", 1);
    if (places.length < 0 || places.length > kLongest)
        return badInput("max_map is " + std::to_string(places.length));
    for (const auto& [key, i] : byKey) {
        if (key < 0 || key >= places.length)
            return badInput("key " + std::to_string(key) + " is outside of 0.." + std::to_string(places.length - 1));
        places.valueAt[key] = i;
    }
    return places;
}

Status runCastMap(const Node& node, KernelMode, StepContext& s)
{
    QS_TRY(const auto map, mapInput(s));
    const Tensor &keys = map[0], &values = map[1];
    if (keys.dtype() != DType::Int64)
        return badInput("the keys of the map must be int64");
    QS_TRY(const CastPlaces places, castPlaces(node.attributes, keys));
    const std::string to = node.attributes.text("cast_to", "TO_FLOAT");
    const Shape shape { 1, places.length };
    if (to == "TO_STRING") {
        std::vector<std::string> words(static_cast<size_t>(places.length), "0.f"); // what ONNX Runtime fills with
        for (const auto& [place, i] : places.valueAt)
            words[static_cast<size_t>(place)] = asText(values, i);
        s.setOutput(0, Tensor::strings(shape, std::move(words)));
        return {};
    }
    Tensor row = s.allocate(to == "TO_INT64" ? DType::Int64 : DType::Float32, shape);
    std::ranges::fill(row.fill<std::byte>().first(row.count() ? row.byteCount() : 0), std::byte {});
    for (const auto& [place, i] : places.valueAt) {
        QS_TRY(const double value, asNumber(values, i));
        if (row.dtype() == DType::Float32)
            row.fill<float>()[static_cast<size_t>(place)] = static_cast<float>(value);
        else if (value > -9.2e18 && value < 9.2e18)
            row.fill<int64_t>()[static_cast<size_t>(place)] = static_cast<int64_t>(value);
        else
            return badInput("a value of the map is no int64");
    }
    s.setOutput(0, std::move(row));
    return {};
}

} // namespace

void lowerMaps(LoweringRegistry& r)
{
    r.add(kMlDomain, "ZipMap", makingContainers<runZipMap>);
    r.add(kMlDomain, "DictVectorizer", onContainers<runDictVectorizer>);
    r.add(kMlDomain, "CastMap", onContainers<runCastMap>);
}

} // namespace qs
