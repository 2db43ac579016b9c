import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Opening, peekProtocol } from '../../../src/serve/listener/protocol-peek.js';
import { PREFACE } from './support/http2-frames.js';

/** A connection that receives the chunks one after the other and then ends. */
function connectionReceiving(chunks: readonly Uint8Array[]): Duplex {
  const left = [...chunks];
  return new Duplex({
    read() {
      const next = left.shift();
      setImmediate(() => this.push(next === undefined ? null : Buffer.from(next)));
    },
    write: (_chunk, _encoding, done) => done(),
  });
}

/** What was decided and what can be read afterwards; nothing when the connection was destroyed undecided. */
async function peek(
  chunks: readonly Uint8Array[],
): Promise<{ protocol: Opening; unread: Buffer } | undefined> {
  const connection = connectionReceiving(chunks);
  const protocol = await new Promise<Opening | undefined>((resolve) => {
    peekProtocol(connection, resolve);
    connection.once('close', () => resolve(undefined));
  });
  if (protocol === undefined) return undefined;
  const unread: Buffer[] = [];
  for await (const chunk of connection) unread.push(chunk);
  return { protocol, unread: Buffer.concat(unread) };
}

function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...places, bytes.length]
    .map((end, index) => bytes.subarray(places[index - 1] ?? 0, end))
    .filter((c) => c.length);
}

const cuts = fc.array(fc.nat(), { maxLength: 30 });

describe('peekProtocol', () => {
  it('finds HTTP/2 however its preface is cut, and takes no byte away', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 50 }), cuts, async (rest, places) => {
        const bytes = Buffer.concat([PREFACE, rest]);
        expect(await peek(split(bytes, places))).toEqual({ protocol: 'http2', unread: bytes });
      }),
    );
  });

  it('takes everything that departs from the preface for HTTP/1, and takes no byte away', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(PREFACE.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.uint8Array({ maxLength: 50 }),
        cuts,
        async (position, change, rest, places) => {
          const departing = Buffer.from(PREFACE.subarray(0, position + 1));
          departing.writeUInt8(departing.readUInt8(position) ^ change, position);
          const bytes = Buffer.concat([departing, rest]);
          const protocol = bytes[0] === 0x16 ? 'tls' : 'http1';
          expect(await peek(split(bytes, places))).toEqual({ protocol, unread: bytes });
        },
      ),
    );
  });

  it('detects TLS by the first byte of its handshake, and takes no byte away', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 50 }), cuts, async (rest, places) => {
        const bytes = Buffer.concat([Buffer.from([0x16]), rest]);
        expect(await peek(split(bytes, places))).toEqual({ protocol: 'tls', unread: bytes });
      }),
    );
  });

  it('destroys a connection that ends before its protocol is detected', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(PREFACE.length - 1), cuts, async (length, places) => {
        expect(await peek(split(PREFACE.subarray(0, length), places))).toBeUndefined();
      }),
    );
  });
});
