"""Code actions: fixes of findings, resolved when one is chosen, and all safe ones at once; and decisions.

A fix is an edit. A decision is a command, with what the person saw as its argument: it is decided anew when it is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from memidex.lsp.wire import ContentModified

if TYPE_CHECKING:
    from memidex.editor.offers import Offer
    from memidex.lsp.server import App
    from memidex.rules.rule import FileEdit, Finding

FIX_ALL = "source.fixAll.memidex"
DECISION = "source.memidex"
"""The kind of decisions anywhere in a record; where a finding asks for one it is a quick fix."""


def register(app: App) -> None:
    server = app.server

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, DECISION, FIX_ALL], resolve_provider=True),
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction] | list[types.Command]:
        session = app.session
        path = session.path(params.text_document.uri)
        if path is None:
            return []
        await session.report(path)
        scene = app.scene()
        span = scene.span(path, params.range)
        every = session.findings(path)
        here = [finding for finding in every if finding.span.start <= span.end and span.start <= finding.span.end]
        actions = await decisions(app, params, span.start, here)
        if wants(params.context.only, types.CodeActionKind.QuickFix):
            for finding in here:
                actions += fixes(app, path, finding, params.context.diagnostics)
        actions.sort(key=lambda action: action.kind == DECISION)
        # Fix-all is offered when it is asked for, as an editor does when it saves, and not in every menu.
        if params.context.only and wants(params.context.only, FIX_ALL):
            edits = safe_edits(every)
            if edits:
                title = "Fix all safe memidex findings in this file"
                actions.append(types.CodeAction(title, FIX_ALL, edit=app.edit(edits)))
        said = app.capability("text_document", "code_action")
        if said and not said.code_action_literal_support:
            return [action.command for action in actions if action.command]  # such a client knows commands alone
        return actions

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve_action(params: types.CodeAction) -> types.CodeAction:
        data: object = params.data
        if params.edit is not None or not isinstance(data, dict):
            return params
        wanted = cast(dict[str, Any], data)
        path = str(wanted.get("path"))
        await app.session.report(path)
        for finding in app.session.findings(path):
            for fix in finding.fixes:
                if key(app, path, finding) == wanted.get("finding") and fix.title == params.title:
                    params.edit = app.edit(fix.edits)
                    return params
        raise ContentModified("the text has changed; ask for the actions again")


async def decisions(
    app: App, params: types.CodeActionParams, offset: int, findings: Sequence[Finding]
) -> list[types.CodeAction]:
    """What can be decided on the record at an offset: as a quick fix where one of these findings asks for it.

    What an editor runs unasked, such as when it saves, gets none.
    """
    only = params.context.only
    unasked = only is not None and params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
    if unasked or not (wants(only, types.CodeActionKind.QuickFix) or wants(only, DECISION)):
        return []
    seen = await app.seen(params.text_document.uri)
    if seen is None:
        return []

    def answer() -> list[Offer]:
        from memidex.editor.offers import offers
        from memidex.lsp.deciding import actor, policy

        return offers(seen.view, offset, actor(), policy(app), datetime.now(UTC))

    actions: list[types.CodeAction] = []
    for offer in await app.session.away(answer):
        causes = [finding for finding in findings if finding.rule.name in offer.rules]
        kind = types.CodeActionKind.QuickFix if causes else DECISION
        if not wants(only, kind):
            kind = DECISION  # a menu of these alone has all of them
        if not wants(only, kind):
            continue
        shown: list[types.Diagnostic] = []
        for finding in causes if kind != DECISION else ():
            place = seen.here(finding.span)
            shown += [
                item for item in params.context.diagnostics if item.range == place and item.code == finding.rule.code
            ]
        actions.append(
            types.CodeAction(
                offer.title,
                kind,
                diagnostics=shown or None,
                is_preferred=(offer.preferred and kind != DECISION) or None,
                command=types.Command(
                    offer.title, offer.command, tooltip=offer.impact or None, arguments=[offer.argument]
                ),
            )
        )
    return actions


def wants(only: Iterable[object] | None, kind: str) -> bool:
    """Whether a client that asks for `only` these kinds wants this one; a kind holds what is below it."""
    if only is None:
        return True
    kinds = [str(getattr(item, "value", item)) for item in only]
    kind = str(getattr(kind, "value", kind))
    return any(not item or kind == item or kind.startswith(item + ".") for item in kinds)


def key(app: App, path: str, finding: Finding) -> list[Any]:
    """What tells a finding from the others of its file, and from the same one after the text has changed."""
    document = app.session.document(path)
    version = document.version if document else None
    return [finding.rule.code, finding.span.start, finding.span.end, finding.message, version]


def fixes(app: App, path: str, finding: Finding, shown: Iterable[types.Diagnostic]) -> list[types.CodeAction]:
    """The actions for one finding, with their edits where the client cannot ask for these later."""
    if not finding.fixes:
        return []
    place = app.scene().range(path, finding.span)
    causes = [item for item in shown if item.range == place and item.code == finding.rule.code]
    properties: Any = app.capability("text_document", "code_action", "resolve_support", "properties") or ()
    lazily = "edit" in properties and app.capability("text_document", "code_action", "data_support")
    actions: list[types.CodeAction] = []
    for index, fix in enumerate(finding.fixes):
        actions.append(
            types.CodeAction(
                fix.title,
                types.CodeActionKind.QuickFix,
                diagnostics=causes or None,
                is_preferred=(fix.preferred and index == 0) or None,
                edit=None if lazily else app.edit(fix.edits),
                data={"path": path, "finding": key(app, path, finding)} if lazily else None,
            )
        )
    return actions


def safe_edits(findings: Iterable[Finding]) -> list[FileEdit]:
    """The edits of all safe fixes that can be made together: of two that touch one place the first."""
    taken: list[FileEdit] = []
    for finding in findings:
        fix = next((fix for fix in finding.fixes if fix.safe), None)
        if fix and not any(touch(one, two) for one in fix.edits for two in taken):
            taken += fix.edits
    return taken


def touch(one: FileEdit, two: FileEdit) -> bool:
    """Whether two edits cannot be made together: they overlap, or both write at one place."""
    if one.path != two.path:
        return False
    return one.span == two.span or (one.span.start < two.span.end and two.span.start < one.span.end)
