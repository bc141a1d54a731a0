// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/explain/explained.h"

#include "core/base/issue_text.h"
#include "core/engine/run/execution.h"
#include "core/kernels/codes/integer_product.h"
#include "core/tensor/convert.h"

#include <QtGlobal>

#include <cmath>

namespace qs::test {

OneFeed::OneFeed(std::vector<Tensor> inputs, size_t samples)
    : m_inputs(std::move(inputs))
{
    m_samples = samples;
    m_feeds = 1;
}

Result<Feed> OneFeed::feed(size_t) const { return Feed { m_inputs, 0, m_samples }; }

ExplainedRun::ExplainedRun(std::shared_ptr<const Plan> plan, ArithmeticProfile profile, std::vector<Tensor> feed)
    : m_plan(std::move(plan))
    , m_view(std::make_shared<const QuantView>(
          QuantView::of(m_plan->graph(), [p = m_plan](ValueId id) { return p->constant(id); })))
    , m_profile(profile)
    , m_runs { std::make_shared<OneFeed>(feed), m_plan, {}, nullptr }
{
    Demand demand;
    for (size_t i = 0; i < m_plan->graph().values().size(); ++i) {
        const ValueId id(i);
        if (const Tensor* constant = m_plan->constant(id))
            m_values.emplace(id, toPlain(*constant));
        else if (!m_plan->hidden(id) && !m_plan->blocked(id))
            demand.values.push_back(id);
    }
    const auto schedule = Schedule::make(m_plan, demand);
    if (!schedule.ok())
        qFatal("%s", issueText(schedule.issue()).c_str());
    BufferPool pool;
    Execution run(*schedule, pool);
    Status done = run.bind(feed);
    if (done.ok())
        done = run.runAll();
    if (!done.ok())
        qFatal("%s", issueText(done.issue()).c_str());
    for (const ValueId id : demand.values)
        m_values.emplace(id, toPlain(run.get(id)));
    m_counts = run.pairCounts();
}

std::vector<ValueId> ExplainedRun::values() const
{
    std::vector<ValueId> list;
    for (const auto& [id, tensor] : m_values)
        if (tensor.count() > 0 && dtypeBits(tensor.dtype()) > 0)
            list.push_back(id);
    return list;
}

Result<ElementExplanation> ExplainedRun::explain(ValueId value, int64_t element, const ComparePair* pair) const
{
    const ExplainedModel model { m_plan, m_view, m_profile, pair, nullptr };
    return explainElement(model, { value, placeOf(of(value).shape(), element), 0, false }, m_runs, {});
}

std::string ExplainedRun::operandComplaint(const Operand& operand, const ElementExplanation& e) const
{
    if (operand.source >= e.sources.size())
        return "an operand is of no source";
    const OperandSource& source = e.sources[operand.source];
    if (operand.element < 0 || operand.element >= elementCount(source.shape).value_or(0))
        return "an operand lies outside of '" + source.name + "'";
    if (operand.code && operand.scale && !source.constant
        && operand.real != double(float(*operand.code - operand.zeroPoint) * float(*operand.scale)))
        return "a real number of '" + source.name + "' is not that of its code";
    const auto held = source.value.valid() ? m_values.find(source.value) : m_values.end();
    if (held == m_values.end() || held->second.shape() != source.shape)
        return {};
    if (isInteger(held->second.dtype()) && operand.code && elementAsInt(held->second, operand.element) != *operand.code)
        return "a code of '" + source.name + "' is not the engine's";
    // A weight in blocks, and a row that is quantized inside, are made of what the tensor holds.
    if (isFloat(held->second.dtype()) && !operand.code && elementAsDouble(held->second, operand.element) != operand.real
        && !std::isnan(operand.real))
        return "a number of '" + source.name + "' is not the engine's";
    return {};
}

namespace {

std::string productComplaint(const ElementExplanation& e)
{
    int64_t sum = 0;
    double reals = 0, size = 0;
    bool codes = true;
    for (const ElementTerm& term : e.terms) {
        codes = codes && term.product;
        if (term.product && term.a.code && term.b->code
            && (*term.a.code - term.a.zeroPoint) * (*term.b->code - term.b->zeroPoint) != *term.product)
            return "codes less their zero points are not the product";
        sum += term.product.value_or(0);
        reals += term.a.real * term.b->real;
        size += std::abs(term.a.real * term.b->real);
    }
    for (const SaturatedTerms& pair : e.saturated)
        sum -= pair.lost;
    if (e.accumulator && codes && !e.terms.empty() && e.terms.back().sum != wrapped(sum))
        return "the last sum is not that of the products";
    if (e.accumulator && codes) {
        const bool inBias = e.bias && e.bias->code;
        if (wrapped(sum + (inBias ? *e.bias->code : 0)) != *e.accumulator)
            return "the products and the bias are not the accumulator";
    }
    const double bias = e.bias ? e.bias->real * e.biasFactor : 0;
    if (!e.accumulator && !e.code && isFloat(e.dtype)
        && std::abs(reals * e.factor + bias - e.real) > 1e-4 * (size * std::abs(e.factor) + std::abs(bias)) + 1e-30)
        return "the products and the bias are not the number";
    return {};
}

} // namespace

std::string ExplainedRun::complaint(ValueId value, int64_t element) const
{
    const auto e = explain(value, element);
    const std::string where = m_plan->graph().value(value).name + "[" + std::to_string(element) + "]: ";
    if (!e.ok())
        return where + issueText(e.issue());
    const Tensor& tensor = of(value);
    if (e->stored != elementAsDouble(tensor, element) && !std::isnan(e->stored))
        return where + "not the engine's number";
    const bool wide = isInteger(tensor.dtype()) && dtypeBits(tensor.dtype()) == 64;
    if (wide ? e->whole != elementAsInt(tensor, element) : e->whole.has_value())
        return where + "not the engine's integer";
    if (e->code && isInteger(tensor.dtype()) && *e->code != elementAsInt(tensor, element))
        return where + "not the engine's code";
    if (e->confirmed && !*e->confirmed)
        return where + e->opType + " " + e->unitOperator + ": the steps give another number";
    if (e->relation == Relation::Dequantize && !e->steps.empty() && e->steps.back().value != e->stored)
        return where + "the last step is not the number";
    const bool follows = e->relation != Relation::None && e->relation != Relation::Function;
    if (follows && !e->confirmed)
        return where + e->opType + ": nothing says that the steps are right";
    if (e->relation == Relation::None && m_plan->graph().value(value).producer.valid() && e->note.empty())
        return where + "nothing is shown, without a reason";
    for (const ElementTerm& term : e->terms) {
        std::string found = operandComplaint(term.a, *e);
        if (found.empty() && term.b)
            found = operandComplaint(*term.b, *e);
        if (!found.empty())
            return where + found;
    }
    if (e->bias)
        if (const std::string found = operandComplaint(*e->bias, *e); !found.empty())
            return where + found;
    const std::string found = e->relation == Relation::Products ? productComplaint(*e) : std::string();
    return found.empty() ? found : where + found;
}

std::string ExplainedRun::complaints(std::mt19937& random, int each) const
{
    for (const ValueId id : values())
        for (int i = 0; i < each; ++i)
            if (const std::string found = complaint(id, int64_t(random() % size_t(of(id).count()))); !found.empty())
                return found;
    return {};
}

} // namespace qs::test
