import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { Decision } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  DeniedError,
  type Evaluation,
  type EvaluationOptions,
  type EvaluationRequest,
  NotEvaluatedError,
  SteerError,
  StepDataError,
} from '../../packages/client/src/node.js';
import { createSession } from '../../packages/client/src/session.js';
import { until } from '../support/until.js';
import { ALLOWED, denied, limited, matchOf } from './verdicts.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const AWAY: Evaluation = {
  evaluated: false,
  isSafe: false,
  reason: 'away',
  error: new ConnectError('away', Code.Unavailable),
};

type Asked = EvaluationRequest & { readonly options: EvaluationOptions };

/** A session whose evaluations are answered by a function. */
function scene(answer: (asked: Asked) => Evaluation | Promise<Evaluation> = () => ALLOWED) {
  const asked: Asked[] = [];
  const evaluate = async (request: EvaluationRequest, options: EvaluationOptions = {}) => {
    options.signal?.throwIfAborted();
    const one = { ...request, options };
    asked.push(one);
    return answer(one);
  };
  const session = createSession(evaluate, 'billing-bot-01', {});
  /** The stage, output and error of each evaluation. */
  const told = () =>
    asked.map(({ stage, step, options }) => [stage, step.output, options.stepError] as const);
  return { asked, session, told };
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => error,
  );
const boom = new Error('boom');
const broken = (thrown: unknown) => () => {
  throw thrown;
};
const PRE = ['pre', undefined, undefined];

