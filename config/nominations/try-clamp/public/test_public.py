from clamp import clamp
def test_low():
    assert clamp(1, 2, 3) == 2
def test_high():
    assert clamp(9, 2, 3) == 3
