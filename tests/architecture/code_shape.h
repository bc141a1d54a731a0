// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QVector>

namespace qs {

/// A function or class as it stands in a source.
struct CodeBlock {
    enum class Kind { Function, Class };
    Kind kind;
    QString name; ///< the text before its body or parameters, shortened: for people
    int line = 0; ///< of the opening brace, from 1
    int lines = 0; ///< from there to the closing brace, both counted
};

/// The functions and classes (structs, too) of C++ text, outermost first. Lambdas belong to the function around them;
/// functions inside of classes count for both. Finds blocks by braces, so macros that hide braces are not understood.
QVector<CodeBlock> codeBlocks(const QString& text);

} // namespace qs
