import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { event, receivedText, receivedUntilClose } from './support/events.js';
import {
  expectStillServing,
  type Harness,
  type HarnessOptions,
  requestHttp2,
  startHarness,
} from './support/harness.js';
import {
  END_HEADERS,
  FRAME,
  frame,
  getRequest,
  nextFrame,
  OPENING,
  PREFACE,
  readFrames,
} from './support/http2-frames.js';
import { TRANSPORTS } from './support/transports.js';

const HELLO = 'GET /hello HTTP/1.1\r\nHost: localhost\r\n';
const ENHANCE_YOUR_CALM = 11;
/** Node.js tells of some breaches of protocol only by not answering pings any more. */
const PING_SOON = { http2PingIntervalMs: 30, http2PingTimeoutMs: 30 };

describe.each(TRANSPORTS)('a hostile client over $name', (transport) => {
  let harness: Harness;
  afterEach(() => harness.stop());

  async function start(protocol: 'h2' | 'http/1.1', options: HarnessOptions = {}): Promise<Socket> {
    harness = await startHarness(transport, options);
    return (await transport.open(harness.port, protocol)).socket;
  }

  it.each([
    ['garbage', '\x00\xff\x16 nonsense\r\n\r\n', 400],
    ['almost the HTTP/2 preface', 'PRI * HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
    ['a request without Host', 'GET /hello HTTP/1.1\r\n\r\n', 400],
    ['two lengths', `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx`, 400],
    [
      'a length and chunks',
      'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['headers that are too long', `${HELLO}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['too many headers', `${HELLO}${'X-Many: 1\r\n'.repeat(128)}\r\n`, 431],
    ['far too many headers', `${HELLO}${'a:\r\n'.repeat(2_000)}\r\n`, 431],
  ])('that sends %s is answered with an error and disconnected', async (_name, bytes, status) => {
    const socket = await start('http/1.1');
    const received = receivedUntilClose(socket);
    socket.write(Buffer.from(bytes, 'latin1'));
    expect((await received).toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await harness.allClosed();
    await expectStillServing(transport, harness.port);
  });

  it('is served with as many headers as are allowed', async () => {
    const socket = await start('http/1.1');
    socket.write(`${HELLO}Connection: close\r\n${'X-Many: 1\r\n'.repeat(126)}\r\n`);
    expect((await receivedUntilClose(socket)).toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['too many headers', Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`x-${i}`, '1']))],
    ['headers that are too long', { 'x-long': 'x'.repeat(20_000) }],
  ])('that sends %s over HTTP/2 has its stream refused', async (_name, headers) => {
    harness = await startHarness(transport);
    const session = transport.connectHttp2(harness.port);
    // Limits hold from the moment the client has acknowledged them.
    await requestHttp2(session, { ':path': '/hello' });
    await expect(requestHttp2(session, { ':path': '/hello', ...headers })).rejects.toThrow();
    await expectStillServing(transport, harness.port);
    session.destroy();
  });

  it('gets no error answer in the midst of a response', async () => {
    const socket = await start('http/1.1');
    socket.write('GET /streamed HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await receivedText(socket, 'first,');
    const rest = receivedUntilClose(socket);
    socket.write('\x00garbage\r\n\r\n');
    expect((await rest).toString()).toBe('');
    await expectStillServing(transport, harness.port);
  });

  it('gets no error answer in the place of the response to a request that runs', async () => {
    const socket = await start('http/1.1');
    socket.write('GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await harness.door.reached;
    const received = receivedUntilClose(socket);
    socket.write('\x00garbage\r\n\r\n');
    expect((await received).toString()).toBe('');
    await expectStillServing(transport, harness.port);
  });

  it('that breaks the chunks of its own body receives 400', async () => {
    const socket = await start('http/1.1');
    const received = receivedUntilClose(socket);
    socket.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n');
    socket.write('Transfer-Encoding: chunked\r\n\r\nnot a length\r\n');
    expect((await received).toString()).toMatch(/^HTTP\/1\.1 400 /);
    await expectStillServing(transport, harness.port);
  });

  it.each([
    ['a frame that is too long', frame(FRAME.DATA, 0, 1, Buffer.alloc(20_000))],
    ['data on a stream that does not exist', frame(FRAME.DATA, 0, 5, Buffer.alloc(1))],
    ['headers that are not HPACK', frame(FRAME.HEADERS, END_HEADERS, 1, Buffer.alloc(50, 0xff))],
    ['settings of an impossible length', frame(FRAME.SETTINGS, 0, 0, Buffer.alloc(5))],
    ['a window of zero more bytes', frame(FRAME.WINDOW_UPDATE, 0, 0, Buffer.alloc(4))],
    ['a request on an even stream', getRequest(2, '/hello')],
  ])('that sends %s over HTTP/2 loses its session', async (_name, bytes) => {
    const socket = await start('h2', { limits: PING_SOON });
    const frames = readFrames(socket);
    socket.write(Buffer.concat([OPENING, bytes]));
    // The farewell may be lost when Node.js destroys the socket at once.
    const goaway = await nextFrame(frames, FRAME.GOAWAY);
    expect(goaway?.payload.readUInt32BE(4)).not.toBe(0);
    socket.destroy();
    await harness.allClosed();
    await expectStillServing(transport, harness.port);
  });

  it('that begins with the preface and continues with garbage loses its session', async () => {
    const socket = await start('h2', { limits: PING_SOON });
    socket.resume();
    socket.write(Buffer.concat([PREFACE, Buffer.alloc(200, 'GET / HTTP/1.1\r\n')]));
    await event(socket, 'close');
    await harness.allClosed();
    await expectStillServing(transport, harness.port);
  });

  it('that breaks the protocol and does not read the farewell is cut off', async () => {
    harness = await startHarness(transport, { limits: PING_SOON });
    const { socket } = await transport.open(harness.port, 'h2', true);
    socket.pause();
    socket.write(Buffer.concat([OPENING, frame(FRAME.DATA, 0, 5, Buffer.alloc(1))]));
    // After the error itself, or after the first unanswered ping: that depends on the version of Node.js.
    await harness.allClosed();
    expect(harness.listener.counts().connections).toBe(0);
  });

  it('that opens and resets streams rapidly loses its session', async () => {
    const socket = await start('h2', { limits: PING_SOON });
    socket.resume();
    const attack: Buffer[] = [OPENING];
    for (let stream = 1; stream < 6_000; stream += 2) {
      attack.push(getRequest(stream, '/held'), frame(FRAME.RST_STREAM, 0, stream, Buffer.from([0, 0, 0, 8])));
    }
    socket.write(Buffer.concat(attack));
    await event(socket, 'close');
    await harness.allClosed();
    await expectStillServing(transport, harness.port);
  });

  it('that opens more streams than it acknowledged loses its session', async () => {
    const socket = await start('h2', { limits: { http2MaxConcurrentStreams: 2 } });
    const frames = readFrames(socket);
    socket.write(OPENING);
    await nextFrame(frames, FRAME.SETTINGS);
    socket.write(frame(FRAME.SETTINGS, 1, 0));
    socket.write(Buffer.concat([1, 3, 5].map((stream) => getRequest(stream, '/held'))));
    expect(await nextFrame(frames, FRAME.HEADERS)).toBeUndefined();
    await harness.problem('http2-session');
    await harness.allClosed();
    await expectStillServing(transport, harness.port);
  });

  it.each([
    ['PING', frame(FRAME.PING, 0, 0, Buffer.alloc(8))],
    ['SETTINGS', frame(FRAME.SETTINGS, 0, 0)],
  ])('that floods with %s frames loses its session', async (_name, flood) => {
    const socket = await start('h2', { limits: { http2MaxControlFrames: 50 } });
    const frames = readFrames(socket);
    socket.write(Buffer.concat([OPENING, ...Array.from({ length: 200 }, () => flood)]));
    // The farewell may be lost when Node.js destroys the socket at once.
    const goaway = await nextFrame(frames, FRAME.GOAWAY);
    expect(goaway?.payload.readUInt32BE(4) ?? ENHANCE_YOUR_CALM).toBe(ENHANCE_YOUR_CALM);
    await harness.problem('control-frame-flood');
    await harness.allClosed();
    await expectStillServing(transport, harness.port);
  });

  it.each([
    ['before its first byte', 'http/1.1', ''],
    ['within the HTTP/2 preface', 'h2', PREFACE.subarray(0, 7)],
    ['after the HTTP/2 preface', 'h2', PREFACE],
    ['within its headers', 'http/1.1', 'GET /hello HT'],
    ['within its body', 'http/1.1', 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab'],
    ['within a frame', 'h2', Buffer.concat([OPENING, getRequest(1, '/hello').subarray(0, 5)])],
  ] as const)(
    'that resets its connection %s does not affect other clients',
    async (_name, protocol, bytes) => {
      harness = await startHarness(transport);
      const { socket, wire } = await transport.open(harness.port, protocol);
      await new Promise((resolve) => socket.write(bytes, resolve));
      wire.resetAndDestroy();
      await harness.allClosed();
      await expectStillServing(transport, harness.port);
    },
  );

  it.each([
    ['HTTP/1.1', 'http/1.1', 'GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['HTTP/2', 'h2', Buffer.concat([OPENING, getRequest(1, '/held')])],
  ] as const)(
    'that resets its connection while a handler runs over %s does not affect other clients',
    async (_name, protocol, bytes) => {
      harness = await startHarness(transport);
      const { socket, wire } = await transport.open(harness.port, protocol);
      socket.write(bytes);
      await harness.door.reached;
      wire.resetAndDestroy();
      await harness.allClosed();
      harness.door.open();
      await expectStillServing(transport, harness.port);
      expect(harness.listener.counts().http1Requests + harness.listener.counts().http2Streams).toBe(0);
    },
  );

  it.each([
    ['HTTP/1.1', 'http/1.1', 'GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['HTTP/2', 'h2', Buffer.concat([OPENING, getRequest(1, '/flood')])],
  ] as const)(
    'that resets its connection within a response over %s does not affect other clients',
    async (_name, protocol, bytes) => {
      harness = await startHarness(transport);
      const { socket, wire } = await transport.open(harness.port, protocol);
      socket.write(bytes);
      await event(socket, 'data');
      wire.resetAndDestroy();
      await harness.allClosed();
      await expectStillServing(transport, harness.port);
    },
  );
});
