// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/values/slice_field.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/words/error_text.h"
#include "widgets/views/theme/restyling.h"

namespace qs {

namespace {

constexpr int64_t kWorthReading = 64; ///< elements

} // namespace

SliceField::SliceField(QWidget* parent)
    : QLineEdit(parent)
{
    setAccessibleName(tr("Slice"));
    setHint(tr("An index or begin:end:step for each axis, as numpy takes them: 0, :, 10:20, -1\nThe last range goes to "
               "the right, the others down."));
    connect(this, &QLineEdit::textEdited, this, &SliceField::read);
}

void SliceField::show(const TensorSlice& slice, const Shape& shape)
{
    m_shape = shape;
    const auto typed = parseSlice(text().toStdString(), shape);
    if (!typed || *typed != slice || text().isEmpty()) // else it stays as it was typed
        setText(toQt(sliceText(slice, shape)));
    setEnabled(!shape.empty());
    mark({});
}

bool SliceField::wrong() const { return !m_problem.isEmpty(); }

void SliceField::setHint(const QString& hint)
{
    m_hint = hint;
    mark(m_problem);
}

void SliceField::read()
{
    const auto slice = parseSlice(text().toStdString(), m_shape);
    mark(slice ? QString() : issueHeadline(slice.issue()) + u' ' + issueRemedy(slice.issue()));
    if (slice)
        emit chosen(*slice);
}

void SliceField::mark(const QString& problem)
{
    m_problem = problem;
    setToolTip(problem.isEmpty() ? m_hint : problem);
    setStyled(*this, "wrong", wrong());
    emit problemChanged();
}

TensorSlice firstSlice(const Shape& shape)
{
    TensorSlice slice = TensorSlice::whole(shape);
    int64_t elements = 1, ranges = 0;
    for (size_t i = shape.size(); i-- > 0;) {
        const bool enough = ranges >= 2 && elements >= kWorthReading && shape[i] > 0;
        if (enough || (shape[i] == 1 && shape.size() > 1))
            slice.axes[i] = { 0, 1, 1, true };
        elements *= slice.axes[i].count;
        ranges += shape[i] > 1;
    }
    return slice;
}

} // namespace qs

#include "moc_slice_field.cpp"
