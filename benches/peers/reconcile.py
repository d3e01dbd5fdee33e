"""A common script: posts each contact of a folder of YAML files, and writes the ids to a state file.

`reconcile.py httpx|requests SPECS URL STATE`; the token is in RECONCILE_TOKEN.
"""

import json
import os
import sys
from pathlib import Path

import yaml

AT_ONCE = 16
TIMEOUT_S = 60
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def contacts(folder: str) -> list[tuple[str, dict]]:
    """Returns the name and the request body of every contact."""
    found = []
    for path in sorted(Path(folder).rglob("*.yaml")):
        document = yaml.load(path.read_bytes(), Loader=Loader)
        if document["kind"] == "Contact":
            spec = document["spec"]
            body = {
                "type": "person",
                "test_mode": True,
                "first_name": spec["first_name"],
                "last_name": spec["last_name"],
                "email_addresses": spec["email_addresses"],
            }
            found.append((document["metadata"]["name"], body))
    return found


async def post_all(url: str, headers: dict, wanted: list[tuple[str, dict]]) -> dict[str, str]:
    """Posts with `httpx`, 16 at once."""
    import asyncio

    import httpx

    ids = {}
    waiting = iter(wanted)
    limits = httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    client = httpx.AsyncClient(headers=headers, limits=limits, timeout=TIMEOUT_S, trust_env=False)

    async def worker() -> None:
        for name, body in waiting:
            answer = await client.post(url, json=body)
            ids[name] = answer.raise_for_status().json()["id"]

    async with client:
        await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return ids


def post_each(url: str, headers: dict, wanted: list[tuple[str, dict]]) -> dict[str, str]:
    """Posts with `requests`, one at a time."""
    import requests

    ids = {}
    with requests.Session() as session:
        session.trust_env = False
        session.headers.update(headers)
        for name, body in wanted:
            answer = session.post(url, json=body, timeout=TIMEOUT_S)
            answer.raise_for_status()
            ids[name] = answer.json()["id"]
    return ids


def main() -> None:
    mode, specs, url, state = sys.argv[1:]
    headers = {"Authorization": f"Bearer {os.environ['RECONCILE_TOKEN']}"}
    wanted = contacts(specs)
    if mode == "httpx":
        import asyncio

        ids = asyncio.run(post_all(url, headers, wanted))
    else:
        ids = post_each(url, headers, wanted)
    Path(state).write_text(json.dumps(ids))
    print(len(ids))


main()
