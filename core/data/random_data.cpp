// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work/memory.h"
#include "core/data/forms.h"
#include "core/data/input_fit.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace qs {

namespace {

/// Counter-based generator (splitmix64): every sample can be made alone, in any order and on any thread.
class SampleRandom {
public:
    SampleRandom(uint64_t seed, uint64_t input, uint64_t sample)
        : m_state(mixed(mixed(mixed(seed) ^ (input + 1)) ^ (sample + 1)))
    {
    }
    uint64_t next() { return mixed(m_state += kStep); }

private:
    static constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;
    static uint64_t mixed(uint64_t v)
    {
        v += kStep;
        v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
        v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
        return v ^ (v >> 31);
    }
    uint64_t m_state;
};

/// One input as it is filled: the shape of a feed and a small type that converts exactly or by rounding.
struct RandomInput {
    InputSpec spec;
    Shape shape;
};

DType workType(DType type)
{
    if (isFloat(type))
        return DType::Float32;
    return type == DType::Bool ? DType::Bool : DType::UInt8;
}

void fillSample(SampleRandom random, DType type, int64_t highest, std::byte* out, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint64_t bits = random.next();
        if (type == DType::Float32) {
            const auto value = static_cast<float>(bits >> 40) * 0x1p-24f;
            std::memcpy(out + i * sizeof value, &value, sizeof value);
        } else {
            out[i] = static_cast<std::byte>((bits >> 32) % static_cast<uint64_t>(highest + 1));
        }
    }
}

class RandomData final : public DataSource {
public:
    RandomData(std::vector<RandomInput> inputs, uint64_t seed, size_t samples, size_t feeds)
        : m_inputs(std::move(inputs))
        , m_seed(seed)
    {
        m_samples = samples;
        m_feeds = feeds;
    }

    Result<Feed> feed(size_t index) const override
    {
        Feed feed;
        feed.samples = m_samples / m_feeds;
        feed.firstSample = index * feed.samples;
        for (size_t k = 0; k < m_inputs.size(); ++k) {
            const RandomInput& in = m_inputs[k];
            const DType type = workType(in.spec.dtype);
            const int64_t highest = type == DType::Bool ? 1 : std::min<int64_t>(127, highestCode(in.spec.dtype));
            Tensor tensor = Tensor::allocate(type, in.shape);
            auto* bytes = reinterpret_cast<std::byte*>(tensor.fill<uint8_t>().data());
            // An input whose axis 0 is no batch is one block, made for the first sample.
            const bool batched = !in.shape.empty() && in.shape[0] == static_cast<int64_t>(feed.samples);
            const size_t parts = batched ? feed.samples : 1;
            const size_t count = static_cast<size_t>(tensor.count()) / parts;
            for (size_t p = 0; p < parts; ++p)
                fillSample(SampleRandom(m_seed, k, feed.firstSample + p), type, highest,
                    bytes + p * (tensor.byteCount() / parts), count);
            QS_TRY(tensor, convertTo(std::move(tensor), in.spec, "random data"));
            feed.inputs.push_back(std::move(tensor));
        }
        return feed;
    }

private:
    static int64_t highestCode(DType type)
    {
        const auto range = codeRange(type);
        return range ? range->high : 127;
    }
    std::vector<RandomInput> m_inputs;
    uint64_t m_seed;
};

