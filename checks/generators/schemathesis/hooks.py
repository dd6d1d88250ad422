"""Names the type of the uploaded file's part: without one the mock (Prism) ends with an exception."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.media_type == "multipart/form-data":
        case.multipart_content_types = {"file": "application/octet-stream"}
