import { gunzipSync } from 'node:zlib';
import { fromBinary, fromJsonString } from '@bufbuild/protobuf';
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import { describe, expect, it } from 'vitest';
import { WatchControlsResponseSchema } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { EncodedReplies, type EncodedReply } from '../../../src/serve/connect/encoded-replies.js';
import { messageMapper } from '../../../src/serve/connect/message-mapper.js';
import { withReplies } from '../../../src/serve/connect/replaced-replies.js';

const BINARY = { isJson: false, isCompressed: false };
const JSON_FORM = { isJson: true, isCompressed: false };

/** Some 100 KB. */
const controls = Array.from({ length: 50 }, (_, index) => ({
  id: index + 1,
  name: `control-${index}`,
  control: {
    enabled: true,
    condition: {
      selector: { path: 'input' },
      evaluator: { name: 'list', config: { values: ['x'.repeat(2_000)] } },
    },
    action: { decision: 'deny' },
  },
}));
const full = { controls };
const { fromPlain } = messageMapper(WatchControlsResponseSchema);
const replies = (maxBytes = 1_000_000) => new EncodedReplies(WatchControlsResponseSchema, maxBytes);

/** The message in an envelope. */
function messageIn(reply: EncodedReply): Buffer {
  const bytes = Buffer.concat(reply);
  expect(bytes.readUInt32BE(1)).toBe(bytes.length - 5);
  return bytes.subarray(5);
}

describe('encoded replies', () => {
  it('are the messages of protobuf-es, in both forms', async () => {
    const encoded = replies();
    for (const plain of [
      { revision: 5, full, incomplete: true },
      { revision: 0, current: { staleness_seconds: 0.5 } },
      { revision: 7, changed: { upserted: [], removed: [1, 2] } },
    ]) {
      const binary = messageIn(await encoded.of(plain, BINARY));
      expect(fromBinary(WatchControlsResponseSchema, binary)).toEqual(fromPlain(plain));
      const json = messageIn(await encoded.of(plain, JSON_FORM));
      expect(fromJsonString(WatchControlsResponseSchema, json.toString())).toEqual(fromPlain(plain));
    }
  });

  it('are encoded once for 800 callers, and their large members once for all revisions', async () => {
    const encoded = replies();
    let reads = 0;
    const counted = {
      get controls() {
        reads += 1;
        return controls;
      },
    };
    const buffers = new Set<ArrayBufferLike>();
    for (let revision = 1; revision <= 12; revision += 1) {
      const plain = { revision, full: counted };
      const first = await encoded.of(plain, BINARY);
      for (let caller = 0; caller < 800; caller += 1) expect(encoded.of(plain, BINARY)).toBe(first);
      const large = first.filter(({ length }) => length > 10_000);
      expect(large).toHaveLength(1);
      buffers.add((large[0] as Uint8Array).buffer);
    }
    expect(reads).toBe(1);
    expect(buffers.size).toBe(1);
  });

  it('are compressed once', async () => {
    const encoded = replies();
    const plain = { revision: 3, full };
    const form = { isJson: false, isCompressed: true };
    const [one, other] = await Promise.all([encoded.of(plain, form), encoded.of(plain, form)]);
    expect(one).toBe(other);
    expect(one[0]?.[0]).toBe(1);
    const message = gunzipSync(messageIn(one));
    expect(fromBinary(WatchControlsResponseSchema, message)).toEqual(fromPlain(plain));
    expect((await encoded.of({ revision: 3 }, form))[0]?.[0]).toBe(0);
  });

  it('are refused when they are too large', () => {
    expect(() => replies(1_000).of({ revision: 1, full }, BINARY)).toThrow(/larger than/);
  });

  it('take the place of the empty messages of Connect, but not of trailers, and are counted', async () => {
    const empty = new Uint8Array(5);
    const trailers = new Uint8Array([0x80, 0, 0, 0, 0]);
    async function* body() {
      yield empty;
      yield empty;
      yield trailers;
    }
    const waiting = [[Buffer.from('first, '), Buffer.from('and more')], [Buffer.from('second')]];
    let sent = 0;
    const response: UniversalServerResponse = { status: 200, header: new Headers(), body: body() };
    const replaced = withReplies(response, waiting, (bytes) => {
      sent += bytes;
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of replaced.body as AsyncIterable<Uint8Array>) chunks.push(chunk);
    expect(Buffer.concat(chunks.slice(0, -1)).toString()).toBe('first, and moresecond');
    expect(chunks.at(-1)).toBe(trailers);
    expect(sent).toBe('first, and moresecond'.length + trailers.length);
    expect(waiting).toHaveLength(0);
  });
});
