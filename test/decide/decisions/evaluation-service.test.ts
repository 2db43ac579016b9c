import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ANONYMOUS } from '../../../src/contract/call/handler.js';
import type { EvaluateRequest } from '../../../src/decide/decisions/evaluate-request.js';
import type { LimitedCaller } from '../../../src/decide/decisions/evaluation-caller.js';
import type { EvaluationOptions } from '../../../src/decide/decisions/evaluation-options.js';
import { createEvaluationService } from '../../../src/decide/decisions/evaluation-service.js';
import { LoadedProgram } from '../../../src/decide/decisions/loaded-program.js';
import { labelOf, type RevisedVerdict } from '../../../src/decide/decisions/revised-verdict.js';
import { aDefinition, aLeaf, aProgram, aStep, fakeEvaluator } from '../../kernel/core/support.js';

const PROGRESS = { revision: 7, currentAtMs: 0 };
const NO_OPTIONS: EvaluationOptions = {
  sessionId: undefined,
  stepId: undefined,
  traceparent: undefined,
  timeoutMs: undefined,
  accepts: undefined,
  stepError: undefined,
};

/** A service whose only agent has an observe control that matches and a deny control with a model that hangs. */
function scene() {
  const recorded: RevisedVerdict[] = [];
  const labels: string[] = [];
  let signal: AbortSignal | undefined;
  const model = fakeEvaluator(
    'model',
    (_config, _data, call) => {
      signal = call.signal;
      return new Promise(() => {});
    },
    { external: true },
  );
  const definitions = [
    aDefinition(aLeaf('regex', { pattern: 'hello' }), 'observe'),
    aDefinition(aLeaf('model')),
  ];
  const loaded = new LoadedProgram(aProgram(definitions, [model]), {
    readRevision: 7,
    readAtMs: 0,
    isKept: false,
  });
  const service = createEvaluationService({
    programs: { programOf: () => loaded, progress: PROGRESS },
    now: () => 0,
    newDecisionId: () => 'decision',
    observers: [
      { told: ({ verdict }) => void recorded.push(verdict) },
      {
        told({ verdict, differs, isAnswered }) {
          if (isAnswered) labels.push(labelOf(verdict, differs));
        },
      },
    ],
  });
  return { service, recorded, labels, modelSignal: () => signal };
}

function request(options: Partial<EvaluationOptions> | null): EvaluateRequest {
  return {
    agentName: 'waiting-agent-1',
    stage: 'pre',
    step: aStep(),
    minRevision: 0,
    target: null,
    options: options && { ...NO_OPTIONS, ...options },
  };
}

function caller(signal: AbortSignal = new AbortController().signal): LimitedCaller {
  return {
    ...ANONYMOUS,
    principal: ANONYMOUS,
    address: null,
    requestId: 'test',
    protocol: 'grpc',
    header: () => undefined,
    signal,
    spend: () => {},
  };
}

describe('an evaluation that waits for an external evaluator', () => {
  it('fails at its timeout, stops the evaluator, and records what has matched', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { service, recorded, labels, modelSignal } = scene();
    const verdict = service.evaluate(request({ timeoutMs: 50 }), 'verdict', caller());
    const failed = expect(verdict).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    await vi.advanceTimersByTimeAsync(49);
    expect(modelSignal()?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await failed;
    expect(modelSignal()?.aborted).toBe(true);
    expect(recorded).toMatchObject([{ matches: [{ control_id: 1 }], errors: [] }]);
    expect(labels).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['without a timeout', null],
    ['with a timeout', { timeoutMs: 60_000 }],
  ])('ends with its caller, %s', async (_what, options) => {
    const { service, recorded, labels, modelSignal } = scene();
    const gone = new AbortController();
    const verdict = service.evaluate(request(options), 'verdict', caller(gone.signal));
    const failed = expect(verdict).rejects.toThrow('gone');
    gone.abort(new Error('gone'));
    await failed;
    expect(modelSignal()?.aborted).toBe(true);
    expect(recorded).toHaveLength(1);
    expect(labels).toEqual([]);
  });
});

describe('an evaluation that waits for nothing', () => {
  it('is answered at once and starts no timer', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const loaded = new LoadedProgram(aProgram([]), { readRevision: 1, readAtMs: 0, isKept: false });
    const service = createEvaluationService({
      programs: { programOf: () => loaded, progress: PROGRESS },
      now: () => 0,
      newDecisionId: () => 'decision',
      observers: [],
    });
    expect(service.evaluate(request({ timeoutMs: 1 }), 'verdict', caller())).toMatchObject({
      is_safe: true,
      outcome: 'allow',
      decision_id: 'decision',
      revision: 7,
    });
    expect(vi.getTimerCount()).toBe(0);
  });
});
