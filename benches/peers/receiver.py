"""A common receiver: FastAPI, which stores every body in SQLite before the 200."""

import os
import sqlite3
import threading

from fastapi import FastAPI, Request

app = FastAPI()
held = threading.local()


def store(body: bytes) -> None:
    connection = getattr(held, "connection", None)
    if connection is None:
        connection = sqlite3.connect(os.environ["RECEIVER_DATABASE"], timeout=60)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, body BLOB)")
        held.connection = connection
    with connection:
        connection.execute("INSERT INTO events (body) VALUES (?)", (body,))


@app.get("/")
async def ready() -> dict[str, bool]:
    return {"ready": True}


@app.post("/hooks/events")
async def take(request: Request) -> dict[str, bool]:
    store(await request.body())
    return {"stored": True}
