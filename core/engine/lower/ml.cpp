// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/ml_parts.h"
#include "core/engine/lower/movement.h"
#include "core/graph/domains.h"

#include "core/kernels/indexed_copy.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

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
    if (type == DType::Int64)
        return Tensor::of<int64_t>({ 1 }, { a.integer("default_int64", -1) });
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
                m_numbers.emplace(number(elementAsDouble(keys, i)), i);
    }
    bool fits(DType type) const { return (type == DType::String) == m_text; }
    /// -1 for none.
    int64_t find(const Tensor& x, int64_t i) const
    {
        if (m_text) {
            const auto it = m_words.find(x.stringData()[static_cast<size_t>(i)]);
            return it == m_words.end() ? -1 : it->second;
        }
        const auto it = m_numbers.find(number(elementAsDouble(x, i)));
        return it == m_numbers.end() ? -1 : it->second;
    }

private:
    /// NaN first, so that numbers have an order.
    static std::pair<bool, double> number(double v)
    {
        return std::isnan(v) ? std::pair(false, 0.0) : std::pair(true, v);
    }
    bool m_text;
    std::map<std::string, int64_t> m_words;
    std::map<std::pair<bool, double>, int64_t> m_numbers;
};

/// The first version: one list of classes, which are coded by their places in it.
Status runClassPlaces(const Node& node, KernelMode, StepContext& s)
{
    const auto* classes = node.attributes.get<Words>("classes_strings");
    if (!classes)
        return badInput("its classes_strings are missing");
    const Tensor& x = s.in(0);
    if (x.dtype() == DType::Int64) {
        Words out;
        for (int64_t v : x.data<int64_t>())
            out.push_back(v >= 0 && v < std::ssize(*classes) ? (*classes)[static_cast<size_t>(v)]
                                                             : node.attributes.text("default_string", "_Unused"));
        s.setOutput(0, Tensor::strings(x.shape(), std::move(out)));
        return {};
    }
    if (x.dtype() != DType::String)
        return unsupportedType(x.dtype());
    Tensor out = s.allocate(DType::Int64, x.shape());
    std::ranges::transform(x.stringData(), out.fill<int64_t>().begin(), [&](const std::string& word) {
        const auto place = std::ranges::find(*classes, word) - classes->begin();
        return place < std::ssize(*classes) ? place : node.attributes.integer("default_int64", -1);
    });
    s.setOutput(0, std::move(out));
    return {};
}

Result<LoweredNode> lowerLabelEncoder(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    if (a.has("classes_strings"))
        return copying<runClassPlaces>(context);
    const Tensor keys = listAttribute(a, "keys"), values = listAttribute(a, "values");
    if (!keys.valid() || !values.valid() || keys.count() != values.count())
        return badInput("its keys and values are missing or differ in number");
    const Tensor fallback = fallbackValue(a, values.dtype());
    const auto places = std::make_shared<const KeyPlaces>(keys);
    return LoweredNode { [=](StepContext& s) -> Status {
                            const Tensor& x = s.in(0);
                            if (!places->fits(x.dtype()))
                                return badInput(
                                    "its keys do not fit an input of type " + std::string(dtypeName(x.dtype())));
                            const Movable source({ &values, &fallback });
                            Tensor y = s.allocate(source.dtype(), x.shape());
                            const size_t bytes = source.elementBytes();
                            for (int64_t i = 0; i < x.count(); ++i) {
                                const int64_t place = places->find(x, i);
                                const std::byte* from = place < 0
                                    ? source[1].bytes().data()
                                    : source[0].bytes().data() + static_cast<size_t>(place) * bytes;
                                std::copy_n(from, bytes, writable(y) + static_cast<size_t>(i) * bytes);
                            }
                            s.setOutput(0, source.back(y));
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
    r.add(kMlDomain, "ArrayFeatureExtractor", copying<runFeatures>);
    r.add(kMlDomain, "Binarizer", lowerBinarizer);
    lowerMlFeatures(r);
    lowerMlLinear(r);
    lowerMlTrees(r);
    lowerMlVectors(r);
}

} // namespace qs
