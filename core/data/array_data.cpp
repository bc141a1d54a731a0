// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/arrays/array_file.h"
#include "core/data/forms.h"
#include "core/data/implied_inputs.h"
#include "core/data/input_fit.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace qs {

namespace {

constexpr const char* kLabels = "labels";

/// How one array serves one input.
struct InputArray {
    InputSpec input;
    ArrayFile array;
    bool complete = false; ///< axis 0 counts complete inputs, not items
    int64_t itemsPerFeed = 1;
    int64_t items = 1; ///< along axis 0 (a scalar: 1)
    bool repeated = false; ///< one sample for every feed
    bool single() const { return items == 1 || items == itemsPerFeed; }
};

/// What the input gets in a feed.
Result<Tensor> readInput(const InputArray& a, size_t index)
{
    const auto at = a.repeated ? 0 : static_cast<int64_t>(index);
    if (a.array.shape().empty())
        return a.array.items(0, 1);
    if (a.complete) {
        QS_TRY(Tensor one, a.array.items(at, 1));
        return one.reshaped(Shape(one.shape().begin() + 1, one.shape().end()));
    }
    if (a.items >= a.itemsPerFeed)
        return a.array.items(at * a.itemsPerFeed, a.itemsPerFeed);
    QS_TRY(const Tensor one, a.array.items(0, 1)); // one item fills the batch
    Shape shape = one.shape();
    shape[0] = a.itemsPerFeed;
    Tensor filled = Tensor::allocate(one.dtype(), shape);
    uint8_t* to = filled.fill<uint8_t>().data();
    for (int64_t i = 0; i < a.itemsPerFeed; ++i)
        std::memcpy(to + static_cast<size_t>(i) * one.byteCount(), one.bytes().data(), one.byteCount());
    return filled;
}

/// An input that the file does not give and that the tokens imply.
struct ImpliedInput {
    size_t at = 0; ///< among all inputs
    InputSpec input;
    Implied implied = Implied::Mask;
};

class ArrayData final : public DataSource {
public:
    ArrayData(std::string path, std::vector<InputArray> arrays, std::vector<ImpliedInput> implied, size_t samples,
        size_t feeds, std::vector<int64_t> labels, InitialStates initial, std::vector<std::string> warnings)
        : m_path(std::move(path))
        , m_arrays(std::move(arrays))
        , m_implied(std::move(implied))
    {
        m_samples = samples;
        m_feeds = feeds;
        m_labels = std::move(labels);
        m_initialStates = std::move(initial);
        m_warnings = std::move(warnings);
    }

