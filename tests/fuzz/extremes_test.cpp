// SPDX-License-Identifier: GPL-3.0-or-later
// Every number that says how large something is or where it lies, one at a time, becomes one that no program computes
// with: attributes of each operator, whole numbers among the constants, sizes of constants and inputs. Damage that is
// drawn at random meets few of them. Under sanitizers that finds each sum and product that overflows.
#include "tests/fuzz/fuzz_rounds.h"
#include "tests/fuzz/fuzz_subjects.h"
#include "tests/fuzz/targets/input_mutator.h"

#include <QtTest>

#include <functional>
#include <map>
#include <set>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int64_t kExtremes[] { 0, -1, 1, int64_t(1) << 31, int64_t(1) << 33, -(int64_t(1) << 33), int64_t(1) << 62,
    INT64_MAX - 15, INT64_MAX, INT64_MIN, INT64_MIN + 1 };

/// A number of a model: calls `visit` with what it belongs to and a function that changes it.
using Change = std::function<void(int64_t)>;
using Visit = std::function<void(const std::string& what, const Change& change)>;

void visitAttribute(const std::string& owner, onnx::AttributeProto& attribute, const Visit& visit)
{
    const std::string what = owner + '.' + attribute.name();
    if (attribute.type() == onnx::AttributeProto::INT)
        visit(what, [&](int64_t v) { attribute.set_i(v); });
    for (int i = 0; i < std::min(attribute.ints_size(), 4); ++i)
        visit(what + '[' + std::to_string(i) + ']', [&, i](int64_t v) { attribute.set_ints(i, v); });
}

void visitTensor(const std::string& what, onnx::TensorProto& tensor, const Visit& visit)
{
    for (int d = 0; d < tensor.dims_size(); ++d)
        visit(what + " size " + std::to_string(d), [&, d](int64_t v) { tensor.set_dims(d, v); });
    if (tensor.dims_size() > 0) // of nothing there may be as much as one likes
        visit(what + " size of nothing", [&](int64_t v) {
            tensor.clear_raw_data();
            tensor.clear_float_data();
            tensor.set_dims(0, 0);
            tensor.dims_size() > 1 ? tensor.set_dims(1, v) : tensor.add_dims(v);
        });
    if (tensor.data_type() != onnx::TensorProto::INT64)
        return;
    for (int i = 0; i < std::min(tensor.int64_data_size(), 4); ++i)
        visit(what + " element " + std::to_string(i), [&, i](int64_t v) { tensor.set_int64_data(i, v); });
    for (size_t i = 0; i < std::min<size_t>(tensor.raw_data().size() / sizeof(int64_t), 4); ++i)
        visit(what + " element " + std::to_string(i), [&, i](int64_t v) {
            tensor.mutable_raw_data()->replace(
                i * sizeof v, sizeof v, std::string(reinterpret_cast<const char*>(&v), sizeof v));
        });
}

/// Input `slot` of which operator a value is first; "" where no node reads it.
std::string readerOf(const onnx::GraphProto& graph, const std::string& value)
{
    for (const auto& node : graph.node())
        for (int slot = 0; slot < node.input_size(); ++slot)
            if (node.input(slot) == value)
                return node.op_type() + " input " + std::to_string(slot);
    return {};
}

void visitNumbers(onnx::ModelProto& model, const Visit& visit)
{
    onnx::GraphProto& graph = *model.mutable_graph();
    for (auto& node : *graph.mutable_node())
        for (auto& attribute : *node.mutable_attribute()) {
            visitAttribute(node.op_type(), attribute, visit);
            if (attribute.has_t())
                visitTensor(node.op_type() + '.' + attribute.name(), *attribute.mutable_t(), visit);
        }
    for (auto& constant : *graph.mutable_initializer())
        visitTensor("constant, " + readerOf(graph, constant.name()), constant, visit);
    for (auto& input : *graph.mutable_input()) {
        auto& dims = *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
        for (int d = 0; d < dims.size(); ++d)
            visit(readerOf(graph, input.name()) + " size " + std::to_string(d),
                [&, d](int64_t v) { dims.Mutable(d)->set_dim_value(v); });
    }
}

/// Numbers that the operators of other files give and this one's leave to their defaults.
void addMissing(onnx::ModelProto& model, const std::map<std::string, std::set<std::string>>& known)
{
    for (auto& node : *model.mutable_graph()->mutable_node()) {
        const auto names = known.find(node.op_type());
        if (names == known.end())
            continue;
        std::set<std::string> missing = names->second;
        for (const auto& attribute : node.attribute())
            missing.erase(attribute.name());
        for (const std::string& name : missing) {
            auto& attribute = *node.add_attribute();
            attribute.set_name(name);
            attribute.set_type(onnx::AttributeProto::INT);
        }
    }
}

