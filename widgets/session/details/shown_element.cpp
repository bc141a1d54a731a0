// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/details/shown_element.h"

#include "core/analysis/lab/pair_detail.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/words/error_text.h"
#include "widgets/session/details/pair_details.h"

#include <QPointer>

#include <algorithm>

namespace qs {

namespace {

/// The axis along which views count the channels of a tensor; nothing where they do not.
std::optional<int> channelAxis(const Snapshot& snapshot, const TensorPlace& tensor)
{
    if (tensor.weight)
        return snapshot.comparison->weights[*tensor.weight].channelAxis;
    if (!snapshot.comparison || tensor.quantized)
        return std::nullopt;
    const auto& rows = snapshot.comparison->activations;
    const auto row = std::ranges::find(rows, tensor.value, &ActivationRow::floatValue);
    return row == rows.end()
        ? std::nullopt
        : std::optional(int(channelAxisOf(snapshot.floatModel->graph(), tensor.value, row->shape.size())));
}

const Snapshot& snapshotOf(const Snapshot& snapshot, ShownElement::Model model)
{
    return model == ShownElement::Model::Other ? *snapshot.other->snapshot : snapshot;
}

/// What of a model is followed for a tensor; nothing where it does not have it.
std::optional<TensorPlace> sideOf(const Snapshot& snapshot, const TensorPlace& tensor, ShownElement::Model model)
{
    if (model == ShownElement::Model::Float)
        return tensor.quantized || !snapshot.floatModel ? std::nullopt : std::optional(tensor);
    const auto there = model == ShownElement::Model::Other ? tensorInOther(snapshot, tensor) : std::optional(tensor);
    if (!there)
        return std::nullopt;
    const TensorPlace side = quantizedSide(snapshotOf(snapshot, model), *there);
    return side.quantized ? std::optional(side) : std::nullopt;
}

constexpr ShownElement::Model kModels[]
    = { ShownElement::Model::Quantized, ShownElement::Model::Float, ShownElement::Model::Other };

} // namespace

ShownElement::ShownElement(Session& session, const ShownPlace& place, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_place(place)
    , m_tag(QStringLiteral("element-%1").arg(quintptr(this)))
{
    connect(&session, &Session::snapshotChanged, this, &ShownElement::refresh);
    connect(&place, &ShownPlace::changed, this, &ShownElement::refresh);
}

void ShownElement::watch(bool looks)
{
    m_watched = looks;
    if (looks)
        refresh();
}

void ShownElement::stop() { m_session.jobs().cancelTag(m_tag); }

void ShownElement::setModel(Model model)
{
    m_model = model;
    refresh();
}

bool ShownElement::has(Model model) const
{
    const Snapshot& now = *m_session.snapshot();
    const Place& place = m_place.current();
    if (model == Model::Float)
        return place.side == Side::Float && now.floatModel.has_value();
    const bool quantized
        = place.side == Side::Quantized ? now.quantModel.has_value() : place.activation || place.weight;
    return quantized && (model == Model::Quantized || (now.other && now.other->snapshot));
}

QString ShownElement::name() const
{
    const auto tensor = tensorAt(m_session, m_place.current());
    return tensor ? toQt(nameOf(*m_session.snapshot(), *tensor)) : QString();
}

QString ShownElement::sampleText() const
{
    const auto& data = m_session.snapshot()->data;
    const bool depends = m_found && m_asked && !isConstant(*m_session.snapshot(), m_asked->tensor);
    return depends && data && m_found->element.sample < data->samples()
        ? toQt(data->sampleName(m_found->element.sample))
        : QString();
}

QString ShownElement::hint() const
{
    const Snapshot& now = *m_session.snapshot();
    if (!now.floatModel && !now.quantModel)
        return tr("Open a model to see where its numbers come from.");
    const auto tensor = tensorAt(m_session, m_place.current());
    if (!tensor)
        return tr("Choose a tensor or a weight: a node of the graph, a row of a table.");
    if (!m_problem.isEmpty())
        return m_problem;
    if (!waitsForRun(m_session, *tensor))
        return tr("Following %1…").arg(name());
    return now.data ? tr("%1 is followed when the comparison is done.").arg(name())
                    : tr("The numbers of %1 depend on data: open some.").arg(name());
}

std::optional<ShownElement::Asked> ShownElement::wanted() const
{
    const Place& place = m_place.current();
    const auto tensor = tensorAt(m_session, place);
    if (!tensor || waitsForRun(m_session, *tensor))
        return std::nullopt;
    Asked asked { m_session.snapshot().get(), *tensor, place.element, place.sample, place.channel, m_model };
    for (const Model model : kModels)
        if (!has(asked.model) && has(model))
            asked.model = model;
    return asked;
}

ErrorSearch ShownElement::searchFor(const Asked& asked) const
{
    ErrorSearch search { asked.tensor, { asked.sample.value_or(0) }, {}, {} };
    if (const auto axis = channelAxis(*m_session.snapshot(), asked.tensor); axis && asked.channel)
        search.parts.push_back({ *axis, int64_t(*asked.channel), 1 });
    return search;
}

void ShownElement::refresh()
{
    const SnapshotPtr snapshot = m_session.snapshot();
    if (m_asked && m_asked->snapshot != snapshot.get()) { // its address may come again
        m_asked.reset();
        m_found.reset();
    }
    if (!m_watched)
        return;
    const auto now = wanted();
    if (now && now == m_asked)
        return;
    m_asked = now;
    m_found.reset();
    m_problem.clear();
    stop();
    if (now)
        start(snapshot, *now);
    emit changed();
}

namespace {

/// The number that is asked for, or the one with the largest error, and the tensor's shape for one sample.
Result<ErrorFound> elementIn(const Snapshot& snapshot, const ErrorSearch& search,
    const std::optional<ChosenElement>& element, const WorkContext& work)
{
    if (!element) {
        QS_TRY(const auto found, largestError(snapshot, search, work));
        if (!found)
            return badInput("this tensor has no such elements", {}, "choose another one");
        return *found;
    }
    QS_TRY(const TensorValues values, readValues(snapshot, search.place, element->sample, work));
    if (element->index < 0 || size_t(element->index) >= values.count())
        return badInput("this tensor has no such element any more", {}, "choose another one");
    return ErrorFound { element->sample, size_t(element->index), values.shape };
}

/// Where the element lies in the tensor of the other model, whose shape may have other axes.
Result<Shape> placeIn(
    const Snapshot& snapshot, const TensorPlace& side, const ErrorFound& element, const WorkContext& work)
{
    QS_TRY(const TensorValues values, readValues(snapshot, side, element.sample, work));
    if (values.count() != size_t(elementCount(element.shape).value_or(0)))
        return badInput("the quantized model has another number of elements here", {}, "look at the float model");
    return indicesOf(element.element, values.shape);
}

Result<ShownElement::Found> follow(const Snapshot& snapshot, const ErrorSearch& search,
    const std::optional<ChosenElement>& wanted, ShownElement::Model model, const WorkContext& work)
{
    QS_TRY(const ErrorFound element, elementIn(snapshot, search, wanted, work));
    const auto found = sideOf(snapshot, search.place, model);
    const Snapshot& of = found ? snapshotOf(snapshot, model) : snapshot;
    const TensorPlace side = found.value_or(search.place);
    const bool own = &of == &snapshot && side == search.place;
    QS_TRY(const Shape at, own ? Result(indicesOf(element.element, element.shape)) : placeIn(of, side, element, work));
    QS_TRY(ElementExplanation explained, explainElement(of, { side, at, element.sample, true }, work));
    return ShownElement::Found { { element.sample, int64_t(element.element) }, element.shape,
        std::make_shared<const ElementExplanation>(std::move(explained)) };
}

} // namespace

void ShownElement::start(const SnapshotPtr& snapshot, const Asked& asked)
{
    JobRequest job;
    job.tag = m_tag;
    job.title = tr("Follow a number of %1").arg(name());
    job.visibility = Visibility::Hidden;
    job.process = [self = QPointer(this), snapshot, asked, search = searchFor(asked)](
                      const JobContext& context) -> Result<std::function<void()>> {
        QS_TRY(Found found, follow(*snapshot, search, asked.element, asked.model, detailWork(*snapshot, context)));
        return std::function<void()>([self, asked, found = std::move(found)] {
            if (!self || self->m_asked != asked)
                return;
            self->m_found = found;
            emit self->changed();
        });
    };
    job.failed = [self = QPointer(this), asked](const Issue& issue) {
        if (!self || self->m_asked != asked)
            return;
        self->m_problem = issueHeadline(issue);
        emit self->changed();
    };
    m_session.jobs().start(std::move(job));
}

} // namespace qs

#include "moc_shown_element.cpp"
