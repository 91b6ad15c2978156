"""What schemathesis has to be told of the management API: how lines of JSON are sent."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_, value):
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace")
