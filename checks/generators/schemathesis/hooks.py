"""What is left out of the requests because the mock (Prism) cannot take it, whatever the document says."""

import forms  # for its filter
import schemathesis

# Prism is a JavaScript program: it rounds larger integers, and refuses what it rounds past the last of 64 bits.
LARGEST = 2**53 - 1


@schemathesis.hook
def before_call(context, case, kwargs):
    """Names the type of the uploaded file's part, without which Prism ends with an exception; caps integers."""
    if case.media_type == "multipart/form-data":
        case.multipart_content_types = {"file": "application/octet-stream"}
    # A body that is set anew is judged anew, so it is set only where it changes.
    if isinstance(case.body, dict) and any(capped(value) != value for value in case.body.values()):
        case.body = {name: capped(value) for name, value in case.body.items()}


def capped(value):
    return min(value, LARGEST) if type(value) is int else value


@schemathesis.hook
def filter_body(context, body):
    """Leaves out names of parts that Prism cannot copy into a header."""
    return not isinstance(body, dict) or all(name.isascii() and name.isprintable() for name in body)
