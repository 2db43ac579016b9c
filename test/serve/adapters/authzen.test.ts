import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restClient } from '../../support/http.js';
import { createKeysFile, type TestKeysFile } from '../../support/keys-file.js';
import { seeder } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';

const AGENT = 'records-bot-01';
const BOT = { 'x-api-key': 'bot-key' };

/** A control with an expression about accesses to records. */
const denying = (expression: string, action: object = { decision: 'deny' }) => ({
  execution: 'server',
  scope: { step_types: ['record'], stages: ['pre'] },
  condition: { selector: {}, evaluator: { name: 'cel', config: { expression, on_missing: 'no_match' } } },
  action,
});
const WRITES = "input.action.name == 'write'";
const BY_ADMIN = "has(input.subject.properties) && input.subject.properties.role == 'admin'";
const ARCHIVED = "has(input.resource.properties) && input.resource.properties.status == 'archived'";

let keys: TestKeysFile;
let service: TestService;
let folder: string;
const post = (route: string, body: unknown, headers: Record<string, string> = BOT) =>
  fetch(`${service.url}${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
// biome-ignore lint/suspicious/noExplicitAny: replies of several shapes
const decide = async (body: unknown, route = '/access/v1/evaluation'): Promise<any> =>
  (await post(route, body)).json();
const access = (user: string, action: string, record: string, more: object = {}) => ({
  subject: { type: 'user', id: user },
  action: { name: action },
  resource: { type: 'record', id: record },
  ...more,
});

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'adapters-'));
  const file = path.join(folder, 'adapters.yaml');
  writeFileSync(file, `authzen:\n  agent: [member context.agent, text ${AGENT}]\n`);
  keys = createKeysFile([
    { name: 'boss', key: 'admin-key', role: 'admin' },
    { name: 'bot', key: 'bot-key', role: 'agent' },
    { name: 'other', key: 'other-key', role: 'agent', agents: ['another-bot-01'] },
  ]);
  service = await startService({
    ...keys.environment,
    SERVICE_ADAPTERS: 'authzen',
    SERVICE_ADAPTERS_FILE: file,
    SERVICE_PUBLIC_URL: 'https://decisions.example.com/',
  });
  const seed = seeder(restClient(service.url, { 'x-api-key': 'admin-key' }));
  await seed.linked(AGENT, 'bob-writes-nothing', denying(`${WRITES} && input.subject.id == 'bob'`));
  for (const [name, data] of [
    ['archived', denying(`${WRITES} && ${ARCHIVED} && !(${BY_ADMIN})`)],
    ['hard-deletes', denying("input.action.name == 'delete' && input.action.properties.soft == false")],
    [
      'steered',
      denying("input.action.name == 'export'", {
        decision: 'steer',
        steering_context: { message: 'Export a page at a time.' },
      }),
    ],
    [
      'asked',
      denying("input.action.name == 'share'", {
        decision: 'deny',
        approval: { approvers: ['role:approver'], question: 'Share {name}?' },
      }),
    ],
  ] as const)
    await seed.link(AGENT, await seed.control(name, data));
});
afterAll(async () => {
  await service.stop();
  keys.remove();
  rmSync(folder, { recursive: true });
});

describe('the certification scenario of AuthZEN 1.0', () => {
  const archived = { resource: { type: 'record', id: 'record-1', properties: { status: 'archived' } } };
  const admin = { subject: { type: 'user', id: 'alice', properties: { role: 'admin' } } };
  const deletion = (soft: boolean) => ({ action: { name: 'delete', properties: { soft } } });
  const CASES: [string, object, boolean][] = [
    ['alice reads', access('alice', 'read', 'record-1'), true],
    ['alice writes', access('alice', 'write', 'record-1'), true],
    ['bob reads', access('bob', 'read', 'record-1'), true],
    ['bob writes', access('bob', 'write', 'record-1'), false],
    ['alice writes what is archived', access('alice', 'write', 'record-1', archived), false],
    [
      'an admin writes what is archived',
      access('alice', 'write', 'record-2', { ...archived, ...admin }),
      true,
    ],
    ['a soft deletion', access('alice', 'delete', 'record-1', deletion(true)), true],
    ['a hard deletion', access('alice', 'delete', 'record-1', deletion(false)), false],
  ];
  it.each(CASES)('%s', async (_name, body, decision) => {
    expect(await decide(body)).toMatchObject({ decision });
  });

  it('several accesses with defaults, in their order', async () => {
    const { evaluations } = await decide(
      {
        ...access('bob', 'read', 'record-1'),
        evaluations: [{}, { action: { name: 'write' } }, { subject: { type: 'user', id: 'alice' } }],
      },
      '/access/v1/evaluations',
    );
    expect(evaluations.map(({ decision }: { decision: boolean }) => decision)).toEqual([true, false, true]);
  });

  it.each([
    ['execute_all', 3],
    ['deny_on_first_deny', 2],
    ['permit_on_first_permit', 1],
  ])('%s ends after %i', async (evaluations_semantic, count) => {
    const { evaluations } = await decide(
      {
        ...access('bob', 'read', 'record-1'),
        evaluations: [{}, { action: { name: 'write' } }, {}],
        options: { evaluations_semantic },
      },
      '/access/v1/evaluations',
    );
    expect(evaluations).toHaveLength(count);
  });

  it('a request without evaluations is one access', async () => {
    const reply = await decide(access('bob', 'write', 'record-1'), '/access/v1/evaluations');
    expect(reply).toMatchObject({ decision: false });
    expect(reply).not.toHaveProperty('evaluations');
  });

  it('an access that is wrong or refused is a denial among others', async () => {
    const { evaluations } = await decide(
      {
        ...access('alice', 'read', 'record-1', { resource: undefined }),
        evaluations: [
          { resource: { type: 'record', id: 'record-1' } },
          {},
          { resource: { type: 'record', id: 7 } },
          { resource: { type: 'record', id: 'record-1' }, context: { agent: 'unknown-bot-01' } },
        ],
      },
      '/access/v1/evaluations',
    );
    const error = (status: number, code: string, message: string) => ({
      decision: false,
      context: { outcome: 'error', error: { status, code, message: expect.stringContaining(message) } },
    });
    expect(evaluations).toMatchObject([
      { decision: true },
      error(400, 'VALIDATION_ERROR', 'resource: Field required'),
      error(400, 'VALIDATION_ERROR', 'resource.id: must be a string'),
      error(404, 'AGENT_NOT_FOUND', 'unknown-bot-01'),
    ]);
  });

  it('a part of an access replaces its default, but keeps the type and the id that it does not name', async () => {
    const { evaluations } = await decide(
      {
        subject: { type: 'user', id: 'alice', properties: { role: 'admin' } },
        action: { name: 'write' },
        resource: { type: 'record' },
        evaluations: [
          { resource: { id: 'record-2', properties: { status: 'archived' } } },
          { subject: { id: 'carol' }, resource: { id: 'record-2', properties: { status: 'archived' } } },
        ],
      },
      '/access/v1/evaluations',
    );
    expect(evaluations).toMatchObject([{ decision: true }, { decision: false }]);
  });

  it.each([
    ['no subject', { subject: undefined }],
    ['no action', { action: undefined }],
    ['no resource', { resource: undefined }],
    ['a subject without a type', { subject: { id: 'alice' } }],
    ['an action without a name', { action: {} }],
    ['an action whose name is no text', { action: { name: 123 } }],
    ['a resource without an id', { resource: { type: 'record' } }],
    ['a name in another case', { Subject: { type: 'user', id: 'bob' } }],
    ['a name in another case in a part', { resource: { type: 'record', id: 'record-1', ID: 'record-2' } }],
    ['a name with a letter that folds', { ſubject: { type: 'user', id: 'bob' } }],
    ['a name in another case in the context', { context: { Agent: 'other-bot-01' } }],
    [
      'a name in another case in one of several',
      { evaluations: [{ Resource: { type: 'record', id: 'x' } }] },
    ],
  ])('%s is a bad request', async (_name, more) => {
    for (const route of ['/access/v1/evaluation', '/access/v1/evaluations'])
      expect((await post(route, access('alice', 'read', 'record-1', more))).status).toBe(400);
  });

  it('members that are not known, and an empty list of accesses, change nothing', async () => {
    const body = access('alice', 'read', 'record-1', {
      foo: 'bar',
      future: { nested: true },
      evaluations: [],
    });
    expect(await decide(body)).toMatchObject({ decision: true });
    expect(await decide(body, '/access/v1/evaluations')).toMatchObject({ decision: true });
  });

  it('tells its metadata without a key', async () => {
    const reply = await fetch(`${service.url}/.well-known/authzen-configuration`);
    expect(await reply.json()).toEqual({
      policy_decision_point: 'https://decisions.example.com',
      access_evaluation_endpoint: 'https://decisions.example.com/access/v1/evaluation',
      access_evaluations_endpoint: 'https://decisions.example.com/access/v1/evaluations',
      capabilities: [],
    });
  });
});

describe('decisions of AuthZEN', () => {
  it('say why, and what would change them', async () => {
    expect(await decide(access('bob', 'write', 'record-1'))).toEqual({
      decision: false,
      context: {
        decision_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        outcome: 'deny',
        controls: ['bob-writes-nothing'],
        reason_user: {
          en: 'Step "record-1" was denied before it ran by "bob-writes-nothing". A policy forbids it: do not repeat it unchanged.',
        },
      },
    });
    expect(await decide(access('bob', 'export', 'record-1'))).toMatchObject({
      decision: false,
      context: {
        outcome: 'steer',
        obligations: [{ properties: { message: 'Export a page at a time.', required_actions: [] } }],
      },
    });
  });

  it('name the approval that an access waits for, which access requests take', async () => {
    const { decision, context } = await decide(access('bob', 'share', 'record-1'));
    expect([decision, context.outcome, context.reason]).toEqual([false, 'ask', 'approval_required']);
    const task = await post(`/access/v1/agents/${AGENT}/requests`, {
      denial: { evaluation_id: context.evaluation_id, step_sha256: context.access_request.step_sha256 },
    });
    expect(await task.json()).toMatchObject({ task: { status: 'pending' } });
  });

  it('are refused in plain text, and keep the id of the request', async () => {
    const cases: [unknown, Record<string, string>, number, string][] = [
      [access('bob', 'read', 'record-1'), {}, 401, 'key'],
      [access('bob', 'read', 'record-1'), { 'x-api-key': 'other-key' }, 403, 'limited to certain agents'],
      ['{"subject":', BOT, 400, 'JSON'],
      [{ ...access('bob', 'read', 'record-1'), subject: 'bob' }, BOT, 400, 'subject: '],
      [access('bob', 'read', ''), BOT, 400, 'resource.id: '],
      ['', BOT, 400, 'needs a JSON body'],
      [access('bob', 'read', 'record-1'), { ...BOT, 'content-type': 'text/plain' }, 400, 'must be JSON'],
    ];
    for (const [body, headers, status, part] of cases) {
      const reply = await post('/access/v1/evaluation', body, { ...headers, 'x-request-id': 'mine-1' });
      const text = await reply.text();
      expect([reply.status, reply.headers.get('content-type')]).toEqual([
        status,
        'text/plain; charset=utf-8',
      ]);
      expect(reply.headers.get('x-request-id')).toBe('mine-1');
      expect(text).toContain(part);
      expect(() => JSON.parse(text)).toThrow();
    }
  });
});
