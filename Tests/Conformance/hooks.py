"""What schemathesis has to know of Pushwatch, and a record of the answers it met."""

import os

import schemathesis


@schemathesis.hook
def before_load_schema(context, schema):
    """Arrays of thousands are tested elsewhere; making them here would take minutes."""
    shorten(schema)


def shorten(node):
    if isinstance(node, dict):
        if isinstance(node.get("maxItems"), int) and node["maxItems"] > 20:
            node["maxItems"] = 20
        for value in node.values():
            shorten(value)
    elif isinstance(node, list):
        for value in node:
            shorten(value)


@schemathesis.hook
def filter_case(context, case):
    """An explicit null counts as an absent field (said in the document's head), so a null is no fault; nor are items beyond the shortened lists."""
    if case.meta is None or case.meta.generation.mode.is_positive:
        return True
    return not has_null(case.body) and not has_null(case.query) and not has_long_list(case.body)


def has_null(node):
    if isinstance(node, dict):
        return any(has_null(value) for value in node.values())
    if isinstance(node, list):
        return any(has_null(value) for value in node)
    return node is None


def has_long_list(node):
    if isinstance(node, dict):
        return any(has_long_list(value) for value in node.values())
    if isinstance(node, list):
        return len(node) > 20 or any(has_long_list(value) for value in node)
    return False


@schemathesis.hook
def after_call(context, case, response):
    with open(os.environ["PUSHWATCH_CONFORMANCE_ANSWERS"], "a", encoding="utf-8") as answers:
        answers.write(f"{case.operation.method.upper()} {case.operation.path} {response.status_code}\n")