struct Place {
    const FuzzSubject* subject;
    bool quantized; ///< which of its files
    size_t number; ///< in the order of visitNumbers()
    std::string what;
};

} // namespace

class ExtremesTest : public QObject {
    Q_OBJECT

    const unsigned m_seed = setting("QS_FUZZ_SEED", 1);
    const unsigned m_rounds = setting("QS_FUZZ_ROUNDS", 100); ///< 0: all
    const unsigned m_first = setting("QS_FUZZ_FIRST", 0);
    const unsigned m_each = setting("QS_FUZZ_EACH", 2); ///< files in which a number is changed
    FuzzFolder m_folder;
    CostWatch m_watch;
    std::vector<FuzzSubject> m_subjects;
    std::map<std::string, std::set<std::string>> m_known; ///< attributes that are integers, by operator
    std::vector<Place> m_places;

    onnx::ModelProto opened(const FuzzSubject& subject, bool quantized) const
    {
        onnx::ModelProto model;
        if (model.ParseFromString(quantized ? subject.quantized : subject.floats))
            addMissing(model, m_known);
        return model;
    }

    void learn(const FuzzSubject& subject)
    {
        onnx::ModelProto model;
        if (model.ParseFromString(subject.pair() ? subject.quantized : subject.floats))
            for (const auto& node : model.graph().node())
                for (const auto& attribute : node.attribute())
                    if (attribute.type() == onnx::AttributeProto::INT)
                        m_known[node.op_type()].insert(attribute.name());
    }

    void findPlaces()
    {
        std::map<std::string, unsigned> seen;
        for (const FuzzSubject& subject : m_subjects)
            for (const bool quantized : { false, true }) {
                if (quantized && !subject.pair())
                    continue;
                onnx::ModelProto model = opened(subject, quantized);
                size_t number = 0;
                visitNumbers(model, [&](const std::string& what, const Change&) {
                    if (seen[(quantized ? "quantized " : "") + what]++ < m_each)
                        m_places.push_back({ &subject, quantized, number, what });
                    ++number;
                });
            }
    }

    std::string changed(const Place& place, int64_t to) const
    {
        onnx::ModelProto model = opened(*place.subject, place.quantized);
        // Only the number asked for: what was added stays with its operator's default otherwise.
        size_t number = 0;
        visitNumbers(model, [&](const std::string&, const Change& change) {
            if (number++ == place.number)
                change(to);
        });
        for (auto& node : *model.mutable_graph()->mutable_node())
            for (int i = node.attribute_size(); i-- > 0;)
                if (const auto& a = node.attribute(i); a.type() == onnx::AttributeProto::INT && !a.has_i())
                    node.mutable_attribute()->DeleteSubrange(i, 1);
        return model.SerializeAsString();
    }

    void round(unsigned number, const Place& place, int64_t to)
    {
        ModelMutator random(uint64_t(m_seed) << 32 | number, operatorTypes());
        const FuzzSubject& subject = *place.subject;
        const std::string bytes = changed(place, to);
        const std::string name = "seed " + std::to_string(m_seed) + " round " + std::to_string(number) + ", "
            + place.what + " = " + std::to_string(to);
        carryOutRound(
            { name, subject, place.quantized ? subject.floats : bytes, place.quantized ? bytes : subject.quantized,
                place.quantized, { "--threads", "1", "--memory-limit", "134217728" } },
            m_folder, m_watch, random);
    }

private slots:
    void initTestCase()
    {
        m_subjects = subjectPairs(m_folder);
        for (FuzzSubject& model : subjectModels())
            m_subjects.push_back(std::move(model));
        std::ranges::for_each(m_subjects, [this](const FuzzSubject& s) { learn(s); });
        findPlaces();
    }

    void extremeNumbers()
    {
        const size_t all = m_places.size() * std::size(kExtremes);
        const size_t rounds = m_rounds == 0 ? all : std::min<size_t>(m_rounds, all);
        qInfo("QS_FUZZ_SEED=%u QS_FUZZ_ROUNDS=%zu of %zu (%zu places)", m_seed, rounds, all, m_places.size());
        // Evenly among all of them, others for another seed.
        for (size_t i = m_first; i < rounds; ++i) {
            const size_t at = (i * all / rounds + (m_rounds == 0 ? 0 : m_seed)) % all;
            round(unsigned(at), m_places[at / std::size(kExtremes)], kExtremes[at % std::size(kExtremes)]);
        }
        qInfo("%s", m_watch.takenSummary().c_str());
        QVERIFY2(m_watch.faults().empty(), m_watch.takenFaults().c_str());
    }
};

QTEST_APPLESS_MAIN(ExtremesTest)

#include "extremes_test.moc"
