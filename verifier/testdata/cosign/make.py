#!/usr/bin/env python3
"""Makes cases.json: signatures by the real cosign, faults in them, and what cosign itself says of each.

Usage: make.py COSIGN REGISTRY OUTPUT, where COSIGN is a cosign 3 program and REGISTRY an empty registry over plain HTTP,
such as distribution on 127.0.0.1:5000. Needs openssl. Each run makes other keys and signatures; the verdicts stay.
"""

import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

COSIGN, REGISTRY, OUTPUT = sys.argv[1:]
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
EMPTY = {
    "mediaType": "application/vnd.oci.empty.v1+json",
    "digest": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    "size": 2,
}
# How a key is made, and how openssl signs instead where cosign, given a file, signs otherwise (a KMS may not).
ALGORITHMS = {
    "ECDSA P-256, SHA-256": (["ecparam", "-name", "prime256v1", "-genkey", "-noout"], None),
    "ECDSA P-384, SHA-384": (["ecparam", "-name", "secp384r1", "-genkey", "-noout"], None),
    "ECDSA P-384, SHA-256": (["ecparam", "-name", "secp384r1", "-genkey", "-noout"], ["-digest", "sha256"]),
    "Ed25519, pre-hashed": (["genpkey", "-algorithm", "ed25519"], None),
    "Ed25519, pure": (["genpkey", "-algorithm", "ed25519"], []),
    "RSA 2048, PKCS#1 v1.5": (["genrsa", "2048"], None),
    "RSA 4096, PKCS#1 v1.5": (["genrsa", "4096"], None),
    "RSA 2048, PSS": (["genrsa", "2048"], ["-digest", "sha256", "-pkeyopt", "rsa_padding_mode:pss", "-pkeyopt", "rsa_pss_saltlen:digest"]),
    "RSA 2048, PSS, long salt": (["genrsa", "2048"], ["-digest", "sha256", "-pkeyopt", "rsa_padding_mode:pss", "-pkeyopt", "rsa_pss_saltlen:max"]),
}


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def ask(method, url, data=None, headers={}):
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request) as response:
        return response.read(), response.headers


def blob(repository, data):
    _, headers = ask("POST", f"http://{REGISTRY}/v2/{repository}/blobs/uploads/", b"")
    location = headers["Location"]
    separator = "&" if "?" in location else "?"
    ask("PUT", f"{location}{separator}digest={digest(data)}", data, {"Content-Type": "application/octet-stream"})
    return digest(data)


def push(repository, reference, document, media_type=MANIFEST):
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    ask("PUT", f"http://{REGISTRY}/v2/{repository}/manifests/{reference or digest(data)}", data, {"Content-Type": media_type})
    return digest(data), len(data)


def has(repository, tag):
    try:
        get(repository, "manifests", tag)
        return True
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise
        return False


def get(repository, kind, reference):
    accept = {"Accept": f"{MANIFEST}, {INDEX}, */*"}
    return ask("GET", f"http://{REGISTRY}/v2/{repository}/{kind}/{reference}", headers=accept)[0]


def artifact(repository, text):
    """An artifact of one file; its digest depends on the text alone."""
    blob(repository, b"{}")
    layer = text.encode()
    return push(repository, None, {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": "application/vnd.stokaro.ptah.schema.v1",
        "config": EMPTY,
        "layers": [{"mediaType": "application/sql", "digest": blob(repository, layer), "size": len(layer),
                    "annotations": {"org.opencontainers.image.title": "schema.sql"}}],
    })[0]


def cosign(*arguments):
    environment = {**os.environ, "COSIGN_PASSWORD": "", "COSIGN_YES": "true"}
    return subprocess.run([COSIGN, *arguments], capture_output=True, text=True, env=environment)


def must(run):
    if run.returncode != 0:
        sys.exit(f"{run.args}: {run.stderr}")
    return run


def layers(repository, manifest):
    return [{
        "mediaType": layer["mediaType"],
        "annotations": layer.get("annotations", {}),
        "body": base64.b64encode(get(repository, "blobs", layer["digest"])).decode(),
    } for layer in manifest["layers"]]


def attached(repository, of):
    """What lies attached to an artifact, as this registry holds it."""
    found = []
    tag = of.replace(":", "-")
    if has(repository, tag):
        for one in json.loads(get(repository, "manifests", tag))["manifests"]:
            manifest = json.loads(get(repository, "manifests", one["digest"]))
            found.append({"found": "referrersTag", "artifactType": manifest.get("artifactType", ""),
                          "annotations": manifest.get("annotations", {}), "layers": layers(repository, manifest)})
    if has(repository, f"{tag}.sig"):
        manifest = json.loads(get(repository, "manifests", f"{tag}.sig"))
        found.append({"found": "signatureTag", "artifactType": "", "annotations": {},
                      "layers": layers(repository, manifest)})
    return found


