import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { describeOnEachDatabase } from '../../support/databases.js';
import { restClient } from '../../support/http.js';
import { metric, parseMetrics } from '../../support/prometheus.js';
import { denyWord, seeder } from '../../support/seed.js';
import {
  compiled,
  type ServiceProcess,
  type SpawnOptions,
  spawnService,
} from '../../support/service-process.js';
import { until } from '../../support/until.js';
import { onConnection, request } from './support/connections.js';
import { openEvaluation } from './support/open-evaluation.js';
import { isRunning, killIfThere, workersOf } from './support/workers.js';

const PREFIX = 'control_enforcement_server';
const AGENT = 'shared-agent';
const EVALUATION = {
  agent_name: AGENT,
  stage: 'pre',
  step: { type: 'llm', name: 'n', input: 'a bad thing' },
};

const services: ServiceProcess[] = [];
afterEach(async () => {
  for (const one of services.splice(0)) {
    // Workers end when the primary does; their own ends are part of what is tested.
    await one.dispose();
  }
});

async function run(environment: Record<string, string> = {}, options: SpawnOptions = {}) {
  const service = await spawnService(compiled, {
    ...options,
    environment: { SERVICE_WORKERS: '2', SERVICE_LOG_JSON: 'true', ...environment },
  });
  services.push(service);
  return service;
}

/** Over a connection of its own: one that was used before may be one to a process that has ended. */
const metrics = async (url: string) => parseMetrics((await request(url, 'GET', '/metrics')).body);
const lines = (service: ServiceProcess, pattern: RegExp) =>
  service
    .stdout()
    .split('\n')
    .filter((line) => pattern.test(line));

describeOnEachDatabase('two processes', (freshDatabaseUrl) => {
  it('serve one port, see each other’s changes, and are measured as one', async () => {
    const service = await run({ DATABASE_URL: await freshDatabaseUrl() });
    const url = await service.listening();
    expect(lines(service, /"address"/)).toHaveLength(1);
    const pids = await workersOf(service);
    expect(pids).toHaveLength(2);

    // Connections are dealt out in turn, so these are connections to different processes.
    const connections = [onConnection(url), onConnection(url)] as const;
    const [first, second] = connections;
    for (const one of connections) expect(await one('GET', '/ready')).toMatchObject({ status: 200 });
    const seed = seeder(restClient(url));
    await seed.agent(AGENT);
    for (const one of connections) {
      const reply = await one('POST', '/api/v1/evaluation', EVALUATION);
      expect(reply).toMatchObject({ status: 200, body: { is_safe: true } });
    }

    const control = await first('PUT', '/api/v1/controls', { name: 'no-bad', data: denyWord('bad') });
    const linked = await first('POST', `/api/v1/agents/${AGENT}/controls/${control.body.control_id}`);
    expect(linked.status).toBe(200);
    const revision = String(linked.headers['x-service-revision']);
    const reply = await second('POST', '/api/v1/evaluation', EVALUATION, {
      'x-service-min-revision': revision,
    });
    expect(reply).toMatchObject({ status: 200, body: { is_safe: false } });

    for (const one of connections) {
      for (let count = 0; count < 5; count += 1) await one('POST', '/api/v1/evaluation', EVALUATION);
    }
    // A process that is busy for a moment is missing in them.
    const samples = await until(
      () => metrics(url),
      (all) => metric(all, `${PREFIX}_evaluations_total`) >= 13 && metric(all, `${PREFIX}_workers`) === 2,
    );
    expect(metric(samples, `${PREFIX}_evaluations_total`)).toBe(13);
    expect(metric(samples, `${PREFIX}_revision`)).toBe(Number(revision));
    expect(metric(samples, `${PREFIX}_database_up`)).toBe(1);
    expect(metric(samples, `${PREFIX}_snapshot_agents`)).toBe(1);
    expect(metric(samples, `${PREFIX}_workers`)).toBe(2);
    expect(samples.filter(({ name }) => name === `${PREFIX}_process_start_time_seconds`)).toHaveLength(1);
    expect(metric(samples, `${PREFIX}_request_duration_seconds_count`, { path: '/api/v1/evaluation' })).toBe(
      13,
    );
    for (const one of connections) one.close();
  });
});

