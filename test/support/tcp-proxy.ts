import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a network does to the connections that go through it. */
export type Weather =
  /** Everything passes. */
  | 'clear'
  /** New connections are refused; those that are open go on. */
  | 'refuse'
  /** No packet passes in either direction, without a notice: as with a paused server or a lost network. */
  | 'pause';

/** A network between a client and a server that fails when a test says so. */
export interface TcpProxy {
  readonly url: string;
  /** Open connections of clients. */
  readonly connections: number;
  /** Changes what happens to new and open connections. What was held back passes when it clears up. */
  set(weather: Weather): Promise<void>;
  /** Holds every packet back for this long, in both directions. */
  delay(milliseconds: number): void;
  /** Breaks all open connections; `set` says what happens to new ones. */
  cut(): void;
  /**
   * Passes each notification of PostgreSQL on this many times: 0 as a pooler does that knows none, more than once as no
   * server does, though nothing may depend on that. For connections opened from now on.
   */
  notifications(copies: number): void;
  /** From now on nothing passes over open connections, for good, while new ones work: a router that forgot them. */
  forget(): void;
  close(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  forgotten: boolean;
}

/** Puts a proxy in front of the server of a URL. */
export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const links = new Set<Link>();
  let weather: Weather = 'clear';
  let delayMs = 0;
  let copies = 1;
  let clearUp = (): void => {};
  let clear: Promise<void> = Promise.resolve();

  /** Passes data on, in order and with back-pressure. */
  async function pump(from: Readable, to: Socket, link: Link): Promise<void> {
    try {
      for await (const chunk of from) {
        if (delayMs > 0) await sleep(delayMs);
        await clear;
        if (link.forgotten) return;
        if (!to.write(chunk as Buffer)) await once(to, 'drain');
      }
      await clear;
      if (!link.forgotten) to.end();
    } catch {
      to.destroy();
    }
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const address = { port: Number(target.port), host: target.hostname };
    const upstream = connect({ ...address, allowHalfOpen: true, noDelay: true });
    const link: Link = { client, server: upstream, forgotten: false };
    links.add(link);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    client.on('close', () => {
      links.delete(link);
      upstream.destroy();
    });
    upstream.on('close', () => {
      if (!link.forgotten && weather !== 'pause') client.destroy();
    });
    void pump(client, upstream, link);
    const replies = copies === 1 ? upstream : Readable.from(withNotifications(upstream, copies));
    void pump(replies, client, link);
  });

  const listen = (port: number) => once(server.listen(port, '127.0.0.1'), 'listening');
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const url = new URL(targetUrl);
  url.host = `127.0.0.1:${port}`;

  async function set(next: Weather): Promise<void> {
    if (next === weather) return;
    const before = weather;
    weather = next;
    if (before === 'pause') clearUp();
    if (before === 'refuse') await listen(port);
    if (next === 'refuse') server.close();
    if (next === 'pause') {
      clear = new Promise((resolve) => {
        clearUp = resolve;
      });
    }
  }

  function cut(): void {
    for (const { client, server: upstream } of links) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  }

  return {
    url: String(url),
    get connections() {
      return links.size;
    },
    set,
    cut,
    notifications(next) {
      copies = next;
    },
    delay(milliseconds) {
      delayMs = milliseconds;
    },
    forget() {
      for (const link of links) link.forgotten = true;
    },
    async close() {
      clearUp();
      cut();
      server.close();
    },
  };
}

const NOTIFICATION = 'A'.charCodeAt(0);
/** Type and length, the latter without the type. */
const MESSAGE_HEADER = 5;

/** The messages of a PostgreSQL server, notifications as often as wanted. Without TLS, which hides them. */
async function* withNotifications(server: AsyncIterable<Buffer>, copies: number): AsyncGenerator<Buffer> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of server) {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= MESSAGE_HEADER) {
      const length = 1 + pending.readUInt32BE(1);
      if (pending.length < length) break;
      const message = pending.subarray(0, length);
      pending = pending.subarray(length);
      const times = message[0] === NOTIFICATION ? copies : 1;
      for (let count = 0; count < times; count += 1) yield message;
    }
  }
}