def attach(repository, of, size, things):
    """Puts attachments where cosign looks for them."""
    tag = of.replace(":", "-")
    index = []
    for thing in things:
        descriptors = []
        for layer in thing["layers"]:
            data = base64.b64decode(layer["body"])
            descriptors.append({"mediaType": layer["mediaType"], "digest": blob(repository, data), "size": len(data),
                                "annotations": layer["annotations"]})
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": EMPTY, "layers": descriptors,
                    "annotations": thing["annotations"]}
        if thing["found"] == "signatureTag":
            push(repository, f"{tag}.sig", manifest)
            continue
        manifest["artifactType"] = thing["artifactType"]
        manifest["subject"] = {"mediaType": MANIFEST, "digest": of, "size": size}
        at, length = push(repository, None, manifest)
        index.append({"mediaType": MANIFEST, "digest": at, "size": length, "artifactType": thing["artifactType"],
                      "annotations": thing["annotations"]})
    if index:
        push(repository, tag, {"schemaVersion": 2, "mediaType": INDEX, "manifests": index}, INDEX)


def flip(text):
    """Another valid base64 text of the same length: the last byte of what it encodes differs."""
    data = bytearray(base64.b64decode(text))
    data[-1] ^= 1
    return base64.b64encode(bytes(data)).decode()


def edited(things, edit):
    copy = json.loads(json.dumps(things))
    for thing in copy:
        for layer in thing["layers"]:
            edit(layer)
    return copy