    Result<Feed> feed(size_t index) const override
    {
        Feed feed;
        feed.samples = m_samples / m_feeds;
        feed.firstSample = index * feed.samples;
        for (const InputArray& a : m_arrays) {
            QS_TRY(Tensor tensor, readInput(a, index));
            QS_TRY(tensor, convertTo(std::move(tensor), a.input, m_path));
            feed.inputs.push_back(std::move(tensor));
        }
        if (m_implied.empty())
            return feed;
        const auto tokens = std::ranges::find_if(m_arrays, [](const InputArray& a) { return holdsTokens(a.input); });
        const Shape shape = feed.inputs[size_t(tokens - m_arrays.begin())].shape();
        for (const ImpliedInput& more : m_implied)
            feed.inputs.insert(
                feed.inputs.begin() + ptrdiff_t(more.at), impliedTensor(more.input, more.implied, shape));
        return feed;
    }

private:
    std::string m_path;
    std::vector<InputArray> m_arrays;
    std::vector<ImpliedInput> m_implied; ///< in the order of the inputs
};

/// A cache of another model's type and width that holds no positions: it counts as not given.
bool isEmptyCacheOfAnother(const InputSpec& input, const ArrayArchive& archive)
{
    const auto array = archive.array(input.name);
    if (!array.ok() || std::ranges::find(array->shape(), 0) == array->shape().end())
        return false;
    const Shape& shape = array->shape();
    const bool bySample = input.dims && shape.size() == input.dims->size() + 1; // axis 0 counts samples
    return array->dtype() != input.dtype || !fits(bySample ? Shape(shape.begin() + 1, shape.end()) : shape, input);
}

/// Inputs that the file leaves to its tokens; none where the model reads no tokens.
std::vector<ImpliedInput> impliedInputs(const std::vector<InputSpec>& inputs, const ArrayArchive& archive)
{
    std::vector<ImpliedInput> list;
    if (std::ranges::none_of(inputs, holdsTokens))
        return list;
    for (size_t i = 0; i < inputs.size(); ++i)
        if (const auto implied = impliedBy(inputs[i]); implied
            && (!archive.has(inputs[i].name)
                || (*implied == Implied::EmptyCache && isEmptyCacheOfAnother(inputs[i], archive))))
            list.push_back({ i, inputs[i], *implied });
    return list;
}

/// One line for all of a kind.
std::string impliedWarning(const std::vector<ImpliedInput>& list, const std::string& path)
{
    std::string text;
    for (const Implied kind : kAllImplied) {
        std::vector<std::string> names;
        for (const ImpliedInput& one : list)
            if (one.implied == kind)
                names.push_back(one.input.name);
        if (names.empty())
            continue;
        const std::string more
            = names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : std::string();
        text += (text.empty() ? "'" : "; '") + names.front() + "'" + more + ": " + std::string(impliedText(kind));
    }
    return path + ": not given, taken as the tokens imply: " + text;
}

/// Key of the array for an input, or an Issue that names what exists.
Result<std::string> keyFor(const InputSpec& input, const std::vector<InputSpec>& inputs,
    const std::vector<InputSpec>& states, const ArrayArchive& archive, const std::string& path)
{
    if (archive.has(input.name))
        return input.name;
    const auto isState
        = [&](const std::string& key) { return std::ranges::find(states, key, &InputSpec::name) != states.end(); };
    std::vector<std::string> candidates;
    for (const std::string& key : archive.keys())
        if (key != kLabels && !isState(key))
            candidates.push_back(key);
    if (inputs.size() == 1 && candidates.size() == 1)
        return candidates[0];
    Issue issue = badInput("there is no array for the input", path, {});
    issue.tensor = input.name;
    if (candidates.empty())
        issue.remedy = "add an array named '" + input.name + "' (the file holds no data array)";
    else if (candidates.size() == 1 && candidates[0].empty())
        issue.remedy = "the model has " + std::to_string(inputs.size())
            + " inputs: give a .npz with one array for each, named as the input";
    else
        issue.remedy = "name an array '" + input.name + "' (the file holds " + nameList(candidates) + ")";
    return issue;
}

std::string itemShapeText(const InputSpec& input)
{
    return input.dims && !input.dims->empty() ? dimsText(Dims(input.dims->begin() + 1, input.dims->end())) : "scalar";
}

Result<InputArray> fitArray(const InputSpec& input, ArrayFile array, const std::string& path)
{
    if (!convertible(array.dtype(), input.dtype))
        return dtypeIssue(input, array.dtype(), path);
    InputArray a;
    a.input = input;
    const Shape& shape = array.shape();
    a.items = shape.empty() ? 1 : shape[0];
    const std::string remedy
        = "give N items of shape " + itemShapeText(input) + ", or N complete inputs with a leading axis";
    if (input.dims && shape.size() == input.dims->size() + 1) {
        a.complete = true;
        if (!fits(Shape(shape.begin() + 1, shape.end()), input))
            return shapeIssue(input, shapeText(shape), path, remedy);
    } else {
        a.itemsPerFeed = batchSize(input);
        Shape one = shape;
        if (!one.empty())
            one[0] = a.itemsPerFeed;
        if (!fits(one, input))
            return shapeIssue(input, shapeText(shape), path, remedy);
    }
    a.array = std::move(array);
    return a;
}

/// The array that decides how many samples there are: the first with more than one, else one that fills a batch.
const InputArray* leaderOf(const std::vector<InputArray>& arrays)
{
    for (const InputArray& a : arrays)
        if (!a.single())
            return &a;
    for (const InputArray& a : arrays)
        if (a.items >= a.itemsPerFeed)
            return &a;
    return arrays.empty() ? nullptr : &arrays.front();
}

struct SampleCount {
    size_t samples = 1;
    size_t perFeed = 1;
    size_t feeds = 1; ///< complete ones
};

/// Samples that the arrays give together; marks those with one sample as repeated. The batch is the one that all arrays
/// with samples of their own share, else 1.
Result<SampleCount> agreeOnSamples(std::vector<InputArray>& arrays, const std::string& path)
{
    const InputArray* leader = leaderOf(arrays);
    if (!leader)
        return SampleCount {};
    std::vector<InputSpec> batched;
    for (InputArray& a : arrays) {
        a.repeated = a.single() && !leader->single();
        if (a.repeated)
            continue;
        batched.push_back(a.input);
        const bool fillsBatch = a.items == 1 && leader->single();
        if (!fillsBatch && a.items * leader->itemsPerFeed != leader->items * a.itemsPerFeed) {
            Issue issue = badInput("the arrays have different sample counts: " + std::to_string(a.items) + " here, "
                    + std::to_string(leader->items) + " for '" + leader->input.name + "'",
                path, "give the same number of samples for each input, or one that is repeated");
            issue.tensor = a.input.name;
            return issue;
        }
    }
    SampleCount count;
    const bool allComplete = std::all_of(arrays.begin(), arrays.end(), [](const auto& a) { return a.complete; });
    count.perFeed = allComplete && allVectors(batched) ? 1 : commonBatch(batched);
    count.feeds = static_cast<size_t>(leader->items / leader->itemsPerFeed);
    count.samples = count.feeds * count.perFeed;
    const auto items = static_cast<size_t>(leader->items);
    if (items % static_cast<size_t>(leader->itemsPerFeed) == 0)
        return count;
    if (count.perFeed != static_cast<size_t>(leader->itemsPerFeed))
        return feedsFor(items, static_cast<size_t>(leader->itemsPerFeed), path).issue();
    count.samples = items; // the limit may still cut it to whole batches
    return count;
}

Result<std::vector<int64_t>> readLabels(const ArrayArchive& archive, const std::string& path)
{
    QS_TRY(ArrayFile array, archive.array(kLabels));
    const Shape& shape = array.shape();
    const bool oneColumn = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
    if (!oneColumn || !isInteger(array.dtype())) {
        Issue issue = badInput("labels must be one integer a sample, these are " + std::string(dtypeName(array.dtype()))
                + " of shape " + shapeText(shape),
            path, "save class numbers as an integer array with one axis, or leave 'labels' out");
        issue.tensor = kLabels;
        return issue;
    }
    QS_CHECK(array.prepare(shape[0]));
    QS_TRY(const Tensor labels, array.items(0, shape[0]));
    return toInts(labels);
}

/// The first item of the array that is named like the state.
Result<InitialStates> readStates(const std::vector<InputSpec>& states, const ArrayArchive& archive,
    const std::string& path, std::vector<std::string>& warnings)
{
    InitialStates found;
    for (const InputSpec& state : states) {
        if (!archive.has(state.name))
            continue;
        QS_TRY(ArrayFile file, archive.array(state.name));
        QS_TRY(InputArray array, fitArray(state, std::move(file), path));
        if (!array.single())
            warnings.push_back(path + ": of '" + state.name
                + "', which is carried from sample to sample, only the first item is used: the state before them");
        QS_CHECK(array.array.prepare(std::min(array.items, array.itemsPerFeed)));
        QS_TRY(Tensor tensor, readInput(array, 0));
        QS_TRY(tensor, convertTo(std::move(tensor), state, path));
        found.emplace(state.name, std::move(tensor));
    }
    return found;
}

Status checkLabelCount(size_t labels, size_t samples, const std::string& path)
{
    if (labels == samples)
        return {};
    Issue issue
        = badInput("there are " + std::to_string(labels) + " labels for " + std::to_string(samples) + " samples", path,
            "give one label a sample");
    issue.tensor = kLabels;
    return issue;
}

} // namespace

