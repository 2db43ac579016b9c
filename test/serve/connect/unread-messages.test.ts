import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MessageReader } from '../../../src/contract/call/handler.js';
import { UnreadMessages } from '../../../src/serve/connect/unread-messages.js';

const MIN = 10;
const MAX = 40;
const reader: MessageReader = {
  takes: (bytes) => bytes >= MIN,
  read: () => Promise.reject(new Error('unused')),
};

interface Sent {
  readonly flags: number;
  readonly content: Uint8Array;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  flags: fc.constantFrom(0, 0, 0, 1, 2, 128),
  content: fc.uint8Array({ maxLength: 50 }),
});

function envelope({ flags, content }: Sent): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flags;
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}

/** The bytes in parts that end at these places, empty ones included. */
async function* parts(bytes: Buffer, ends: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const end of [...ends.map((end) => end % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    yield bytes.subarray(from, end);
    from = end;
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

const ends = fc.array(fc.nat(), { maxLength: 12 });

describe.each(['json', 'binary'] as const)('messages of a body in %s', (form) => {
  const empty = Buffer.from(form === 'json' ? '{}' : '');

  it('are taken out when they are large, and all else is passed on, however the bytes arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(sent, { maxLength: 6 }),
        ends,
        fc.nat({ max: 60 }),
        async (messages, at, cut) => {
          const bytes = Buffer.concat(messages.map(envelope));
          const arrived = bytes.subarray(0, Math.max(0, bytes.length - cut));
          const unread = new UnreadMessages(reader, form, MAX);
          let rest = await collect(unread.fromEnvelopes(parts(arrived, at)));
          let left = arrived;
          for (const message of messages) {
            const whole = envelope(message);
            // What is incomplete is passed on as it is.
            if (left.length < whole.length) break;
            const isTaken =
              message.flags === 0 && message.content.length >= MIN && message.content.length <= MAX;
            const expected = isTaken ? envelope({ flags: 0, content: empty }) : whole;
            expect(rest.subarray(0, expected.length)).toEqual(expected);
            const taken = unread.next();
            expect(taken && { ...taken, bytes: Buffer.from(taken.bytes) }).toEqual(
              isTaken ? { form, bytes: Buffer.from(message.content) } : undefined,
            );
            rest = rest.subarray(expected.length);
            left = left.subarray(whole.length);
          }
          expect(rest).toEqual(left);
        },
      ),
    );
  });

  it('is taken out if it is the whole body and large, and passed on otherwise', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), ends, async (content, at) => {
        const unread = new UnreadMessages(reader, form, MAX);
        const rest = await collect(unread.fromWhole(parts(Buffer.from(content), at)));
        const isTaken = content.length >= MIN && content.length <= MAX;
        expect(rest).toEqual(isTaken ? empty : Buffer.from(content));
        expect(unread.next()?.bytes.length).toBe(isTaken ? content.length : undefined);
      }),
    );
  });
});

it('messages in JSON that Connect parses get the form that keeps their numbers, however the bytes arrive', async () => {
  const other = (content: Uint8Array) => Buffer.concat([content, Buffer.from('+')]);
  const exact: MessageReader = {
    ...reader,
    exact: (content) => (content[0] === 0 ? undefined : other(content)),
  };
  const written = ({ flags, content }: Sent) => {
    const isPassedOn = flags === 0 && content.length > 0 && content.length < MIN;
    if (flags === 0 && content.length >= MIN && content.length <= MAX)
      return envelope({ flags, content: Buffer.from('{}') });
    return envelope({ flags, content: isPassedOn && content[0] !== 0 ? other(content) : content });
  };
  await fc.assert(
    fc.asyncProperty(fc.array(sent, { maxLength: 6 }), ends, async (messages, at) => {
      const unread = new UnreadMessages(exact, 'json', MAX);
      const bytes = Buffer.concat(messages.map(envelope));
      expect(await collect(unread.fromEnvelopes(parts(bytes, at)))).toEqual(
        Buffer.concat(messages.map(written)),
      );
      for (const { flags, content } of messages)
        expect(unread.next() !== undefined).toBe(
          flags === 0 && content.length >= MIN && content.length <= MAX,
        );
    }),
  );
  const unread = new UnreadMessages(exact, 'json', MAX);
  expect(unread.takesWhole('5')).toBe(true);
  expect(String(await collect(unread.fromWhole(parts(Buffer.from('[1]'), [1]))))).toBe('[1]+');
});
