import { once } from 'node:events';
import { statSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { grpcJsClient } from '../../support/grpc-js-client.js';
import { restClient } from '../../support/http.js';
import { loadUntilRefused } from '../../support/load-until-refused.js';
import { denyWord, seeder } from '../../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { until } from '../../support/until.js';

const AGENT = 'finishing-agent';
const RPC = '/enforcement.v1.EvaluationService/Evaluate';
const STEP = { type: 'llm', name: 'n', input: 'a bad thing' };
const BODY = JSON.stringify({ agent_name: AGENT, stage: 'pre', step: STEP });

describe('a service that receives a stop signal', () => {
  let service: ServiceProcess;
  let url: string;
  let address: { host: string; port: number };
  afterEach(() => service.dispose());

  async function start(drainSeconds = 30, more: Record<string, string> = {}): Promise<void> {
    const environment = { SERVICE_DRAIN_SECONDS: String(drainSeconds), ...more };
    service = await spawnService(compiled, { environment });
    url = await service.listening();
    const { hostname, port } = new URL(url);
    address = { host: hostname, port: Number(port) };
    const seed = seeder(restClient(url));
    await seed.linked(AGENT, 'no-bad', denyWord('bad'));
  }

  /** Sends the signal and waits until it has its effect: connections are refused. */
  async function stopAccepting(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    service.process.kill(signal);
    const connects = () =>
      new Promise<boolean>((resolve) => {
        const socket = net.connect(address.port, address.host);
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
        socket.unref();
      });
    await until(connects, (connected) => !connected);
  }

  // Fifty stops are in test/long/shutdown.long.ts.
  it.each([1, 2])('breaks no call of a client that keeps its connection: %i workers', async (workers) => {
    await start(30, { SERVICE_WORKERS: String(workers) });
    const seen = await loadUntilRefused({
      url,
      agentName: AGENT,
      clients: { REST: 20, 'gRPC-Web': 4, gRPC: 4 },
      answeredBefore: 200,
      stop: () => service.process.kill('SIGTERM'),
    });
    expect(Object.values(seen).flatMap(({ errors }) => errors)).toEqual([]);
    expect(seen.REST.closes).toBeGreaterThanOrEqual(20);
    expect(seen['gRPC-Web'].closes).toBeGreaterThanOrEqual(4);
    expect(await service.ended).toEqual({ code: 0, signal: null });
    const log = path.join(service.directory, 'data', 'service.db-wal');
    expect(statSync(log, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  });

  /** A JSON request of which the service has seen the headers; `finish` sends the body. */
  async function openRequest() {
    const request = http.request(`${url}/api/v1/evaluation`, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(BODY),
        expect: '100-continue',
      },
    });
    const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
    // A call that waits for the answer fails.
    answered.catch(() => {});
    request.flushHeaders();
    await once(request, 'continue');
    return async () => {
      request.end(BODY);
      const [response] = await answered;
      let text = '';
      for await (const chunk of response) text += chunk;
      return { status: response.statusCode, connection: response.headers.connection, body: JSON.parse(text) };
    };
  }

  function openStream() {
    const client = grpcJsClient(
      address,
      'enforcement/v1/evaluation_service.proto',
      'enforcement.v1.EvaluationService',
    );
    const stream = client.EvaluateStream?.() as NodeJS.ReadWriteStream;
    const ended = new Promise<{ code: number }>((resolve) => stream.once('status', resolve));
    stream.on('error', () => {});
    const replies: { id: string; notice: { drain_within: { nanos: number } } | null }[] = [];
    stream.on('data', (reply) => replies.push(reply));
    const has = (id: string) =>
      until(
        () => replies.find((reply) => reply.id === id),
        (found) => found !== undefined,
      );
    const ask = (id: string) => {
      const request = { agent_name: AGENT, stage: 'STAGE_PRE', step_json: Buffer.from(JSON.stringify(STEP)) };
      stream.write({ id, evaluations: [request] } as never);
      return has(id);
    };
    return { ask, notice: () => has(''), end: () => stream.end(), ended, close: () => client.close() };
  }

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends at once on %s when nothing runs, idle connections or not',
    async (signal) => {
      await start();
      const agent = new http.Agent({ keepAlive: true });
      const [response] = (await once(http.get(`${url}/health`, { agent }), 'response')) as [
        http.IncomingMessage,
      ];
      response.resume();
      await once(response, 'end');
      const session = http2.connect(url);
      session.on('error', () => {});
      await once(session, 'remoteSettings');
      service.process.kill(signal);
      expect(await service.ended).toEqual({ code: 0, signal: null });
      expect(service.stdout()).toMatch(/finishing running requests/);
      expect(service.stdout()).toMatch(/stopped/);
      expect(service.stderr()).toBe('');
      agent.destroy();
      session.destroy();
    },
  );

  it('answers every running JSON request, and announces that the connection closes', async () => {
    await start();
    const finish = await Promise.all(Array.from({ length: 10 }, openRequest));
    await stopAccepting();
    const answers = await Promise.all(finish.map((one) => one()));
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 200, connection: 'close', body: { is_safe: false } });
    }
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('answers a running gRPC call, and takes no new one on its connection', async () => {
    await start();
    const session = http2.connect(url);
    session.on('error', () => {});
    await once(session, 'remoteSettings');
    const goaway = once(session, 'goaway');
    const headers = { ':method': 'POST', ':path': RPC, 'content-type': 'application/grpc', te: 'trailers' };
    const stream = session.request(headers);
    stream.write(Buffer.alloc(3));
    // What was sent before a ping has arrived when the ping is answered.
    await new Promise<void>((resolve, reject) => {
      session.ping((error) => (error === null ? resolve() : reject(error)));
    });
    await stopAccepting();
    await goaway;
    const trailers = once(stream, 'trailers') as Promise<[http2.IncomingHttpHeaders]>;
    const initial = once(stream, 'response') as Promise<[http2.IncomingHttpHeaders]>;
    stream.end(Buffer.alloc(2));
    stream.resume();
    const [status] = await Promise.race([
      trailers,
      initial.then(async ([first]) => (first['grpc-status'] ? [first] : trailers)),
    ]);
    // The empty message is answered like any other: it names no agent.
    expect(status['grpc-status']).toBe('3');
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('lets a stream continue until its client ends it', async () => {
    await start();
    const stream = openStream();
    expect(await stream.ask('before')).toMatchObject({ id: 'before' });
    await stopAccepting();
    expect(await stream.notice()).toMatchObject({
      notice: { drain_within: { nanos: 500_000_000 } },
    });
    expect(await stream.ask('after')).toMatchObject({ id: 'after' });
    stream.end();
    expect(await stream.ended).toMatchObject({ code: 0 });
    expect(await service.ended).toEqual({ code: 0, signal: null });
    stream.close();
  });

  it('ends an idle stream with UNAVAILABLE long before the time is over', async () => {
    await start(600);
    const stream = openStream();
    await stream.ask('before');
    await stopAccepting();
    expect(await stream.ended).toMatchObject({ code: 14 });
    expect(await service.ended).toEqual({ code: 0, signal: null });
    stream.close();
  });

  it('gives up a JSON request that never arrives when the time is over', async () => {
    await start(1);
    const finish = await openRequest();
    await stopAccepting();
    expect(await service.ended).toEqual({ code: 0, signal: null });
    await expect(finish()).rejects.toThrow();
  });

  it('ends at once on a second signal', async () => {
    await start(600);
    const finish = await openRequest();
    await stopAccepting();
    // Signals that follow at once are the same request to stop.
    const insisting = setInterval(() => service.process.kill('SIGTERM'), 50);
    expect(await service.ended).toEqual({ code: 1, signal: null });
    clearInterval(insisting);
    expect(service.stdout()).toMatch(/stopping at once/);
    await expect(finish()).rejects.toThrow();
  });

  it('has stored what it has acknowledged', async () => {
    await start();
    const { directory } = service;
    const call = restClient(url);
    const created = await call('PUT', '/api/v1/controls', { name: 'last-minute', data: denyWord('x') });
    service.process.kill('SIGKILL');
    await service.ended;
    const again = await spawnService(compiled, {
      environment: { DATABASE_URL: `file:${directory}/data/service.db` },
    });
    onTestFinished(() => again.dispose());
    const reply = await restClient(await again.listening())(
      'GET',
      `/api/v1/controls/${created.body.control_id}`,
    );
    expect(reply).toMatchObject({ status: 200, body: { name: 'last-minute' } });
  });
});
