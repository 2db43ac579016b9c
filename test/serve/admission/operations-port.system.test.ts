import { Code, createClient } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Health } from '../../../gen/proto/grpc/health/v1/health_pb.js';
import { ServerReflection } from '../../../gen/proto/grpc/reflection/v1/reflection_pb.js';
import { exchange } from '../../support/http.js';
import { metric, parseMetrics } from '../../support/prometheus.js';
import { rpcTransport } from '../../support/rpc-transports.js';
import { startService, type TestService } from '../../support/service.js';
import { type CompiledService, compileService, spawnService } from '../../support/service-process.js';
import { until } from '../../support/until.js';

let service: TestService;
const start = async (environment: Record<string, string>) => {
  service = await startService(environment);
};
const statusOf = async (url: string, path: string) => (await exchange(url, { path })).status;

async function reflects(url: string): Promise<boolean> {
  const client = createClient(ServerReflection, rpcTransport('gRPC', url));
  async function* question() {
    yield { messageRequest: { case: 'listServices' as const, value: '' } };
  }
  try {
    for await (const { messageResponse } of client.serverReflectionInfo(question()))
      return messageResponse.case === 'listServicesResponse';
  } catch (error) {
    expect(error).toMatchObject({ code: Code.Unimplemented });
  }
  return false;
}

describe('the operations port', () => {
  afterEach(() => service.stop());

  it('has health, readiness and metrics, which the public port then has not', async () => {
    await start({ SERVICE_OPERATIONS_PORT: '0' });
    const url = service.operationsUrl ?? '';
    for (const path of ['/health', '/ready', '/metrics']) {
      expect([path, await statusOf(url, path), await statusOf(service.url, path)]).toEqual([path, 200, 404]);
    }
    const metrics = await exchange(url, { path: '/metrics' });
    expect(metrics.headers['content-type']).toContain('text/plain');
    expect(await statusOf(url, '/api/v1/agents')).toBe(404);
    expect(await statusOf(service.url, '/api/v1/agents')).toBe(200);
  });

  it('has health over gRPC, as the public port has', async () => {
    await start({ SERVICE_OPERATIONS_PORT: '0' });
    for (const url of [service.url, service.operationsUrl ?? '']) {
      expect(await createClient(Health, rpcTransport('gRPC', url)).check({})).toMatchObject({ status: 1 });
    }
  });

  it('answers while the public port refuses what needs no key', async () => {
    await start({ SERVICE_OPERATIONS_PORT: '0', SERVICE_PUBLIC_CALLS_PER_SECOND: '2' });
    const askMany = () => Array.from({ length: 20 }, () => statusOf(service.url, '/docs'));
    await until(
      () => Promise.all(askMany()),
      (statuses) => statuses.includes(429),
    );
    expect(await statusOf(service.operationsUrl ?? '', '/ready')).toBe(200);
  });

  it('is absent unless it is configured', async () => {
    await start({});
    expect(service.operationsUrl).toBeNull();
    expect(await statusOf(service.url, '/health')).toBe(200);
  });
});

describe('reflection', () => {
  afterEach(() => service.stop());
  it.each([
    ['public', true, false],
    ['operations', false, true],
    ['off', false, false],
  ])(
    'that is %s is on the public port: %s, on the operations port: %s',
    async (where, isPublic, isOperations) => {
      await start({ SERVICE_OPERATIONS_PORT: '0', SERVICE_REFLECTION: where });
      expect(await reflects(service.url)).toBe(isPublic);
      expect(await reflects(service.operationsUrl ?? '')).toBe(isOperations);
    },
  );
});

describe('the operations port of several processes', () => {
  let compiled: CompiledService;
  beforeAll(async () => {
    compiled = await compileService();
  });
  afterAll(() => compiled.remove());

  it('is served by the workers, and returns the metrics of all', async () => {
    const running = await spawnService(compiled, {
      environment: { SERVICE_WORKERS: '2', SERVICE_OPERATIONS_PORT: '0', SERVICE_LOG_JSON: 'true' },
    });
    try {
      const url = await running.listening();
      const [, operations = ''] = await running.output(/"operations":"(http:\/\/[^"]+)"/);
      expect(await statusOf(operations, '/ready')).toBe(200);
      expect(await statusOf(url, '/ready')).toBe(404);
      // A process that is busy for a moment is missing in them.
      await until(
        async () => parseMetrics((await exchange(operations, { path: '/metrics' })).text),
        (samples) => metric(samples, 'control_enforcement_server_workers') === 2,
      );
      running.process.kill('SIGTERM');
      expect(await running.ended).toEqual({ code: 0, signal: null });
    } finally {
      await running.dispose();
    }
  });
});