def resigned(key, options):
    """The same, signed by openssl."""

    def sign(message):
        open("message", "wb").write(message)
        run = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", f"{key}.pem", "-in", "message", *options],
                             capture_output=True, check=True)
        return base64.b64encode(run.stdout).decode()

    def edit(layer):
        if layer["mediaType"].startswith(BUNDLE):
            bundle = json.loads(base64.b64decode(layer["body"]))
            envelope = bundle["dsseEnvelope"]
            kind, payload = envelope["payloadType"].encode(), base64.b64decode(envelope["payload"])
            envelope["signatures"][0]["sig"] = sign(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
            layer["body"] = base64.b64encode(json.dumps(bundle).encode()).decode()
        else:
            layer["annotations"]["dev.cosignproject.cosign/signature"] = sign(base64.b64decode(layer["body"]))

    return edit


def altered_signature(layer):
    if layer["mediaType"].startswith(BUNDLE):
        bundle = json.loads(base64.b64decode(layer["body"]))
        signature = bundle["dsseEnvelope"]["signatures"][0]
        signature["sig"] = flip(signature["sig"])
        layer["body"] = base64.b64encode(json.dumps(bundle).encode()).decode()
    else:
        name = "dev.cosignproject.cosign/signature"
        layer["annotations"][name] = flip(layer["annotations"][name])


def altered_payload(layer):
    if layer["mediaType"].startswith(BUNDLE):
        bundle = json.loads(base64.b64decode(layer["body"]))
        envelope = bundle["dsseEnvelope"]
        payload = base64.b64decode(envelope["payload"]).replace(b'"predicateType"', b' "predicateType"')
        envelope["payload"] = base64.b64encode(payload).decode()
        layer["body"] = base64.b64encode(json.dumps(bundle).encode()).decode()
    else:
        layer["body"] = base64.b64encode(base64.b64decode(layer["body"]) + b" ").decode()


def unknown_version(layer):
    if layer["mediaType"].startswith(BUNDLE):
        bundle = json.loads(base64.b64decode(layer["body"]))
        bundle["mediaType"] = "application/vnd.dev.sigstore.bundle.v9.9+json"
        layer["body"] = base64.b64encode(json.dumps(bundle).encode()).decode()


def no_signature(layer):
    if not layer["mediaType"].startswith(BUNDLE):
        del layer["annotations"]["dev.cosignproject.cosign/signature"]


def main():
    os.chdir(tempfile.mkdtemp())
    version = must(cosign("version", "--json")).stdout
    keys = {}
    for at, (algorithm, (arguments, _)) in enumerate(ALGORITHMS.items()):
        for role in ("right", "wrong"):
            name = f"{role}{at}"
            private = subprocess.run(["openssl", *arguments], capture_output=True, check=True).stdout
            pkcs8 = subprocess.run(["openssl", "pkcs8", "-topk8", "-nocrypt"], input=private, capture_output=True, check=True)
            open(f"{name}.pem", "wb").write(pkcs8.stdout)
            must(cosign("import-key-pair", "--key", f"{name}.pem", "--output-key-prefix", name))
            keys[algorithm, role] = name
    network = ["--allow-http-registry", "--allow-insecure-registry"]
    formats = {"bundle": "true", "tag": "false"}
    cases = []

    def judge(repository, of, key, form, algorithm, layout, fault):
        hashed = ["--signature-digest-algorithm=sha384"] if "SHA-384" in algorithm else []
        run = cosign("verify", *network, "--key", f"{key}.pub", "--insecure-ignore-tlog=true", "--offline=true",
                     f"--new-bundle-format={form}", *hashed, f"{REGISTRY}/{repository}@{of}")
        cases.append({
            "algorithm": algorithm, "layout": layout, "fault": fault, "digest": of,
            "key": open(f"{key}.pub").read(), "cosign": "accepts" if run.returncode == 0 else "refuses",
            "attached": attached(repository, of),
        })
        print(f"{algorithm:24} {layout:7} {fault:28} {cases[-1]['cosign']}", file=sys.stderr)

    def sign(repository, of, key, form):
        must(cosign("sign", *network, "--key", f"{key}.key", "--use-signing-config=false", "--tlog-upload=false",
                    f"--new-bundle-format={form}", f"{REGISTRY}/{repository}@{of}"))

    for at, (algorithm, (_, openssl)) in enumerate(ALGORITHMS.items()):
        right, wrong = keys[algorithm, "right"], keys[algorithm, "wrong"]
        for layout, form in formats.items():
            home = f"signed{at}{layout}"
            of = artifact(home, "CREATE TABLE a (id int);")
            size = len(get(home, "manifests", of))
            sign(home, of, right, form)
            good = attached(home, of)
            sign(f"{home}wrong", artifact(f"{home}wrong", "CREATE TABLE a (id int);"), wrong, form)
            bad = attached(f"{home}wrong", of)
            other = artifact(f"{home}other", "CREATE TABLE b (id int);")
            sign(f"{home}other", other, right, form)
            elsewhere = attached(f"{home}other", other)
            if openssl is not None:
                good, elsewhere = (edited(things, resigned(right, openssl)) for things in (good, elsewhere))
                bad = edited(bad, resigned(wrong, openssl))
            both = bad + good if layout == "bundle" else [dict(bad[0], layers=bad[0]["layers"] + good[0]["layers"])]
            faults = {
                "none": (right, good),
                "the wrong key": (wrong, good),
                "another artifact's signature": (right, elsewhere),
                "altered payload": (right, edited(good, altered_payload)),
                "altered signature": (right, edited(good, altered_signature)),
                "no layer at all": (right, [dict(thing, layers=[]) for thing in good]),
                "a bad one beside a good one": (right, both),
                "no signature": (right, []),
            }
            if layout == "bundle":
                faults["an unknown version"] = (right, edited(good, unknown_version))
                faults["attached under another type"] = (right, [dict(thing, artifactType="application/x") for thing in good])
            else:
                faults["a layer without a signature"] = (right, edited(good, no_signature))
            for number, (fault, (key, things)) in enumerate(faults.items()):
                repository = f"case{at}{layout}{number}"
                artifact(repository, "CREATE TABLE a (id int);")
                attach(repository, of, size, things)
                judge(repository, of, key, form, algorithm, layout, fault)

    # Signed in both layouts, and a statement that is no signature.
    key = keys["ECDSA P-256, SHA-256", "right"]
    of = artifact("both", "CREATE TABLE a (id int);")
    for form in formats.values():
        sign("both", of, key, form)
    judge("both", of, key, "true", "ECDSA P-256, SHA-256", "both", "none")
    of = artifact("attested", "CREATE TABLE a (id int);")
    open("predicate.json", "w").write('{"buildDefinition": {"buildType": "https://example.test/build", "externalParameters": {}}, '
                                      '"runDetails": {"builder": {"id": "https://example.test/builder"}}}')
    must(cosign("attest", *network, "--key", f"{key}.key", "--use-signing-config=false", "--tlog-upload=false",
                "--type", "slsaprovenance1", "--predicate", "predicate.json", f"{REGISTRY}/attested@{of}"))
    judge("attested", of, key, "true", "ECDSA P-256, SHA-256", "bundle", "a statement and no signature")

    json.dump({"cosign": json.loads(version)["gitVersion"], "cases": cases}, open(OUTPUT, "w"), indent=1)
    open(OUTPUT, "a").write("\n")


main()
