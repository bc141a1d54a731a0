// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/language/free_decoding.h"

#include <QComboBox>
#include <QDialog>

#include <functional>
#include <string>
#include <utility>
#include <vector>

class QTableWidget;

namespace qs {

/// The caches of a decoder: which output becomes which input for the next token. Those whose names pair are chosen
/// already.
class CacheNamesDialog : public QDialog {
    Q_OBJECT
public:
    /// `inputs`: those that may be caches, `outputs`: what may become one. `known`: as chosen before, else by name.
    struct Names {
        std::vector<std::string> inputs, outputs;
        CarryNames known;
    };
    CacheNamesDialog(const Names& names, std::function<void(const CarryNames&)> chosen, QWidget* parent = nullptr);
    QComboBox* outputOf(size_t input) const { return m_outputs[input]; }
    QTableWidget* table() const { return m_table; }

private:
    void fill(const Names& names);
    void accept() override;

    std::vector<std::string> m_inputs;
    std::vector<QComboBox*> m_outputs; ///< by input
    std::function<void(const CarryNames&)> m_chosen;
    QTableWidget* m_table;
};

} // namespace qs
