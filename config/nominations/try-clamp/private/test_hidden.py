from clamp import clamp
def test_low():
    assert clamp(-5, 2, 3) == 2
def test_high():
    assert clamp(50, 2, 30) == 30
def test_mid():
    assert clamp(7, 2, 30) == 7
