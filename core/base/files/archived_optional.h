// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace qs {

/// A thing that may not be there, in one of the streams of byte_stream.h: whether it is, then what `each` says of it.
template <class Stream, class Maybe, class Each> void archiveOptional(Stream& stream, Maybe& maybe, const Each& each)
{
    bool present = maybe.has_value();
    stream.item(present);
    if constexpr (Stream::kReads)
        if (present)
            maybe.emplace();
    if (present)
        each(*maybe);
}

} // namespace qs
