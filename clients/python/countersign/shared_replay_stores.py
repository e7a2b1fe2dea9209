"""Stores of used verdicts for several processes, over clients of the application's own libraries. The other SDKs use the same keys and table."""

from __future__ import annotations

import math
import re
import time
from typing import Any, Sequence, Tuple

_PREFIX = "countersign:used:"
_TABLE = "countersign_used_verdicts"
_SWEEP_SECONDS = 60.0
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", re.ASCII)


class RedisReplayStore:
    """Remembers used verdicts in Redis, with `SET … NX PX`. Where Redis does not answer, the check of the verdict fails.

    :param client: a `redis.Redis` or `redis.RedisCluster`
    :param prefix: what each key begins with
    """

    def __init__(self, client: Any, *, prefix: str = _PREFIX) -> None:
        self._client = client
        self._prefix = prefix

    def consume(self, jti: str, expires_at: float) -> bool:
        return bool(self._client.set(self._prefix + jti, "1", nx=True, px=_left_ms(expires_at)))


class AsyncRedisReplayStore:
    """The same for `AsyncCountersign`, with a client of `redis.asyncio`."""

    def __init__(self, client: Any, *, prefix: str = _PREFIX) -> None:
        self._client = client
        self._prefix = prefix

    async def consume(self, jti: str, expires_at: float) -> bool:
        return bool(await self._client.set(self._prefix + jti, "1", nx=True, px=_left_ms(expires_at)))


class PostgresReplayStore:
    """Remembers used verdicts in a table of PostgreSQL, with `INSERT … ON CONFLICT DO NOTHING`.

    Expired rows are deleted once a minute. Where PostgreSQL does not answer, the check of the verdict fails.

    :param client: a `psycopg_pool.ConnectionPool`; or a connection of psycopg 3 or 2, which commits by `autocommit`, or with
        your transaction: the verdict is then used up when the transaction commits
    :param table: its name, with a schema where you like
    """

    def __init__(self, client: Any, *, table: str = _TABLE) -> None:
        self._client = client
        self._sql = _Statements(table, "%s")

    def create_table(self) -> None:
        """Creates the table where there is none: `jti text PRIMARY KEY, expires_at timestamptz NOT NULL`."""
        self._execute(self._sql.create, ())

    def consume(self, jti: str, expires_at: float) -> bool:
        return self._execute(self._sql.insert(), (jti, expires_at)) == 1

    def _execute(self, text: str, values: Sequence[Any]) -> int:
        if hasattr(self._client, "cursor"):
            return _executed(self._client, text, values)
        with self._client.connection() as connection:
            return _executed(connection, text, values)


class AsyncPostgresReplayStore:
    """The same for `AsyncCountersign`, with a pool or a connection of asyncpg, or a `psycopg_pool.AsyncConnectionPool`."""

    def __init__(self, client: Any, *, table: str = _TABLE) -> None:
        self._client = client
        self._is_asyncpg = hasattr(client, "fetchval")
        self._sql = _Statements(table, "$" if self._is_asyncpg else "%s")

    async def create_table(self) -> None:
        """Creates the table where there is none: `jti text PRIMARY KEY, expires_at timestamptz NOT NULL`."""
        await self._execute(self._sql.create, ())

    async def consume(self, jti: str, expires_at: float) -> bool:
        return await self._execute(self._sql.insert(), (jti, float(expires_at)))

    async def _execute(self, text: str, values: Tuple[Any, ...]) -> bool:
        if self._is_asyncpg:
            return await self._client.fetchval(text, *values) is not None
        async with self._client.connection() as connection:
            cursor = await connection.execute(text, values)
            return bool(cursor.rowcount == 1)


class _Statements:
    """The statements for a driver that writes its parameters as `%s` or, with `$`, as `$1`."""

    def __init__(self, table: str, parameter: str) -> None:
        if _NAME.fullmatch(table) is None:
            raise ValueError(f"table is {table}, which would need quotes in SQL")
        jti, expires_at = ("$1", "$2") if parameter == "$" else ("%s", "%s")
        self.create = f"CREATE TABLE IF NOT EXISTS {table} (jti text PRIMARY KEY, expires_at timestamptz NOT NULL)"
        self._insert = (
            f"INSERT INTO {table} (jti, expires_at) VALUES ({jti}, to_timestamp({expires_at}::float8)) "
            "ON CONFLICT (jti) DO NOTHING RETURNING jti"
        )
        # It waits for no other process that does the same.
        self._sweep = (
            f"WITH expired AS (SELECT jti FROM {table} WHERE expires_at < now() LIMIT 10000 FOR UPDATE SKIP LOCKED), "
            f"swept AS (DELETE FROM {table} WHERE jti IN (SELECT jti FROM expired)) "
        )
        self._next_sweep = 0.0

    def insert(self) -> str:
        now = time.monotonic()
        if now < self._next_sweep:
            return self._insert
        self._next_sweep = now + _SWEEP_SECONDS
        return self._sweep + self._insert


def _executed(connection: Any, text: str, values: Sequence[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        return int(cursor.rowcount)


def _left_ms(expires_at: float) -> int:
    return max(1, math.ceil((expires_at - time.time()) * 1000))
