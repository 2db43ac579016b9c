import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { createRouterTransport } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { ApprovalService } from '../../gen/proto/enforcement/v1/approval_service_pb.js';
import {
  type ControlDefinition,
  ControlDefinitionSchema,
  Decision,
  Execution,
} from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateResponseSchema,
  EvaluationService,
  Outcome,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { localDefinition } from '../../packages/client/src/local/definition.js';
import { createClient, type LocalControls } from '../../packages/client/src/node.js';
import { until } from '../support/until.js';
import { PATIENT_MS } from './client-harness.js';
import { matchOf } from './verdicts.js';

const STEP = { name: 'send', input: { text: 'card 4111' } };

/** A client with a service that gives this verdict, and local controls that deny the steps with this text. */
function scene(verdict: MessageInitShape<typeof EvaluateResponseSchema>, denied: string) {
  const cancelled: number[] = [];
  const seen: string[] = [];
  const transport = createRouterTransport((router) => {
    router.service(EvaluationService, {
      evaluateBatch: () => ({ results: [{ outcome: { case: 'verdict', value: verdict } }] }),
    });
    router.service(ApprovalService, {
      cancelApproval({ approvalId }) {
        cancelled.push(approvalId);
        return {};
      },
    });
  });
  const local: LocalControls = {
    open: () => ({
      async decide({ stepJson }) {
        const text = Buffer.from(stepJson).toString();
        seen.push(text);
        const isSafe = !text.includes(denied);
        return create(EvaluateResponseSchema, {
          isSafe,
          outcome: isSafe ? Outcome.ALLOW : Outcome.DENY,
          matches: isSafe ? [] : [matchOf(8)],
        });
      },
      close() {},
    }),
  };
  const client = createClient({ transport, agent: 'billing-bot-01', local, timeoutMs: PATIENT_MS });
  const evaluate = () =>
    client.evaluate({ stage: 'pre', step: STEP }, { accepts: ['steer', 'ask', 'modify'] });
  return { client, cancelled, seen, evaluate };
}

describe('local controls beside controls of the service that ask or change', () => {
  const asks = { outcome: Outcome.ASK, matches: [matchOf(7)], approval: { id: 17 } };
  const changed = '{"type":"tool","name":"send","input":{"text":"[redacted]"}}';
  const changes = {
    outcome: Outcome.MODIFY,
    matches: [matchOf(7)],
    modification: {
      patch: [{ op: 'replace', path: '/input/text' }],
      stepJson: changed,
      controlIds: [7],
    },
  };

  it('end the approval of a step that they deny', async () => {
    const { evaluate, cancelled } = scene(asks, 'card');
    expect(await evaluate()).toMatchObject({ isSafe: false, outcome: 'deny' });
    await until(
      () => cancelled.length,
      (count) => count > 0,
    );
    expect(cancelled).toEqual([17]);
    const safe = scene(asks, 'nothing');
    expect(await safe.evaluate()).toMatchObject({ outcome: 'ask', approval: { id: 17 } });
    expect(safe.cancelled).toEqual([]);
  });

  it('look at the changed step, too', async () => {
    const safe = scene(changes, 'nothing');
    expect(await safe.evaluate()).toMatchObject({ outcome: 'modify' });
    expect(safe.seen).toEqual([JSON.stringify({ type: 'tool', ...STEP }), changed]);
    const denied = scene(changes, '[redacted]');
    expect(await denied.evaluate()).toMatchObject({ outcome: 'deny', modification: undefined });
  });

  it('deny what they match with such an action themselves, which only the service can lift', () => {
    const definition: ControlDefinition = create(ControlDefinitionSchema, {
      execution: Execution.SDK,
      condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'x' } } },
      action: {
        decision: Decision.DENY,
        approval: { approvers: ['role:approver'] },
        modify: [{ path: 'input.text', remove: true }],
      },
    });
    expect(localDefinition(definition)).toMatchObject({ action: { decision: 'deny' } });
  });
});
