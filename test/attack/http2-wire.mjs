/**
 * HTTP/2 frames made and read by hand (RFC 9113, RFC 7541), so that a load of hostile requests costs its sender a
 * fraction of what it costs the service.
 */

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, goAway: 7, windowUpdate: 8 };
const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;
const LARGEST_WINDOW = 2 ** 31 - 1;
const DEFAULT_WINDOW = 65_535;
const INITIAL_WINDOW_SIZE = 4;
const MAX_CONCURRENT_STREAMS = 3;

/**
 * @param {number} type
 * @param {number} flags
 * @param {number} stream
 * @param {Uint8Array} payload
 */
export function frame(type, flags, stream, payload) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/**
 * What a client says first: it takes replies of any size, or, with a window of 0, nothing of any reply but its headers.
 * @param {number} [streamWindow]
 */
export function opening(streamWindow = LARGEST_WINDOW) {
  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(INITIAL_WINDOW_SIZE, 0);
  settings.writeUInt32BE(streamWindow, 2);
  const window = Buffer.alloc(4);
  window.writeUInt32BE(LARGEST_WINDOW - DEFAULT_WINDOW, 0);
  return Buffer.concat([
    PREFACE,
    frame(TYPE.settings, 0, 0, settings),
    frame(TYPE.windowUpdate, 0, 0, window),
  ]);
}

export const settingsAck = frame(TYPE.settings, ACK, 0, Buffer.alloc(0));

/** @param {string} text */
function literal(text) {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const head = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) head.push((rest % 128) | 128);
  head.push(rest);
  return Buffer.concat([Buffer.from(head), bytes]);
}

/**
 * A header block of literals without indexing, so that it is the same on every connection.
 * @param {string} path
 * @param {Record<string, string>} headers
 */
export function headerBlock(path, headers) {
  const parts = [Buffer.from([0x83, 0x86, 0x04]), literal(path), Buffer.from([0x01]), literal('localhost')];
  for (const [name, value] of Object.entries(headers))
    parts.push(Buffer.from([0x00]), literal(name), literal(value));
  return Buffer.concat(parts);
}

/**
 * The frames of one request.
 * @param {number} stream
 * @param {Buffer} block
 * @param {Buffer | null} body
 */
export function request(stream, block, body) {
  if (body === null) return frame(TYPE.headers, END_HEADERS | END_STREAM, stream, block);
  return Buffer.concat([
    frame(TYPE.headers, END_HEADERS, stream, block),
    frame(TYPE.data, END_STREAM, stream, body),
  ]);
}

/** @param {number} stream */
export function reset(stream) {
  return frame(TYPE.reset, 0, stream, Buffer.from([0, 0, 0, 8]));
}

/** Reads frames and tells what became of streams. */
export class FrameReader {
  /** @type {Buffer} */
  #rest = Buffer.alloc(0);
  #on;

  /**
   * @param {{ settings(maxStreams: number | undefined): void, ended(stream: number): void, reset(stream: number): void, goAway(code: number): void, data?(stream: number): void }} on
   */
  constructor(on) {
    this.#on = on;
  }

  /** @param {Buffer} chunk */
  push(chunk) {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= 9) {
      const size = bytes.readUIntBE(at, 3);
      if (bytes.length - at < 9 + size) break;
      this.#read(
        bytes[at + 3] ?? 0,
        bytes[at + 4] ?? 0,
        bytes.readUInt32BE(at + 5),
        bytes.subarray(at + 9, at + 9 + size),
      );
      at += 9 + size;
    }
    this.#rest = bytes.subarray(at);
  }

  /**
   * @param {number} type
   * @param {number} flags
   * @param {number} stream
   * @param {Buffer} payload
   */
  #read(type, flags, stream, payload) {
    if (type === TYPE.settings && (flags & ACK) === 0) this.#on.settings(maxStreams(payload));
    else if (type === TYPE.reset) this.#on.reset(stream);
    else if (type === TYPE.goAway) this.#on.goAway(payload.readUInt32BE(4));
    else if ((type === TYPE.headers || type === TYPE.data) && (flags & END_STREAM) !== 0)
      this.#on.ended(stream);
    else if (type === TYPE.data) this.#on.data?.(stream);
  }
}

/**
 * How many streams the other end takes at once, if it says so.
 * @param {Buffer} payload
 */
function maxStreams(payload) {
  for (let at = 0; at + 6 <= payload.length; at += 6) {
    if (payload.readUInt16BE(at) === MAX_CONCURRENT_STREAMS) return payload.readUInt32BE(at + 2);
  }
  return undefined;
}
