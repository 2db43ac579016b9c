import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageReader } from '../../../src/serve/wire/message-reader.js';
import { framed } from '../lane/exchange.js';

const MAX_BYTES = 300;
const message = fc.uint8Array({ maxLength: MAX_BYTES });

/** Everything a reader finds in a body that comes in pieces of these sizes. */
function read(reader: MessageReader, body: Buffer, sizes: readonly number[]): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0, piece = 0; at < body.length; piece += 1) {
    const size = sizes[piece % sizes.length] ?? 1;
    reader.push(body.subarray(at, at + size));
    at += size;
    for (let next = reader.next(); next !== undefined; next = reader.next()) found.push(next);
  }
  return found;
}

describe('the reader of messages', () => {
  it('finds every message, however the body is cut', () => {
    fc.assert(
      fc.property(
        fc.array(message),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }),
        fc.integer({ min: 0, max: 4 }),
        (messages, sizes, spare) => {
          const reader = new MessageReader(MAX_BYTES);
          const body = Buffer.concat([...messages.map((one) => framed(one)), Buffer.alloc(spare)]);
          const found = read(reader, body, sizes);
          expect(found.map((one) => one.toString('hex'))).toEqual(
            messages.map((one) => Buffer.from(one).toString('hex')),
          );
          expect(reader.isInsideMessage).toBe(spare > 0);
        },
      ),
    );
  });

  it('copies nothing of a message that came in one piece', () => {
    const reader = new MessageReader(MAX_BYTES);
    const chunk = Buffer.concat([framed(Buffer.from('one')), framed(Buffer.from('two'))]);
    reader.push(chunk);
    expect([reader.next(), reader.next()].map((one) => one?.buffer === chunk.buffer)).toEqual([true, true]);
  });

  it('refuses what is too large before it has come', () => {
    const reader = new MessageReader(MAX_BYTES);
    reader.push(framed(Buffer.alloc(MAX_BYTES + 1)).subarray(0, 5));
    expect(() => reader.next()).toThrow('message size 301 is larger than configured readMaxBytes 300');
  });

  it('refuses what is marked as compressed, and ignores the other flags', () => {
    const reader = new MessageReader(MAX_BYTES);
    reader.push(Buffer.concat([framed(Buffer.from('a'), 0xfe), framed(Buffer.from('b'), 1)]));
    expect(String(reader.next())).toBe('a');
    expect(() => reader.next()).toThrow('marked as compressed');
  });
});
