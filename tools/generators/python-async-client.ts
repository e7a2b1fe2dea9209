/** Makes the asyncio client of the SDK for Python from the one that blocks, so that both have the same methods, arguments and checks. */

/** Each stands at least once in the client that blocks. */
const CHANGES: ReadonlyArray<[from: RegExp, to: string]> = [
  [
    /^"""The client of a Countersign service\."""/,
    '"""The client of a Countersign service for asyncio. Generated from client.py: `npm run docs` writes this file."""',
  ],
  [
    /class Countersign\(ClientBase\):\n {4}"""Safe for threads\. Every method raises/,
    `class AsyncCountersign(ClientBase):
    """As \`Countersign\`, with methods to await. It keeps connections: use it as \`async with\`, or \`await aclose()\` at the end,
    and in one event loop at a time. A call that is cancelled leaves no connection behind. Every method raises`,
  ],
  [
    /(?<=^from \.replay_store import )DefaultReplayStore, ReplayStore$/m,
    'AsyncReplayStore, DefaultReplayStore',
  ],
  [
    /^from \.signing_secret import SigningSecrets, read_secrets$/m,
    'from .signing_secret import AsyncSigningSecrets, read_secrets, read_secrets_async',
  ],
  [/^from \.transport import Transport\n/m, ''],
  [/(?=^from \.body_limit import)/m, 'from .async_transport import AsyncTransport\n'],
  [/(?<=^from \.verdict import .*)\bverify_verdict$/m, 'verify_verdict_async'],
  [/signing_secret: SigningSecrets\b/, 'signing_secret: AsyncSigningSecrets'],
  [/replay_store: Optional\[ReplayStore\]/, 'replay_store: Optional[AsyncReplayStore]'],
  [
    /(?<=self\._replay_store = )DefaultReplayStore.*$/m,
    '(\n            DefaultReplayStore(now) if replay_store is None else replay_store\n        )',
  ],
  [/= Transport\(/, '= AsyncTransport('],
  [/\bIterator\b/g, 'AsyncIterator'],
  [/^ {4}def (?!__)/gm, '    async def '],
  [/(?<=[= ])self\.(?=(?:_call|_of_user|_passkeys|_transport\.send|audit_page)\()/g, 'await self.'],
  [/\bread_secrets\(self\._signing_secret\)/g, 'await read_secrets_async(self._signing_secret)'],
  [/return verify_verdict\(/, 'return await verify_verdict_async('],
  [
    /return verify_webhook\(\n {12}headers,\n {12}body,\n {12}self\._signing_secret,/,
    'return verify_webhook(\n            headers,\n            body,\n            await read_secrets_async(self._signing_secret),',
  ],
  [/^( +)yield from page\.data$/m, '$1for entry in page.data:\n$1    yield entry'],
  [
    /(?=^ {4}async def enroll\()/m,
    `    async def __aenter__(self) -> AsyncCountersign:
        return self

    async def __aexit__(self, *_error: Any) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections that are kept."""
        await self._transport.aclose()

`,
  ],
]

/** @param blocking the text of `clients/python/countersign/client.py` @returns that of `async_client.py` */
export function pythonAsyncClient(blocking: string): string {
  return CHANGES.reduce((text, [from, to]) => {
    if (text.search(from) < 0) throw new Error(`client.py has nothing that matches ${from}`)
    return text.replace(from, to)
  }, blocking)
}
