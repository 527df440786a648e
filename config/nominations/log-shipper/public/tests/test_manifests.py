from pathlib import Path

import yaml

RBAC = {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}


def objects():
    for path in sorted(Path("deploy").glob("*.y*ml")):
        yield from (each for each in yaml.safe_load_all(path.read_text()) if each)


def test_every_manifest_is_an_object_with_a_name():
    found = list(objects())
    assert found
    for each in found:
        assert each["apiVersion"] and each["kind"] and each["metadata"]["name"]


def test_access_is_of_the_kinds_that_the_cluster_knows():
    access = [each for each in objects() if each["kind"] in RBAC]
    assert access
    assert {each["apiVersion"] for each in access} == {"rbac.authorization.k8s.io/v1"}


def test_rules_name_groups_resources_and_verbs():
    roles = [each for each in objects() if each["kind"] in {"Role", "ClusterRole"}]
    for rule in (rule for each in roles for rule in each.get("rules") or []):
        assert rule["verbs"]
        assert all(isinstance(verb, str) for verb in rule["verbs"])
