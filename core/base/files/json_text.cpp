// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files/json_text.h"

#include <unordered_set>
#include <vector>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

/// Takes what nlohmann's parser finds, which does not recurse, and builds values of it as long as the limits allow.
class JsonBuilder {
public:
    explicit JsonBuilder(const JsonLimits& limits)
        : m_limits(limits)
    {
    }
    Json take() { return std::move(m_root); }
    const std::string& fault() const { return m_fault; }

    // What the parser calls; false stops it.
    bool null() { return add(nullptr); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(Json::number_integer_t value) { return add(value); }
    bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
    bool number_float(Json::number_float_t value, const std::string& /*text*/) { return add(value); }
    bool string(std::string& value) { return add(std::move(value)); }
    bool binary(Json::binary_t& /*value*/) { return false; } // not in texts
    bool start_object(size_t /*size*/) { return open(Json::object()); }
    bool start_array(size_t /*size*/) { return open(Json::array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string& name)
    {
        if (!m_open.back().keys.insert(name).second)
            return fail("says the key '" + name + "' twice");
        m_key = std::move(name);
        return true;
    }
    bool parse_error(size_t position, const std::string& /*token*/, const std::exception& /*why*/)
    {
        return fail("is no JSON at byte " + std::to_string(position));
    }

private:
    /// An array or object whose end was not seen yet.
    struct Open {
        Json* value;
        std::unordered_set<std::string> keys;
    };
    bool fail(std::string why)
    {
        if (m_fault.empty())
            m_fault = std::move(why);
        return false;
    }
    bool add(Json value) { return put(std::move(value)) != nullptr; }
    bool open(Json value)
    {
        if (m_open.size() == m_limits.depth)
            return fail("is JSON nested deeper than " + std::to_string(m_limits.depth) + " levels");
        Json* const at = put(std::move(value));
        if (at)
            m_open.push_back({ at, {} });
        return at != nullptr;
    }
    bool close()
    {
        m_open.pop_back();
        return true;
    }
    /// Where it is now; null when there are too many.
    Json* put(Json value)
    {
        if (++m_values > m_limits.values) {
            fail("is JSON of more than " + std::to_string(m_limits.values) + " values");
            return nullptr;
        }
        if (m_open.empty())
            return &(m_root = std::move(value));
        Json& parent = *m_open.back().value;
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        // The key is new: no need to look for it, which takes long in an object that keeps the order.
        auto& members = parent.get_ref<Json::object_t&>();
        static_cast<Json::object_t::Container&>(members).emplace_back(std::move(m_key), std::move(value));
        return &members.back().second;
    }

    const JsonLimits m_limits;
    Json m_root;
    std::string m_key, m_fault;
    std::vector<Open> m_open;
    size_t m_values = 0;
};

} // namespace

Result<Json> readJson(std::string_view text, const JsonLimits& limits)
{
    if (text.size() > limits.bytes)
        return badInput("is JSON longer than " + std::to_string(limits.bytes) + " bytes");
    JsonBuilder builder(limits);
    if (!Json::sax_parse(text.begin(), text.end(), &builder))
        return badInput(builder.fault());
    return builder.take();
}

uint64_t naturalOf(const Json& value) { return value.get_ref<const Json::number_unsigned_t&>(); }

uint64_t naturalAt(const Json& object, const char* key, uint64_t absent)
{
    const auto it = object.find(key);
    return it == object.end() ? absent : naturalOf(*it);
}

int64_t wholeOf(const Json& value)
{
    if (value.is_number_unsigned() && naturalOf(value) > static_cast<uint64_t>(INT64_MAX))
        return value.get_ref<const Json::number_float_t&>(); // throws
    if (value.is_number_unsigned())
        return static_cast<int64_t>(naturalOf(value));
    return value.get_ref<const Json::number_integer_t&>();
}

} // namespace qs
