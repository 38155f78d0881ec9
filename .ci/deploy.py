"""Renders the chart as Helm does, with sets of values that people give and some that they should not, and holds every object,
and those of deploy/kubernetes, against the schemas of Kubernetes. Started by .ci/deploy."""

import json
import re
import sys
from pathlib import Path

import helm_python as helm
import kubernetes_validate
import yaml

CHART = "deploy/helm/tessera"
# What there is no chart without.
IMAGE = "image.repository=registry.example.org/tessera"
DATABASE = "database.url=postgres://server:pw@db/tessera"
KEY = "secrets.key=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
BASE = [IMAGE, DATABASE, KEY]
# Variables of the server that whoever deploys it may set, and the keys of the secret that they are read from.
KEYS = {
    "DATABASE_URL": "database-url",
    "TESSERA_SECRET_KEY": "secret-key",
    "TESSERA_SECRET_KEY_BEFORE": "secret-key-before",
    "API_KEY": "api-key",
    "API_KEYS": "api-keys",
    "MEMORY_ENCRYPTION_KEY": "memory-encryption-key",
}

faults = []


def fault(where, what):
    faults.append(f"{where}: {what}")


class Strict(yaml.SafeLoader):
    """YAML as Kubernetes reads it: a key stands once."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        for key in {str(key) for key in keys if keys.count(key) > 1}:
            raise yaml.YAMLError(f"{key} stands twice at line {node.start_mark.line + 1}")
        return super().construct_mapping(node, deep=deep)


def documents(where, text):
    try:
        return [document for document in yaml.load_all(text, Loader=Strict) if document]
    except yaml.YAMLError as error:
        fault(where, error)
        return []


def given(sets):
    """Values as `--set` and `--values` give them."""
    values = helm.parse_set_string(",".join(one for one in sets if isinstance(one, str)))
    for one in sets:
        if not isinstance(one, str):
            merge(values, one)
    return values


def merge(into, more):
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


def of_kind(objects, kind):
    return [found for found in objects if found.get("kind") == kind]


def environment(objects):
    """The variables of the server's container: a value, or the secret's key that one is read from."""
    container = of_kind(objects, "Deployment")[0]["spec"]["template"]["spec"]["containers"][0]
    found = {}
    for variable in container.get("env", []):
        name = variable.get("name")
        if name is None or name in found:
            raise ValueError(f"a variable has no name, or {name} is given twice")
        ref = variable.get("valueFrom", {}).get("secretKeyRef")
        found[name] = (ref["name"], ref["key"], ref.get("optional", False)) if ref else variable.get("value")
    return found


def secret_of(objects):
    secrets = of_kind(objects, "Secret")
    return secrets[0]["stringData"] if secrets else {}


def check_objects(where, objects, flags):
    """What holds of every installation."""
    for found in objects:
        name = f"{where}: {found.get('kind')}"
        try:
            kubernetes_validate.validate(found, kubernetes_validate.latest_version(), strict=True)
        except kubernetes_validate.ValidationError as error:
            fault(name, f"{'/'.join(map(str, error.path))}: {error.message}")
        except Exception as error:
            fault(name, error)
    for deployment in of_kind(objects, "Deployment"):
        check_deployment(where, objects, deployment, flags)
    least = least_replicas(objects)
    for budget in of_kind(objects, "PodDisruptionBudget"):
        if "minAvailable" in budget["spec"] or least < 2:
            fault(where, "the disruption budget keeps a node from being drained")
    for scaler in of_kind(objects, "HorizontalPodAutoscaler"):
        if scaler["spec"]["minReplicas"] > scaler["spec"]["maxReplicas"]:
            fault(where, "the autoscaler's least is more than its most")


def least_replicas(objects):
    for scaler in of_kind(objects, "HorizontalPodAutoscaler"):
        return scaler["spec"]["minReplicas"]
    return of_kind(objects, "Deployment")[0]["spec"]["replicas"]


def check_deployment(where, objects, deployment, flags):
    spec = deployment["spec"]
    pod = spec["template"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    container = pod["containers"][0]
    ports = {port["name"] for port in container["ports"]}
    selectors = [spec["selector"]["matchLabels"]]
    selectors += [service["spec"]["selector"] for service in of_kind(objects, "Service")]
    selectors += [budget["spec"]["selector"]["matchLabels"] for budget in of_kind(objects, "PodDisruptionBudget")]
    if any(selector.items() - labels.items() for selector in selectors):
        fault(where, "something selects other pods than these")
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        if container[probe]["httpGet"]["port"] != "metrics" or "metrics" not in ports:
            fault(where, f"{probe} is not at the port of the metrics")
    startup = container["startupProbe"]
    if startup["periodSeconds"] * startup["failureThreshold"] < 300:
        fault(where, "a pod that waits for its database is ended")
    for service in of_kind(objects, "Service"):
        if {port["targetPort"] for port in service["spec"]["ports"]} - ports:
            fault(where, "the service leads to no port")
    for word in re.findall(r"--[a-z-]+", " ".join(container["args"])):
        if flags and word not in flags:
            fault(where, f"the program knows no {word}")
    try:
        variables = environment(objects)
    except ValueError as error:
        fault(where, error)
        return
    made = of_kind(objects, "Secret")
    for name, value in variables.items():
        if not isinstance(value, tuple):
            continue
        here = made and made[0]["metadata"]["name"] == value[0]
        if here and not value[2] and value[1] not in secret_of(objects):
            fault(where, f"{name}: the secret has no {value[1]}")


def known_flags():
    """The options of the server's program, where it is built."""
    import os
    import subprocess

    program = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "debug" / "tessera-server"
    if not program.is_file():
        print("tessera-server is not built: its options were not compared", file=sys.stderr)
        return set()
    told = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"--[a-z-]+", told))


