import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createListener } from '../../../src/serve/listener/listener.js';
import { event, receivedUntilClose } from './support/events.js';
import { expectStillServing, type Harness, startHarness } from './support/harness.js';
import { OTHER_CREDENTIALS, PLAINTEXT, TEST_CREDENTIALS, TLS } from './support/transports.js';

describe('TLS credentials', () => {
  it.each([
    ['an empty certificate', { ...TEST_CREDENTIALS, cert: '' }, /TLS certificate cannot be read/],
    ['a broken certificate', { ...TEST_CREDENTIALS, cert: 'nonsense' }, /TLS certificate cannot be read/],
    ['an empty key', { ...TEST_CREDENTIALS, key: '' }, /TLS private key cannot be read/],
    ['a broken key', { ...TEST_CREDENTIALS, key: 'nonsense' }, /TLS private key cannot be read/],
    [
      'the key of another certificate',
      { ...TEST_CREDENTIALS, key: OTHER_CREDENTIALS.key },
      /TLS private key does not belong to the certificate/,
    ],
  ])('refuse %s when the listener is made', (_name, credentials, message) => {
    expect(() => createListener({ tls: credentials })).toThrow(message);
  });
});

describe('a TLS port', () => {
  let harness: Harness;
  afterEach(() => harness.stop());

  const connect = (options: tls.ConnectionOptions = {}) => {
    const socket = tls.connect({
      port: harness.port,
      host: '127.0.0.1',
      ca: TEST_CREDENTIALS.cert,
      servername: 'localhost',
      ...options,
    });
    socket.on('error', () => {});
    return socket;
  };

  it('prefers HTTP/2 when the client can do both', async () => {
    harness = await startHarness(TLS);
    const socket = connect({ ALPNProtocols: ['http/1.1', 'h2'] });
    await event(socket, 'secureConnect');
    expect(socket.alpnProtocol).toBe('h2');
    socket.destroy();
  });

  it('serves HTTP/1.1 to a client without ALPN', async () => {
    harness = await startHarness(TLS);
    const socket = connect();
    socket.write('GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect((await receivedUntilClose(socket)).toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['offers no protocol of ours', { ALPNProtocols: ['spdy/3'] }],
    [
      'supports nothing newer than TLS 1.1',
      { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' },
    ],
  ] as const)('refuses a client that %s', async (_name, options) => {
    harness = await startHarness(TLS);
    const socket = connect({ ...options, ...('ALPNProtocols' in options && { ALPNProtocols: ['spdy/3'] }) });
    let secured = false;
    socket.once('secureConnect', () => {
      secured = true;
    });
    await event(socket, 'close');
    expect(secured).toBe(false);
    await harness.problem('tls-handshake');
    await harness.allClosed();
    await expectStillServing(TLS, harness.port);
  });

  it('serves a client of TLS 1.2', async () => {
    harness = await startHarness(TLS);
    const session = http2.connect(`https://127.0.0.1:${harness.port}`, {
      ca: TEST_CREDENTIALS.cert,
      maxVersion: 'TLSv1.2',
    });
    const stream = session.request({ ':path': '/hello' });
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).toBe(200);
    session.destroy();
  });

  it.each([
    [
      'POST /api/v1/evaluation?x=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n',
      '/api/v1/evaluation',
    ],
    ['GET /a%20b HTTP/1.0\r\n\r\n', '/a b'],
    ['G', '/'],
    ['PRI * HTTP/1.1\r\n\r\n', '/'],
  ])('refers a client of HTTP/1 without TLS to https: %j', async (request, instance) => {
    harness = await startHarness(TLS);
    const { wire } = await PLAINTEXT.open(harness.port, 'http/1.1');
    const received = receivedUntilClose(wire);
    wire.write(request);
    const [head = '', body = ''] = (await received).toString().split('\r\n\r\n');
    expect(head.split('\r\n')).toEqual([
      'HTTP/1.1 400 Bad Request',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ]);
    expect(JSON.parse(body)).toMatchObject({
      status: 400,
      error_code: 'TLS_REQUIRED',
      reason: 'BadRequest',
      detail: 'This port speaks https, but the request came without TLS.',
      hint: 'Use a URL that begins with https://.',
      instance,
    });
    await harness.problem('wrong-protocol');
    await harness.allClosed();
    await expectStillServing(TLS, harness.port);
  });

  it('refers a client of HTTP/2 without TLS to https', async () => {
    harness = await startHarness(TLS);
    const session = http2.connect(`http://127.0.0.1:${harness.port}`);
    session.on('error', () => {});
    const goaway = new Promise<[number, string]>((resolve) => {
      session.once('goaway', (code, _lastStreamId, data) => resolve([code, String(data)]));
    });
    session.request({ ':path': '/hello' }).on('error', () => {});
    expect(await goaway).toEqual([http2.constants.NGHTTP2_INADEQUATE_SECURITY, 'This port speaks https']);
    await harness.problem('wrong-protocol');
    await harness.allClosed();
    await expectStillServing(TLS, harness.port);
  });

  it.each([
    ['HTTP/1', 'GET / HTTP/1.1\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('cuts off a client of %s without TLS that keeps its connection', async (_name, start) => {
    harness = await startHarness(TLS, { limits: { lingerMs: 50 } });
    const { wire } = await PLAINTEXT.open(harness.port, 'http/1.1', true);
    wire.resume();
    wire.write(start);
    await harness.problem('wrong-protocol');
    await harness.allClosed();
    expect(harness.listener.counts().connections).toBe(0);
    wire.destroy();
  });

  it('cuts off a client without TLS that continues sending', async () => {
    harness = await startHarness(TLS, { limits: { lingerMs: 2 ** 30 } });
    const { wire } = await PLAINTEXT.open(harness.port, 'http/1.1', true);
    wire.resume();
    wire.write('POST / HTTP/1.1\r\n\r\n');
    const chunk = Buffer.alloc(16_384, 'x');
    const send = (): void => {
      if (!wire.destroyed) wire.write(chunk, send);
    };
    send();
    await harness.problem('wrong-protocol');
    await harness.allClosed();
    expect(harness.listener.counts().connections).toBe(0);
    wire.destroy();
  });

  it('drops a client that uses neither TLS nor HTTP', async () => {
    harness = await startHarness(TLS);
    const { wire } = await PLAINTEXT.open(harness.port, 'http/1.1');
    wire.resume();
    wire.write('\x00garbage\r\n\r\n');
    await Promise.all([event(wire, 'close'), harness.problem('tls-handshake')]);
    await expectStillServing(TLS, harness.port);
  });

  it('serves a client whose handshake arrives byte by byte', async () => {
    harness = await startHarness(TLS);
    const relay = net.createServer((client) => {
      const server = net.connect({ port: harness.port, host: '127.0.0.1', noDelay: true });
      let sent = Promise.resolve();
      client.on('data', (chunk: Buffer) => {
        for (const byte of chunk)
          sent = sent.then(
            () => new Promise((resolve) => server.write(Buffer.from([byte]), () => resolve())),
          );
      });
      server.pipe(client);
      for (const one of [client, server]) one.on('error', () => {});
    });
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const socket = connect({ port: (relay.address() as net.AddressInfo).port });
    relay.once('connection', () => relay.close());
    socket.write('GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect((await receivedUntilClose(socket)).toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('drops a client that negotiated HTTP/1.1 and sends HTTP/2', async () => {
    harness = await startHarness(TLS);
    const { socket } = await TLS.open(harness.port, 'http/1.1');
    const received = receivedUntilClose(socket);
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    expect((await received).toString()).not.toMatch(/^HTTP\/1\.1 2/);
    await expectStillServing(TLS, harness.port);
  });

  it('drops a client that never starts the handshake', async () => {
    harness = await startHarness(TLS, { limits: { openingTimeoutMs: 50 } });
    const { wire } = await PLAINTEXT.open(harness.port, 'http/1.1');
    wire.resume();
    await Promise.all([event(wire, 'close'), harness.problem('opening-timeout')]);
    await harness.allClosed();
    await expectStillServing(TLS, harness.port);
  });

  it('drops a client that dribbles its handshake', async () => {
    harness = await startHarness(TLS, { limits: { openingTimeoutMs: 100 } });
    const { wire } = await PLAINTEXT.open(harness.port, 'http/1.1');
    wire.resume();
    const hello = await clientHello();
    let sent = 0;
    const dribble = () => {
      if (wire.destroyed || sent === hello.length - 1) return;
      wire.write(hello.subarray(sent, sent + 1), () => setTimeout(dribble, 5));
      sent += 1;
    };
    dribble();
    await Promise.all([event(wire, 'close'), harness.problem('opening-timeout')]);
    await harness.allClosed();
    await expectStillServing(TLS, harness.port);
  });

  it('survives a reset within the handshake', async () => {
    harness = await startHarness(TLS);
    const { wire } = await PLAINTEXT.open(harness.port, 'http/1.1');
    const hello = await clientHello();
    await new Promise((resolve) => wire.write(hello.subarray(0, 100), resolve));
    wire.resetAndDestroy();
    await harness.allClosed();
    await expectStillServing(TLS, harness.port);
  });
});

describe('a plaintext port', () => {
  let harness: Harness;
  afterEach(() => harness.stop());

  it('answers a TLS client with an alert', async () => {
    harness = await startHarness(PLAINTEXT);
    const { wire } = await PLAINTEXT.open(harness.port, 'http/1.1');
    const received = receivedUntilClose(wire);
    wire.write(await clientHello());
    expect((await received).toString('hex')).toBe('15030100020246');
    await harness.problem('wrong-protocol');
    await harness.allClosed();
    await expectStillServing(PLAINTEXT, harness.port);
  });

  it('is known for what it is by a TLS client', async () => {
    harness = await startHarness(PLAINTEXT);
    const client = tls.connect({ port: harness.port, host: '127.0.0.1' });
    const error = await event<NodeJS.ErrnoException>(client, 'error');
    expect(error.code).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
  });

  it('cuts off a TLS client that keeps its connection', async () => {
    harness = await startHarness(PLAINTEXT, { limits: { lingerMs: 50 } });
    const { wire } = await PLAINTEXT.open(harness.port, 'http/1.1', true);
    wire.resume();
    wire.write(Buffer.from([0x16]));
    await harness.problem('wrong-protocol');
    await harness.allClosed();
    expect(harness.listener.counts().connections).toBe(0);
    wire.destroy();
  });
});

/** The first bytes of a real TLS client. */
async function clientHello(): Promise<Buffer> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = tls.connect({ port: (server.address() as net.AddressInfo).port, host: '127.0.0.1' });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [net.Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return hello;
}
