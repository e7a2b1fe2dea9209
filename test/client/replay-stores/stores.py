"""Drives the stores of the SDK for Python: reads a store's name, a verdict's id and its end a line, and answers whether the use was the first."""

import asyncio
import sys

import asyncpg
import psycopg
import psycopg2
import redis
import redis.asyncio

sys.path.insert(0, sys.argv[3])
import countersign as sdk

redis_port, postgres_url = int(sys.argv[1]), sys.argv[2]


async def main():
    plain = psycopg.connect(postgres_url, autocommit=True)
    older = psycopg2.connect(postgres_url)
    older.autocommit = True
    stores = {
        "redis": sdk.RedisReplayStore(redis.Redis(port=redis_port)),
        "psycopg": sdk.PostgresReplayStore(plain),
        "psycopg2": sdk.PostgresReplayStore(older),
        "asyncpg": sdk.AsyncPostgresReplayStore(await asyncpg.connect(postgres_url)),
        "redis.asyncio": sdk.AsyncRedisReplayStore(redis.asyncio.Redis(port=redis_port)),
    }
    try:
        import psycopg_pool
    except ImportError:
        pass
    else:
        stores["psycopg_pool"] = sdk.PostgresReplayStore(psycopg_pool.ConnectionPool(postgres_url))
        pool = psycopg_pool.AsyncConnectionPool(postgres_url, open=False)
        await pool.open()
        stores["psycopg_pool async"] = sdk.AsyncPostgresReplayStore(pool)
    for store in stores.values():
        if hasattr(store, "create_table"):
            made = store.create_table()
            if made is not None:
                await made
    print(",".join(stores), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        name, jti, until = line.strip().split("\t")
        is_first = stores[name].consume(jti, float(until))
        print(str(is_first if isinstance(is_first, bool) else await is_first).lower(), flush=True)


asyncio.run(main())
