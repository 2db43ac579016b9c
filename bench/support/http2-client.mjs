/**
 * As little of an HTTP/2 client (RFC 9113) as a load generator for gRPC needs, over a bare socket: it does not read
 * headers, and writes the same prepared ones (HPACK, RFC 7541, without Huffman) for each call. Each message travels
 * in DATA frames of its own, as gRPC clients send them. It never holds back the server; what the server's windows
 * hold back waits.
 */
import { once } from 'node:events';
import net from 'node:net';

const FRAME_HEAD = 9;
const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE] = [0, 1, 3, 4, 6, 7, 8];
const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;
const INITIAL_WINDOW_SIZE = 4;
/** Largest payload that every server takes. */
const LARGEST_FRAME = 16_384;
const DEFAULT_WINDOW = 65_535;
const LARGEST_WINDOW = 2 ** 31 - 1;

/** @typedef {{ id: number, window: number, onData: (bytes: Buffer) => void, onEnd: () => void }} Stream */

export class Http2Client {
  #socket;
  #headers;
  /** @type {Buffer} */
  #rest = Buffer.alloc(0);
  #nextId = 1;
  /** @type {Map<number, Stream>} */
  #streams = new Map();
  #window = DEFAULT_WINDOW;
  #streamWindow = DEFAULT_WINDOW;
  /**
   * Frames that wait for a window.
   * @type {[Stream, Buffer][]}
   */
  #waiting = [];
  /** @type {Buffer[]} */
  #out = [];

  /**
   * @param {net.Socket} socket
   * @param {Buffer} headers
   */
  constructor(socket, headers) {
    this.#socket = socket;
    this.#headers = headers;
  }

  /**
   * Every call goes to `path`. `failed` is told once when the connection is of no use any more.
   * @param {string} url
   * @param {string} path
   * @param {(error: Error) => void} failed
   */
  static async connect(url, path, failed) {
    const { hostname, port, host } = new URL(url);
    const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
    const client = new Http2Client(socket, headerBlock(path, host));
    await once(client.#socket, 'connect');
    client.#socket.on('data', (chunk) => client.#read(chunk, failed));
    client.#socket.on('error', failed);
    client.#socket.on('close', () => failed(new Error('the connection was closed')));
    client.#send(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'));
    const settings = Buffer.alloc(6);
    settings.writeUInt16BE(INITIAL_WINDOW_SIZE, 0);
    settings.writeUInt32BE(LARGEST_WINDOW, 2);
    client.#send(frame(SETTINGS, 0, 0, settings));
    client.#send(frame(WINDOW_UPDATE, 0, 0, uint32(LARGEST_WINDOW - DEFAULT_WINDOW)));
    return client;
  }

  /**
   * Starts a call. `onData` gets views of what comes, `onEnd` is told of the end.
   * @param {Stream['onData']} onData
   * @param {Stream['onEnd']} onEnd
   */
  open(onData, onEnd) {
    const stream = { id: this.#nextId, window: this.#streamWindow, onData, onEnd };
    this.#nextId += 2;
    this.#streams.set(stream.id, stream);
    this.#send(frame(HEADERS, END_HEADERS, stream.id, this.#headers));
    return stream;
  }

  /**
   * Sends a message; the last one ends the request. An empty one only ends it.
   * @param {Stream} stream
   * @param {Buffer} message
   * @param {boolean} isLast
   */
  write(stream, message, isLast) {
    let at = 0;
    do {
      const part = message.subarray(at, at + LARGEST_FRAME);
      at += part.length;
      const data = frame(DATA, isLast && at === message.length ? END_STREAM : 0, stream.id, part);
      if (this.#waiting.length > 0 || !this.#spend(stream, part.length)) this.#waiting.push([stream, data]);
      else this.#send(data);
    } while (at < message.length);
  }

  close() {
    this.#socket.removeAllListeners();
    this.#socket.on('error', () => {});
    this.#socket.destroy();
  }

  /** @param {Stream} stream @param {number} size */
  #spend(stream, size) {
    if (size > this.#window || size > stream.window) return false;
    this.#window -= size;
    stream.window -= size;
    return true;
  }

  /**
   * What is sent in one turn of the event loop leaves together.
   * @param {Buffer} bytes
   */
  #send(bytes) {
    if (this.#out.push(bytes) > 1) return;
    queueMicrotask(() => {
      this.#socket.write(Buffer.concat(this.#out));
      this.#out = [];
    });
  }

  /** @param {Buffer} chunk @param {(error: Error) => void} failed */
  #read(chunk, failed) {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= FRAME_HEAD) {
      const start = at + FRAME_HEAD;
      const end = start + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const problem = this.#onFrame(
        bytes.readUInt8(at + 3),
        bytes.readUInt8(at + 4),
        bytes.readUInt32BE(at + 5),
        bytes.subarray(start, end),
      );
      if (problem !== undefined) return failed(new Error(problem));
      at = end;
    }
    this.#rest = bytes.subarray(at);
  }

