"""How the scripted provider spells its answers in each protocol."""
