// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/whole_file.h"
#include "core/base/text/utf8.h"
#include "core/data/forms.h"
#include "core/data/implied_inputs.h"
#include "core/data/input_fit.h"
#include "core/data/open_data.h"
#include "core/data/tokens/tokenizer.h"

#include <algorithm>

namespace qs {

namespace {

/// What each input of a feed is made of.
struct TextInputs {
    std::vector<InputSpec> inputs;
    std::vector<std::optional<Implied>> implied; ///< by input; nothing: the tokens
};

class TextData final : public DataSource {
public:
    TextData(TextInputs inputs, std::vector<int32_t> ids, size_t positions, size_t prompts, size_t feeds)
        : m_inputs(std::move(inputs))
        , m_ids(std::move(ids))
        , m_positions(positions)
    {
        m_samples = prompts;
        m_feeds = feeds;
    }

    Result<Feed> feed(size_t index) const override
    {
        Feed feed;
        feed.samples = m_samples / m_feeds;
        feed.firstSample = index * feed.samples;
        const Shape shape { int64_t(feed.samples), int64_t(m_positions) };
        const auto first = m_ids.begin() + ptrdiff_t(feed.firstSample * m_positions);
        const std::vector<int32_t> ids(first, first + ptrdiff_t(feed.samples * m_positions));
        for (size_t i = 0; i < m_inputs.inputs.size(); ++i) {
            const InputSpec& input = m_inputs.inputs[i];
            if (const auto& implied = m_inputs.implied[i])
                feed.inputs.push_back(impliedTensor(input, *implied, shape));
            else if (input.dtype == DType::Int32)
                feed.inputs.push_back(Tensor::of<int32_t>(shape, ids));
            else
                feed.inputs.push_back(Tensor::of<int64_t>(shape, { ids.begin(), ids.end() }));
        }
        return feed;
    }

private:
    TextInputs m_inputs;
    std::vector<int32_t> m_ids; ///< of all prompts
    size_t m_positions;
};

Result<TextInputs> textInputs(const std::vector<InputSpec>& inputs, size_t positions, const std::string& path)
{
    TextInputs found { inputs, {} };
    size_t tokens = 0;
    for (const InputSpec& input : inputs) {
        found.implied.push_back(impliedBy(input));
        if (found.implied.back())
            continue;
        ++tokens;
        const Shape shape { batchSize(input), int64_t(positions) };
        if (!holdsTokens(input) || tokens > 1) {
            Issue issue = badInput(
                "is not given by a text, which gives the token ids alone", path, "give arrays for all inputs as .npz");
            issue.tensor = input.name;
            return issue;
        }
        if (!fits(shape, input))
            return shapeIssue(input, shapeText(shape), path, "give another number of --positions");
    }
    if (tokens == 0)
        return badInput("is a text, but the model reads no token ids [batch, positions]", path, "give --data");
    return found;
}

Status checkUtf8(std::string_view text, const std::string& path)
{
    for (size_t at = 0; at < text.size();) {
        const Utf8Character c = firstCharacter(text.substr(at));
        if (!c.valid)
            return badInput("is no text in UTF-8 at byte " + std::to_string(at), path, "save it in UTF-8");
        at += c.bytes.size();
    }
    return {};
}

/// Prompts of equal length, so many tokens of the text each, between those that stand around a text.
std::vector<int32_t> promptsOf(
    const std::vector<int32_t>& tokens, const Tokenizer& tokenizer, size_t each, size_t prompts)
{
    std::vector<int32_t> ids;
    for (size_t p = 0; p < prompts; ++p) {
        ids.insert(ids.end(), tokenizer.before().begin(), tokenizer.before().end());
        const auto first = tokens.begin() + ptrdiff_t(p * each);
        ids.insert(ids.end(), first, first + ptrdiff_t(each));
        ids.insert(ids.end(), tokenizer.after().begin(), tokenizer.after().end());
    }
    return ids;
}

/// What the model takes beside the tokens as of one text alone; a mask and places are no choice.
std::string segmentsText(const TextInputs& given)
{
    const auto at = std::ranges::find(given.implied, Implied::Segments);
    return at == given.implied.end() ? std::string()
                                     : "; '" + given.inputs[size_t(at - given.implied.begin())].name
            + "' is not given, taken as the tokens imply: " + std::string(impliedText(Implied::Segments));
}

} // namespace

/// Each prompt stands between the tokens that the tokenizer puts around a text; what is left at the end is left out.
DataResult openTextData(const DataRequest& request, const std::vector<InputSpec>& inputs)
{
    const std::string& path = request.spec;
    const auto positions = textPositions(request);
    QS_TRY(TextInputs given, textInputs(inputs, positions, path));
    QS_TRY(const Tokenizer tokenizer, Tokenizer::read(request.preprocess));
    QS_TRY(const std::string text, readWholeFile(path, "give a text file"));
    QS_CHECK(checkUtf8(text, path));
    const std::vector<int32_t> tokens = tokenizer.encode(text);
    const size_t around = tokenizer.before().size() + tokenizer.after().size();
    const size_t prompts = positions > around ? tokens.size() / (positions - around) : 0;
    if (prompts == 0)
        return badInput(
            "gives " + std::to_string(tokens.size()) + " tokens, too few for a prompt of " + std::to_string(positions),
            path, "lower --positions, or give a longer text");
    const size_t samples = std::min(prompts, request.limit.value_or(prompts));
    size_t batch = 1;
    for (size_t i = 0; i < inputs.size(); ++i)
        if (!given.implied[i])
            batch = size_t(batchSize(inputs[i]));
    QS_TRY(const size_t feeds, feedsFor(samples, batch, path));
    std::vector<int32_t> ids = promptsOf(tokens, tokenizer, positions - around, samples);
    const std::string segments = segmentsText(given);
    auto data = std::make_shared<TextData>(std::move(given), std::move(ids), positions, samples, feeds);
    data->warn(path + ": " + std::to_string(tokens.size()) + " tokens are " + std::to_string(prompts) + " prompts of "
        + std::to_string(positions) + segments);
    return std::shared_ptr<DataSource>(std::move(data));
}

} // namespace qs