  /**
   * @param {number} type
   * @param {number} flags
   * @param {number} id
   * @param {Buffer} payload
   * @returns {string | undefined} why the connection is of no use any more
   */
  #onFrame(type, flags, id, payload) {
    const stream = this.#streams.get(id);
    switch (type) {
      case DATA:
        stream?.onData(payload);
        break;
      case HEADERS:
        break;
      case SETTINGS:
        if ((flags & ACK) === 0) this.#onSettings(payload);
        return undefined;
      case PING:
        if ((flags & ACK) === 0) this.#send(frame(PING, ACK, 0, payload));
        return undefined;
      case WINDOW_UPDATE:
        if (id === 0) this.#window += payload.readUInt32BE(0);
        else if (stream !== undefined) stream.window += payload.readUInt32BE(0);
        this.#sendWaiting();
        return undefined;
      case RST_STREAM:
        return stream && `a call was reset with code ${payload.readUInt32BE(0)}`;
      case GOAWAY:
        return `the server went away with code ${payload.readUInt32BE(4)}`;
      default:
        return undefined;
    }
    if ((flags & END_STREAM) === 0) return undefined;
    this.#streams.delete(id);
    stream?.onEnd();
    return undefined;
  }

  /** @param {Buffer} settings */
  #onSettings(settings) {
    for (let at = 0; at < settings.length; at += 6) {
      if (settings.readUInt16BE(at) !== INITIAL_WINDOW_SIZE) continue;
      const size = settings.readUInt32BE(at + 2);
      for (const stream of this.#streams.values()) stream.window += size - this.#streamWindow;
      this.#streamWindow = size;
    }
    this.#send(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
    this.#sendWaiting();
  }

  #sendWaiting() {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const [stream, data] = next;
      if (!this.#spend(stream, data.length - FRAME_HEAD)) return;
      this.#waiting.shift();
      this.#send(data);
    }
  }
}

/**
 * @param {number} type
 * @param {number} flags
 * @param {number} id
 * @param {Uint8Array} payload
 */
function frame(type, flags, id, payload) {
  const made = Buffer.allocUnsafe(FRAME_HEAD + payload.length);
  made.writeUIntBE(payload.length, 0, 3);
  made[3] = type;
  made[4] = flags;
  made.writeUInt32BE(id, 5);
  made.set(payload, FRAME_HEAD);
  return made;
}

/** @param {number} value */
function uint32(value) {
  const made = Buffer.alloc(4);
  made.writeUInt32BE(value);
  return made;
}

/**
 * Indexed where the static table has it, otherwise literal, not indexed.
 * @param {string} path
 * @param {string} host
 */
function headerBlock(path, host) {
  /** @param {string} value */
  const text = (value) => [Buffer.from([value.length]), Buffer.from(value)];
  return Buffer.concat([
    // :method POST, :scheme http
    Buffer.from([0x83, 0x86]),
    // :path, :authority, content-type by the indices of their names
    ...[Buffer.from([0x04]), ...text(path)],
    ...[Buffer.from([0x01]), ...text(host)],
    ...[Buffer.from([0x0f, 0x10]), ...text('application/grpc')],
    ...[Buffer.from([0x00]), ...text('te'), ...text('trailers')],
  ]);
}
