import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createListener } from '../../src/host/listener/listener.js';
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

  it('speaks HTTP/1.1 to a client without ALPN', async () => {
    harness = await startHarness(TLS);
    const socket = connect();
    socket.write('GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect((await receivedUntilClose(socket)).toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['offers no protocol of ours', { ALPNProtocols: ['spdy/3'] }],
    [
      'knows nothing newer than TLS 1.1',
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

  it('drops a plaintext client', async () => {
    harness = await startHarness(TLS);
    const { wire } = await PLAINTEXT.open(harness.port, 'http/1.1');
    wire.resume();
    wire.write('GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all([event(wire, 'close'), harness.problem('tls-handshake')]);
    await expectStillServing(TLS, harness.port);
  });

  it('drops an HTTP/1.1 client that sends HTTP/2 against its word', async () => {
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
  it('refuses a TLS client', async () => {
    const harness = await startHarness(PLAINTEXT);
    const { wire } = await PLAINTEXT.open(harness.port, 'http/1.1');
    const received = receivedUntilClose(wire);
    wire.write(await clientHello());
    expect((await received).toString()).toMatch(/^HTTP\/1\.1 400 /);
    await expectStillServing(PLAINTEXT, harness.port);
    await harness.stop();
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
