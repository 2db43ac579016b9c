import { afterEach, describe, expect, it } from 'vitest';
import { event, receivedUntilClose } from './support/events.js';
import {
  answeredInTheEnd,
  expectStillServing,
  type Harness,
  requestHttp2,
  startHarness,
} from './support/harness.js';
import { FRAME, frame, getRequest, nextFrame, OPENING, PREFACE, readFrames } from './support/http2-frames.js';
import { PLAINTEXT, TRANSPORTS } from './support/transports.js';

describe.each(TRANSPORTS)('a slow client over $name', (transport) => {
  let harness: Harness;
  afterEach(() => harness.stop());

  it('that does not finish its headers gets 408', async () => {
    harness = await startHarness(transport, { limits: { headersTimeoutMs: 50 } });
    const { socket } = await transport.open(harness.port, 'http/1.1');
    socket.write('GET /hello HTTP/1.1\r\nHost: loc');
    expect((await receivedUntilClose(socket)).toString()).toMatch(/^HTTP\/1\.1 408 /);
    await expectStillServing(transport, harness.port);
  });

  it('that does not finish its body gets 408', async () => {
    harness = await startHarness(transport, { limits: { requestTimeoutMs: 50 } });
    const { socket } = await transport.open(harness.port, 'http/1.1');
    socket.write('POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n');
    socket.write('Content-Length: 100\r\n\r\n{"a":');
    expect((await receivedUntilClose(socket)).toString()).toMatch(/^HTTP\/1\.1 408 /);
    await expectStillServing(transport, harness.port);
  });

  it('that does not finish its body over HTTP/2 has its stream reset, not its session', async () => {
    harness = await startHarness(transport, { limits: { requestTimeoutMs: 50 } });
    const session = transport.connectHttp2(harness.port);
    const stream = session.request({
      ':path': '/echo',
      ':method': 'POST',
      'content-type': 'application/json',
    });
    stream.on('error', () => {});
    stream.write('{"a":');
    await Promise.all([event(stream, 'close'), harness.problem('request-timeout')]);
    await answeredInTheEnd(() => requestHttp2(session, { ':path': '/hello' }));
    expect(session.closed).toBe(false);
    session.close();
  });

  it('may keep the body of an RPC open over HTTP/2', async () => {
    harness = await startHarness(transport, {
      limits: { requestTimeoutMs: 20 },
      register: async (app) => {
        app.addContentTypeParser('application/grpc', (_request, _payload, done) => done(null));
        app.post('/rpc', async (request) => {
          let received = '';
          for await (const chunk of request.raw) received += chunk;
          return { received };
        });
      },
    });
    const session = transport.connectHttp2(harness.port);
    const rpc = session.request({ ':path': '/rpc', ':method': 'POST', 'content-type': 'application/grpc' });
    rpc.write('first ');
    // A plain request that is cut off shows that the time limit has passed for the RPC as well.
    const plain = session.request({ ':path': '/echo', ':method': 'POST', 'content-type': 'text/plain' });
    plain.on('error', () => {});
    plain.write('x');
    await event(plain, 'close');
    rpc.end('last');
    expect((await receivedUntilClose(rpc)).toString()).toBe('{"received":"first last"}');
    session.close();
  });

  it('that leaves its connection idle between requests is disconnected', async () => {
    harness = await startHarness(transport, { limits: { keepAliveTimeoutMs: 50 } });
    const { socket } = await transport.open(harness.port, 'http/1.1');
    socket.write('GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect((await receivedUntilClose(socket)).toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('that leaves its HTTP/2 session without streams receives GOAWAY', async () => {
    harness = await startHarness(transport, { limits: { http2IdleTimeoutMs: 50 } });
    // On a busy machine a session may be idle for too long before its first request.
    await answeredInTheEnd(async () => {
      const session = transport.connectHttp2(harness.port);
      session.on('error', () => {});
      const goaway = event(session, 'goaway');
      const answer = await requestHttp2(session, { ':path': '/hello' });
      expect(await goaway).toBe(0);
      return answer;
    });
    await harness.allClosed();
  });

  it('cannot keep an idle HTTP/2 session open with pings, nor by ignoring the farewell', async () => {
    harness = await startHarness(transport, { limits: { http2IdleTimeoutMs: 50, lingerMs: 20 } });
    const { socket } = await transport.open(harness.port, 'h2', true);
    const frames = readFrames(socket);
    socket.write(OPENING);
    const ping = () => socket.write(frame(FRAME.PING, 0, 0, Buffer.alloc(8)));
    ping();
    for await (const { type } of frames) if (type === FRAME.PING) ping();
    await harness.allClosed();
    expect(harness.listener.counts().connections).toBe(0);
  });

  it('that never reads a response is given up, and the response is not piled up in memory', async () => {
    harness = await startHarness(transport, { limits: { sendStallTimeoutMs: 50 } });
    const { socket } = await transport.open(harness.port, 'http/1.1');
    socket.pause();
    socket.write('GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await harness.problem('send-stalled');
    expect(harness.flooded()).toBeGreaterThan(0);
    expect(harness.flooded()).toBeLessThan(32 * 1024 * 1024);
    await harness.allClosed();
    await expectStillServing(transport, harness.port);
  });

  it('that grants no HTTP/2 window has its stream reset, not its session', async () => {
    harness = await startHarness(transport, { limits: { sendStallTimeoutMs: 50 } });
    const session = transport.connectHttp2(harness.port);
    const stream = session.request({ ':path': '/flood' });
    stream.on('error', () => {});
    await harness.problem('send-stalled');
    expect(harness.flooded()).toBeLessThan(32 * 1024 * 1024);
    await answeredInTheEnd(() => requestHttp2(session, { ':path': '/hello' }));
    stream.close();
    session.close();
  });

  it('is not given up while its handler works in silence', async () => {
    harness = await startHarness(transport, {
      limits: { sendStallTimeoutMs: 30, http2PingIntervalMs: 30 },
      visitors: 2,
    });
    const session = transport.connectHttp2(harness.port);
    const { socket } = await transport.open(harness.port, 'http/1.1');
    // A client that reads nothing is cut off after the same time, which shows that it has passed.
    const witness = async () => {
      const { socket: unread } = await transport.open(harness.port, 'http/1.1');
      unread.pause();
      unread.write('GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await harness.problem('send-stalled');
    };
    const held = requestHttp2(session, { ':path': '/held' });
    const received = receivedUntilClose(socket);
    socket.write('GET /held HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await harness.door.reached;
    await witness();
    harness.door.open();
    expect((await held).status).toBe(200);
    expect((await received).toString()).toMatch(/^HTTP\/1\.1 200 /);
    session.close();
  });

  it('that vanished while a stream was open is found by a ping', async () => {
    harness = await startHarness(transport, { limits: { http2PingIntervalMs: 30, http2PingTimeoutMs: 30 } });
    const { socket } = await transport.open(harness.port, 'h2');
    const frames = readFrames(socket);
    socket.write(Buffer.concat([OPENING, getRequest(1, '/held')]));
    expect((await nextFrame(frames, FRAME.PING))?.flags).toBe(0);
    await harness.problem('peer-gone');
    await harness.allClosed();
    await expectStillServing(transport, harness.port);
  });

  it('that begins HTTP/2 but never sends its settings is dropped', async () => {
    harness = await startHarness(transport, { limits: { openingTimeoutMs: 50 } });
    const { socket } = await transport.open(harness.port, 'h2');
    socket.resume();
    socket.write(PREFACE);
    await Promise.all([event(socket, 'close'), harness.problem('opening-timeout')]);
    await harness.allClosed();
    expect(harness.listener.counts().connections).toBe(0);
  });
});

describe('a plaintext client', () => {
  it.each([
    ['that sends nothing', ''],
    ['that sends only the start of the HTTP/2 preface', 'PRI * HTTP/2.0\r\n'],
  ])('%s is dropped', async (_name, start) => {
    const harness = await startHarness(PLAINTEXT, { limits: { openingTimeoutMs: 50 } });
    const { socket } = await PLAINTEXT.open(harness.port, 'http/1.1');
    socket.resume();
    socket.write(start);
    await Promise.all([event(socket, 'close'), harness.problem('opening-timeout')]);
    await expectStillServing(PLAINTEXT, harness.port);
    await harness.stop();
  });
});
