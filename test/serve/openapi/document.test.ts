import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type DescMessage, type DescService, hasOption } from '@bufbuild/protobuf';
import { Validator } from '@seriousme/openapi-schema-validator';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from '../../../gen/proto/google/api/annotations_pb.js';
import { PACKAGE_ROOT } from '../../../scripts/compose-schema.mjs';
import { presenceExceptions } from '../../../scripts/openapi/reply-presence.js';
import { type App, createApp } from '../../../src/app/wiring/app.js';
import { readConfig } from '../../../src/contract/config/config.js';
import {
  type OpenApiDocument,
  operationsOf,
  type PlacedOperation,
  readOpenApi,
} from '../../support/openapi-document.js';
import { compileProto } from '../../support/scratch-api.js';
import { servedRoutes } from '../../support/served-routes.js';
import { testService } from '../../support/service-suite.js';
import { CONTRACT_ROWS } from './contract-rows.js';

/** Served, and no part of the API: the metrics, the document and its pages, the dashboard. */
const NOT_DESCRIBED = /^\w+ \/(?:|metrics|openapi\.json|docs(?:\/.*)?|redoc|ui\/.*)$/;
/** RPC paths have the name of the package in front. */
const RPC = /^\w+ \/(?:enforcement|grpc|envoy|agentgateway)\./;

