"""Clean rooms: systemd units, namespaces and trees. Spec -> termination, tree -> patch."""