def with_keys(objects):
    variables, secret = environment(objects), secret_of(objects)
    assert secret["api-key"] == "your-key" and json.loads(secret["api-keys"]) == {"alice": "key-alice-xxx"}
    assert variables["API_KEY"][1:] == ("api-key", True) and variables["API_KEYS"][1:] == ("api-keys", True)
    assert secret["database-url"] == "postgresql://user:pass@host:5432/db"
    assert "your-key" not in json.dumps(of_kind(objects, "Deployment"))
    assert of_kind(objects, "Ingress")[0]["spec"]["rules"][0]["host"] == "claude-memory.example.org"


def with_more(objects):
    variables = environment(objects)
    assert variables["TESSERA_LOG"] == "debug" and variables["TESSERA_RECALL_SEMANTIC"] == "off"
    assert variables["PGSSLROOTCERT"] == "/etc/ca.pem"
    container = of_kind(objects, "Deployment")[0]["spec"]["template"]["spec"]["containers"][0]
    assert container["envFrom"] == [{"secretRef": {"name": "more"}}]


def alone(objects):
    assert not of_kind(objects, "PodDisruptionBudget") and least_replicas(objects) == 1


def two(objects):
    assert of_kind(objects, "PodDisruptionBudget")[0]["spec"]["maxUnavailable"] == 1
    assert environment(objects)["TESSERA_SECRET_KEY"][1:] == ("secret-key", True)
    assert secret_of(objects)["secret-key"] == KEY.split("=")[1] and not of_kind(objects, "Ingress")


def own_secret(objects):
    assert not of_kind(objects, "Secret")
    assert environment(objects)["DATABASE_URL"] == ("mine", "url", False)


def in_vault(objects):
    assert "secret-key" not in secret_of(objects) and environment(objects)["VAULT_ROLE"] == "tessera"
    assert of_kind(objects, "Deployment")[0]["spec"]["template"]["spec"]["automountServiceAccountToken"] is True


def older_vault(objects):
    assert environment(objects)["VAULT_ADDR"] == "https://v.example.org"
    assert of_kind(objects, "Deployment")[0]["spec"]["template"]["spec"]["automountServiceAccountToken"] is True


def without_tls(objects):
    assert "tls" not in of_kind(objects, "Ingress")[0]["spec"]


# A name, what is given, and what must be so.
GOOD = [
    ("as it comes", BASE, two),
    (
        "the older chart's names",
        [
            IMAGE,
            KEY,
            "env.DATABASE_URL=postgresql://user:pass@host:5432/db",
            "env.API_KEY=your-key",
            "env.API_KEYS.alice=key-alice-xxx",
            "ingress.host=claude-memory.example.org",
        ],
        with_keys,
    ),
    (
        "keys as JSON",
        [*BASE, {"env": {"API_KEYS": '{"alice": "key-alice-xxx"}'}}],
        lambda objects: json.loads(secret_of(objects)["api-keys"]),
    ),
    (
        "the older key of secrets",
        [IMAGE, DATABASE, "env.MEMORY_ENCRYPTION_KEY=a passphrase"],
        lambda objects: secret_of(objects)["memory-encryption-key"],
    ),
    (
        "more variables",
        [
            *BASE,
            "env.TESSERA_LOG=debug",
            "env.TESSERA_RECALL_SEMANTIC=off",
            "extraEnv[0].name=PGSSLROOTCERT",
            "extraEnv[0].value=/etc/ca.pem",
            "envFrom[0].secretRef.name=more",
            "imagePullSecrets[0].name=pull",
        ],
        with_more,
    ),
    ("one replica", [*BASE, "replicas=1", "autoscaling.enabled=false"], alone),
    ("one replica and more on demand", [*BASE, "replicas=1"], alone),
    ("many replicas", [*BASE, "replicas=9"], lambda objects: None),
    ("without autoscaling", [*BASE, "autoscaling.enabled=false"], two),
    ("a secret of one's own", [IMAGE, "database.existingSecret=mine", "database.key=url"], own_secret),
    ("a vault", [IMAGE, DATABASE, "vault.address=https://v.example.org", "vault.role=tessera"], in_vault),
    ("a vault by the older names", [IMAGE, DATABASE, "env.VAULT_ADDR=https://v.example.org", "env.VAULT_ROLE=r"], older_vault),
    ("a key that was changed", [*BASE, "secrets.before=old"], lambda objects: secret_of(objects)["secret-key-before"]),
    ("no proxy, no certificate", [*BASE, {"trustedProxies": []}, "ingress.host=t.example.org", "ingress.tlsSecret="], without_tls),
    (
        "an ingress class and annotations",
        [*BASE, "ingress.host=t.example.org", "ingress.className=nginx", "ingress.annotations.a\\.example\\.org/b=c"],
        lambda objects: of_kind(objects, "Ingress")[0]["metadata"]["annotations"],
    ),
]
# A name, what is given, and a word of the refusal.
BAD = [
    ("no image", ["image.repository=", DATABASE, KEY], "image.repository"),
    ("no database", [IMAGE, KEY], "database.url"),
    ("no key of secrets", [IMAGE, DATABASE], "secrets.key"),
    ("a vault without a role", [IMAGE, DATABASE, "vault.address=https://v.example.org"], "vault.role"),
    ("a key beside a secret of one's own", [IMAGE, "database.existingSecret=mine", "env.API_KEY=k"], "in clear"),
    ("a vault twice", [*BASE, "vault.address=https://v", "vault.role=r", "env.VAULT_ADDR=https://w"], "already"),
]