describe('the OpenAPI document', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'openapi-'));
  let app: App;
  let document: OpenApiDocument;
  let operations: PlacedOperation[];
  let services: DescService[];
  beforeAll(async () => {
    const config = readConfig({
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: '0',
      DATABASE_URL: `file:${path.join(folder, 'service.db')}`,
      // A busy machine answers, too.
      SERVICE_SHED_EVENT_LOOP_DELAY_MS: '0',
    });
    app = await createApp({ config, log: pino({ level: 'silent' }) });
    document = await readOpenApi((await app.listen()).address);
    operations = operationsOf(document);
    services = [...(await compileProto())].filter(
      (desc) => desc.kind === 'service' && desc.file.proto.package === 'enforcement.v1',
    ) as DescService[];
  });
  afterAll(async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  });

  it('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.0');
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document) as never)).toEqual({ valid: true });
    expect(await validator.validate({ ...document, paths: { 'no-slash': 5 } })).toMatchObject({
      valid: false,
    });
  });

  it('describes every route that is served, and no other', () => {
    const served = servedRoutes(app.server).filter((route) => !NOT_DESCRIBED.test(route) && !RPC.test(route));
    expect(served.length).toBeGreaterThan(40);
    expect(operations.map(({ method, path: at }) => `${method} ${at}`).sort()).toEqual(served.sort());
  });

  it('describes every RPC that has a path', () => {
    const described = operations.flatMap((one) => one['x-rpc'] ?? []);
    const wanted = services.flatMap((service) =>
      service.methods
        .filter((method) => hasOption(method, http))
        .map((method) => `${service.typeName}/${method.name}`),
    );
    expect(described.sort()).toEqual(wanted.sort());
  });

  it.each(CONTRACT_ROWS.filter(({ path: at }) => at !== '/metrics'))(
    'describes $method $path for $level',
    ({ method, path: at, level }) => {
      const operation = operations.find((one) => one.method === method && one.path === at);
      expect(operation?.['x-access']).toBe(level);
      expect(operation?.security).toEqual(
        level === 'public' ? [] : [{ apiKey: [] }, { bearer: [] }, { session: [] }],
      );
      expect('401' in (operation?.responses ?? {})).toBe(level !== 'public' || at === '/api/login');
    },
  );

  it('lists the failures of each operation by status, and the scope of its RPC', () => {
    const of = (id: string) => operations.find(({ operationId }) => operationId === id);
    const limits = ['429', '503', '504', 'default'];
    expect(Object.keys(of('getControl')?.responses ?? {})).toEqual(['200', '401', '404', '422', ...limits]);
    expect(Object.keys(of('evaluate')?.responses ?? {})).toEqual([
      '200',
      '400',
      '401',
      '404',
      '413',
      '422',
      ...limits,
    ]);
    expect(Object.keys(of('setControlData')?.responses ?? {})).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '412',
      '413',
      '422',
      ...limits,
    ]);
    expect(of('setControlData')).toMatchObject({ 'x-scopes': ['controls.write'] });
  });

  it('lists 412 for the operations whose requests can demand a version, and for no other', () => {
    const demanding = services.flatMap((service) =>
      service.methods
        .filter(
          (method) =>
            hasOption(method, http) && method.input.fields.some(({ name }) => name === 'if_version'),
        )
        .map((method) => `${service.typeName}/${method.name}`),
    );
    const listed = operations.filter(({ responses }) => '412' in responses).map((one) => one['x-rpc']);
    expect(listed.length).toBeGreaterThan(10);
    expect(listed.sort()).toEqual(demanding.sort());
    expect(operations.find(({ operationId }) => operationId === 'deleteControl')?.responses['412']).toEqual({
      $ref: '#/components/responses/VersionMismatch',
    });
  });

  it('marks the routes that are kept for old clients', () => {
    const old = operations.filter(({ deprecated }) => deprecated).map(({ operationId }) => operationId);
    expect(old.sort()).toEqual(['deleteAgentPolicy', 'getAgentPolicy', 'setAgentPolicy']);
  });

  it('takes what was stored with another status than what was read', () => {
    const statuses = new Map(
      operations.map(({ operationId, responses }) => [operationId, Object.keys(responses)[0]]),
    );
    expect(statuses.get('createEvents')).toBe('202');
    expect(statuses.get('logout')).toBe('204');
    expect(statuses.get('queryEvents')).toBe('200');
  });

  it('states what replies always have, by the null rule of their route', () => {
    const { schemas } = document.components;
    expect(schemas.Scope).toMatchObject({
      properties: { step_types: { type: ['array', 'null'] } },
      required: ['step_types', 'step_names', 'step_name_regex', 'stages'],
    });
    expect(schemas.ScopeWithoutNulls).toMatchObject({ properties: { step_types: { type: 'array' } } });
    expect(schemas.ScopeWithoutNulls).not.toHaveProperty('required');
    expect(schemas.EvaluateResponse).toMatchObject({
      properties: { reason: { type: ['string', 'null'] }, matches: { type: 'array' } },
    });
    expect(schemas.Pagination).toMatchObject({
      properties: { next_cursor: { type: ['string', 'null'] } },
      required: ['limit', 'total', 'next_cursor', 'has_more'],
    });
  });

  it('describes the members that travel in headers there, and not in bodies', () => {
    const evaluate = operations.find(({ operationId }) => operationId === 'evaluate');
    expect(evaluate?.parameters).toMatchObject([
      {
        name: 'X-Service-Min-Revision',
        in: 'header',
        required: false,
        schema: { type: 'integer', minimum: 0 },
      },
    ]);
    const reply = evaluate?.responses?.['200'] as { headers: Record<string, { description: string }> };
    expect(reply.headers['x-service-revision']?.description).toMatch(/the verdict was made by/);
    const { schemas } = document.components;
    expect(schemas.EvaluateResponse).not.toHaveProperty('properties.revision');
    expect(schemas.EvaluateRequest).not.toHaveProperty('properties.min_revision');
  });

  it('states what requests must have, and what else they may have', () => {
    const { schemas } = document.components;
    expect(schemas.CreateControlRequest).toMatchObject({
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 255 },
        data: { $ref: '#/components/schemas/ControlDataInput' },
      },
      required: ['name', 'data'],
    });
    expect(schemas.ControlDefinitionInput).toMatchObject({ required: ['condition', 'execution', 'action'] });
    expect(schemas.EvaluateRequest).toMatchObject({ required: ['agent_name', 'step', 'stage'] });
    const list = operations.find(({ operationId }) => operationId === 'listControls');
    expect(list?.parameters?.find(({ name }) => name === 'limit')).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100 },
    });
    const update = operations.find(({ operationId }) => operationId === 'updateControl');
    expect(update?.parameters).toMatchObject([
      { name: 'control_id', in: 'path', required: true },
      { name: 'strict', in: 'query', required: false, schema: { type: 'boolean' } },
      { name: 'if_version', in: 'query', required: false, schema: { type: 'integer', minimum: 0 } },
      { name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } },
    ]);
    expect(Object.keys((schemas.UpdateControlRequest as { properties: object }).properties)).toEqual([
      'name',
      'enabled',
      'strict',
      'if_version',
    ]);
  });

  it('explains every operation and every member of a reply', () => {
    for (const { operationId, ...operation } of operations) {
      expect(operation, operationId).toMatchObject({ summary: expect.stringMatching(/^[A-Z].{9,}/) });
    }
    const { properties } = document.components.schemas.ControlSummary as {
      properties: Record<string, object>;
    };
    for (const [name, member] of Object.entries(properties)) {
      expect(member, name).toMatchObject({ description: expect.stringMatching(/\.$/) });
    }
  });

  it('lists only members that exist among those whose presence it settles', () => {
    const messages = new Map<string, DescMessage>();
    const visit = (message: DescMessage): void => {
      if (messages.has(message.name)) return;
      messages.set(message.name, message);
      for (const field of message.fields) if (field.message !== undefined) visit(field.message);
    };
    for (const service of services) for (const { output } of service.methods) visit(output);
    const members = [...messages].flatMap(([name, { fields }]) =>
      fields.map((field) => `${name}.${field.name}`),
    );
    expect(presenceExceptions().filter((one) => !members.includes(one))).toEqual([]);
  });

  it('has the comments that the proto files have now', async () => {
    const script = path.join(PACKAGE_ROOT, 'scripts', 'generate-comments.mjs');
    await expect(promisify(execFile)(process.execPath, [script, '--check'])).resolves.toMatchObject({
      stderr: '',
    });
  });

  it('shows the paths that are configured', async () => {
    const service = await testService({ SERVICE_API_PREFIX: '/guard', SERVICE_API_VERSION: 'v9' });
    const paths = Object.keys((await readOpenApi(service.url)).paths);
    expect(paths).toEqual(expect.arrayContaining(['/guard/v9/controls', '/guard/login', '/health']));
    expect(paths.filter((at) => at.startsWith('/api'))).toEqual([]);
  });
});
