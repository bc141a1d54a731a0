// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/language/language_output.h"

namespace qs {

Result<size_t> languageOutput(const Snapshot& snapshot)
{
    if (snapshot.comparison && snapshot.data)
        for (size_t i = 0; i < snapshot.comparison->outputs.size(); ++i)
            if (snapshot.comparison->outputs[i].language)
                return i;
    return badInput("no output holds scores [batch, positions, vocabulary] beside token ids [batch, positions]",
        snapshot.inputs.floatPath,
        "leave out --decode and --blame, or give a language model and tokens of its vocabulary");
}

} // namespace qs
