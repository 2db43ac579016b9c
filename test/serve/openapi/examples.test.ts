import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../../scripts/compose-schema.mjs';
import { openApiDocument } from '../../../scripts/openapi/document.js';
import { PARAMETER_EXAMPLES } from '../../../scripts/openapi/examples.js';
import { TOKEN_SETTINGS } from '../../e2e/every-rpc.support.js';
import { describeOnSqlite } from '../../support/databases.js';
import {
  bodyChecker,
  type OpenApiDocument,
  operationsOf,
  type PlacedOperation,
  readOpenApi,
  replyChecker,
} from '../../support/openapi-document.js';
import { suiteService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';
import type { Json } from '../../support/wire-shape.js';
import {
  bodyExamples,
  exampleRequest,
  inOrder,
  preparations,
  replyExample,
  steady,
} from './examples.support.js';

/** Its reply is a JSON Schema: tools would resolve the references in it as ones of the document. */
const WITHOUT_REPLY = ['getControlSchema'];
/** The control that the examples of MemoryService name: one with memory, made after those of other examples. */
const MEMORY_CONTROL = 4;
/** Reads that need what the examples of bodies do not make; the first of them makes it. */
const FIRST_READS = [
  'listLimits',
  'getMemoryKey',
  'listApprovals',
  'getApproval',
  'awaitApproval',
  'getAccessRequest',
];
/** Reads of samples: a step is asked before the first of them, and kept. */
const SAMPLE_READS = ['listSamplingRules', 'listSamples', 'getSample', 'replaySamples'];
const FILE = path.join(PACKAGE_ROOT, 'gen', 'openapi', 'reply-examples.json');

describeOnSqlite('the examples of the OpenAPI document', (freshDatabaseUrl) => {
  let document: OpenApiDocument;
  let operations: PlacedOperation[];
  const variables = async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_API_KEY_ENABLED: 'true',
    // The key of the example of the login.
    SERVICE_API_KEYS: 'a-key-of-the-service',
    SERVICE_OPERATOR_API_KEYS: 'an-operator-key',
    ...TOKEN_SETTINGS,
  });
  // The document is built from what this test writes.
  const service = suiteService(variables, { describe: openApiDocument });
  const { call } = service;
  beforeAll(async () => {
    document = await readOpenApi(service.url);
    operations = operationsOf(document);
  });

  it('are of every operation: parameters that are required, bodies and replies', () => {
    const missing = operations.flatMap((operation) => {
      const parameters = (operation.parameters ?? [])
        .filter((parameter) => parameter.required && !('example' in parameter))
        .map(({ name }) => name);
      const hasBody = (bodyExamples(document, operation)?.length ?? 1) === 1;
      const reply = replyExample(operation);
      const hasReply =
        reply === undefined || 'example' in reply !== WITHOUT_REPLY.includes(operation.operationId);
      return [...parameters, ...(hasBody ? [] : ['body']), ...(hasReply ? [] : ['reply'])].map(
        (what) => `${operation.operationId}: ${what}`,
      );
    });
    expect(missing).toEqual([]);
  });

  it('name operations and parameters that exist', () => {
    const parameters = operations.flatMap(({ parameters = [], operationId }) =>
      parameters.map((parameter) => ({ ...parameter, operationId })),
    );
    const unknown = Object.entries(PARAMETER_EXAMPLES.others).flatMap(([id, examples]) =>
      Object.keys(examples)
        .filter((name) => !parameters.some((one) => one.operationId === id && one.name === name))
        .map((name) => `${id}: ${name}`),
    );
    expect(unknown).toEqual([]);
    const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
    expect([...new Set(inPath)].sort()).toEqual([...PARAMETER_EXAMPLES.path].sort());
  });

  it('are accepted one after the other, with the replies of the document', async () => {
    const bodyProblemsOf = bodyChecker(document);
    const problemsOf = replyChecker(document);
    const replies: Record<string, Json> = {};
    let sampleId: string | undefined;
    const play = (operation: PlacedOperation) => {
      const { path: example, headers, body } = exampleRequest(document, operation);
      const target = operation.operationId === 'getSample' ? `/api/v1/samples/${sampleId}` : example;
      return call(operation.method, target, body, { 'x-api-key': 'an-operator-key', ...headers });
    };
    /** Makes the control that the examples of MemoryService name, and counts a step. */
    const countStep = async () => {
      const headers = { 'x-api-key': 'an-operator-key' };
      const config = { limit: 2, period: '24h', key: ['agent'] };
      const data = {
        execution: 'server',
        condition: { selector: { path: '*' }, evaluator: { name: 'rate', config } },
        action: { decision: 'observe' },
      };
      const made = await call('PUT', '/api/v1/controls', { name: 'mails-a-day', data }, headers);
      expect(made.body).toMatchObject({ control_id: MEMORY_CONTROL });
      const link = `/api/v1/agents/billing-bot-01/controls/${MEMORY_CONTROL}`;
      expect(await call('POST', link, undefined, headers)).toMatchObject({ status: 200 });
      const step = { type: 'llm', name: 'answer', input: 'hello' };
      const asked = { agent_name: 'billing-bot-01', stage: 'pre', step };
      const counted = await call('POST', '/api/v1/evaluation', { ...asked, accepts: ['deny'] }, headers);
      expect(counted.body).toMatchObject({ is_safe: true, limits: [{ remaining: 1 }] });
    };
    /** Makes a control that asks, and two approvals of the agent. */
    const askTwice = async () => {
      const headers = { 'x-api-key': 'an-operator-key' };
      const data = {
        execution: 'server',
        scope: { stages: ['pre'], step_names: ['pay'] },
        condition: { selector: { path: 'name' }, evaluator: { name: 'regex', config: { pattern: 'pay' } } },
        action: { decision: 'deny', approval: { approvers: ['role:operator'], separate: false } },
      };
      const made = await call('PUT', '/api/v1/controls', { name: 'payments', data }, headers);
      const link = `/api/v1/agents/billing-bot-01/controls/${made.body.control_id}`;
      expect(await call('POST', link, undefined, headers)).toMatchObject({ status: 200 });
      for (const [index, amount] of [5, 6].entries()) {
        const step = { type: 'tool', name: 'pay', input: { amount } };
        const asked = { agent_name: 'billing-bot-01', stage: 'pre', step, accepts: ['ask'] };
        const { body } = await call('POST', '/api/v1/evaluation', asked, headers);
        expect(body).toMatchObject({ outcome: 'ask', approval: { id: index + 1 } });
      }
    };
    /** Asks a step that the rule of the examples keeps; the id of its decision is random. */
    const keepSample = async () => {
      const headers = { 'x-api-key': 'an-operator-key' };
      const step = { type: 'tool', name: 'send_email', input: { customer: 'C-77', text: 'ACC-123456' } };
      const asked = { agent_name: 'billing-bot-01', stage: 'pre', step };
      expect(await call('POST', '/api/v1/evaluation', asked, headers)).toMatchObject({ status: 200 });
      const latest = await until(
        async () => (await call('GET', '/api/v1/samples?limit=1', undefined, headers)).body.samples[0],
        (sample) => sample?.step_name === 'send_email',
      );
      return String(latest.decision_id);
    };
    /** Only a session can be switched to another namespace. */
    const playInSession = async (operation: PlacedOperation) => {
      const { path: target, body } = exampleRequest(document, operation);
      const login = await call('POST', '/api/login', { api_key: 'an-operator-key' });
      const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
      return call(operation.method, target, body, { cookie });
    };
    // The first probe of the storage may take its time on a busy machine.
    await until(
      async () => (await call('GET', '/health')).body.storage,
      (storage) => storage === 'OK',
    );
    let keepsMemory = false;
    let asks = false;
    for (const operation of inOrder(operations)) {
      const { operationId: id } = operation;
      if (!keepsMemory && FIRST_READS.includes(id)) {
        keepsMemory = true;
        await countStep();
      }
      if (keepsMemory && !asks) {
        asks = true;
        await askTwice();
      }
      if (SAMPLE_READS.includes(id)) sampleId ??= await keepSample();
      const { body } = exampleRequest(document, operation);
      if (body !== undefined) expect(bodyProblemsOf(operation, body), id).toEqual([]);
      let reply = await (id === 'switchNamespace' ? playInSession(operation) : play(operation));
      if (reply.status === 404) {
        for (const preparation of preparations(operations)) await play(preparation);
        reply = await play(operation);
      }
      const [success] = Object.keys(operation.responses);
      expect({ id, status: String(reply.status), body: reply.body }).toMatchObject({ id, status: success });
      expect(reply.headers.get('x-service-warning'), id).toBeNull();
      if (replyExample(operation) === undefined) continue;
      // The example of a stream is its first line.
      const content =
        typeof reply.body === 'string' ? JSON.parse(reply.body.split('\n', 1)[0] ?? '') : reply.body;
      expect(problemsOf(operation, reply.status, content), id).toEqual([]);
      if (!WITHOUT_REPLY.includes(id)) replies[id] = steady(content);
    }
    await expect(
      `${JSON.stringify(replies, null, 2)}\n`,
      'run "npm run generate:openapi"',
    ).toMatchFileSnapshot(FILE);
  });
});
