import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingPackage } from '../../support/missing-package.js';
import { startService, type TestService } from '../../support/service.js';

describe('a setting that needs a package that is not installed', () => {
  it.each([
    ['adapters', 'SERVICE_ADAPTERS', 'coding-hooks'],
    ['events-clickhouse', 'SERVICE_EVENT_STORE', 'clickhouse://127.0.0.1:9/events'],
    ['memory-redis', 'SERVICE_MEMORY_STORE', 'redis://127.0.0.1:9'],
  ] as const)('%s: the service does not start with %s', async (name, setting, value) => {
    const started = startService({ [setting]: value }, { packages: { [name]: missingPackage(name) } });
    await expect(started).rejects.toThrow(`${setting} needs the package ${name}, which is not installed.`);
  });
});

describe('without the package adapters', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({}, { packages: { adapters: missingPackage('adapters') } });
  });
  afterAll(() => service?.stop());

  const post = async (path: string) => {
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: '{"body":{}}' });
    return { status: reply.status, body: await reply.json() };
  };
  const detail = 'The package adapters is not installed.';

  it('the service starts with a warning', () => {
    const warnings = service.logLines.filter((line) => line.includes('"level":40'));
    expect(warnings.filter((line) => line.includes('package'))).toEqual([
      expect.stringContaining('the package adapters is not installed: calls to adapters are refused'),
    ]);
  });

  it.each(['/adapters/coding-hooks', '/access/v1/evaluations'])('%s is refused', async (path) => {
    expect(await post(path)).toMatchObject({ status: 404, body: { error_code: 'ADAPTER_OFF', detail } });
  });

  it('calls of Envoy are refused', async () => {
    expect(await post('/envoy.service.auth.v3.Authorization/Check')).toMatchObject({
      status: 501,
      body: { code: 'unimplemented', message: expect.stringContaining(detail) },
    });
  });

  it('the OpenAPI document has their routes', async () => {
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(paths)).toContain('/adapters/coding-hooks');
  });
});
