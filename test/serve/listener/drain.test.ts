import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { until } from '../../support/until.js';
import { event, receivedText, receivedUntilClose } from './support/events.js';
import { type Harness, requestHttp1, requestHttp2, startHarness } from './support/harness.js';
import { FRAME, getRequest, nextFrame, OPENING, readFrames } from './support/http2-frames.js';
import { TRANSPORTS } from './support/transports.js';

const HELD = 'GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Long enough that a test which needs it fails by its own time limit. */
const NEVER_MS = 3_600_000;

describe.each(TRANSPORTS)('draining over $name', (transport) => {
  let harness: Harness;
  afterEach(() => harness.stop());

  it('closes idle connections of every kind at once and accepts no more', async () => {
    harness = await startHarness(transport);
    const { socket: kept } = await transport.open(harness.port, 'http/1.1');
    kept.write('GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await receivedText(kept, '"version":"1.1"}');
    const { socket: silent } = await transport.open(harness.port, 'http/1.1');
    const session = transport.connectHttp2(harness.port);
    await requestHttp2(session, { ':path': '/hello' });
    const closed = Promise.all([event(kept, 'close'), event(silent, 'close'), event(session, 'close')]);
    kept.resume();
    silent.resume();

    await harness.listener.drain({ graceMs: NEVER_MS });
    await closed;
    expect(harness.listener.draining.aborted).toBe(true);
    expect(harness.listener.counts().connections).toBe(0);
    await expect(requestHttp1(transport, harness.port, '/hello')).rejects.toThrow(/ECONNREFUSED/);
  });

  it('lets a running HTTP/1.1 request finish and announces that the connection closes', async () => {
    harness = await startHarness(transport);
    const answer = requestHttp1WithAgent(transport, harness.port);
    await harness.door.reached;
    const drained = harness.listener.drain({ graceMs: NEVER_MS });
    harness.door.open();
    expect(await answer).toEqual({ status: 200, connection: 'close', body: '{"held":true}' });
    await drained;
  });

  it('answers the first request of a connection that was on its way, and no other', async () => {
    harness = await startHarness(transport, { limits: { lastRequestTimeoutMs: NEVER_MS } });
    const { socket } = await transport.open(harness.port, 'http/1.1');
    const received = receivedUntilClose(socket);
    socket.write('GET /hello HTTP/1.1\r\n');
    await until(
      () => harness.listener.counts().http1Connections,
      (count) => count === 1,
    );
    const drained = harness.listener.drain({ graceMs: NEVER_MS });
    const hello = 'Host: localhost\r\n\r\n';
    socket.write(`${hello}GET /hello HTTP/1.1\r\n${hello}`);
    const answers = (await received).toString().split(/(?=HTTP\/1\.1 )/);
    expect(answers).toHaveLength(1);
    expect(answers[0]).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
    await drained;
  });

  it('does not wait long for a first request that never comes', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'http/1.1');
    const received = receivedUntilClose(socket);
    socket.write('GET /hello HTTP/1.1\r\n');
    await until(
      () => harness.listener.counts().http1Connections,
      (count) => count === 1,
    );
    await harness.listener.drain({ graceMs: NEVER_MS });
    expect((await received).toString()).toBe('');
  });

  it('answers every pipelined request that runs, and announces the end with the last', async () => {
    harness = await startHarness(transport, { visitors: 2 });
    const { socket } = await transport.open(harness.port, 'http/1.1');
    const received = receivedUntilClose(socket);
    socket.write(HELD + HELD);
    await harness.door.reached;
    const drained = harness.listener.drain({ graceMs: NEVER_MS });
    harness.door.open();
    const answers = (await received).toString().split(/(?=HTTP\/1\.1 )/);
    expect(answers).toHaveLength(2);
    expect(answers[0]).toMatch(/connection: keep-alive/i);
    expect(answers[1]).toMatch(/connection: close/i);
    await drained;
  });

  it('neither runs nor answers a request that comes after the last running one', async () => {
    let effects = 0;
    harness = await startHarness(transport, {
      register: async (app) => {
        app.get('/effect', async () => {
          effects += 1;
          return 'done';
        });
      },
    });
    const { socket } = await transport.open(harness.port, 'http/1.1');
    socket.write(HELD);
    await harness.door.reached;
    const received = receivedUntilClose(socket);
    const drained = harness.listener.drain({ graceMs: NEVER_MS });
    const parsed = event(harness.app.server, 'request');
    socket.write('GET /effect HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await parsed;
    harness.door.open();
    expect((await received).toString().match(/HTTP\/1\.1 200/g)).toHaveLength(1);
    await drained;
    expect(effects).toBe(0);
  });

  it('lets a response that has begun finish, then closes its connection', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'http/1.1');
    socket.write('GET /streamed HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await receivedText(socket, 'first,');
    const rest = receivedUntilClose(socket);
    const drained = harness.listener.drain({ graceMs: NEVER_MS });
    harness.door.open();
    expect((await rest).toString()).toMatch(/last\r\n0\r\n\r\n$/);
    await drained;
  });

  it('sends GOAWAY, lets running streams finish and refuses new ones', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'h2');
    const frames = readFrames(socket);
    socket.write(Buffer.concat([OPENING, getRequest(1, '/held')]));
    await harness.door.reached;
    const drained = harness.listener.drain({ graceMs: NEVER_MS });

    const goaway = await nextFrame(frames, FRAME.GOAWAY);
    expect(goaway?.payload.readUInt32BE(0)).toBe(1); // stream 1 will be answered, nothing above it
    expect(goaway?.payload.readUInt32BE(4)).toBe(0); // NO_ERROR
    socket.write(getRequest(3, '/hello'));
    harness.door.open();

    const answered = new Set<number>();
    for await (const { type, streamId } of frames) if (type === FRAME.HEADERS) answered.add(streamId);
    expect([...answered]).toEqual([1]);
    await drained;
  });

  it('leaves an idle HTTP/2 connection open until its client can have read GOAWAY', async () => {
    harness = await startHarness(transport);
    const { socket } = await transport.open(harness.port, 'h2');
    const frames = readFrames(socket);
    socket.write(OPENING);
    await nextFrame(frames, FRAME.SETTINGS);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const drained = harness.listener.drain({ graceMs: NEVER_MS, noticeMs: NEVER_MS });
      const goaway = await nextFrame(frames, FRAME.GOAWAY);
      expect(goaway?.payload.readUInt32BE(0)).toBe(2 ** 31 - 1); // the last GOAWAY says which streams were taken
      expect(goaway?.payload.readUInt32BE(4)).toBe(0); // NO_ERROR
      // On the way when the connection closes, it would make the client lose what it has not read.
      socket.write(getRequest(1, '/hello'));
      // Closing takes fewer turns.
      const turns = async () => {
        for (let turn = 0; turn < 1_000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        return 'open';
      };
      expect(await Promise.race([drained.then(() => 'closed'), turns()])).toBe('open');
      vi.advanceTimersByTime(1_000);
      for await (const { type } of frames) expect(type).not.toBe(FRAME.HEADERS);
      await drained;
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends with a client that follows HTTP/2 to the letter', async () => {
    harness = await startHarness(transport, { visitors: 2 });
    const session = transport.connectHttp2(harness.port);
    const held = [requestHttp2(session, { ':path': '/held' }), requestHttp2(session, { ':path': '/held' })];
    await harness.door.reached;
    const goaway = event(session, 'goaway');
    const drained = harness.listener.drain({ graceMs: NEVER_MS });
    await goaway;
    harness.door.open();
    expect((await Promise.all(held)).map((answer) => answer.status)).toEqual([200, 200]);
    await drained;
  });

  it('destroys what is left after the grace', async () => {
    harness = await startHarness(transport, { visitors: 2 });
    const session = transport.connectHttp2(harness.port);
    const outcomes = [
      requestHttp2(session, { ':path': '/held' }),
      requestHttp1(transport, harness.port, '/held'),
    ].map((request) => expect(request).rejects.toThrow());
    await harness.door.reached;
    await harness.listener.drain({ graceMs: 20 });
    await Promise.all(outcomes);
    expect(harness.listener.counts().connections).toBe(0);
  });

  it('can be hurried by a second call', async () => {
    harness = await startHarness(transport);
    const outcome = expect(requestHttp1(transport, harness.port, '/held')).rejects.toThrow();
    await harness.door.reached;
    const patient = harness.listener.drain({ graceMs: NEVER_MS });
    await harness.listener.drain({ graceMs: 0 });
    await Promise.all([patient, outcome]);
  });

  it('does not wait for the grace when a peer ignores the end of its session', async () => {
    harness = await startHarness(transport, { limits: { lingerMs: 20 } });
    const { socket } = await transport.open(harness.port, 'h2', true);
    const frames = readFrames(socket);
    socket.write(Buffer.concat([OPENING, getRequest(1, '/hello')]));
    await nextFrame(frames, FRAME.DATA);
    // The client neither closes nor reads on.
    await harness.listener.drain({ graceMs: NEVER_MS });
    expect(harness.listener.counts().connections).toBe(0);
    socket.destroy();
  });

  it('is what closing the Fastify instance does', async () => {
    harness = await startHarness(transport, { visitors: 2 });
    const session = transport.connectHttp2(harness.port);
    const held = [
      requestHttp2(session, { ':path': '/held' }),
      requestHttp1(transport, harness.port, '/held'),
    ];
    const { socket: silent } = await transport.open(harness.port, 'http/1.1');
    silent.resume();
    await harness.door.reached;
    const silentClosed = event(silent, 'close');
    const goaway = event(session, 'goaway');
    const closed = harness.app.close();
    await Promise.all([silentClosed, goaway]);
    harness.door.open();
    expect((await Promise.all(held)).map((answer) => answer.status)).toEqual([200, 200]);
    await closed;
    expect(harness.listener.counts().connections).toBe(0);
  });

  it('can be followed by closing the Fastify instance', async () => {
    harness = await startHarness(transport);
    const answer = requestHttp1(transport, harness.port, '/held');
    await harness.door.reached;
    const drained = harness.listener.drain();
    harness.door.open();
    await Promise.all([drained, answer]);
    await harness.app.close();
    expect((await answer).status).toBe(200);
  });
});

async function requestHttp1WithAgent(transport: (typeof TRANSPORTS)[number], port: number) {
  const agent = transport.createAgent();
  const request = transport.request(port, { path: '/held', agent });
  request.end();
  const [response] = await once(request, 'response');
  let body = '';
  for await (const chunk of response) body += chunk;
  agent.destroy();
  return { status: response.statusCode, connection: response.headers.connection, body };
}
