import { ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  ControlService,
  CreateControlRequestSchema,
} from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { BadRequestSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { messageMapper } from '../../src/serve/connect/message-mapper.js';
import { exchange } from '../support/http.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { denyWord, seeder } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';

const AGENT = 'judging-bot-1';
const leaf = (path: string, name: string, config: object) => ({
  selector: { path },
  evaluator: { name, config },
});
/** A mistake of every kind that fits into a message of protobuf. */
const WRONG = {
  execution: 'server',
  condition: {
    and: [
      leaf('inptu.text', 'regex', { pattern: '(', flags: ['I'] }),
      leaf('input', 'list', { values: [' '], match_mode: 'contians' }),
      leaf('input', `${AGENT}:absent`, {}),
      leaf('input', `${AGENT}:judge`, {}),
      leaf('input', 'missing-bot-1:judge', {}),
      leaf('input', 'json', { field_types: { amount: 'numbr', currency: 'text' } }),
      { selector: { path: 'output.text' } },
      leaf('input', 'regxe', { pattern: 'x' }),
      leaf('input', 'regex', { pattern: 'x', falgs: ['I'] }),
    ],
  },
  scope: { step_types: [''], step_name_regex: '[' },
  action: { decision: 'steer' },
};
const PROBLEMS = [
  'name string_pattern_mismatch',
  'data.condition.and[0].selector.path value_error',
  'data.condition.and[0].evaluator.pattern value_error',
  'data.condition.and[1].evaluator.values[0] value_error',
  'data.condition.and[1].evaluator.match_mode literal_error',
  'data.condition.and[5].evaluator.field_types value_error',
  'data.condition.and[5].evaluator.field_types value_error',
  'data.condition.and[6] value_error',
  'data.scope.step_types value_error',
  'data.scope.step_name_regex value_error',
  'data value_error',
  'data.condition.and[2].evaluator.name evaluator_not_found',
  'data.condition.and[3].evaluator.config schema_validation_error',
  'data.condition.and[4].evaluator.name agent_not_found',
];
/** With strict mode. */
const MISTAKES = [
  'data.condition.and[3].evaluator.name unconfigured_evaluator',
  'data.condition.and[7].evaluator.name unknown_evaluator',
  'data.condition.and[8].evaluator.config.falgs unknown_member',
];

describe('a control with a mistake of every kind', () => {
  const service = suiteService();
  const { call } = service;
  beforeAll(async () => {
    const judge = { name: 'judge', config_schema: { type: 'object', required: ['limit'] } };
    await seeder(call).agent(AGENT, { evaluators: [judge] });
  });

  const overRest = async (body: object, method = 'PUT', path = '/api/v1/controls') => {
    const reply = await call(method, path, body);
    expect(reply.status).toBe(422);
    return reply.body as {
      hint: string;
      detail: string;
      errors: { field: string; code: string; message: string; value: unknown }[];
    };
  };
  const told = ({ errors }: { errors: { field: string; code: string }[] }) =>
    errors.map(({ field, code }) => `${field} ${code}`);
  const overGrpc = async (body: object) => {
    const client = createClient(ControlService, rpcTransport('gRPC', service.url));
    const message = messageMapper(CreateControlRequestSchema).fromPlain(body);
    const error = await client.createControl(message as never).then(
      () => expect.fail('the control was accepted'),
      (reason: unknown) => ConnectError.from(reason),
    );
    return error.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
  };

  it('is refused with all of them over REST, members of wrong types and missing ones included', async () => {
    const data = { ...WRONG, execution: undefined, enabled: 'maybe' };
    const reply = await overRest({ name: 'no cards', data });
    expect(told(reply)).toEqual([
      ...PROBLEMS.slice(0, 8),
      'data.enabled bool_parsing',
      'data.execution missing',
      ...PROBLEMS.slice(8),
    ]);
    expect(reply.detail).toBe(`Request validation failed: ${PROBLEMS.length + 2} problems in the request`);
  });

  it('is refused with all of them over gRPC', async () => {
    const violations = await overGrpc({ name: 'no cards', data: WRONG });
    expect(violations.map(({ field, reason }) => `${field} ${reason.toLowerCase()}`)).toEqual(PROBLEMS);
  });

  it('is refused with what strict mode refuses in addition', async () => {
    const data = { ...WRONG, excution: 'server' };
    const reply = await overRest({ name: 'no cards', data, strict: true });
    expect(told(reply)).toEqual([...PROBLEMS, 'data.excution unknown_member', ...MISTAKES]);
    expect(reply.hint).toContain('data.excution: unknown member; did you mean execution?');
    const violations = await overGrpc({ name: 'no cards', data: WRONG, strict: true });
    expect(violations.map(({ field, reason }) => `${field} ${reason.toLowerCase()}`)).toEqual([
      ...PROBLEMS,
      ...MISTAKES,
    ]);
  });

  it('is refused by every RPC that takes a definition', async () => {
    const { body } = await call('PUT', '/api/v1/controls', { name: 'stored', data: denyWord('x') });
    const reply = await overRest({ data: WRONG }, 'PUT', `/api/v1/controls/${body.control_id}/data`);
    expect(told(reply)).toEqual(PROBLEMS.slice(1));
    expect(told(await overRest({ data: WRONG }, 'POST', '/api/v1/controls/validate'))).toEqual(
      PROBLEMS.slice(1),
    );
  });

  it('has the code of its first missing reference when everything else is right', async () => {
    const and = [leaf('input', `${AGENT}:absent`, {}), leaf('input', 'missing-bot-1:judge', {})];
    const data = { ...denyWord('x'), condition: { and } };
    const missing = await call('PUT', '/api/v1/controls', { name: 'references', data, strict: true });
    expect([missing.status, missing.body.error_code]).toEqual([422, 'EVALUATOR_NOT_FOUND']);
    expect(told(missing.body)).toEqual([
      'data.condition.and[0].evaluator.name evaluator_not_found',
      'data.condition.and[1].evaluator.name agent_not_found',
    ]);
    const both = { ...denyWord('x'), condition: { and: [and[0], leaf('input', 'regxe', {})] } };
    const strict = await call('PUT', '/api/v1/controls', { name: 'references', data: both, strict: true });
    expect(told(strict.body)).toEqual([
      'data.condition.and[0].evaluator.name evaluator_not_found',
      'data.condition.and[1].evaluator.name unknown_evaluator',
    ]);
  });

  it('is told the words, numbers and names that it was written with, and nothing longer or secret', async () => {
    const reply = await overRest({ name: 'no cards', data: { ...WRONG, enabled: 'maybe' } });
    const messages = new Map(reply.errors.map(({ field, message }) => [field, message]));
    expect(messages.get('name')).toMatch(/^must match .*; not "no cards"$/);
    expect(messages.get('data.enabled')).toBe('must be true or false; not "maybe"');
    expect(messages.get('data.condition.and[0].selector.path')).toContain('; not "inptu.text"');
    expect(messages.get('data.condition.and[1].evaluator.match_mode')).toContain('ends_with; not "contians"');
    // Deployed clients know the value as redacted.
    expect(reply.errors.find(({ field }) => field === 'name')?.value).toBe('[REDACTED]');
    const violations = await overGrpc({ name: 'no cards', data: WRONG });
    expect(violations[0]?.description).toBe(messages.get('name'));
    const long = await overRest({ name: '!'.repeat(200), data: denyWord('x') });
    expect(long.errors[0]?.message.length).toBeLessThan(150);
    const key = await overRest({ name: 'ghp_0123456789abcdefghij !', data: denyWord('x') });
    expect(JSON.stringify(key)).not.toContain('0123456789');
  });

  it.each(['api_token', 'level'])(
    'does not quote the value of the template parameter %s if it is secret',
    async (name) => {
      const parameters = { [name]: { type: 'string', label: 'X' } };
      const definition_template = { ...denyWord('x'), execution: { $param: name } };
      const data = { template: { parameters, definition_template }, template_values: { [name]: 'hunter2' } };
      const reply = await overRest({ name: 'templated', data });
      expect(reply.errors[0]?.field).toBe(`template_values.${name}`);
      expect(reply.errors[0]?.message.includes('hunter2')).toBe(name === 'level');
    },
  );

  it('names members that are not read over Connect, too', async () => {
    const reply = await exchange(service.url, {
      method: 'POST',
      path: '/enforcement.v1.ControlService/CreateControl',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ nmae: 'x' }),
    });
    const details = reply.json.details as { type: string; value: string }[];
    const info = details.find(({ type }) => type.endsWith('ErrorInfo'));
    expect(Buffer.from(info?.value ?? '', 'base64').toString()).toContain(
      'Members that are not read: nmae: unknown member; did you mean name?',
    );
  });
});