describe('processes of one service', () => {
  it('replace one that was killed, end its connections, and keep its counts', async () => {
    const service = await run();
    const url = await service.listening();
    await seeder(restClient(url)).agent(AGENT);
    const connections = [onConnection(url), onConnection(url)];
    for (const one of connections) await one('POST', '/api/v1/evaluation', EVALUATION);
    const before = connections.length;
    await until(
      () => metrics(url),
      (samples) => metric(samples, `${PREFIX}_evaluations_total`) === before,
    );
    const [victim = 0] = await workersOf(service);
    const closed = connections.map((one) => one.closed);
    process.kill(victim, 'SIGKILL');
    await Promise.race(closed);
    // New connections go to the other one, also before there is a replacement; one that was handed to the victim before
    // its end was known is closed.
    await until(
      () => request(url, 'POST', '/api/v1/evaluation', EVALUATION).catch(() => ({ status: undefined })),
      ({ status }) => status === 200,
    );
    await until(
      () => metrics(url).catch(() => []),
      (samples) => metric(samples, `${PREFIX}_workers`) === 2,
    );
    const pids = await workersOf(service);
    expect(pids).toHaveLength(2);
    expect(pids).not.toContain(victim);
    const after = await until(
      () => metrics(url),
      (samples) => metric(samples, `${PREFIX}_evaluations_total`) > before,
    );
    expect(metric(after, `${PREFIX}_evaluations_total`)).toBe(before + 1);
    expect(metric(after, `${PREFIX}_worker_crashes_total`)).toBe(1);
    expect(lines(service, /a worker ended; another takes its place/)).toHaveLength(1);
    for (const one of connections) one.close();
  });

  it('lose no connection while one of them does not answer, and close the one it was handed when it is killed', async () => {
    const service = await run();
    const url = await service.listening();
    const [stuck = 0] = await workersOf(service);
    process.kill(stuck, 'SIGSTOP');
    const requests = Array.from({ length: 8 }, () =>
      request(url, 'GET', '/ready').then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code,
      ),
    );
    let answered = 0;
    for (const one of requests) void one.then(() => (answered += 1));
    await until(
      () => answered,
      (count) => count === 7,
    );
    process.kill(stuck, 'SIGKILL');
    const outcomes = await Promise.all(requests);
    expect(outcomes.filter((one) => one === 200)).toHaveLength(7);
    expect(outcomes.filter((one) => one === 'ECONNRESET')).toHaveLength(1);
  });

  it('replace one that receives a stop signal without breaking a request', async () => {
    const service = await run();
    const url = await service.listening();
    await seeder(restClient(url)).agent(AGENT);
    const failures: unknown[] = [];
    let served = 0;
    let going = true;
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (going) {
          const outcome = await request(url, 'POST', '/api/v1/evaluation', EVALUATION).catch(
            (error: unknown) => ({ status: undefined, error }),
          );
          if (outcome.status === 200) served += 1;
          else failures.push(outcome);
        }
      }),
    );
    for (const pid of await workersOf(service)) {
      process.kill(pid, 'SIGTERM');
      await until(
        () => workersOf(service),
        (pids) => pids.length === 2 && !pids.includes(pid),
      );
      // Its successor serves: without any worker for ten seconds, connections that wait are closed.
      await until(
        () => metrics(url),
        (samples) => metric(samples, `${PREFIX}_workers`) === 2,
      );
    }
    going = false;
    await load;
    expect(failures).toEqual([]);
    // Readers that come often share metrics of a moment ago.
    const samples = await until(
      () => metrics(url),
      (all) => metric(all, `${PREFIX}_evaluations_total`) >= served,
    );
    expect(metric(samples, `${PREFIX}_evaluations_total`)).toBe(served);
    expect(metric(samples, `${PREFIX}_worker_crashes_total`)).toBe(0);
  });

  it('give up when none of them lives', async () => {
    const service = await run();
    await service.listening();
    let killing = true;
    const killer = (async () => {
      while (killing) {
        for (const pid of await workersOf(service).catch(() => [])) killIfThere(pid);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    expect(await service.ended).toEqual({ code: 1, signal: null });
    killing = false;
    await killer.catch(() => {});
    expect(service.stdout()).toMatch(/workers end as soon as they are started; giving up/);
  });

  it.each(['primary', 'group'] as const)(
    'finish running requests when the %s receives a stop signal',
    async (target) => {
      const service = await run({ SERVICE_DRAIN_SECONDS: '30' });
      const url = await service.listening();
      const pids = await workersOf(service);
      await seeder(restClient(url)).agent(AGENT);
      const open = await Promise.all([openEvaluation(url, EVALUATION), openEvaluation(url, EVALUATION)]);
      // Ctrl-C signals all processes.
      if (target === 'group') for (const pid of pids) process.kill(pid, 'SIGINT');
      service.process.kill('SIGINT');
      await until(
        () => request(url, 'GET', '/ready').catch((error) => error.code),
        (code) => code === 'ECONNREFUSED',
      );
      for (const finish of open) expect(await finish()).toBe(200);
      expect(await service.ended).toEqual({ code: 0, signal: null });
      expect(pids.filter(isRunning)).toEqual([]);
      expect(service.stdout()).not.toMatch(/"level":[56]0/);
      expect(service.stderr()).toBe('');
    },
  );

  it('end at once on a second signal', async () => {
    const service = await run({ SERVICE_DRAIN_SECONDS: '600' });
    const url = await service.listening();
    const pids = await workersOf(service);
    const finish = await openEvaluation(url, EVALUATION);
    service.process.kill('SIGTERM');
    await service.output(/finishing running requests/);
    // Signals that follow at once are the same request to stop.
    const insisting = setInterval(() => service.process.kill('SIGTERM'), 50);
    expect(await service.ended).toEqual({ code: 1, signal: null });
    clearInterval(insisting);
    expect(service.stdout()).toMatch(/stopping at once/);
    await until(
      () => pids.filter(isRunning),
      (running) => running.length === 0,
    );
    await expect(finish()).rejects.toThrow();
  });

  it('finish their requests and end when the primary is killed', async () => {
    const service = await run();
    const url = await service.listening();
    const pids = await workersOf(service);
    await seeder(restClient(url)).agent(AGENT);
    const finish = await openEvaluation(url, EVALUATION);
    service.process.kill('SIGKILL');
    await until(
      () => pids.filter(isRunning),
      (running) => running.length === 1,
    );
    expect(await finish()).toBe(200);
    await until(
      () => pids.filter(isRunning),
      (running) => running.length === 0,
    );
  });

  it('share sessions without a configured secret', async () => {
    const keys = { SERVICE_API_KEY_ENABLED: 'true', SERVICE_API_KEYS: 'a-key', SERVICE_DEBUG: 'true' };
    const service = await run(keys);
    const url = await service.listening();
    const login = await request(url, 'POST', '/api/login', { api_key: 'a-key' });
    const cookie = String(login.headers['set-cookie']).split(';')[0] ?? '';
    for (let count = 0; count < 4; count += 1) {
      expect(await request(url, 'GET', '/api/v1/agents', undefined, { cookie })).toMatchObject({
        status: 200,
      });
    }
    expect(service.stdout()).not.toMatch(/SERVICE_SESSION_SECRET/);
  });

  it('serve HTTP/2 and HTTP/1 over TLS', async () => {
    const tls = path.resolve(import.meta.dirname, '../../fixtures/tls');
    const certificate = path.join(tls, 'test-only-server-cert.pem');
    const key = path.join(tls, 'test-only-server-key.pem');
    const service = await run({ SERVICE_TLS_CERT_FILE: certificate, SERVICE_TLS_KEY_FILE: key });
    const url = await service.listening();
    const ca = await readFile(certificate);
    for (let count = 0; count < 4; count += 1) {
      const session = http2.connect(url, { ca });
      const stream = session.request({ ':path': '/health' });
      const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
      expect(headers[':status']).toBe(200);
      session.destroy();
      const call = https.get(`${url}/health`, { ca, agent: false });
      const [response] = (await once(call, 'response')) as [http.IncomingMessage];
      expect(response.statusCode).toBe(200);
      response.destroy();
    }
  });

  it('are as many as there are cores with auto', async () => {
    const service = await run({ SERVICE_WORKERS: 'auto' });
    await service.listening();
    const expected = availableParallelism();
    expect(await workersOf(service)).toHaveLength(expected === 1 ? 0 : expected);
  });

  it.each([
    ['a wrong value', { SERVICE_PORT: 'eighty' }, /must be a whole number/g],
    [
      'a database that cannot be reached',
      { DATABASE_URL: 'postgresql://a:b@127.0.0.1:1/c' },
      /refuses connections/g,
    ],
    [
      'TLS files that do not exist',
      { SERVICE_TLS_CERT_FILE: '/nowhere/c', SERVICE_TLS_KEY_FILE: '/nowhere/k' },
      /SERVICE_TLS_CERT_FILE/g,
    ],
  ] as const)('say once that they cannot start with %s', async (_name, environment, reason) => {
    const service = await run(environment);
    expect(await service.ended).toEqual({ code: 1, signal: null });
    expect(`${service.stdout()}${service.stderr()}`.match(reason)).toHaveLength(1);
  });

  it('report once that the port is taken', async () => {
    const other = http.createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const service = await run({ SERVICE_PORT: String(port) });
    expect(await service.ended).toEqual({ code: 1, signal: null });
    expect(service.stdout().match(/is in use by another program/g)).toHaveLength(1);
    other.close();
  });

  it('are one without workers when one is configured', async () => {
    const service = await run({ SERVICE_WORKERS: '1' });
    await service.listening();
    expect(await workersOf(service)).toEqual([]);
    expect(await readdir(`/proc/${service.process.pid}/task`)).not.toEqual([]);
    expect(service.stdout()).not.toMatch(/"pid"/);
  });
});
