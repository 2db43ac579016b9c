import { describe, expect, it } from 'vitest';
import type { ApprovalAnswer, ApprovalNotice } from '../../../src/decide/decisions/approval-gate.js';
import { OUTCOME_WORDS } from '../../../src/decide/decisions/evaluation-options.js';
import {
  type LiftableStep,
  type LiftedVerdict,
  liftStep,
} from '../../../src/decide/decisions/lifted-step.js';
import type { LiftableControl, Lifts } from '../../../src/kernel/core/lift.js';
import type { ProgramLifts, Step, Verdict } from '../../../src/kernel/core/types.js';

const STEP: Step = {
  type: 'tool',
  name: 'pay',
  input: { amount: 5, note: 'secret' },
  output: null,
  context: null,
};
const CLEANED: Step = { ...STEP, input: { amount: 5, note: '[x]' } };
const SAFE: Verdict = {
  is_safe: true,
  confidence: 1,
  reason: null,
  matches: [],
  errors: [],
  non_matches: [],
  selected_controls: 1,
  evaluated_controls: 1,
  skipped_controls: 0,
};
const UNSAFE: Verdict = {
  ...SAFE,
  is_safe: false,
  reason: 'deny control "x" matched',
  matches: [
    {
      control_execution_id: 'e',
      control_id: 1,
      control_name: 'control 1',
      action: 'deny',
      result: { matched: true, confidence: 1, message: null, metadata: null, error: null },
      steering_context: null,
    },
  ],
};

function control(id: number): LiftableControl {
  return { id, name: `control ${id}`, definitionHash: 'hash', approval: null };
}

const ASKING: Lifts = { asking: [control(1)], changing: [] };
const CHANGING: Lifts = { asking: [], changing: [control(2)] };
const NOTICE: ApprovalNotice = {
  id: 7,
  state: 'approved',
  expiresAtMs: 1,
  stepSha256: 'ab',
  controls: [{ id: 1, name: 'control 1' }],
};
const WAITS: ApprovalAnswer = {
  kind: 'waits',
  notice: { ...NOTICE, state: 'pending' },
  reason: 'approval 7',
};

/** A scene in which evaluations and approvals answer as told, and what happened. */
function scene(
  told: {
    readonly lifts?: Partial<ProgramLifts>;
    readonly tried?: (step: Step) => Verdict;
    readonly foreseen?: Verdict;
    readonly counted?: Verdict;
    readonly answer?: ApprovalAnswer;
    readonly accepts?: LiftableStep['accepts'];
    readonly stage?: 'pre' | 'post';
  } = {},
) {
  const happened: string[] = [];
  const of: LiftableStep = {
    program: {
      lifts: {
        of: () => null,
        change: () => ({ step: CLEANED, patch: [{ op: 'replace', path: '/input/note', value: '[x]' }] }),
        ...told.lifts,
      },
    },
    step: STEP,
    stage: told.stage ?? 'pre',
    agent: null,
    signal: new AbortController().signal,
    accepts: told.accepts === undefined ? OUTCOME_WORDS : told.accepts,
    tried(step) {
      happened.push('tried');
      return told.tried?.(step) ?? SAFE;
    },
    foreseen(_step, _lifted, known) {
      happened.push('foreseen');
      return told.foreseen ?? known;
    },
    counted(_step, _lifted, known) {
      happened.push('counted');
      return told.counted ?? known;
    },
    async refused() {
      happened.push('refused');
    },
    async ask() {
      happened.push('asked');
      return told.answer ?? WAITS;
    },
  };
  const lifted = (lifts: Lifts): Promise<LiftedVerdict> => liftStep(of, UNSAFE, lifts);
  return { lifted, happened, of };
}

const approved = (
  used: Exclude<ApprovalAnswer, { kind: 'approved' }> | ApprovalNotice,
  narrowed: Step | null = null,
  happened: string[] = [],
) =>
  ({
    kind: 'approved',
    notice: NOTICE,
    narrowed,
    async use() {
      happened.push('used');
      if ('kind' in used) return used;
      return { notice: used, giveBack: async () => void happened.push('given back') };
    },
  }) satisfies ApprovalAnswer;

