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

export class Http2Client {
  #socket;
  #headers;
  #rest = Buffer.alloc(0);
  #nextId = 1;
  #streams = new Map();
  #window = DEFAULT_WINDOW;
  #streamWindow = DEFAULT_WINDOW;
  /** Frames that wait for a window: [stream, frame]. */
  #waiting = [];
  #out = [];

  /** Every call goes to `path`. `failed` is told once when the connection is of no use any more. */
  static async connect(url, path, failed) {
    const { hostname, port, host } = new URL(url);
    const client = new Http2Client();
    client.#headers = headerBlock(path, host);
    client.#socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
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

  /** Starts a call. `onData` gets views of what comes, `onEnd` is told of the end. */
  open(onData, onEnd) {
    const stream = { id: this.#nextId, window: this.#streamWindow, onData, onEnd };
    this.#nextId += 2;
    this.#streams.set(stream.id, stream);
    this.#send(frame(HEADERS, END_HEADERS, stream.id, this.#headers));
    return stream;
  }

  /** Sends a message; the last one ends the request. An empty one only ends it. */
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

  #spend(stream, size) {
    if (size > this.#window || size > stream.window) return false;
    this.#window -= size;
    stream.window -= size;
    return true;
  }

  /** What is sent in one turn of the event loop leaves together. */
  #send(bytes) {
    if (this.#out.push(bytes) > 1) return;
    queueMicrotask(() => {
      this.#socket.write(Buffer.concat(this.#out));
      this.#out = [];
    });
  }

  #read(chunk, failed) {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= FRAME_HEAD) {
      const start = at + FRAME_HEAD;
      const end = start + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const problem = this.#onFrame(
        bytes[at + 3],
        bytes[at + 4],
        bytes.readUInt32BE(at + 5),
        bytes,
        start,
        end,
      );
      if (problem !== undefined) return failed(new Error(problem));
      at = end;
    }
    this.#rest = bytes.subarray(at);
  }

  #onFrame(type, flags, id, bytes, start, end) {
    const stream = this.#streams.get(id);
    switch (type) {
      case DATA:
        stream?.onData(bytes.subarray(start, end));
        break;
      case HEADERS:
        break;
      case SETTINGS:
        if ((flags & ACK) === 0) this.#onSettings(bytes, start, end);
        return;
      case PING:
        if ((flags & ACK) === 0) this.#send(frame(PING, ACK, 0, bytes.subarray(start, end)));
        return;
      case WINDOW_UPDATE:
        if (id === 0) this.#window += bytes.readUInt32BE(start);
        else if (stream !== undefined) stream.window += bytes.readUInt32BE(start);
        this.#sendWaiting();
        return;
      case RST_STREAM:
        return stream && `a call was reset with code ${bytes.readUInt32BE(start)}`;
      case GOAWAY:
        return `the server went away with code ${bytes.readUInt32BE(start + 4)}`;
      default:
        return;
    }
    if ((flags & END_STREAM) === 0) return;
    this.#streams.delete(id);
    stream?.onEnd();
  }

  #onSettings(bytes, start, end) {
    for (let at = start; at < end; at += 6) {
      if (bytes.readUInt16BE(at) !== INITIAL_WINDOW_SIZE) continue;
      const size = bytes.readUInt32BE(at + 2);
      for (const stream of this.#streams.values()) stream.window += size - this.#streamWindow;
      this.#streamWindow = size;
    }
    this.#send(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
    this.#sendWaiting();
  }

  #sendWaiting() {
    while (this.#waiting.length > 0) {
      const [stream, data] = this.#waiting[0];
      if (!this.#spend(stream, data.length - FRAME_HEAD)) return;
      this.#waiting.shift();
      this.#send(data);
    }
  }
}

function frame(type, flags, id, payload) {
  const made = Buffer.allocUnsafe(FRAME_HEAD + payload.length);
  made.writeUIntBE(payload.length, 0, 3);
  made[3] = type;
  made[4] = flags;
  made.writeUInt32BE(id, 5);
  made.set(payload, FRAME_HEAD);
  return made;
}

function uint32(value) {
  const made = Buffer.alloc(4);
  made.writeUInt32BE(value);
  return made;
}

/** Indexed where the static table has it, otherwise literal, not indexed. */
function headerBlock(path, host) {
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
