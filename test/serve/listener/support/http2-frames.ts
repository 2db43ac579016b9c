import type { Readable } from 'node:stream';

/** Just enough HTTP/2 to misbehave in ways no client library does. */
export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
} as const;
export const END_STREAM = 0x1;
export const END_HEADERS = 0x4;
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

export function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}

/** What a client says first. */
export const OPENING = Buffer.concat([PREFACE, frame(FRAME.SETTINGS, 0, 0)]);

const literal = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')]);

/** A GET request without body; path and names at most 126 characters. */
export function getRequest(streamId: number, path: string): Buffer {
  const block = Buffer.concat([
    Buffer.from([0x82, 0x86, 0x04]), // :method GET, :scheme http, :path as a literal
    literal(path),
    Buffer.from([0x01]), // :authority
    literal('localhost'),
  ]);
  return frame(FRAME.HEADERS, END_STREAM | END_HEADERS, streamId, block);
}

/** Frames as they arrive; ends when the connection closes. */
export async function* readFrames(readable: Readable): AsyncGenerator<Frame> {
  let buffered = Buffer.alloc(0);
  try {
    for await (const chunk of readable as AsyncIterable<Buffer>) {
      buffered = Buffer.concat([buffered, chunk]);
      while (buffered.length >= 9 && buffered.length >= 9 + buffered.readUIntBE(0, 3)) {
        const end = 9 + buffered.readUIntBE(0, 3);
        yield {
          type: buffered.readUInt8(3),
          flags: buffered.readUInt8(4),
          streamId: buffered.readUInt32BE(5) & 0x7fffffff,
          payload: Buffer.from(buffered.subarray(9, end)),
        };
        buffered = buffered.subarray(end);
      }
    }
  } catch {
    // A reset connection has no more frames.
  }
}

/** The next frame of a type; undefined when the connection closes before. Leaves the connection open. */
export async function nextFrame(frames: AsyncGenerator<Frame>, type: number): Promise<Frame | undefined> {
  for (;;) {
    const { value, done } = await frames.next();
    if (done) return undefined;
    if (value.type === type) return value;
  }
}
