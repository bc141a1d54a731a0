// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace qs {

/// What kind of trouble it is; the command line turns it into its exit code.
enum class IssueKind {
    BadUse, ///< a wrong option or argument (exit 2)
    BadInput, ///< unreadable, malformed, unsupported or unfitting file or data (exit 3)
    NoMemory, ///< memory, or the limit of it, ended: says nothing about the file (exit 3)
    Cancelled, ///< the user cancelled (exit 4)
    Internal, ///< a defect of ours (exit 5)
};

/// One trouble a user can meet: what happened, where, and what to do. Empty places are left out of the sentence.
struct Issue {
    IssueKind kind = IssueKind::BadInput;
    std::string what; ///< what is wrong, lower case, no full stop: "the array has rank 3, the input needs rank 4"
    std::string file; ///< path as the user gave it
    std::string node; ///< node name
    std::string tensor; ///< tensor name
    std::string remedy; ///< what to do, an imperative: "give one array per input"
};

inline Issue badInput(std::string what, std::string file = {}, std::string remedy = {})
{
    return { IssueKind::BadInput, std::move(what), std::move(file), {}, {}, std::move(remedy) };
}
inline Issue noMemory(std::string what, std::string file = {}, std::string remedy = {})
{
    return { IssueKind::NoMemory, std::move(what), std::move(file), {}, {}, std::move(remedy) };
}
inline Issue badUse(std::string what, std::string remedy = {})
{
    return { IssueKind::BadUse, std::move(what), {}, {}, {}, std::move(remedy) };
}
inline Issue cancelled() { return { IssueKind::Cancelled, "cancelled", {}, {}, {}, {} }; }
inline Issue internalError(std::string what) { return { IssueKind::Internal, std::move(what), {}, {}, {}, {} }; }

} // namespace qs
