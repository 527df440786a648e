"""Hidden: a drawing shows the table as it is now."""

import pytest
from texttable import Texttable


def two_columns(**options):
    table = Texttable(**options)
    table.add_rows([["a", "b"], ["1", "2"]])
    return table


def widths(drawing):
    """Tell the width of each column's cells from the first rule."""
    rule = drawing.splitlines()[0]
    return [len(part) - 2 for part in rule.strip("+").split("+")]


def test_a_longer_row_widens_its_column():
    table = two_columns()
    table.draw()
    table.add_row(["longer", "x"])
    assert table.draw() == (
        "+--------+---+\n"
        "|   a    | b |\n"
        "+========+===+\n"
        "| 1      | 2 |\n"
        "+--------+---+\n"
        "| longer | x |\n"
        "+--------+---+"
    )


def test_many_rows_at_once_widen_their_columns():
    table = two_columns()
    table.draw()
    table.add_rows([["333", "4444"], ["5", "66666"]], header=False)
    assert widths(table.draw()) == [3, 5]


def test_each_of_many_drawings_fits_its_rows():
    table = Texttable()
    table.add_rows([["a"], ["1"]])
    seen = []
    for length in (3, 6, 9):
        table.add_row(["x" * length])
        seen.append(widths(table.draw())[0])
    assert seen == [3, 6, 9]


def test_a_longer_header_widens_its_column():
    table = two_columns()
    table.draw()
    table.header(["wide head", "b"])
    assert table.draw().splitlines()[1] == "| wide head | b |"


def test_a_shorter_header_narrows_its_column():
    table = Texttable()
    table.header(["a very wide head", "b"])
    table.add_row(["1", "2"])
    table.draw()
    table.header(["a", "b"])
    assert widths(table.draw()) == [1, 1]


def test_a_smaller_maximum_wraps():
    table = Texttable()
    table.add_rows([["a", "b"], ["some long text here", "2"]])
    table.draw()
    table.set_max_width(16)
    assert [line[2:6] for line in table.draw().splitlines()[3:7]] == ["some", "long", "text", "here"]


def test_a_larger_maximum_unwraps():
    table = Texttable(max_width=16)
    table.add_rows([["a", "b"], ["some long text here", "2"]])
    table.draw()
    table.set_max_width(80)
    assert widths(table.draw()) == [19, 1]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(["a", "b"], ["aaaa", "bbbb"], [4, 4]), (["aaaa", "b"], ["a", "b"], [1, 1])],
)
def test_an_emptied_table_forgets_its_widths(before, after, expected):
    table = Texttable()
    table.add_rows([before, ["1", "2"]])
    table.draw()
    table.reset()
    table.add_rows([after, ["1", "2"]])
    assert widths(table.draw()) == expected


def test_columns_without_borders_are_measured_anew():
    table = Texttable()
    table.set_deco(Texttable.VLINES)
    table.add_row(["abcdef", "x"])
    table.draw()
    table.reset()
    table.add_row(["q", "x"])
    assert table.draw() == "q | x"


def test_chosen_widths_count_at_once():
    table = Texttable()
    table.add_rows([["a", "b"], ["hello", "2"]])
    table.set_cols_width([3, 4])
    assert widths(table.draw()) == [3, 4]


def test_chosen_widths_outlive_more_rows():
    table = Texttable()
    table.add_rows([["a", "b"], ["hello", "2"]])
    table.set_cols_width([3, 4])
    table.draw()
    table.add_row(["much longer", "x"])
    assert widths(table.draw()) == [3, 4]


def test_chosen_widths_outlive_a_reset():
    table = Texttable()
    table.add_rows([["a", "b"], ["hello", "2"]])
    table.set_cols_width([6, 4])
    table.draw()
    table.reset()
    table.add_rows([["c", "d"], ["1", "2"]])
    assert widths(table.draw()) == [6, 4]


def test_widths_chosen_after_a_drawing_count():
    table = Texttable()
    table.add_rows([["a", "b"], ["hello", "2"]])
    table.draw()
    table.set_cols_width([8, 4])
    assert table.draw().splitlines()[3] == "| hello    | 2    |"


def test_drawing_twice_is_the_same():
    table = two_columns()
    first = table.draw()
    assert (table.draw() == first) is True


def test_other_characters_are_used_everywhere():
    table = two_columns()
    table.draw()
    table.set_chars(["*", "!", "#", "~"])
    assert table.draw() == "#***#***#\n! a ! b !\n#~~~#~~~#\n! 1 ! 2 !\n#***#***#"


def test_widths_must_be_positive():
    table = two_columns()
    with pytest.raises(ValueError):
        table.set_cols_width([0, 1])


def test_an_empty_table_is_no_text():
    assert Texttable().draw() is None
