import { beforeAll, describe, expect, it } from 'vitest';
import { STEPS } from '../../e2e/every-rpc.steps.js';
import { ADMIN_KEY, inputOf, OPERATOR_KEY, READER_KEY, TOKEN_SETTINGS } from '../../e2e/every-rpc.support.js';
import { describeOnSqlite } from '../../support/databases.js';
import {
  bodyChecker,
  type OpenApiDocument,
  operationsOf,
  type PlacedOperation,
  readOpenApi,
  replyChecker,
  requestOf,
} from '../../support/openapi-document.js';
import { suiteService } from '../../support/service-suite.js';

/** Blanks around a name are forgiven; the document tells how it should be. */
function withoutBlanks(body: Readonly<Record<string, unknown>>): object {
  return typeof body.name === 'string' ? { ...body, name: body.name.trim() } : body;
}

describeOnSqlite('requests and replies of a whole session', (freshDatabaseUrl) => {
  let document: OpenApiDocument;
  let operations: PlacedOperation[];
  let bodyProblemsOf: ReturnType<typeof bodyChecker>;
  let problemsOf: ReturnType<typeof replyChecker>;
  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: READER_KEY,
    SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
    SERVICE_OPERATOR_API_KEYS: OPERATOR_KEY,
    ...TOKEN_SETTINGS,
  }));
  const { call } = service;
  beforeAll(async () => {
    document = await readOpenApi(service.url);
    operations = operationsOf(document);
    problemsOf = replyChecker(document);
    bodyProblemsOf = bodyChecker(document);
  });

  it.each(STEPS)('$rpc $what', async ({ rpc, input, key, expected }) => {
    const name = `enforcement.v1.${rpc.replace('.', '/')}`;
    const operation = operations.find((one) => one['x-rpc'] === name) as PlacedOperation;
    const listSamples = async () =>
      (await call('GET', '/api/v1/samples', undefined, { 'x-api-key': ADMIN_KEY })).body;
    const { method, path, body } = requestOf(operation, await inputOf({ input }, listSamples));
    const reply = await call(method, path, body, key === null ? {} : { 'x-api-key': key });
    expect('reply' in expected).toBe(reply.status < 300);
    if (reply.status < 300) {
      expect(Object.keys(operation.responses)).toContain(String(reply.status));
      if (body !== undefined) expect(bodyProblemsOf(operation, withoutBlanks(body))).toEqual([]);
    }
    expect(problemsOf(operation, reply.status, reply.body)).toEqual([]);
  });

  it('about events', async () => {
    const check = async (operationId: string, status: number, input: Record<string, unknown>) => {
      const operation = operations.find((one) => one.operationId === operationId) as PlacedOperation;
      const { method, path, body } = requestOf(operation, input);
      const reply = await call(method, path, body, { 'x-api-key': READER_KEY });
      expect(reply.status).toBe(status);
      expect(problemsOf(operation, status, reply.body)).toEqual([]);
    };
    const least = {
      trace_id: 'trace',
      span_id: 'span',
      agent_name: 'reporting-agent',
      control_id: 7,
      control_name: 'seven',
      check_stage: 'post',
      applies_to: 'llm_call',
      action: 'observe',
      matched: true,
      confidence: 0.5,
    };
    const most = {
      ...least,
      control_execution_id: 'known',
      action: 'deny',
      timestamp: new Date().toISOString(),
      execution_duration_ms: 1.5,
      evaluator_name: 'regex',
      selector_path: 'input',
      error_message: 'it broke',
      metadata: { nested: [null, 1] },
    };
    const ofAgent = { agent_name: least.agent_name };
    await check('createEvents', 202, { events: [least, most] });
    await check('createEvents', 422, { events: [{}] });
    await check('queryEvents', 200, ofAgent);
    await check('queryEvents', 200, { ...ofAgent, limit: 1 });
    await check('queryEvents', 422, { limit: 'x' });
    await check('getStats', 200, ofAgent);
    await check('getStats', 200, { ...ofAgent, include_timeseries: true, time_range: '5m' });
    await check('getStats', 200, { agent_name: 'silent-agent', include_timeseries: true });
    await check('getStats', 422, {});
    await check('getControlStats', 200, { ...ofAgent, control_id: 7, include_timeseries: true });
    await check('getControlStats', 200, { ...ofAgent, control_id: 8 });
    await check('getStatsOverview', 200, { time_range: '24h' });
    await check('getStatsOverview', 200, { include_timeseries: true, limit: 1 });
    await check('getStatsOverview', 422, { limit: 0 });
    await check('getObservabilityStatus', 200, {});
  });

  describe('of the host itself', () => {
    const operationAt = (path: string) => operations.find((one) => one.path === path) as PlacedOperation;

    it.each(['/health', '/ready', '/api/config'])('GET %s', async (path) => {
      const reply = await call('GET', path);
      expect(reply.status).toBe(200);
      expect(problemsOf(operationAt(path), 200, reply.body)).toEqual([]);
    });

    it.each([
      ['a known key', { api_key: READER_KEY }, 200],
      ['an unknown key', { api_key: 'nobody' }, 401],
      ['no key', {}, 422],
    ])('POST /api/login with %s', async (_, body, status) => {
      const reply = await call('POST', '/api/login', body);
      expect(reply.status).toBe(status);
      expect(problemsOf(operationAt('/api/login'), status, reply.body)).toEqual([]);
    });

    it('POST /api/login from a page of another origin', async () => {
      const reply = await call(
        'POST',
        '/api/login',
        { api_key: READER_KEY },
        { origin: 'https://elsewhere.test' },
      );
      expect(reply.status).toBe(403);
      expect(problemsOf(operationAt('/api/login'), 403, reply.body)).toEqual([]);
    });

    it('a body that cannot be decoded', async () => {
      const operation = operationAt('/api/v1/controls/validate');
      const reply = await call(
        'POST',
        operation.path,
        { data: {} },
        {
          'x-api-key': ADMIN_KEY,
          'content-encoding': 'gzip',
        },
      );
      expect(reply.status).toBe(400);
      expect(problemsOf(operation, 400, reply.body)).toEqual([]);
    });
  });

  it('are checked by checkers that find members that are missing, wrong or not declared', () => {
    const operation = operations.find((one) => one.operationId === 'removeAgentControl') as PlacedOperation;
    const reply = { success: true, removed_direct_association: true, control_still_active: false };
    expect(problemsOf(operation, 200, reply)).toEqual([]);
    expect(problemsOf(operation, 200, { ...reply, success: null })).toHaveLength(1);
    expect(problemsOf(operation, 200, { ...reply, more: 1 })).toHaveLength(1);
    expect(problemsOf(operation, 200, { success: true })).toHaveLength(2);
    expect(problemsOf(operation, 404, reply)).not.toEqual([]);
    const create = operations.find((one) => one.operationId === 'createPolicy') as PlacedOperation;
    expect(bodyProblemsOf(create, { name: 'fine' })).toEqual([]);
    expect(bodyProblemsOf(create, { name: ' ' })).not.toEqual([]);
    expect(bodyProblemsOf(create, {})).toHaveLength(1);
  });
});