DataResult openArrayData(
    const DataRequest& request, const std::vector<InputSpec>& inputs, const std::vector<InputSpec>& states)
{
    const std::string& path = request.spec;
    QS_TRY(const ArrayArchive archive, ArrayArchive::open(path));
    const std::vector<ImpliedInput> implied = impliedInputs(inputs, archive);
    std::vector<InputSpec> given;
    for (size_t i = 0; i < inputs.size(); ++i)
        if (std::ranges::find(implied, i, &ImpliedInput::at) == implied.end())
            given.push_back(inputs[i]);
    std::vector<InputArray> arrays;
    std::vector<std::string> used;
    for (const InputSpec& input : given) {
        QS_TRY(const std::string key, keyFor(input, given, states, archive, path));
        QS_TRY(ArrayFile file, archive.array(key));
        QS_TRY(InputArray array, fitArray(input, std::move(file), path));
        arrays.push_back(std::move(array));
        used.push_back(key);
    }
    QS_TRY(SampleCount count, agreeOnSamples(arrays, path));

    std::vector<int64_t> labels;
    const bool labelled = archive.has(kLabels) && std::find(used.begin(), used.end(), kLabels) == used.end();
    if (labelled) {
        QS_TRY(labels, readLabels(archive, path));
        const bool allComplete = std::all_of(arrays.begin(), arrays.end(), [](const auto& a) { return a.complete; });
        if (allComplete && labels.size() == count.feeds) // a label for each complete input
            count = { count.feeds, 1, count.feeds };
        QS_CHECK(checkLabelCount(labels.size(), count.samples, path));
        used.emplace_back(kLabels);
    }
    const size_t samples = std::min(count.samples, request.limit.value_or(count.samples));
    QS_TRY(const size_t feeds, feedsFor(samples, count.perFeed, path));
    if (labelled)
        labels.resize(samples);
    for (InputArray& a : arrays)
        QS_CHECK(a.array.prepare(std::min(a.items, static_cast<int64_t>(feeds) * a.itemsPerFeed)));

    std::vector<std::string> warnings;
    if (!implied.empty())
        warnings.push_back(impliedWarning(implied, path));
    QS_TRY(InitialStates initial, readStates(states, archive, path, warnings));
    for (const auto& [name, tensor] : initial)
        used.push_back(name);
    for (const ImpliedInput& one : implied)
        used.push_back(one.input.name);
    std::vector<std::string> unused;
    for (const std::string& key : archive.keys())
        if (std::find(used.begin(), used.end(), key) == used.end())
            unused.push_back(key);
    if (!unused.empty())
        warnings.push_back(path + ": not used: " + nameList(unused));
    return std::shared_ptr<DataSource>(std::make_shared<ArrayData>(
        path, std::move(arrays), implied, samples, feeds, std::move(labels), std::move(initial), std::move(warnings)));
}

} // namespace qs
