import type { Socket } from 'node:net';
import fastify from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { createListener } from '../../../src/serve/listener/listener.js';
import { event, receivedText, receivedUntilClose } from './support/events.js';
import {
  expectStillServing,
  type Harness,
  requestHttp1,
  requestHttp2,
  startHarness,
} from './support/harness.js';
import { FRAME, getRequest, nextFrame, OPENING, readFrames } from './support/http2-frames.js';
import { PLAINTEXT, TRANSPORTS } from './support/transports.js';

const HELLO = 'GET /hello HTTP/1.1\r\nHost: localhost\r\n';

describe.each(TRANSPORTS)('one port over $name', (transport) => {
  let harness: Harness;
  afterEach(() => harness.stop());

  it('serves HTTP/1.1', async () => {
    harness = await startHarness(transport);
    const answer = await requestHttp1(transport, harness.port, '/hello');
    expect(JSON.parse(answer.body)).toEqual({ protocol: transport.scheme, version: '1.1' });
  });

  it('serves HTTP/2', async () => {
    harness = await startHarness(transport);
    const session = transport.connectHttp2(harness.port);
    const answer = await requestHttp2(session, { ':path': '/hello' });
    expect(JSON.parse(answer.body)).toEqual({ protocol: transport.scheme, version: '2.0' });
    session.close();
  });

  it('serves both at once, with bodies', async () => {
    harness = await startHarness(transport);
    const session = transport.connectHttp2(harness.port);
    const body = JSON.stringify({ text: 'x'.repeat(100_000) });
    const post = { ':path': '/echo', ':method': 'POST', 'content-type': 'application/json' };
    const answers = await Promise.all([
      requestHttp2(session, post, body),
      requestHttp1(transport, harness.port, '/hello'),
      requestHttp2(session, post, body),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
    expect(answers[0]?.body).toBe(body);
    session.close();
  });

  it('keeps a connection for the next request', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'http/1.1');
    for (let turn = 0; turn < 3; turn += 1) {
      socket.write(`${HELLO}\r\n`);
      expect(await receivedText(socket, '"version":"1.1"}')).toMatch(/^HTTP\/1\.1 200 /);
    }
    socket.destroy();
  });

  it('answers HTTP/1.0 and closes', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'http/1.1');
    socket.write('GET /hello HTTP/1.0\r\n\r\n');
    expect((await receivedUntilClose(socket)).toString()).toContain('"version":"1.0"');
  });

  it('answers pipelined requests in order', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'http/1.1');
    socket.write(`GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n${HELLO}Connection: close\r\n\r\n`);
    const received = receivedUntilClose(socket);
    await harness.door.reached;
    harness.door.open();
    expect((await received).toString()).toMatch(/"held":true.*"version":"1\.1"/s);
  });

  it('ignores an offer to upgrade to h2c and answers over HTTP/1.1', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'http/1.1');
    socket.write(
      `${HELLO}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
    );
    expect((await receivedUntilClose(socket)).toString()).toMatch(/^HTTP\/1\.1 200 .*"version":"1\.1"/s);
  });

  it('sends 100 Continue to a client that waits for it', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'http/1.1');
    socket.write('POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n');
    socket.write('Content-Length: 2\r\nExpect: 100-continue\r\n\r\n');
    await receivedText(socket, 'HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('{}');
    expect(await receivedText(socket, '{}')).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it('understands HTTP/1.1 that arrives byte by byte', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'http/1.1');
    const received = receivedUntilClose(socket);
    await writeByteByByte(socket, Buffer.from(`${HELLO}Connection: close\r\n\r\n`));
    expect((await received).toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('understands HTTP/2 that arrives byte by byte', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'h2');
    const frames = readFrames(socket);
    await writeByteByByte(socket, Buffer.concat([OPENING, getRequest(1, '/hello')]));
    expect((await nextFrame(frames, FRAME.HEADERS))?.streamId).toBe(1);
    expect((await nextFrame(frames, FRAME.DATA))?.payload.toString()).toContain('"version":"2.0"');
    socket.destroy();
  });

  it('gives up a request whose client half-closes, and serves others', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'http/1.1', true);
    socket.resume();
    socket.end('GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await harness.door.reached;
    await event(socket, 'close');
    await harness.allClosed();
    await expectStillServing(transport, harness.port);
  });

  it('closes an HTTP/2 session whose client half-closes', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'h2', true);
    socket.resume();
    socket.end(Buffer.concat([OPENING, getRequest(1, '/held')]));
    await event(socket, 'close');
    await harness.allClosed();
    expect(harness.listener.counts().connections).toBe(0);
  });

  it('serves more requests than a session may have streams, as the client waits its turn', async () => {
    harness = await startHarness(transport, { limits: { http2MaxConcurrentStreams: 2 }, visitors: 2 });
    const session = transport.connectHttp2(harness.port);
    await event(session, 'remoteSettings');
    const held = Array.from({ length: 5 }, () => requestHttp2(session, { ':path': '/held' }));
    await harness.door.reached;
    expect(harness.listener.counts().http2Streams).toBe(2);
    harness.door.open();
    expect((await Promise.all(held)).map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200]);
    session.close();
  });

  it('counts connections, requests, sessions and streams', async () => {
    harness = await startHarness(transport, { visitors: 3 });
    const { wire } = await transport.open(harness.port, 'http/1.1');
    const session = transport.connectHttp2(harness.port);
    const held = [
      requestHttp1(transport, harness.port, '/held'),
      requestHttp2(session, { ':path': '/held' }),
      requestHttp2(session, { ':path': '/held' }),
    ];
    await harness.door.reached;
    // Over TLS the silent connection has chosen its protocol in the handshake.
    const silent = transport.tls ? { opening: 0, http1Connections: 2 } : { opening: 1, http1Connections: 1 };
    expect(harness.listener.counts()).toEqual({
      connections: 3,
      ...silent,
      http1Requests: 1,
      http2Sessions: 1,
      http2Streams: 2,
    });
    harness.door.open();
    await Promise.all(held);
    session.close();
    wire.destroy();
    await harness.allClosed();
    expect(Object.values(harness.listener.counts())).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('refuses connections above the limit and accepts again below it', async () => {
    harness = await startHarness(transport, { limits: { maxConnections: 1 } });
    const session = transport.connectHttp2(harness.port);
    await requestHttp2(session, { ':path': '/hello' });
    await expect(requestHttp1(transport, harness.port, '/hello')).rejects.toThrow();
    await harness.problem('refused');
    session.close();
    await harness.allClosed();
    expect((await requestHttp1(transport, harness.port, '/hello')).status).toBe(200);
  });
});

describe('a listener', () => {
  it('rejects listening when the port is taken, and drains all the same', async () => {
    const harness = await startHarness(PLAINTEXT);
    const second = createListener();
    const app = fastify({ serverFactory: second.serverFactory });
    await expect(app.listen({ port: harness.port, host: '127.0.0.1' })).rejects.toThrow(/EADDRINUSE/);
    await second.drain();
    await app.close();
    await harness.stop();
  });

  it('serves one Fastify instance only', async () => {
    const listener = createListener();
    const app = fastify({ serverFactory: listener.serverFactory });
    expect(() => fastify({ serverFactory: listener.serverFactory })).toThrow(/one Fastify instance/);
    await app.close();
  });

  it('drains at once when it never served anything', async () => {
    const listener = createListener();
    await listener.drain();
    expect(listener.draining.aborted).toBe(true);
  });
});

async function writeByteByByte(socket: Socket, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve));
    await new Promise(setImmediate);
  }
}
