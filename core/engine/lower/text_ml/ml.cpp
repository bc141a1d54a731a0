// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/movement.h"
#include "core/engine/lower/text_ml/ml_parts.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"

#include "core/kernels/movement/indexed_copy.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace qs {

namespace {

using Words = std::vector<std::string>;

/// A list that an attribute gives in one of four forms; invalid when there is none.
Tensor listAttribute(const Attributes& a, const std::string& name)
{
    const auto size = [](const auto& list) { return Shape { static_cast<int64_t>(list.size()) }; };
    if (const auto* t = a.get<Tensor>(name + "_tensor"))
        return *t;
    if (const auto* s = a.get<std::vector<std::string>>(name + "_strings"))
        return Tensor::strings(size(*s), *s);
    if (const auto* i = a.get<std::vector<int64_t>>(name + "_int64s"))
        return Tensor::of<int64_t>(size(*i), *i);
    if (const auto* f = a.get<std::vector<float>>(name + "_floats"))
        return Tensor::of<float>(size(*f), *f);
    return {};
}

/// What unknown keys become.
Tensor fallbackValue(const Attributes& a, DType type)
{
    if (const auto* t = a.get<Tensor>("default_tensor"); t && t->dtype() == type && t->count() == 1)
        return *t;
    if (type == DType::String)
        return Tensor::strings({ 1 }, { a.text("default_string", "_Unused") });
    if (type == DType::Int64) {
        const auto* i = a.get<int64_t>("default_int64"); // as it stands, however large
        return Tensor::of<int64_t>({ 1 }, { i ? *i : -1 });
    }
    if (type == DType::Float32)
        return Tensor::of<float>({ 1 }, { a.real("default_float", -0.0f) });
    Tensor zero = Tensor::allocate(type, { 1 });
    std::ranges::fill(zero.fill<std::byte>().first(zero.byteCount()), std::byte {});
    return zero;
}

/// Places of keys in their list; NaN is a key like any other. Floats that are integers and integers are alike.
class KeyPlaces {
public:
    explicit KeyPlaces(const Tensor& keys)
        : m_text(keys.dtype() == DType::String)
    {
        for (int64_t i = 0; i < keys.count(); ++i)
            if (m_text)
                m_words.emplace(keys.stringData()[static_cast<size_t>(i)], i);
            else
                m_numbers.emplace(number(keys, i), i);
    }
    bool fits(DType type) const { return (type == DType::String) == m_text; }
    /// -1 for none.
    int64_t find(const Tensor& x, int64_t i) const
    {
        if (m_text) {
            const auto it = m_words.find(x.stringData()[static_cast<size_t>(i)]);
            return it == m_words.end() ? -1 : it->second;
        }
        const auto it = m_numbers.find(number(x, i));
        return it == m_numbers.end() ? -1 : it->second;
    }

private:
    /// NaN first, so that numbers have an order. Wide enough for any 64-bit integer.
    using Number = std::pair<bool, long double>;
    static Number number(const Tensor& t, int64_t i)
    {
        if (isInteger(t.dtype()))
            return { true, static_cast<long double>(elementAsInt(t, i)) };
        const double v = elementAsDouble(t, i);
        return std::isnan(v) ? Number(false, 0) : Number(true, v);
    }
    bool m_text;
    std::map<std::string, int64_t> m_words;
    std::map<Number, int64_t> m_numbers;
};

/// Values by keys.
class Lookup {
public:
    Lookup(const Tensor& keys, Tensor values, Tensor fallback)
        : m_places(keys)
        , m_values(std::move(values))
        , m_fallback(std::move(fallback))
    {
    }
    bool fits(DType type) const { return m_places.fits(type); }
    Tensor run(const StepContext& s, const Tensor& x) const;

private:
    KeyPlaces m_places;
    Tensor m_values, m_fallback;
};

Tensor Lookup::run(const StepContext& s, const Tensor& x) const
{
    const Movable source({ &m_values, &m_fallback });
    Tensor y = s.allocate(source.dtype(), x.shape());
    const size_t bytes = source.elementBytes();
    for (int64_t i = 0; i < x.count(); ++i) {
        const int64_t place = m_places.find(x, i);
        const std::byte* from
            = place < 0 ? source[1].bytes().data() : source[0].bytes().data() + static_cast<size_t>(place) * bytes;
        std::copy_n(from, bytes, writable(y) + static_cast<size_t>(i) * bytes);
    }
    return source.back(y);
}

/// Words become their numbers and numbers their words, whichever comes in.
Result<LoweredNode> lowerWordNumbers(const Attributes& a, const Words& words, const std::vector<int64_t>& numbers)
{
    const Shape shape { static_cast<int64_t>(words.size()) };
    const Tensor texts = Tensor::strings(shape, words), integers = Tensor::of<int64_t>(shape, numbers);
    const Lookup toNumber(texts, integers, fallbackValue(a, DType::Int64));
    const Lookup toWord(integers, texts, fallbackValue(a, DType::String));
    return LoweredNode { [toNumber, toWord](StepContext& s) -> Status {
                            const Tensor& x = s.in(0);
                            if (x.dtype() != DType::String && x.dtype() != DType::Int64)
                                return unsupportedType(x.dtype());
                            s.setOutput(0, (x.dtype() == DType::String ? toNumber : toWord).run(s, x));
                            return {};
                        },
        "lookup" };
}

Result<LoweredNode> lowerCategoryMapper(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    const auto* words = a.get<Words>("cats_strings");
    const std::vector<int64_t> numbers = a.integers("cats_int64s");
    if (!words || words->size() != numbers.size())
        return badInput("its two lists of categories are missing or differ in length");
    return lowerWordNumbers(a, *words, numbers);
}

Result<LoweredNode> lowerLabelEncoder(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    if (const auto* classes = a.get<Words>("classes_strings")) { // version 1: coded by their places
        std::vector<int64_t> places(classes->size());
        std::iota(places.begin(), places.end(), 0);
        return lowerWordNumbers(a, *classes, places);
    }
    const Tensor keys = listAttribute(a, "keys"), values = listAttribute(a, "values");
    if (!keys.valid() || !values.valid() || keys.count() != values.count())
        return badInput("its keys and values are missing or differ in number");
    const Lookup lookup(keys, values, fallbackValue(a, values.dtype()));
    return LoweredNode { [lookup](StepContext& s) -> Status {
                            const Tensor& x = s.in(0);
                            if (!lookup.fits(x.dtype()))
                                return badInput(
                                    "its keys do not fit an input of type " + std::string(dtypeName(x.dtype())));
                            s.setOutput(0, lookup.run(s, x));
                            return {};
                        },
        "lookup" };
}

Status runFeatures(const Node&, KernelMode, StepContext& s)
{
    QS_CHECK(needInputs(s, 2));
    const Tensor& x = s.in(0);
    if (x.rank() == 0)
        return badInput("the input needs an axis");
    const std::vector<int64_t> picked = toInts(s.in(1));
    for (int64_t i : picked)
        if (i < 0 || i >= x.shape().back())
            return badInput(
                "feature " + std::to_string(i) + " is outside an axis of size " + std::to_string(x.shape().back()));
    Shape shape = x.shape();
    shape.back() = static_cast<int64_t>(picked.size());
    if (shape.size() == 1)
        shape.insert(shape.begin(), 1);
    const Movable movable({ &x });
    QS_TRY(Tensor y, allocateChecked(s, movable.dtype(), shape));
    const size_t bytes = movable.elementBytes();
    const auto width = static_cast<size_t>(x.shape().back());
    for (size_t line = 0; line < static_cast<size_t>(product(x.shape(), 0, x.rank() - 1)); ++line)
        gatherBlocks(movable[0].bytes().data() + line * width * bytes, writable(y) + line * picked.size() * bytes,
            bytes, picked);
    s.setOutput(0, movable.back(y));
    return {};
}

Result<LoweredNode> lowerBinarizer(const LowerContext& context)
{
    const float threshold = context.node.attributes.real("threshold", 0);
    return LoweredNode { [threshold](StepContext& s) -> Status {
                            const Tensor& x = s.in(0);
                            if (!isNumeric(x.dtype()))
                                return unsupportedType(x.dtype());
                            Tensor y = s.allocate(x.dtype(), x.shape());
                            mapChunks<double>(x, y, [&](const double* in, double* out, size_t n) {
                                for (size_t i = 0; i < n; ++i)
                                    out[i] = in[i] > double(threshold) ? 1 : 0;
                            });
                            s.setOutput(0, std::move(y));
                            return {};
                        },
        "element-wise" };
}

} // namespace

void lowerMl(LoweringRegistry& r)
{
    r.add(kMlDomain, "LabelEncoder", lowerLabelEncoder);
    r.add(kMlDomain, "CategoryMapper", lowerCategoryMapper);
    r.add(kMlDomain, "ArrayFeatureExtractor", copying<runFeatures>);
    r.add(kMlDomain, "Binarizer", lowerBinarizer);
    lowerMlFeatures(r);
    lowerMlLinear(r);
    lowerMlTrees(r);
    lowerMlVectors(r);
}

} // namespace qs