describe('a session', () => {
  it('gives its calls its id, and each call a step id of its own, the same before and after it runs', async () => {
    const { asked, session } = scene();
    const tool = session.guard((_input: object) => 'done', { step: 'work' });
    await tool({ n: 1 });
    await tool({ n: 2 });
    expect(session.id).toMatch(UUID);
    expect(asked.map(({ agent, options }) => [agent, options.sessionId])).toEqual(
      Array(4).fill(['billing-bot-01', session.id]),
    );
    const ids = asked.map(({ options }) => options.stepId);
    expect(ids).toEqual([ids[0], ids[0], ids[2], ids[2]]);
    expect(new Set(ids).size).toBe(2);
    expect(scene().session.id).not.toBe(session.id);
  });

  it('has the id that it is given, which no tool changes, and takes step ids of callers', async () => {
    const { asked } = scene();
    const session = createSession(
      async (request, options = {}) => {
        asked.push({ ...request, options });
        return ALLOWED;
      },
      undefined,
      { sessionId: 'conversation-17', waitForLimits: { maxWaitMs: 5 } },
    );
    const tool = session.guard((_one: { id: string }) => 1, { step: 'work', stepId: ({ id }) => id });
    await tool({ id: 'call-1' });
    await session.evaluate({ stage: 'pre', step: { name: 'x', input: {} } }, { stepId: 'own' });
    expect(asked.map(({ options }) => [options.sessionId, options.stepId])).toEqual([
      ['conversation-17', 'call-1'],
      ['conversation-17', 'call-1'],
      ['conversation-17', 'own'],
    ]);
    // After a step has run, waiting does not help.
    expect(asked.map(({ options }) => options.waitForLimits)).toEqual([
      { maxWaitMs: 5 },
      undefined,
      { maxWaitMs: 5 },
    ]);
    const misled = { step: 'work', sessionId: 'other' } as unknown as { step: string };
    expect(() => session.guard(() => 1, misled)).toThrow('the option "sessionId" does not exist');
    for (const sessionId of ['', 'x'.repeat(256)]) {
      expect(() => createSession(async () => ALLOWED, undefined, { sessionId })).toThrow(RangeError);
    }
  });

  it('sends the end of a step with its output, also if only inputs are checked, then without it', async () => {
    const { session, told } = scene();
    await session.guard(() => ({ tokens: 7 }), { step: 'work' })();
    await session.guard(() => ({ tokens: 7 }), { step: 'work', stages: ['pre'] })();
    expect(told()).toEqual([PRE, ['post', { tokens: 7 }, undefined], PRE, ['post', undefined, undefined]]);
  });

  it('sends what the option output says of the result, if only inputs are checked', async () => {
    const { session, told } = scene();
    const output = ({ tokens }: { tokens: number }) => ({ cost: tokens / 2 });
    await session.guard(() => ({ tokens: 7 }), { step: 'work', stages: ['pre'], output })();
    expect(told()).toEqual([PRE, ['post', { cost: 3.5 }, undefined]]);
    const failing = session.guard(() => 'done', { step: 'work', stages: ['pre'], output: broken(boom) });
    expect(await failureOf(failing())).toBe(boom);
    expect(told().at(-1)).toEqual(['post', undefined, undefined]);
  });

  it('does not let the verdict about an end that is not checked have an effect', async () => {
    for (const answer of [denied({ matches: [matchOf(1)] }), AWAY, Promise.reject<Evaluation>(boom)]) {
      Promise.resolve(answer).catch(() => {});
      const { session, told } = scene(({ stage }) => (stage === 'pre' ? ALLOWED : answer));
      expect(await session.guard(() => 'done', { step: 'work', stages: ['pre'] })()).toBe('done');
      expect(told()).toHaveLength(2);
    }
  });

  it.each<[string, unknown, string]>([
    ['an error', boom, 'Error: boom'],
    ['a text', 'no route', 'no route'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['an object', { code: 7 }, '{"code":7}'],
    ['an aborted signal', AbortSignal.abort().reason, 'AbortError: This operation was aborted'],
    ['a long text', 'é'.repeat(5_000), 'é'.repeat(4_096)],
    ['a long text with a character of two parts at the limit', `${'x'.repeat(4_095)}😀`, 'x'.repeat(4_095)],
  ])('sends why a tool failed that throws %s, and throws the same', async (_, thrown, text) => {
    for (const stages of [undefined, ['pre'] as const]) {
      const { session, told } = scene();
      const error = await failureOf(session.guard(broken(thrown), { step: 'work', stages })());
      expect(error).toBe(thrown);
      expect(told().map(([stage, , stepError]) => [stage, stepError])).toEqual([
        ['pre', undefined],
        ['post', text],
      ]);
    }
  });

  it('throws what the tool throws if the service does not answer, and the refusal if a control denies it', async () => {
    for (const answer of [AWAY, Promise.reject<Evaluation>(new ConnectError('gone', Code.Internal))]) {
      Promise.resolve(answer).catch(() => {});
      const { session, told } = scene(({ stage }) => (stage === 'pre' ? ALLOWED : answer));
      expect(await failureOf(session.guard(broken(boom), { step: 'work' })())).toBe(boom);
      expect(told()).toHaveLength(2);
    }
    const { session } = scene(({ stage }) => (stage === 'pre' ? ALLOWED : denied({ matches: [matchOf(1)] })));
    expect(await failureOf(session.guard(broken(boom), { step: 'work' })())).toBeInstanceOf(DeniedError);
  });

  it('withholds a result whose check is not answered, unless the caller lets such steps pass', async () => {
    const answers = (post: Evaluation) =>
      scene(({ stage }) => (stage === 'pre' ? ALLOWED : post)).session.guard(() => 'done', { step: 'work' });
    const error = await failureOf(answers(AWAY)());
    expect(error).toBeInstanceOf(NotEvaluatedError);
    expect(error).toMatchObject({ stage: 'post', cause: AWAY.evaluated ? undefined : AWAY.error });
    // What evaluations of a client with `onUnavailable: 'allow'` are.
    expect(await answers({ ...AWAY, isSafe: true })()).toBe('done');
    const given = scene();
    await given.session.guard(() => 'done', { step: 'work', onUnavailable: 'allow' })();
    expect(given.asked.map(({ options }) => options.onUnavailable)).toEqual(['allow', 'allow']);
  });

  it('sends the end of a step whose caller leaves while the tool runs, and does not wait for the answer', async () => {
    const leaving = new AbortController();
    const never = new Promise<Evaluation>(() => {});
    const { session, told } = scene(({ stage }) => (stage === 'pre' ? ALLOWED : never));
    const tool = session.guard(
      () => {
        leaving.abort(boom);
        throw leaving.signal.reason;
      },
      { step: 'work', signal: leaving.signal },
    );
    expect(await failureOf(tool())).toBe(boom);
    const ending = new AbortController();
    const finished = session.guard(() => 'done', { step: 'work', signal: ending.signal });
    const call = failureOf(finished());
    await until(told, (all) => all.length === 4);
    ending.abort(boom);
    expect(await call).toBe(boom);
    expect(told().map(([stage]) => stage)).toEqual(['pre', 'post', 'pre', 'post']);
  });

  it('sends no end of a step that was denied, and one of a step that may have been counted', async () => {
    const refusals: [Evaluation, new (...args: never[]) => Error][] = [
      [denied({ matches: [matchOf(1)] }), DeniedError],
      [denied({ matches: [matchOf(1, Decision.STEER)], outcome: 3 }), SteerError],
    ];
    for (const [answer, kind] of refusals) {
      const { session, told } = scene(() => answer);
      expect(await failureOf(session.guard(() => 1, { step: 'work' })())).toBeInstanceOf(kind);
      expect(told()).toEqual([PRE]);
    }
    const away = scene(() => AWAY);
    expect(await failureOf(away.session.guard(() => 1, { step: 'work' })())).toBeInstanceOf(
      NotEvaluatedError,
    );
    await expect.poll(away.told).toEqual([PRE, ['post', undefined, 'the step did not run']]);
    const refused = scene(() => Promise.reject(new ConnectError('unknown agent', Code.NotFound)));
    expect(await failureOf(refused.session.guard(() => 1, { step: 'work' })())).toBeInstanceOf(ConnectError);
    expect(refused.told()).toEqual([PRE]);
  });

  it('sends the end of a step whose output or error no control can look at', async () => {
    const { session, told } = scene();
    const opaque = session.guard(() => new Map(), { step: 'work' });
    expect(await failureOf(opaque())).toBeInstanceOf(StepDataError);
    const thrown = session.guard(broken(new Map()), { step: 'work' });
    expect(await failureOf(thrown())).toBeInstanceOf(StepDataError);
    await expect.poll(told).toEqual([PRE, ['post', undefined, undefined], PRE, ['post', undefined, '{}']]);
  });
});

describe('an error of a step that a limit or a halt denies', () => {
  const errorFor = async (answer: Evaluation): Promise<DeniedError> =>
    (await failureOf(scene(() => answer).session.guard(() => 1, { step: 'work' })())) as DeniedError;

  it('says when it may be repeated', async () => {
    const error = await errorFor(limited(1_500));
    expect(error).toMatchObject({ retryAfterMs: 1_500, halt: undefined, controls: ['control-1'] });
    expect(error.limits).toMatchObject([{ controlId: 1, evaluator: 'rate', limit: 3, retryAfterMs: 1_500 }]);
    expect(error.message).toBe(
      'Step "work" was denied before it ran by "control-1". A limit is reached: repeat it no earlier than in 2 s.',
    );
    expect(Object.keys(error)).not.toContain('limits');
  });

  it('names the halt', async () => {
    const expiresAt = { seconds: 1_800_000_000n, nanos: 0 };
    const error = await errorFor(denied({ halt: { haltId: 12, reason: 'Under repair.', expiresAt } }));
    expect(error.halt).toEqual({
      haltId: 12,
      reason: 'Under repair.',
      expiresAt: new Date(1_800_000_000_000),
    });
    expect(error.retryAfterMs).toBeUndefined();
    expect(error.message).toBe('Step "work" was denied before it ran. Such steps are halted: Under repair.');
  });
});
