"""Hooks of schemathesis: credentials for every operation, ids of existing objects, and counts of the answers."""

import atexit
import base64
import collections
import json
import os
import random

import schemathesis
from contract_known import APPLICATION, BANK, CARD, SCHEDULE

KEYS = json.loads(os.environ["CONTRACT_KEYS"])
COUNTS = os.environ["CONTRACT_COUNTS"]
# The share of generated ids that are replaced by ids of existing objects.
KNOWN = 0.7
# Fields with which a merchant can block its own later requests.
LOCKS = (
    "api_allowed_ip_address_ranges", "transaction_allowed_countries", "required_payment_fields", "accepted_card_types",
    "cvv_policy", "avs_policy",
)
CHANCE = random.Random(1)
POOLS = collections.defaultdict(list, KEYS["pools"])
TOTALS = collections.Counter()
SUCCESSES = collections.Counter()
REACHED = collections.Counter()


def basic(key):
    return "Basic " + base64.b64encode(f"{key}:".encode()).decode()


CREDENTIALS = {
    "tenant": "Bearer " + KEYS["tenant"],
    "payments": "Bearer " + KEYS["payments"],
    "public_key": basic(KEYS["public_key"]),
    "secret_key": basic(KEYS["secret_key"]),
}


@schemathesis.auth(refresh_interval=None)
class Credential:
    def get(self, case, context):
        required = case.operation.definition.raw.get("security") or []
        names = [name for one in required for name in one]
        return CREDENTIALS[names[0]] if names else None

    def set(self, case, data, context):
        if data:
            case.headers["Authorization"] = data


def named(case):
    return case.operation.definition.raw["operationId"]


@schemathesis.hook
def before_call(context, case, kwargs):
    """Puts values into a request that no schema can describe: valid check digits, known clients, ids of existing objects."""
    if isinstance(case.body, dict):
        for lock in LOCKS:
            case.body.pop(lock, None)
    if case.meta is not None and not case.meta.generation.mode.is_positive:
        return
    if case.path_parameters and CHANCE.random() < KNOWN:
        exist(named(case), case)
    if isinstance(case.body, dict):
        fill(named(case), case.body)


def exist(name, case):
    """Puts ids of existing objects into the path."""
    pool = {"charge.capture": "holds", "file.get": "files", "occurrence.get": "occurrences"}.get(name)
    pool = pool or ("occurrences" if name in ("occurrence.pay", "occurrence.ignore") else case.operation.path.split("/{")[0])
    known = POOLS[pool]
    if not known:
        return
    found = KEYS["contact"] if pool == "/contacts" else CHANCE.choice(known[-20:])
    values = found if isinstance(found, list) else [found]
    case.path_parameters.update(zip(case.path_parameters, values))


def fill(name, body):
    method = dict(BANK if CHANCE.random() < 0.3 else CARD)
    if name == "token.exchange":
        body.clear()
        body.update(KEYS["client"], grant_type="client_credentials", scope="tenant")
    elif name in ("card.create", "token.create", "bank.create"):
        bank = body.get("type") == "bank" or name == "bank.create"
        body.pop("token_id", None)
        body.update(BANK if bank else CARD)
    elif name in ("charge.create", "credit.create", "recurring.create"):
        for field in ("account_id", "signature", "gratuity", "auto_capture", "recur", "currency", "max_amount"):
            body.pop(field, None)
        body.update(amount=100, method=method)
        if name == "charge.create" and CHANCE.random() < 0.3:
            body.update(method=dict(CARD), auto_capture=False)
    elif name in ("recurring.patch", "recurring.put"):
        for field in ("account_id", "method", "max_amount", "max_occurrences"):
            body.pop(field, None)
    elif name in ("charge.capture", "charge.refund"):
        for field in ("method", "signature", "gratuity", "currency"):
            body.pop(field, None)
        body["amount"] = 100 if name == "charge.capture" else 1
    elif name in ("card.patch", "bank.patch"):
        body.pop("token_id", None)
    elif name == "invoice.create":
        body.update(contact_id=KEYS["contact"], bank_account_id=KEYS["bank_account"], test_mode=True)
        body.pop("attachments", None)
    elif name == "file.upload":
        body["content"] = "JVBERg=="
    elif name == "application.submit":
        body["merchant_application"] = {**APPLICATION, "reference": f"r-{CHANCE.random()}"}
    elif name == "vault_method.create" and POOLS["/v1/tokens"]:
        body.update(one_time_token=POOLS["/v1/tokens"].pop(), payment_type="credit_card", test_mode=True)
    if "schedule" in body:
        body["schedule"] = dict(SCHEDULE)


@schemathesis.hook
def after_call(context, case, response):
    TOTALS[response.status_code] += 1
    REACHED[named(case)] += 1
    if 200 <= response.status_code < 300:
        SUCCESSES[named(case)] += 1
        learn(named(case), case, response)


def learn(name, case, response):
    """Keeps the ids of the objects that were made."""
    try:
        made = response.json()
    except ValueError:
        return
    if not isinstance(made, dict):
        return
    path = case.operation.path
    if name == "occurrence.list":
        own = case.path_parameters["id"]
        POOLS["occurrences"] += [[own, one["id"]] for one in made["results"]]
    elif name == "file.upload":
        POOLS["files"].append([case.path_parameters["contact_id"], made["id"]])
    elif name == "transaction.sign":
        POOLS["/v1/signatures"].append(made["signature_id"])
    elif name == "event.list":
        POOLS["/v1/events"] += [one["id"] for one in made["results"]]
    elif case.operation.method.upper() == "POST" and "{" not in path and "id" in made:
        POOLS[path].append(made["id"])
    if name == "charge.create":
        POOLS["/v1/transactions"].append(made["id"])
        if made.get("auto_capture") is False:
            POOLS["holds"].append(made["id"])


@atexit.register
def tell():
    with open(COUNTS, "w") as file:
        json.dump({"statuses": TOTALS, "operations": REACHED, "successes": SUCCESSES}, file)