bool parseNumber(std::string_view text, uint64_t& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

/// Sizes that would do, to show the form: those that are known, 1 for the others, 224 for the sides of a picture.
std::string exampleSizes(const InputSpec& input)
{
    if (!input.dims || input.dims->empty())
        return "1x3x224x224";
    std::string text;
    for (size_t d = 0; d < input.dims->size(); ++d) {
        const bool side = input.dims->size() == 4 && d >= 2;
        const Dim& dim = (*input.dims)[d];
        text += (d ? "x" : "") + std::to_string(dim.known() ? dim.value : side ? 224 : 1);
    }
    return text;
}

Result<RandomInput> sizedInput(const InputSpec& input, const DataRequest& request)
{
    Issue issue = badInput({}, request.spec, "give its sizes with --shape " + input.name + "=" + exampleSizes(input));
    issue.tensor = input.name;
    if (input.dtype == DType::Undefined || input.dtype == DType::String
        || (!isFloat(input.dtype) && !isInteger(input.dtype) && input.dtype != DType::Bool)
        || input.dtype == DType::Float4E2M1) {
        issue.what = "random data cannot be made for the type " + std::string(dtypeName(input.dtype));
        issue.remedy = "give the data as a file";
        return issue;
    }
    const auto given = request.shapes.find(input.name);
    if (given != request.shapes.end()) {
        if (!fits(given->second, input)) {
            issue.what = "--shape gives " + shapeText(given->second) + ", the input expects " + dimsText(*input.dims);
            issue.remedy = "give a shape that fits";
            return issue;
        }
        if (const auto count = elementCount(given->second); !count || *count > int64_t(1) << 40) {
            issue.what = "--shape gives the impossible shape " + shapeText(given->second);
            issue.remedy = "give a smaller one";
            return issue;
        }
        return RandomInput { input, given->second };
    }
    const auto fixed = input.dims ? toShape(*input.dims) : std::nullopt;
    if (!fixed) {
        issue.what = "random data need all sizes, the input has "
            + (input.dims ? "the shape " + dimsText(*input.dims) : std::string("no known shape"));
        return issue;
    }
    return RandomInput { input, *fixed };
}

/// A file of a few bytes may ask for more than there is.
Status checkBytes(const std::vector<RandomInput>& inputs, const DataRequest& request)
{
    double bytes = 0;
    for (const RandomInput& in : inputs)
        bytes += double(elementCount(in.shape).value_or(0)) * double(storageBytes(workType(in.spec.dtype), 1));
    const uint64_t most = memoryLimitOrDefault(request.mostBytes);
    if (bytes <= double(most))
        return {};
    return badInput("random data for one run of the model take " + std::to_string(uint64_t(std::min(bytes, 1e19)))
            + " bytes, more than the memory limit of " + std::to_string(most),
        request.spec, "use a model with smaller inputs, or a larger --memory-limit");
}

} // namespace

DataResult openRandomData(const DataRequest& request, const std::vector<InputSpec>& inputs)
{
    const std::string_view spec = std::string_view(request.spec).substr(std::string_view("random:").size());
    const size_t colon = spec.find(':');
    uint64_t samples = 0;
    uint64_t seed = request.seed.value_or(0);
    const bool seedGiven = colon != std::string_view::npos;
    if (!parseNumber(spec.substr(0, colon), samples) || (seedGiven && !parseNumber(spec.substr(colon + 1), seed)))
        return badUse("'" + request.spec + "' is not understood", "write random:N or random:N:SEED with whole numbers");
    if (request.limit)
        samples = std::min<uint64_t>(samples, *request.limit);
    for (const auto& [name, shape] : request.shapes)
        if (std::none_of(inputs.begin(), inputs.end(), [&name = name](const InputSpec& i) { return i.name == name; })) {
            std::vector<std::string> names;
            for (const InputSpec& input : inputs)
                names.push_back(input.name);
            return badInput("--shape names '" + name + "', which is no input of the model", {},
                "the inputs are " + nameList(names));
        }
    std::vector<RandomInput> sized;
    for (const InputSpec& input : inputs) {
        QS_TRY(RandomInput one, sizedInput(input, request));
        sized.push_back(std::move(one));
    }
    QS_CHECK(checkBytes(sized, request));
    // A size that --shape gives is no fixed batch: such an input is made complete for each sample.
    QS_TRY(const size_t feeds,
        feedsFor(static_cast<size_t>(samples), allVectors(inputs) ? 1 : commonBatch(inputs), request.spec));
    return std::shared_ptr<DataSource>(
        std::make_shared<RandomData>(std::move(sized), seed, static_cast<size_t>(samples), feeds));
}

} // namespace qs
