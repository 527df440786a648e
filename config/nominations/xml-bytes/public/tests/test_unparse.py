import xmltodict


def test_text():
    assert xmltodict.unparse({"a": "hello"}, full_document=False) == "<a>hello</a>"


def test_text_node_in_bytes():
    assert xmltodict.unparse({"a": {"#text": b"text"}}, full_document=False) == "<a>text</a>"


def test_round_trip():
    document = {"r": {"a": ["1", "2"], "b": {"@x": "y", "#text": "t"}}}
    assert xmltodict.parse(xmltodict.unparse(document)) == document
