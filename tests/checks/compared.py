# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts that a program in Python compares with: in comparisons, in the first two arguments of unittest's methods
assert..., and in startswith and endswith. A name has the texts that the function, or the module, gives it by `=` or in
a loop; a parameter has those of the calls in the same file. What other functions are called with is not compared."""
import ast

STRINGS = {"startswith", "endswith"}
ALONE = {"assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone"}  # behind it stands what is said
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def texts_compared(source):
    """Constants of the syntax tree."""
    tree = ast.parse(source)
    globals_ = names_in(tree, {})
    scopes = [(scope, names_in(scope, globals_)) for scope in functions_in(tree)] + [(tree, globals_)]
    asked, found = {}, []
    for scope, names in scopes:
        for part in (part for node in nodes_in(scope) for part in sides(node)):
            for one in texts(part, names):
                if isinstance(one, ast.Constant):
                    found.append(one)
                elif isinstance(scope, FUNCTION):
                    asked.setdefault(called(scope), set()).update(places(scope, one.id))
    for scope, names in scopes:
        for call in nodes_in(scope):
            for part in given(call, asked.get(ast.unparse(call.func), ()) if isinstance(call, ast.Call) else ()):
                found += [one for one in texts(part, names) if isinstance(one, ast.Constant)]
    return found


def functions_in(node):
    """The outermost ones."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTION):
            yield child
        else:
            yield from functions_in(child)


def nodes_in(scope):
    """Of a module those outside of functions."""
    for child in ast.iter_child_nodes(scope):
        if not (isinstance(child, FUNCTION) and not isinstance(scope, FUNCTION)):
            yield child
            yield from ast.walk(child) if isinstance(scope, FUNCTION) else nodes_in(child)


def name_of(call):
    function = getattr(call, "func", None)
    return getattr(function, "attr", None) or getattr(function, "id", None)


def called(function):
    """As calls in the same file name it."""
    first = function.args.args[:1]
    return f"self.{function.name}" if first and first[0].arg == "self" else function.name


def sides(node):
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    name = name_of(node) or ""
    if name in STRINGS:
        return node.args[:1]
    return node.args[:1 if name in ALONE else 2] if name.startswith("assert") else []


def names_in(scope, outer):
    """What names may stand for, as lists of nodes."""
    names = dict(outer)
    for node in nodes_in(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                bind(names, target, node.value)
        elif isinstance(node, (ast.For, ast.comprehension)):
            for value in elements(node.iter, names):
                bind(names, node.target, value)
    return names


def bind(names, target, value):
    if isinstance(target, ast.Name):
        names[target.id] = names.get(target.id, []) + [value]
    elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        for one, part in zip(target.elts, value.elts):
            bind(names, one, part)


def elements(node, names):
    """What a loop goes over, where it is written down."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        yield from node.elts
    elif isinstance(node, ast.Dict):
        yield from (ast.Tuple(pair) for pair in zip(node.keys, node.values) if pair[0])
    elif isinstance(node, ast.BinOp):
        yield from (*elements(node.left, names), *elements(node.right, names))
    elif isinstance(node, ast.Name):
        for value in names.get(node.id, []):
            yield from elements(value, {})
    elif name_of(node) == "items":
        yield from elements(node.func.value, names)


def texts(node, names):
    """Constants in a node, and names of which nothing is known."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node
    elif isinstance(node, ast.Name):
        if node.id in names:
            inner = {name: values for name, values in names.items() if name != node.id}
            for value in names[node.id]:
                yield from texts(value, inner)
        else:
            yield node
    elif isinstance(node, (ast.Compare, ast.Lambda)):
        return
    elif isinstance(node, ast.Subscript):
        yield from texts(node.value, names)
    else:
        is_call = isinstance(node, ast.Call) and name_of(node) != "escape"
        for child in [node.func] if is_call else ast.iter_child_nodes(node):
            yield from texts(child, names)


def places(function, name):
    """Of a parameter: which arguments of a call, as bounds, and its name."""
    parameters = [one.arg for one in function.args.args if one.arg not in ("self", "cls")]
    if name in parameters:
        yield from ((parameters.index(name), parameters.index(name) + 1), name)
    elif name in [one.arg for one in function.args.kwonlyargs]:
        yield name
    elif function.args.vararg and function.args.vararg.arg == name:
        yield len(parameters), None


def given(call, wanted):
    for place in wanted:
        if isinstance(place, str):
            yield from (one.value for one in call.keywords if one.arg == place)
        else:
            yield from call.args[slice(*place)]
