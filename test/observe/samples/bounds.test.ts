import { expect, it } from 'vitest';
import { findSensitive } from '../../../packages/detectors/src/index.js';
import { DEFAULT_NAMESPACE } from '../../../src/contract/call/namespace.js';
import { createSealing } from '../../../src/contract/secrets/sealing.js';
import type { EvaluationCaller } from '../../../src/decide/decisions/evaluation-caller.js';
import type { RevisedVerdict } from '../../../src/decide/decisions/revised-verdict.js';
import { createSampleCapture } from '../../../src/observe/samples/capture.js';
import type { SamplingRule } from '../../../src/observe/samples/sampling-rule.js';

const RULE: SamplingRule = {
  id: 7,
  namespace: 'default',
  agentName: null,
  controlId: null,
  share: 1,
  maskedPaths: ['input.file'],
  maskedPatterns: [],
  maxBytes: 1_000,
  retentionHours: 1,
  endsAtMs: null,
  createdAtMs: 1,
  createdBy: 'admin',
  droppedSamples: 0,
};
const MILLION = 'x'.repeat(1_000_000);

function parts() {
  const kept: string[] = [];
  const lost: string[] = [];
  const dropped = new Map<number, number>();
  const capture = createSampleCapture({
    rules: { isEmpty: false, needsControls: false, of: () => [RULE], has: () => true },
    sealing: createSealing(null),
    findSensitive,
    insert: async (rows) => {
      kept.push(...rows.map(({ decisionId }) => decisionId));
      return rows.length;
    },
    addDropped: async (counts) => {
      for (const [id, count] of counts) dropped.set(id, (dropped.get(id) ?? 0) + count);
    },
    meter: { stored() {}, lost: (reason) => void lost.push(reason), counted() {} },
    failures: { told() {}, failed() {} },
    now: () => 1,
  });
  let decisions = 0;
  /** Chooses steps with these files at once. */
  const choose = (...files: readonly string[]) => {
    for (const file of files) {
      const step = { type: 'tool', name: 'send', input: { file }, output: null, context: null };
      const request = { agentName: 'bounded-bot-01', step, stage: 'pre' as const, options: null };
      const verdict = { decision_id: String(decisions), outcome: 'allow' } as RevisedVerdict;
      const caller = { namespace: DEFAULT_NAMESPACE } as EvaluationCaller;
      const agent = DEFAULT_NAMESPACE.agentKey(request.agentName);
      const told = { request, verdict, caller, agent, loaded: null, differs: false, isAnswered: true };
      capture.observer.told(told);
      decisions += 1;
    }
  };
  return { capture, choose, kept, lost, dropped };
}

it('chosen steps wait up to a length, and later ones when those are written', async () => {
  const { capture, choose, kept, lost, dropped } = parts();
  choose(...Array(9).fill(MILLION), 'short');
  await capture.settled();
  // Without what the rule masks, all of them are small.
  expect(kept).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '9']);
  choose(...Array(8).fill(MILLION));
  await capture.settled();
  expect([kept.length, lost, [...dropped]]).toEqual([17, ['queue_full'], [[7, 1]]]);
});

it('chosen steps wait up to a number', async () => {
  const { capture, choose, kept, lost, dropped } = parts();
  choose(...Array(620).fill('short'));
  await capture.settled();
  expect([kept.length, lost.length, [...dropped]]).toEqual([500, 120, [[7, 120]]]);
});
