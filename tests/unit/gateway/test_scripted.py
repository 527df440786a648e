"""Scenario files and the provider that plays them."""

import json
from pathlib import Path

import httpx
import pytest

from runner.errors import DocumentError, DocumentErrors
from runner.gateway.scenario import Answer, Scenario, Step, When
from runner.gateway.scripted import load_scenarios, parse_scenario, scripted_provider

PROBE = Step(when=When(contains="exactly: hi"), answer=Answer(text="hi"))
STEPS = (PROBE, Step(answer=Answer(text="one")), Step(answer=Answer(text="two")))


def conversation(prompt: str, turns: int) -> list[dict[str, str]]:
    said = [{"role": "assistant", "content": "x"}, {"role": "user", "content": "go on"}] * turns
    return [{"role": "system", "content": "s"}, {"role": "user", "content": prompt}, *said]


def ask(base_url: str, model: str, messages: list[dict[str, str]]) -> httpx.Response:
    body = {"model": model, "messages": messages}
    return httpx.post(f"{base_url}/chat/completions", json=body, trust_env=False, verify=False)  # noqa: S501 - plain http


def test_conversations_are_told_apart_by_their_first_words_and_steps_by_the_turn() -> None:
    with scripted_provider({"m": Scenario(model="m", steps=STEPS)}) as provider:
        said = [
            ask(provider.base_url, "m", conversation(prompt, turns)).json()["choices"][0]["message"]["content"]
            for prompt, turns in [("work", 0), ("work", 1), ("Reply with exactly: hi", 0), ("work", 0)]
        ]
        assert said == ["one", "two", "hi", "one"]


def test_an_answer_can_hold_what_stands_in_the_question() -> None:
    answer = Answer(text='{"said": "{{word}}", "left": "{{none}}"}', fills={"word": "say (.*)!", "none": "never (.)"})
    with scripted_provider({"m": Scenario(model="m", steps=(Step(answer=answer),))}) as provider:
        said = ask(provider.base_url, "m", conversation('say "hi" \\ {{none}}!', 0)).json()["choices"][0]["message"]
        assert json.loads(said["content"]) == {"said": '"hi" \\ {{none}}', "left": "{{none}}"}


def test_a_script_that_is_over_says_so() -> None:
    with scripted_provider({"m": Scenario(model="m", steps=STEPS)}) as provider:
        answer = ask(provider.base_url, "m", conversation("work", 2))
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "script_over")


def test_everything_is_labelled() -> None:
    with scripted_provider({"m": Scenario(model="m", steps=STEPS)}) as provider:
        answers = [
            ask(provider.base_url, "m", conversation("work", 0)),
            ask(provider.base_url, "m", conversation("work", 9)),
            ask(provider.base_url, "other", []),
            httpx.get(f"{provider.base_url}/models", trust_env=False, verify=False),  # noqa: S501 - plain http
        ]
        assert [answer.headers["x-cleanroom-scripted"] for answer in answers] == ["1"] * 4
        assert [answer.status_code for answer in answers] == [200, 400, 404, 200]


def test_it_is_gone_when_left() -> None:
    with scripted_provider({}) as provider:
        base_url = provider.base_url
    with pytest.raises(httpx.ConnectError):
        ask(base_url, "m", [])


def written(**changes: object) -> bytes:
    plain = {"schema": "cleanroom/scenario/1", "model": "m", "steps": [{"answer": {"text": "hi"}}]}
    return json.dumps({**plain, **changes}).encode()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        pytest.param(b"{", "line 1, column 2", id="not JSON"),
        pytest.param(written().replace(b'"model": "m"', b'"model": "m", "model": "n"'), "model", id="a key twice"),
        pytest.param(written(note="a\0b"), "note", id="a control character"),
        pytest.param(written(steps=[]), "steps", id="no steps"),
        pytest.param(written(colour="red"), "colour", id="unknown key"),
        pytest.param(written(schema="cleanroom/scenario/2"), "schema", id="another version"),
        pytest.param(written(steps=[{}]), "steps[0]", id="a step that says nothing"),
        pytest.param(written(steps=[{"answer": {}, "raw": {"body": ""}}]), "steps[0]", id="says two things"),
        pytest.param(written(steps=[{"fail": {"status": 503, "times": 1}}]), "steps[0]", id="and then nothing"),
        pytest.param(
            written(steps=[{"answer": {"tool_calls": [{"name": "x"}]}}]),
            "steps[0].answer.tool_calls[0]",
            id="a call without arguments",
        ),
    ],
)
def test_a_broken_file_names_its_field(data: bytes, field: str) -> None:
    with pytest.raises((DocumentError, DocumentErrors)) as caught:
        parse_scenario(data, "x.json")
    assert str(caught.value).startswith(f"x.json: {field}: found ")


def test_a_folder_is_read_by_model_and_no_model_twice(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(written())
    assert list(load_scenarios(tmp_path)) == ["m"]
    (tmp_path / "b.json").write_bytes(written())
    with pytest.raises(DocumentError, match="no other scenario"):
        load_scenarios(tmp_path)
