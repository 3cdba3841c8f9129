# SPDX-License-Identifier: BSD-3-Clause
"""All places of a source where one small change makes a mutant of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from clang.cindex import (
    BinaryOperator,
    Cursor,
    CursorKind,
    Diagnostic,
    Index,
    TypeKind,
)

Range = tuple[int, int]

FUNCTIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.DESTRUCTOR,
    CursorKind.CONVERSION_FUNCTION,
    CursorKind.FUNCTION_TEMPLATE,
}
SCOPES = {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE}
INTEGERS = {
    TypeKind.CHAR_U,
    TypeKind.UCHAR,
    TypeKind.USHORT,
    TypeKind.UINT,
    TypeKind.ULONG,
    TypeKind.ULONGLONG,
    TypeKind.CHAR_S,
    TypeKind.SCHAR,
    TypeKind.SHORT,
    TypeKind.INT,
    TypeKind.LONG,
    TypeKind.LONGLONG,
}
BOUNDS = {
    BinaryOperator.LT: ("<", "<="),
    BinaryOperator.LE: ("<=", "<"),
    BinaryOperator.GT: (">", ">="),
    BinaryOperator.GE: (">=", ">"),
}
COMPARISONS = {BinaryOperator.EQ: ("==", "!="), BinaryOperator.NE: ("!=", "==")}
SUMS = {BinaryOperator.Add: "+", BinaryOperator.Sub: "-"}
LEAVES = {
    CursorKind.RETURN_STMT,
    CursorKind.CONTINUE_STMT,
    CursorKind.BREAK_STMT,
    CursorKind.CXX_THROW_EXPR,
}
# A call by one of these names makes bytes or names durable.
DURABLE_WORDS = ("sync", "durable")
PLAIN_WRAPPERS = {
    CursorKind.UNEXPOSED_EXPR,
    CursorKind.PAREN_EXPR,
    CursorKind.CSTYLE_CAST_EXPR,
    CursorKind.CXX_STATIC_CAST_EXPR,
}


@dataclass(frozen=True)
class Candidate:
    """One change of one source."""

    source: str  # below src/
    function: str
    operator: str
    text: str  # of the place, with single blanks
    occurrence: int  # of the same in the function, from 0
    where: Range  # in bytes
    parts: tuple[Range, ...]  # of it, that the change needs
    change: str  # one of CHANGES

    @property
    def room(self) -> str:
        """The folder of src/, and the format."""
        parts = Path(self.source).parts
        return "/".join(parts[:2]) if parts[0] == "formats" else parts[0]

    @property
    def key(self) -> str:
        """The name that it keeps from one run to the next."""
        return f"{self.source}|{self.function}|{self.operator}|{self.text}|{self.occurrence}"

    def changed(self, parts: list[str], mutant: str) -> str:
        """Return what comes into its place."""
        return CHANGES[self.change].format(*parts, mutant=mutant)

    def rank(self, seed: int) -> str:
        """An order by chance, which others that come or go do not change."""
        return hashlib.sha256(f"{seed}|{self.key}".encode()).hexdigest()


# The change of a place: {mutant} is true in the mutant, {0} and {1} are the parts.
CHANGES = {
    "left out": "static_cast<void>({mutant} || (static_cast<void>({0}), true))",
    "not thrown": "({mutant} ? static_cast<void>(0) : {0})",
    "negated": "({mutant} != static_cast<bool>({0}))",
    "never": "(!{mutant} && static_cast<bool>({0}))",
    "always": "({mutant} || static_cast<bool>({0}))",
    "one more": "({0} + ({mutant} ? 1 : 0))",
    "zero": "({mutant} ? 0 : {0})",
    "success": "({mutant} ? iocomp::Outcome{{}} : {0})",
    "success, for braces": "({mutant} ? iocomp::Outcome{{}} : iocomp::Outcome{0})",
    **{
        f"{own} is {other}": f"({{mutant}} ? (({{0}}) {other} ({{1}})) : (({{0}}) {own} ({{1}})))"
        for own, other in [*BOUNDS.values(), *COMPARISONS.values()]
    },
    **{f"without {own}": f"({{mutant}} ? ({{0}}) : (({{0}}) {own} ({{1}})))" for own in "+-"},
}


def find(root: Path, sources: list[str], flags: list[str]) -> list[Candidate]:
    """Parse sources together, since most of the time goes into what they include.

    Args:
        root: The folder that has src/.
        sources: Paths below src/.
        flags: The flags that the compiler needs.

    Returns:
        All candidates in them.
    """
    unit = str(root / "src" / "mutants.cpp")  # it is not there
    text = "".join(f'#include "{root}/src/{source}"\n' for source in sources)
    parsed = Index.create().parse(unit, args=flags, unsaved_files=[(unit, text)])
    errors = [str(one) for one in parsed.diagnostics if one.severity >= Diagnostic.Error]
    if errors:
        raise RuntimeError(f"{sources}: {errors[0]}")
    finders = {str(root / "src" / source): Finder(root, source) for source in sources}
    for cursor in parsed.cursor.get_children():
        file = cursor.location.file
        if file and file.name in finders:
            finders[file.name].visit_outside(cursor, [])
    return [one for finder in finders.values() for one in finder.found]


class Finder:
    """Finds the candidates of one source."""

    def __init__(self, root: Path, source: str) -> None:
        """Look at one source.

        Args:
            root: The folder that has src/.
            source: A path below src/.
        """
        self.path = str(root / "src" / source)
        self.source = source
        self.bytes = (root / "src" / source).read_bytes()
        self.found: list[Candidate] = []
        self.seen: dict[tuple[str, str, str], int] = {}
        self.places: set[tuple[str, Range]] = set()

    # Declarations.

    def visit_outside(self, cursor: Cursor, scope: list[str]) -> None:
        if cursor.kind in FUNCTIONS:
            self.visit_function(cursor, scope)
            return
        inner = scope + [cursor.spelling] if cursor.kind in SCOPES else scope
        if cursor.kind in SCOPES | {CursorKind.NAMESPACE, CursorKind.UNEXPOSED_DECL}:
            for child in cursor.get_children():
                self.visit_outside(child, inner)

    def visit_function(self, cursor: Cursor, scope: list[str]) -> None:
        words = [token.spelling for token in cursor.get_tokens()]
        head = words[: words.index("{")] if "{" in words else words
        if "constexpr" in head or "consteval" in head:
            return
        parent = cursor.semantic_parent
        owner = [parent.spelling] if parent and parent.kind in SCOPES else scope[-1:]
        function = "::".join([*owner, cursor.spelling])
        children = list(cursor.get_children())
        # The compiler knows that such a function throws, and leaves out what comes instead.
        attributes = [one for one in children if one.kind.is_attribute()]
        never_returns = any(
            token.spelling == "noreturn" for one in attributes for token in one.get_tokens()
        )
        result = "noreturn" if never_returns else cursor.result_type.get_canonical().spelling
        for body in children:
            if body.kind == CursorKind.COMPOUND_STMT:
                self.visit_body(body, function, result, True)

    # Statements.

    def visit_body(self, body: Cursor, function: str, result: str, is_outermost: bool) -> None:
        children = list(body.get_children())
        for number, child in enumerate(children):
            is_last = is_outermost and number + 1 == len(children)
            self.visit_statement(child, function, result, is_last and result != "void")

    def visit_statement(self, it: Cursor, function: str, result: str, ends: bool) -> None:
        """A statement of a body. `ends`: the function needs it, since it returns something."""
        kind = it.kind
        children = list(it.get_children())
        if kind == CursorKind.COMPOUND_STMT:
            self.visit_body(it, function, result, False)
            return
        if kind == CursorKind.IF_STMT:
            self.visit_if(it, children, function)
        elif kind in (CursorKind.WHILE_STMT, CursorKind.DO_STMT):
            conditions = [one for one in children if one.kind.is_expression()]
            if len(conditions) == 1 and not self.declares(children):
                self.add("condition negated", function, conditions[0], "negated")
        elif kind == CursorKind.RETURN_STMT and children:
            self.visit_return(children[0], function, result)
        elif kind.is_expression():
            self.visit_expression_statement(it, function, result, ends)
        if kind == CursorKind.DECL_STMT:
            for child in children:
                if child.kind == CursorKind.VAR_DECL and self.is_constant(child):
                    return
        for child in children:
            if child.kind == CursorKind.CASE_STMT:
                self.visit_case(child, function, result)
            elif child.kind.is_statement():
                self.visit_statement(child, function, result, ends)
            elif kind in (
                CursorKind.IF_STMT,
                CursorKind.FOR_STMT,
                CursorKind.WHILE_STMT,
                CursorKind.CXX_FOR_RANGE_STMT,
                CursorKind.DO_STMT,
            ) and self.is_body(it, child, children):
                self.visit_statement(child, function, result, False)
            else:
                self.visit_expression(child, function)

    def visit_case(self, case: Cursor, function: str, result: str) -> None:
        for child in list(case.get_children())[1:]:  # not its value
            if child.kind == CursorKind.CASE_STMT:
                self.visit_case(child, function, result)
            else:
                self.visit_statement(child, function, result, False)

    @staticmethod
    def is_body(it: Cursor, child: Cursor, children: list[Cursor]) -> bool:
        """Return True if an expression is a statement of its own, without braces."""
        if it.kind == CursorKind.IF_STMT:
            return False  # the style has braces
        return child == children[-1] and it.kind != CursorKind.DO_STMT

    @staticmethod
    def declares(children: list[Cursor]) -> bool:
        return any(one.kind == CursorKind.VAR_DECL for one in children)

    @staticmethod
    def is_constant(variable: Cursor) -> bool:
        words = [token.spelling for token in variable.get_tokens()]
        return "constexpr" in words[:4]

    def visit_if(self, it: Cursor, children: list[Cursor], function: str) -> None:
        words = [token.spelling for _, token in zip(range(2), it.get_tokens(), strict=False)]
        conditions = [one for one in children if one.kind.is_expression()]
        if "constexpr" in words or self.declares(children) or not conditions:
            return
        condition = conditions[0]
        self.add("condition negated", function, condition, "negated")
        bodies = [one for one in children if one.kind.is_statement()]
        bodies = [one for one in bodies if one.kind != CursorKind.DECL_STMT]
        if len(bodies) == 1 and self.leaves(bodies[0]):
            self.add("check skipped", function, condition, "never")

    def leaves(self, body: Cursor) -> bool:
        last = body
        while last.kind in (CursorKind.COMPOUND_STMT, CursorKind.UNEXPOSED_EXPR):
            children = list(last.get_children())
            if not children:
                return False
            last = children[-1]
        return last.kind in LEAVES

    def visit_return(self, value: Cursor, function: str, result: str) -> None:
        if result == "bool":
            self.add("result negated", function, value, "negated")
        elif result == "iocomp::Outcome" and self.text_of(value) not in ("{}", "Outcome{}"):
            is_in_braces = self.text_of(value).startswith("{")
            change = "success, for braces" if is_in_braces else "success"
            self.add("error dropped", function, value, change)
        elif result in ("int", "long") and self.text_of(value).startswith("-"):
            self.add("error dropped", function, value, "zero")

    def visit_expression_statement(
        self, it: Cursor, function: str, result: str, ends: bool
    ) -> None:
        core = self.core(it)
        if core.kind == CursorKind.CXX_THROW_EXPR:
            if not ends and result != "noreturn" and list(core.get_children()):
                self.add("error dropped", function, it, "not thrown")
        elif core.kind == CursorKind.CALL_EXPR:
            is_assignment = core.spelling.startswith("operator") and "=" in core.spelling
            operator = "assignment deleted" if is_assignment else "call deleted"
            if not is_assignment and any(word in core.spelling for word in DURABLE_WORDS):
                operator = "sync skipped"
            self.add(operator, function, it, "left out")
        elif core.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR or (
            core.kind == CursorKind.BINARY_OPERATOR and core.binary_operator == BinaryOperator.Assign
        ):
            self.add("assignment deleted", function, it, "left out")
        elif core.kind == CursorKind.UNARY_OPERATOR and self.text_of(core)[:2] in ("++", "--"):
            self.add("assignment deleted", function, it, "left out")

    # Expressions.

    def core(self, it: Cursor) -> Cursor:
        while it.kind in PLAIN_WRAPPERS:
            children = [one for one in it.get_children() if one.kind.is_expression()]
            if len(children) != 1:
                return it
            it = children[0]
        return it

    def visit_expression(self, it: Cursor, function: str) -> None:
        kind = it.kind
        if kind == CursorKind.LAMBDA_EXPR:
            self.visit_lambda(it, function)
            return
        if kind in (CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF, CursorKind.NAMESPACE_REF):
            return
        children = list(it.get_children())
        if kind == CursorKind.BINARY_OPERATOR and len(children) == 2:
            self.visit_operator(it, children, function)
        elif kind == CursorKind.CONDITIONAL_OPERATOR and children:
            self.add("condition negated", function, children[0], "negated")
        elif kind == CursorKind.CALL_EXPR:
            self.visit_call(it, function)
        elif kind == CursorKind.VAR_DECL and self.is_constant(it):
            return
        for child in children:
            self.visit_expression(child, function)

    def visit_lambda(self, it: Cursor, function: str) -> None:
        words = [token.spelling for token in it.get_tokens()]
        head = words[: words.index("{")] if "{" in words else words
        if "constexpr" in head:
            return
        for child in it.get_children():
            if child.kind == CursorKind.COMPOUND_STMT:
                has_result = any(one == "return" for one in words)
                self.visit_body(child, function, "unknown" if has_result else "void", True)

    def visit_operator(self, it: Cursor, children: list[Cursor], function: str) -> None:
        own = it.binary_operator
        a, b = children
        if own in (BinaryOperator.LAnd, BinaryOperator.LOr):
            change = "always" if own == BinaryOperator.LAnd else "never"
            self.add("check skipped", function, a, change)
            self.add("check skipped", function, b, change)
        elif own in BOUNDS and self.is_integer(a) and self.is_integer(b):
            self.add("bound off by one", function, it, " is ".join(BOUNDS[own]), children)
        elif own in COMPARISONS:
            self.add("condition negated", function, it, " is ".join(COMPARISONS[own]), children)
        elif own in SUMS and self.is_integer(it):
            if self.core(b).kind == CursorKind.INTEGER_LITERAL:
                self.add("bound off by one", function, it, f"without {SUMS[own]}", children)
            else:
                self.add("bound off by one", function, b, "one more")

    @staticmethod
    def is_integer(it: Cursor) -> bool:
        return it.type.get_canonical().kind in INTEGERS

    def visit_call(self, it: Cursor, function: str) -> None:
        is_sync = any(word in it.spelling for word in DURABLE_WORDS)
        result = it.type.get_canonical()
        if is_sync and result.kind == TypeKind.INT:
            self.add("sync skipped", function, it, "zero")
        elif is_sync and result.spelling == "iocomp::Outcome":
            self.add("sync skipped", function, it, "success")

    # Candidates.

    def range_of(self, it: Cursor) -> Range | None:
        start, end = it.extent.start, it.extent.end
        for place in (start, end):
            if place.file is None or place.file.name != self.path:
                return None
        return (start.offset, end.offset)

    def text_of(self, it: Cursor) -> str:
        where = self.range_of(it)
        return "" if where is None else " ".join(self.bytes[slice(*where)].decode().split())

    def add(
        self,
        operator: str,
        function: str,
        it: Cursor,
        change: str,
        operands: list[Cursor] | None = None,
    ) -> None:
        ranges = [self.range_of(one) for one in [it, *(operands or [it])]]
        known = [one for one in ranges if one is not None and one[0] < one[1]]
        if len(known) < len(ranges) or (operator, known[0]) in self.places:
            return
        self.places.add((operator, known[0]))
        text = " ".join(self.bytes[slice(*known[0])].decode().split())
        key = (function, operator, text)
        occurrence = self.seen.get(key, 0)
        self.seen[key] = occurrence + 1
        self.found.append(
            Candidate(
                self.source,
                function,
                operator,
                text,
                occurrence,
                where=known[0],
                parts=tuple(known[1:]),
                change=change,
            )
        )
