// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/tokens/checked_prompts.h"

#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

class CheckedPrompts final : public DataSource {
public:
    CheckedPrompts(std::shared_ptr<const DataSource> data, PromptLimits limits, std::vector<std::string> names,
        std::string spec, std::string tokenizer)
        : m_data(std::move(data))
        , m_limits(std::move(limits))
        , m_names(std::move(names))
        , m_spec(std::move(spec))
        , m_tokenizer(std::move(tokenizer))
    {
        m_samples = m_data->samples();
        m_feeds = m_data->feeds();
        m_labels = m_data->labels();
        m_classNames = m_data->classNames();
        m_initialStates = m_data->initialStates();
        m_warnings = m_data->warnings();
    }

    Result<Feed> feed(size_t index) const override
    {
        QS_TRY(Feed feed, m_data->feed(index));
        for (const PromptLimits::Table& table : m_limits.tables)
            QS_CHECK(checkRows(table, feed));
        if (const Tensor* ids = matrix(m_limits.ids, feed)) {
            const int64_t past = pastOf(feed);
            QS_CHECK(checkLength(*ids, past, feed));
            QS_CHECK(checkMask(*ids, past, feed));
        }
        return feed;
    }

    std::string sampleName(size_t sample) const override { return m_data->sampleName(sample); }

private:
    Issue refuse(size_t input, std::string what, std::string remedy) const
    {
        Issue issue = badInput(std::move(what), m_spec, std::move(remedy));
        issue.tensor = m_names[input];
        return issue;
    }

    static const Tensor* matrix(std::optional<size_t> input, const Feed& feed)
    {
        const Tensor* const t = input && *input < feed.inputs.size() ? &feed.inputs[*input] : nullptr;
        return t && t->valid() && t->rank() == 2 ? t : nullptr;
    }

    Status checkRows(const PromptLimits::Table& table, const Feed& feed) const
    {
        const Tensor& t = feed.inputs[table.input];
        if (!t.valid() || !isInteger(t.dtype()) || t.count() == 0)
            return {};
        const std::vector<int64_t> all = toInts(t);
        const auto beyond = std::ranges::find_if(all, [&](int64_t id) { return id < -table.rows || id >= table.rows; });
        if (beyond == all.end())
            return {};
        const size_t each = std::max<size_t>(all.size() / std::max<size_t>(feed.samples, 1), 1);
        const auto at = size_t(beyond - all.begin());
        const bool token = m_limits.ids == table.input;
        const std::string rows = std::to_string(table.rows);
        const std::string where = " at position " + std::to_string(at % each) + " of " + (token ? "prompt " : "sample ")
            + std::to_string(feed.firstSample + at / each);
        if (!token)
            return refuse(table.input,
                "holds " + std::to_string(*beyond) + where + ", beyond the model's " + rows + " rows",
                "give numbers below " + rows);
        const std::string what
            = "holds token " + std::to_string(*beyond) + where + ", beyond the model's vocabulary of " + rows;
        return refuse(table.input, what,
            m_tokenizer.empty() ? "give ids below " + rows + ", as the model's own tokenizer makes them"
                                : m_tokenizer + " is another model's: give the tokenizer that belongs to this one");
    }

    int64_t pastOf(const Feed& feed) const
    {
        int64_t past = 0;
        for (const size_t cache : m_limits.caches)
            if (const Tensor& t = feed.inputs[cache]; t.valid() && t.count() > 0 && t.rank() == 4)
                past = std::max(past, t.dim(2));
        return past;
    }

    Status checkLength(const Tensor& ids, int64_t past, const Feed& feed) const
    {
        const std::string prompt = "prompt " + std::to_string(feed.firstSample);
        if (ids.dim(1) == 0)
            return refuse(*m_limits.ids, "holds no tokens in " + prompt, "give at least one, or leave the prompt out");
        if (m_limits.positions == 0 || ids.dim(1) <= m_limits.positions || past > 0)
            return {};
        const std::string most = std::to_string(m_limits.positions);
        return refuse(*m_limits.ids,
            "holds " + std::to_string(ids.dim(1)) + " tokens in " + prompt + ", the model tells " + most
                + " positions apart",
            "give prompts of at most " + most + " tokens");
    }

    Status checkMask(const Tensor& ids, int64_t past, const Feed& feed) const
    {
        const Tensor* const mask = matrix(m_limits.mask, feed);
        if (!mask || past > 0) // a cache may have room to spare
            return {};
        if (mask->dim(1) != ids.dim(1))
            return refuse(*m_limits.mask,
                "is " + std::to_string(mask->dim(1)) + " long in prompt " + std::to_string(feed.firstSample) + ", '"
                    + m_names[*m_limits.ids] + "' has " + std::to_string(ids.dim(1)) + " tokens",
                "give a mask with one number for each token, or leave it out");
        if (m_limits.caches.empty())
            return {};
        const std::vector<int64_t> all = toInts(*mask);
        for (int64_t row = 0; row < mask->dim(0); ++row) {
            const auto first = all.begin() + row * mask->dim(1);
            if (std::all_of(first, first + mask->dim(1), [](int64_t v) { return v == 0; }))
                return refuse(*m_limits.mask,
                    "is 0 everywhere in prompt " + std::to_string(feed.firstSample + size_t(row)),
                    "give 1 for each token that is no padding, or leave the prompt out");
        }
        return {};
    }

    std::shared_ptr<const DataSource> m_data;
    PromptLimits m_limits;
    std::vector<std::string> m_names; ///< of the inputs
    std::string m_spec, m_tokenizer;
};

} // namespace

std::shared_ptr<const DataSource> checkedPrompts(std::shared_ptr<const DataSource> data, PromptLimits limits,
    std::vector<std::string> inputNames, std::string spec, std::string tokenizer)
{
    if (limits.none())
        return data;
    return std::make_shared<CheckedPrompts>(
        std::move(data), std::move(limits), std::move(inputNames), std::move(spec), std::move(tokenizer));
}

} // namespace qs
