// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/model/complete_overrides.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

/// What is wanted of a tensor's codes. An unset symmetry fits any.
struct CodeType {
    std::optional<DType> type;
    std::optional<bool> symmetric;

    bool fits(const CodeType& other) const
    {
        return type == other.type && (!symmetric || !other.symmetric || symmetric == other.symmetric);
    }
    QuantOverride asOverride() const
    {
        QuantOverride o;
        o.type = type;
        o.symmetric = symmetric;
        return o;
    }
};

CodeType codeTypeOf(const QuantOverride& o) { return { o.type, o.symmetric }; }

/// What nodes around a tensor want of it.
struct Request {
    std::optional<CodeType> made; ///< by the node that makes it
    std::optional<CodeType> read; ///< by `readers`
    std::set<std::string> readers;
};

class Completion {
public:
    Completion(const FloatModel& model, const Recipe& recipe)
        : m_model(model)
        , m_recipe(recipe)
        , m_tensors(recipe.tensors)
    {
    }

    Result<std::map<std::string, TensorOverride>> run()
    {
        QS_CHECK(collect());
        for (const auto& [name, request] : m_requests)
            QS_CHECK(settle(name, request));
        return std::move(m_tensors);
    }

private:
    static Issue conflict(const std::string& tensor, const std::string& what)
    {
        return Issue { IssueKind::BadInput, what, {}, {}, tensor,
            "give the tensors around that node the same type, or state the conversions yourself" };
    }

    CodeType usual() const { return { m_recipe.activationType, {} }; }

    Status collect()
    {
        for (const auto& [name, override] : m_recipe.tensors) {
            if (m_model.draft.constant(name) || m_model.realType(name) == DType::Undefined || override.parts.size() > 1
                || override.convert)
                continue;
            CodeType wanted = codeTypeOf(override.parts.front());
            wanted.type = wanted.type.value_or(m_recipe.activationType);
            if (wanted.fits({ m_recipe.activationType, m_recipe.symmetricActivations }))
                continue;
            if (const auto producer = m_model.producers.find(name); producer != m_model.producers.end())
                QS_CHECK(ask(m_model.draft.nodes[producer->second], wanted));
            for (const size_t reader : m_model.readersOf(name))
                QS_CHECK(ask(m_model.draft.nodes[reader], wanted));
        }
        return {};
    }

    /// That the node reads and makes nothing but such codes.
    Status ask(const DraftNode& node, const CodeType& wanted)
    {
        for (const std::string& out : node.outputs) {
            if (out.empty() || m_model.realType(out) == DType::Undefined)
                continue;
            Request& request = m_requests[out];
            if (request.made && !request.made->fits(wanted))
                return conflict(out, "has to be of two types, by the overrides around it");
            request.made = wanted;
        }
        for (const std::string& in : node.inputs) {
            if (in.empty() || m_model.draft.constant(in) || m_model.realType(in) == DType::Undefined)
                continue;
            Request& request = m_requests[in];
            if (request.read && !request.read->fits(wanted))
                return conflict(in, "would have to be converted to two types, by the overrides around it");
            request.read = request.read.value_or(wanted);
            request.readers.insert(node.name);
        }
        return {};
    }

    std::set<std::string> otherReaders(const std::string& name, const std::set<std::string>& than) const
    {
        std::set<std::string> others;
        for (const size_t reader : m_model.readersOf(name))
            if (!than.contains(m_model.draft.nodes[reader].name))
                others.insert(m_model.draft.nodes[reader].name);
        return others;
    }

    Status settle(const std::string& name, const Request& request)
    {
        const auto override = m_tensors.find(name);
        if (!request.read)
            return convert(name, *request.made, usual(), otherReaders(name, {}));
        CodeType made = usual();
        if (request.made) {
            made = *request.made;
        } else if (override != m_tensors.end()) {
            made = codeTypeOf(override->second.parts.front());
            made.type = made.type.value_or(m_recipe.activationType);
        }
        if (!made.fits(*request.read))
            return convert(name, made, *request.read, request.readers);
        if (!request.made)
            return convertedFor(name, request.readers)
                ? conflict(name, "is converted for nodes that have to read it as it is made")
                : Status();
        const auto others = otherReaders(name, request.readers);
        if (!others.empty())
            return convert(name, made, usual(), others);
        if (override == m_tensors.end())
            m_tensors[name].parts = { made.asOverride() };
        return {};
    }

    bool convertedFor(const std::string& name, const std::set<std::string>& readers) const
    {
        const auto it = m_tensors.find(name);
        if (it == m_tensors.end() || !it->second.convert)
            return false;
        const auto& converted = it->second.convert->readers;
        return converted.empty()
            || std::ranges::any_of(converted, [&](const std::string& n) { return readers.contains(n); });
    }

    Status convert(
        const std::string& name, const CodeType& made, const CodeType& to, const std::set<std::string>& readers)
    {
        const auto [it, fresh] = m_tensors.try_emplace(name);
        TensorOverride& override = it->second;
        if (fresh)
            override.parts = { made.asOverride() };
        if (!made.fits(codeTypeOf(override.parts.front())))
            return conflict(name, "has an override of another type than the nodes around it want");
        if (readers.empty())
            return {};
        if (!override.convert)
            override.convert = QuantConversion { to.asOverride(), {} };
        if (!to.fits(codeTypeOf(override.convert->to)))
            return conflict(name, "has a conversion to another type than its readers want");
        std::set<std::string> all(override.convert->readers.begin(), override.convert->readers.end());
        all.insert(readers.begin(), readers.end());
        override.convert->readers.assign(all.begin(), all.end());
        return {};
    }

    const FloatModel& m_model;
    const Recipe& m_recipe;
    std::map<std::string, TensorOverride> m_tensors;
    std::map<std::string, Request> m_requests;
};

} // namespace

Result<std::map<std::string, TensorOverride>> completeOverrides(const FloatModel& model, const Recipe& recipe)
{
    return Completion(model, recipe).run();
}

Result<Recipe> withCompleteOverrides(const FloatModel& model, const Recipe& recipe)
{
    Recipe completed = recipe;
    if (recipe.completeOverrides) {
        QS_TRY(completed.tensors, completeOverrides(model, recipe));
        completed.completeOverrides = false;
    }
    return completed;
}

} // namespace qs
