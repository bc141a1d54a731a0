// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/compare.h"
#include "core/base/issue_text.h"
#include "tests/support/small_model.h"

#include <QtTest>

#include <algorithm>
#include <string>
#include <vector>

/// Comparisons of tiny models over data in memory.
namespace qs::test {

/// One tensor a sample for a model with one input.
class FixedData final : public DataSource {
public:
    explicit FixedData(std::vector<Tensor> samples, std::vector<int64_t> labels = {})
        : m_tensors(std::move(samples))
    {
        m_samples = m_feeds = m_tensors.size();
        m_labels = std::move(labels);
    }
    Result<Feed> feed(size_t index) const override { return Feed { { m_tensors[index] }, index, 1 }; }

private:
    std::vector<Tensor> m_tensors;
};

inline ComparePair pairOf(const Prepared& f, const Prepared& q, const ManualPairs& manual = {})
{
    auto alignment = align(*f.plan, *q.plan, *q.view, { manual, {} });
    if (!alignment.ok())
        qFatal("%s", issueText(alignment.issue()).c_str());
    return { f.plan, q.plan, q.view, std::make_shared<const Alignment>(std::move(alignment).value()) };
}

inline Comparison compared(const Prepared& f, const Prepared& q, const FixedData& data,
    const CompareOptions& options = {}, const WorkContext& work = {})
{
    auto result = compareModels(pairOf(f, q), data, options, work);
    if (!result.ok())
        qFatal("%s", issueText(result.issue()).c_str());
    return std::move(result).value();
}

/// Row of a float tensor; fails the program when it was not paired.
inline const ActivationRow& rowOf(const Comparison& c, const std::string& name)
{
    const auto it = std::ranges::find(c.activations, name, &ActivationRow::name);
    if (it == c.activations.end())
        qFatal("no row of '%s'", name.c_str());
    return *it;
}

inline const Finding* findingOf(const Comparison& c, Rule rule)
{
    const auto it = std::ranges::find(c.findings, rule, &Finding::rule);
    return it == c.findings.end() ? nullptr : &*it;
}

inline QString rulesOf(const Comparison& c)
{
    QStringList list;
    for (const Finding& f : c.findings)
        list << QString::fromStdString(std::string(ruleId(f.rule)) + ":" + std::string(severityName(f.severity)) + "@"
            + f.tensor + ": " + f.summary);
    return list.join('\n');
}

inline bool close(const Number& actual, double expected, double tolerance = 1e-5)
{
    const bool fits = actual && std::abs(*actual - expected) <= tolerance * std::max(1.0, std::abs(expected));
    if (!fits)
        qWarning("%s, expected %.12g", actual ? std::to_string(*actual).c_str() : "null", expected);
    return fits;
}

} // namespace qs::test
