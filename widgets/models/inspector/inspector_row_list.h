// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/inspector/inspector_model.h"

#include <utility>

namespace qs {

/// The inspector's rows as they are made, section by section.
class InspectorRowList {
public:
    void section(const QString& title) { m_rows.push_back({ title, {}, {}, true, {} }); }
    /// Nothing without a value.
    void add(const QString& key, const QString& value, const QString& toolTip = {})
    {
        if (!value.isEmpty())
            m_rows.push_back({ key, value, toolTip, false, {} });
    }
    void addSentence(const QString& key, const QString& value, const QString& toolTip)
    {
        add(key, value, toolTip);
        if (!value.isEmpty())
            m_rows.back().sentence = true;
    }
    void addLink(const QString& key, const QString& value, const QString& toolTip, size_t weight)
    {
        m_rows.push_back({ key, value, toolTip, false, weight });
    }
    void addLinkToTensor(const QString& key, const QString& value, const QString& toolTip, size_t activation)
    {
        m_rows.push_back({ key, value, toolTip, false, {}, activation });
    }
    /// Adds the rows of `other`, behind a section of that title where there are some.
    void addSection(const QString& title, InspectorRowList&& other)
    {
        if (other.m_rows.empty())
            return;
        section(title);
        m_rows.insert(m_rows.end(), other.m_rows.begin(), other.m_rows.end());
    }
    std::vector<InspectorRow> take() && { return std::move(m_rows); }

private:
    std::vector<InspectorRow> m_rows;
};

} // namespace qs
