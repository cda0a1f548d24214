"""The least that could answer: FastAPI, one indexed SELECT, nothing around it.

    python -m benchmarks.bare DATABASE_URL USER_ID

The peer of `benchmarks.api`; it prints its address.
"""

import socket
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI
from sqlalchemy import select

from recibo.store.db import Database
from recibo.store.tables import User


def make(database: Database, user_id: str) -> FastAPI:
    """Build the app."""
    app = FastAPI()

    @app.get("/")
    async def get_user() -> dict[str, Any]:
        async with database.read() as session:
            query = select(User.id, User.email, User.full_name).where(User.id == user_id)
            found = (await session.execute(query)).one()
        return {"id": found.id, "email": found.email, "name": found.full_name}

    return app


def main() -> None:
    """Serve until killed, on a free port."""
    url, user_id = sys.argv[1:]
    listening = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"listens on http://127.0.0.1:{listening.getsockname()[1]},\n")
    sys.stdout.flush()
    config = uvicorn.Config(make(Database(url), user_id), access_log=False, log_level="warning")
    uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    main()
