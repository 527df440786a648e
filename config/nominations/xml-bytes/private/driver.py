"""What `unparse` must write, asked from outside: the expected texts never stand where the submission runs."""

from cleanroom_driver import RaisedError, case, same, submitted

unparse, parse = submitted("xmltodict:unparse"), submitted("xmltodict:parse")


def written(document: object, **options: object) -> object:
    """Give what is written without a document's head."""
    return unparse(document, full_document=False, **options)


def refused(document: object, **options: object) -> RaisedError | None:
    """Give what is raised, or None."""
    try:
        unparse(document, **options)
    except RaisedError as error:
        return error
    return None


with case("bytes in an element"):
    assert same(written({"a": b"hello"}), "<a>hello</a>")
    assert same(written({"r": {"a": b"one", "b": "two"}}), "<r><a>one</a><b>two</b></r>")
with case("bytes in an attribute"):
    assert same(written({"a": {"@x": b"1", "#text": "t"}}), '<a x="1">t</a>')
    assert same(written({"a": {"@x": b"<&>"}}), '<a x="&lt;&amp;&gt;"></a>')
with case("a list of bytes"):
    assert same(written({"r": {"i": [b"one", b"two"]}}), "<r><i>one</i><i>two</i></r>")
    assert same(written({"r": {"i": (b"one", "two")}}), "<r><i>one</i><i>two</i></r>")
with case("another encoding"):
    assert same(written({"a": "caf\u00e9".encode("latin-1")}, encoding="latin-1"), "<a>caf\u00e9</a>")
with case("bytes that cannot be read"):
    assert same(written({"a": b"\xff\xfe"}), "<a>\ufffd\ufffd</a>")
    assert same(written({"a": {"@x": b"o\xffk"}}), '<a x="o\ufffdk"></a>')
with case("a chosen handler"):
    assert same(written({"a": b"\xffz"}, bytes_errors="ignore"), "<a>z</a>")
    strict = refused({"a": b"\xff"}, bytes_errors="strict")
    assert strict is not None
    assert "UnicodeDecodeError" in strict.kinds
with case("an unknown handler"):
    unknown = refused({"a": b"x"}, bytes_errors="nope")
    assert unknown is not None
    assert "ValueError" in unknown.kinds
with case("empty bytes"):
    assert same(written({"a": b""}), "<a></a>")
with case("bytes beside expand_iter"):
    assert same(written({"a": b"x"}, expand_iter="i"), "<a>x</a>")
with case("a namespace in bytes"):
    assert same(written({"a": {"@xmlns": {"p": b"urn:x"}}}), '<a xmlns:p="urn:x"></a>')
with case("text and numbers as before"):
    for value, text in (("hello", "hello"), (None, ""), (True, "true"), (1.5, "1.5"), ("", ""), (7, "7")):
        assert same(written({"a": value}), f"<a>{text}</a>")
    assert same(written({"a": {"@x": None}}), '<a x=""></a>')
with case("lists as before"):
    assert same(written({"r": {"a": [1, 2]}}), "<r><a>1</a><a>2</a></r>")
    assert same(written({"r": {"a": (1, 2)}}), "<r><a>1</a><a>2</a></r>")
    nested = written({"r": {"a": [[1, 2], [3]]}}, expand_iter="i")
    assert same(nested, "<r><a><i>1</i><i>2</i></a><a><i>3</i></a></r>")
with case("markup is still escaped"):
    assert same(written({"a": "<&>"}), "<a>&lt;&amp;&gt;</a>")
    assert same(written({"a": b"<&>"}), "<a>&lt;&amp;&gt;</a>")
with case("comments as before"):
    assert same(written({"a": {"#comment": "note"}}), "<a><!--note--></a>")
with case("pretty printing as before"):
    assert same(written({"a": {"b": {"c": "d"}}}, pretty=True), "<a>\n\t<b>\n\t\t<c>d</c>\n\t</b>\n</a>")
with case("reading as before"):
    assert same(parse(b"<a>1</a>"), {"a": "1"})
    assert same(unparse({"a": "1"}), '<?xml version="1.0" encoding="utf-8"?>\n<a>1</a>')
with case("documents that are refused"):
    two = refused({"a": "1", "b": "2"})
    assert two is not None
    assert two.kind == "ValueError"
    blank = refused({"a b": "1"})
    assert blank is not None
    assert blank.kind == "ValueError"
