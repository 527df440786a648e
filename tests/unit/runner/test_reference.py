"""The reference pages are what the code says, and the code says enough."""

import inspect
import re
from typing import Literal

import click
import pytest
from pydantic import JsonValue
from pydantic.fields import FieldInfo

from runner.cli import manual
from runner.cli.app import app
from runner.config import PhaseLimits
from runner.documents.model import Identifier, Shape
from runner.documents.nomination import NominationSpec
from runner.errors import RunnerError
from runner.fields import HostPath
from runner.reference.docstrings import field_docs, plain
from runner.reference.pages import configuration_page, documents_page, people_models, undescribed
from runner.reference.words import default_words, type_words
from runner.schemas import documents


@pytest.mark.parametrize("model", people_models(), ids=lambda model: model.__name__)
def test_of_every_field_that_people_write_something_is_said(model: type[Shape]) -> None:
    assert undescribed(model) == ()


def test_every_document_has_a_section_and_every_link_within_a_page_leads_to_one() -> None:
    pages = {"configuration.md": configuration_page(), "documents.md": documents_page()}
    anchors = {name: set(re.findall(r"^##+ (\S+)$", page.lower(), re.MULTILINE)) for name, page in pages.items()}
    assert {model.SCHEMA_NAME for model in documents()} <= set().union(*anchors.values())
    links = [(target or name, place) for name, page in pages.items() for target, place in LINK.findall(page)]
    assert links
    assert [(target, place) for target, place in links if place not in anchors[target]] == []


LINK = re.compile(r"\]\((configuration\.md|documents\.md|)#([^)]+)\)")


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        pytest.param(bool, "true or false", id="bool"),
        pytest.param(int | None, "whole number or null", id="or-null"),
        pytest.param(Identifier, "identifier", id="named"),
        pytest.param(tuple[HostPath, ...], "list of host path", id="list"),
        pytest.param(Literal["a", "b", "c"], "`a`, `b` or `c`", id="choice"),
        pytest.param(dict[str, JsonValue], "table: text to any JSON", id="table"),
        pytest.param(PhaseLimits, "<PhaseLimits>", id="part"),
    ],
)
def test_a_type_in_words(hint: object, words: str) -> None:
    assert type_words(hint, lambda model: f"<{model.__name__}>") == words


@pytest.mark.parametrize(
    ("field", "words"),
    [
        pytest.param(NominationSpec.model_fields["title"], "must be given", id="none"),
        pytest.param(NominationSpec.model_fields["axes"], "empty", id="empty"),
        pytest.param(NominationSpec.model_fields["root"], '`"."`', id="text"),
        pytest.param(NominationSpec.model_fields["loop"], "its defaults", id="part"),
        pytest.param(NominationSpec.model_fields["fixture"], "kind `folder`", id="kind"),
        pytest.param(PhaseLimits.model_fields["memory_bytes"], "2 GiB", id="size"),
    ],
)
def test_a_default_in_words(field: FieldInfo, words: str) -> None:
    assert default_words(field) == words


def test_what_is_said_below_a_field_is_found_and_a_bases_words_count_too() -> None:
    class Below(PhaseLimits):
        pass

    assert field_docs(Below)["wall_ms"] == "Time from the go to the end."


def test_html_and_columns_do_not_break_a_table() -> None:
    assert plain("a <b> in `<c>`,\n  or d | e") == r"a &lt;b> in `<c>`, or d \| e"


def test_every_command_and_every_option_is_told_with_its_help() -> None:
    page = manual.commands_page()
    context = click.Context(app, info_name="runner")
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        told = inspect.cleandoc(command.help or "")
        assert f"## runner {name}\n\n{told}\n" in page
        for option in command.params:
            if isinstance(option, click.Argument):
                assert f" {option.make_metavar(context)}\n" in page
                continue
            assert isinstance(option, click.Option)
            assert option.hidden or (option.help and option.help in page)


def _below(kind: type[RunnerError]) -> set[type[RunnerError]]:
    return {kind}.union(*(_below(each) for each in kind.__subclasses__()))


def test_every_exit_code_is_explained() -> None:
    assert {each.exit_code for each in _below(RunnerError)} | {0, 130} == set(manual.EXIT_CODES)
