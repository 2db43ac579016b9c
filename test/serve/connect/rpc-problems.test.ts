import { ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlService } from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { BadRequestSchema, ErrorInfoSchema } from '../../../gen/proto/google/rpc/error_details_pb.js';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import { toConnectError } from '../../../src/serve/wire/error-status.js';
import { RPC_PROTOCOLS, rpcTransport } from '../../support/rpc-transports.js';
import { startService, type TestService } from '../../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const failureOf = (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => ConnectError.from(error),
  );

describe.each(RPC_PROTOCOLS)('a refused call over %s', (protocol) => {
  const transport = () => rpcTransport(protocol, service.url);

  it('reports the number of problems, the first in its message and all of them in its details', async () => {
    const call = createClient(ControlService, transport()).createControl({ name: 'not a name', data: {} });
    const error = await failureOf(call);
    const violations = error.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
    const fields = violations.map(({ field }) => field).sort();
    expect(fields).toEqual(['data.action', 'data.condition', 'data.execution', 'name']);
    const [first] = violations;
    expect(error.rawMessage).toMatch(/\b4 problems\b/);
    expect(error.rawMessage).toContain(`(first: ${first?.field}: ${first?.description})`);
  });

  it('carries the hint', async () => {
    const step = { case: 'stepJson' as const, value: Buffer.from('{"type":"llm","name":"n","input":"x"}') };
    const call = createClient(EvaluationService, transport()).evaluate({
      agentName: 'unknown-agent-1',
      stage: 1,
      stepForm: step,
    });
    const [info] = (await failureOf(call)).findDetails(ErrorInfoSchema);
    expect(info).toMatchObject({
      reason: 'AGENT_NOT_FOUND',
      metadata: { name: 'unknown-agent-1', kind: 'Agent', hint: 'Register the agent with initAgent first.' },
    });
  });
});

describe('the status of an error', () => {
  const item = (field: string) =>
    ({ resource: 'Control', field, code: 'in_use', message: 'is in use' }) as const;

  it('counts its problems where the detail does not', () => {
    const items = [item('a'), item('b'), item('c')];
    const several = new ServiceError('EVALUATOR_IN_USE', { detail: 'In use.', items });
    expect(toConnectError(several).rawMessage).toBe('In use. (3 problems; first: a: is in use)');
    const one = new ServiceError('EVALUATOR_IN_USE', { detail: 'In use.', items: [item('a')] });
    expect(toConnectError(one).rawMessage).toBe('In use. (a: is in use)');
  });

  it('shortens a long hint and keeps that of a failure of the server to itself', () => {
    const hintOf = (error: ServiceError) =>
      toConnectError(error).details.map((detail) =>
        'value' in detail ? Object(detail.value).metadata?.hint : '',
      )[0];
    const hint = 'h'.repeat(10_000);
    expect(hintOf(new ServiceError('CONTROL_IN_USE', { detail: 'd', hint }))).toHaveLength(500);
    expect(hintOf(new ServiceError('SERVICE_UNAVAILABLE', { detail: 'd', hint }))).toBeUndefined();
    expect(hintOf(new ServiceError('INTERNAL_ERROR', { detail: 'd', hint }))).toBeUndefined();
  });
});