describe('a step that a control asks about', () => {
  it('waits, and counts as nothing', async () => {
    const { lifted, happened } = scene();
    const { outcome, verdict, approval } = await lifted(ASKING);
    expect({ outcome, safe: verdict.is_safe, reason: verdict.reason, approval }).toEqual({
      outcome: 'ask',
      safe: false,
      reason: 'approval 7',
      approval: WAITS.notice,
    });
    expect(happened).toEqual(['asked']);
  });

  it('is denied for a caller that does not accept to be asked, with the same approval', async () => {
    const { lifted } = scene({ accepts: ['allow', 'deny', 'steer'] });
    expect(await lifted(ASKING)).toMatchObject({ outcome: 'deny', approval: WAITS.notice });
  });

  it('passes once it is approved, and is counted once its approval is used', async () => {
    const done: string[] = [];
    const { lifted, happened } = scene({ answer: approved({ ...NOTICE, state: 'used' }, null, done) });
    const { outcome, verdict, approval } = await lifted(ASKING);
    expect({ outcome, safe: verdict.is_safe, reason: verdict.reason }).toEqual({
      outcome: 'allow',
      safe: true,
      reason: null,
    });
    expect(approval?.state).toBe('used');
    expect([happened, done]).toEqual([['asked', 'foreseen', 'counted'], ['used']]);
  });

  it('waits again if another evaluation was faster, and counts as nothing', async () => {
    const { lifted, happened } = scene({ answer: approved(WAITS) });
    expect(await lifted(ASKING)).toMatchObject({ outcome: 'ask', verdict: { is_safe: false } });
    expect(happened).toEqual(['asked', 'foreseen']);
  });

  it('is denied if what is kept of earlier steps denies it, and its approval is not used', async () => {
    const done: string[] = [];
    const foreseen = { ...UNSAFE, reason: 'limit reached' };
    const { lifted, happened } = scene({ answer: approved(NOTICE, null, done), foreseen });
    expect(await lifted(ASKING)).toMatchObject({ outcome: 'deny', verdict: { reason: 'limit reached' } });
    expect([happened, done]).toEqual([['asked', 'foreseen', 'refused'], []]);
  });

  it('gives its approval back if the limit is reached at the last moment', async () => {
    const done: string[] = [];
    const counted = { ...UNSAFE, reason: 'limit reached' };
    const { lifted } = scene({ answer: approved(NOTICE, null, done), counted });
    expect(await lifted(ASKING)).toMatchObject({ outcome: 'deny', verdict: { reason: 'limit reached' } });
    expect(done).toEqual(['used', 'given back']);
  });

  it('is denied when it was denied', async () => {
    const { lifted, happened } = scene({
      answer: { kind: 'refused', notice: NOTICE, reason: 'denied by Ann' },
    });
    expect(await lifted(ASKING)).toMatchObject({ outcome: 'deny', verdict: { reason: 'denied by Ann' } });
    expect(happened).toEqual(['asked', 'refused']);
  });

  it('is denied after it has run', async () => {
    const { lifted, happened } = scene({ stage: 'post' });
    expect((await lifted(ASKING)).outcome).toBe('deny');
    expect(happened).toEqual(['refused']);
  });

  it('runs as its approver has changed it, if the caller accepts that', async () => {
    const narrowed = { ...STEP, input: { amount: 1, note: 'secret' } };
    const answer = approved({ ...NOTICE, state: 'used' }, narrowed);
    const { outcome, modification } = await scene({ answer }).lifted(ASKING);
    expect({ outcome, modification }).toEqual({
      outcome: 'modify',
      modification: {
        step: narrowed,
        patch: [{ op: 'replace', path: '/input', value: narrowed.input }],
        controlIds: [],
      },
    });
    const refused = scene({ answer, accepts: ['ask'] });
    expect((await refused.lifted(ASKING)).outcome).toBe('deny');
    const denied = scene({ answer, tried: () => ({ ...UNSAFE, reason: 'too small' }) });
    expect(await denied.lifted(ASKING)).toMatchObject({ outcome: 'deny', verdict: { reason: 'too small' } });
  });

  it('would be asked about in a trial', async () => {
    const { of } = scene();
    const trial = { ...of, ask: null };
    expect(await liftStep(trial, UNSAFE, ASKING)).toMatchObject({ outcome: 'ask', approval: null });
  });
});

describe('a step that controls change', () => {
  it('runs changed, once no control denies the changed step', async () => {
    const { lifted, happened } = scene();
    expect(await lifted(CHANGING)).toMatchObject({
      outcome: 'modify',
      verdict: { is_safe: false },
      modification: { step: CLEANED, controlIds: [2] },
    });
    expect(happened).toEqual(['tried', 'counted']);
  });

  it('is denied if the changed step is denied, or changed again', async () => {
    const still = scene({ tried: () => UNSAFE });
    expect((await still.lifted(CHANGING)).outcome).toBe('deny');
    const again = scene({ tried: () => UNSAFE, lifts: { of: () => CHANGING } });
    expect((await again.lifted(CHANGING)).outcome).toBe('deny');
  });

  it('is denied if it cannot be changed', async () => {
    const { lifted } = scene({ lifts: { change: () => ({ problem: 'the match has no place' }) } });
    const { outcome, verdict } = await lifted(CHANGING);
    expect(outcome).toBe('deny');
    expect(verdict.reason).toContain('the match has no place');
  });

  it('is denied for a caller that does not accept changes, without being asked about', async () => {
    const { lifted, happened } = scene({ accepts: ['ask'] });
    const { outcome, verdict } = await lifted({ asking: ASKING.asking, changing: CHANGING.changing });
    expect(outcome).toBe('deny');
    expect(verdict.reason).toContain('accepts does not include modify');
    expect(happened).toEqual(['refused']);
  });

  it('is asked about as changed', async () => {
    const asked: Step[] = [];
    const { of } = scene({ tried: () => UNSAFE, lifts: { of: () => ASKING } });
    const one: LiftableStep = {
      ...of,
      async ask(step) {
        asked.push(step);
        return WAITS;
      },
    };
    expect((await liftStep(one, UNSAFE, { ...ASKING, ...CHANGING, asking: [] })).outcome).toBe('ask');
    expect(asked).toEqual([CLEANED]);
  });
});
