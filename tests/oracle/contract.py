"""Runs schemathesis against a sandbox: `contract.py ADDRESS REQUESTS`. Ends with 1 where an answer is outside the contract."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).parent
# The least share of successful answers.
SUCCESS_MIN = 0.3
# Checks that the reference documents contradict, each with the sentence.
LEFT_OUT = {
    "unsupported_method": "service-facts 5: \"400 malformed request, or wrong method or content type\"; the check wants 405",
    "allow_header_conformance": "the same: there is no 405 that could carry `Allow`",
    "negative_data_rejection": "service-facts 9 and 11, gateway-api: nulls are absent, unknown fields are ignored, amounts "
    "may be strings, arrays objects; the check wants each of them refused",
    "use_after_free": "service-facts 57: a deleted recurring charge can still be read, its status is DELETED",
}
# The permitted statuses of a request that fits the schema. service-facts 5: "422 validation, declines, wrong state".
SETTINGS = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "401", "404", "409", "422"]
"""


def ask(address, method, path, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(address + path, data=data, method=method, headers=headers)
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read() or b"null")


def keys(address):
    """Returns credentials of every kind, and ids of existing objects. Enables everything that a tenant can allow."""
    ask(address, "POST", "/_sandbox/policy", {"merchant": "demo", "credits_enabled": True})
    shown = ask(address, "GET", "/_sandbox/credentials")
    partner, merchant = shown["partner"], shown["merchants"][0]
    client = {"client_id": partner["client_id"], "client_secret": partner["client_secret"]}
    tenant = ask(address, "POST", "/oauth/token", {**client, "grant_type": "client_credentials", "scope": "tenant"})
    code = ask(address, "POST", "/_sandbox/credentials", {"merchant": "demo"})["authorization_code"]
    grant = {"grant_type": "authorization_code", "scope": "payments", "redirect_uri": partner["redirect_uri"], "code": code}
    payments = ask(address, "POST", "/oauth/token", {**client, **grant})["access_token"]
    bearer = {"Authorization": f"Bearer {payments}"}
    person = {"first_name": "Ada", "last_name": "Abbott", "test_mode": True}
    contact = ask(address, "POST", "/contacts", person, bearer)["id"]
    accounts = ask(address, "GET", "/bank-accounts", headers=bearer)
    gateway = ask(address, "GET", "/gateway-credentials", headers=bearer)
    account = {one["type"]: one["id"] for one in gateway["test_accounts"]}
    return {
        "client": client, "tenant": tenant["access_token"], "payments": payments, "contact": contact,
        "public_key": merchant["test"]["public_key"], "secret_key": merchant["test"]["secret_key"],
        "bank_account": accounts[0]["id"],
        "pools": {
            "/bank-accounts": [accounts[0]["id"]], "/contacts": [contact],
            "/v1/accounts": [account["MerchantAccount"]], "/v1/ach-accounts": [account["AchAccount"]],
        },
    }


def closed(schema):
    """Returns the same schema without additional properties."""
    if isinstance(schema, dict):
        schema = {name: closed(value) for name, value in schema.items()}
        if "properties" in schema:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        schema = [closed(one) for one in schema]
    return schema


def main():
    address, wanted = sys.argv[1].rstrip("/"), int(sys.argv[2])
    work = pathlib.Path(tempfile.mkdtemp())
    document = ask(address, "GET", "/openapi.json")
    schemas = document["components"]["schemas"]
    document["components"]["schemas"] = {name: closed(one) for name, one in schemas.items()}
    (work / "openapi.json").write_text(json.dumps(document))
    (work / "schemathesis.toml").write_text(SETTINGS)
    counts = work / "counts.json"
    known = {**os.environ, "SCHEMATHESIS_HOOKS": "contract_hooks", "PYTHONPATH": str(HERE), "CONTRACT_COUNTS": str(counts)}
    known["CONTRACT_KEYS"] = json.dumps(keys(address))
    operations = sum(len(path) for path in document["paths"].values())
    command = [
        pathlib.Path(sys.executable).parent / "schemathesis", "run", work / "openapi.json", "--url", address,
        "--checks", "all", "--exclude-checks", ",".join(LEFT_OUT), "--max-examples", str(wanted // operations // 3),
        "--continue-on-failure", "--seed", "1", "--suppress-health-check", "all", "--warnings", "off",
    ]
    ended = subprocess.run(command, env=known, cwd=work, check=False)
    counted = json.loads(counts.read_text())
    requests = sum(counted["statuses"].values())
    success = sum(counted["successes"].values()) / requests
    unreached = operations - len(counted["operations"])
    broken = sum(count for status, count in counted["statuses"].items() if status.startswith("5"))
    print(f"{requests} requests, {success:.0%} answered 2xx, {broken} answered 5xx, {unreached} operations not reached")
    print("statuses:", counted["statuses"])
    print("never a success:", sorted(set(counted["operations"]) - set(counted["successes"])))
    for check, why in LEFT_OUT.items():
        print(f"left out: {check}: {why}")
    good = ended.returncode == 0 and requests >= wanted and success >= SUCCESS_MIN and not unreached and not broken
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