def check_chart(flags):
    with helm.Chart.load(CHART) as chart:
        for name, sets, wanted in GOOD:
            values = given(sets)
            report = helm.lint(CHART, values, strict=True)
            for message in report["messages"]:
                if message["severity"] > 1:
                    fault(f"{name}: lint", message["error"])
            for error in report["errors"]:
                fault(f"{name}: lint", error)
            try:
                rendered = chart.render(values=values, name="memory", namespace="team")
            except helm.HelmError as error:
                fault(name, error)
                continue
            notes = [text for path, text in rendered.items() if path.endswith("NOTES.txt")]
            if notes and "tessera-server user add" not in notes[0]:
                fault(name, "the notes do not say how to begin")
            texts = [text for path, text in rendered.items() if path.endswith(".yaml")]
            objects = [found for text in texts for found in documents(name, text)]
            before = len(faults)
            check_objects(name, objects, flags)
            if len(faults) > before:
                continue
            try:
                wanted(objects)
            except (AssertionError, KeyError, IndexError) as error:
                fault(name, f"is not as it should be ({wanted.__name__}, line {error.__traceback__.tb_next.tb_lineno}: {error!r})")
        for name, sets, word in BAD:
            try:
                chart.render(values=given(sets), name="memory", namespace="team")
                fault(name, "is rendered")
            except helm.HelmError as error:
                if word not in str(error):
                    fault(name, f"is refused without a word of {word}: {error}")


def check_files(flags):
    objects = []
    for path in sorted(Path("deploy/kubernetes").glob("*.yaml")):
        objects += documents(path, path.read_text())
    check_objects("deploy/kubernetes", objects, flags)
    spaces = {found["metadata"]["name"] for found in of_kind(objects, "Namespace")}
    for found in objects:
        if found["kind"] != "Namespace" and found["metadata"].get("namespace") not in spaces:
            fault("deploy/kubernetes", f"{found['kind']} is in no namespace of these files")
    for kind in ("Namespace", "Ingress", "Service", "Deployment", "PodDisruptionBudget", "HorizontalPodAutoscaler"):
        if not of_kind(objects, kind):
            fault("deploy/kubernetes", f"there is no {kind}")
    given = {name: source[1] for name, source in environment(objects).items() if isinstance(source, tuple)}
    for name, key in KEYS.items():
        if given.get(name) != key:
            fault("deploy/kubernetes", f"{name} is not read from {key} of the secret")
    compose = documents("deploy/compose.yaml", Path("deploy/compose.yaml").read_text())[0]
    if compose["services"].get("vault", {}).get("profiles") != ["vault"]:
        fault("deploy/compose.yaml", "there is no vault that --profile vault starts")
    offered = compose["services"]["server"]["environment"]
    for name in [*KEYS, "VAULT_ADDR", "VAULT_TOKEN"]:
        if name not in offered:
            fault("deploy/compose.yaml", f"the server is not given {name}")
    for name, service in compose["services"].items():
        mounts = [mount.split(":")[0] for mount in service.get("volumes", [])]
        for mount in mounts:
            here = Path("deploy") / mount if mount.startswith(".") else None
            if (here and not here.exists()) or (here is None and mount not in compose["volumes"]):
                fault("deploy/compose.yaml", f"{name}: {mount} is not there")
        for other in service.get("depends_on", {}):
            if other not in compose["services"]:
                fault("deploy/compose.yaml", f"{name} waits for {other}, which is not there")


if __name__ == "__main__":
    options = known_flags()
    check_chart(options)
    check_files(options)
    for one in faults:
        print(one, file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"deploy: {len(GOOD)} sets of values render and hold, {len(BAD)} are refused; deploy/kubernetes holds")
