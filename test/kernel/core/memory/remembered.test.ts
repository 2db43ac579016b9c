import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { ControlFailure } from '../../../../src/kernel/core/linked-control.js';
import { aDefinition, aLeaf, aProgram, aStep, idsOf } from '../support.js';
import { deciding, EVALUATORS, FakeMemory, kept, remembered } from './support.js';

const program = (...definitions: Parameters<typeof aProgram>[0]) => aProgram(definitions, EVALUATORS);
const idsAdded = (memory: FakeMemory) => memory.additions.map(({ ruleId }) => ruleId);

describe('controls with memory', () => {
  it('are asked only if controls without memory let the step pass', async () => {
    const memory = new FakeMemory();
    const verdict = await remembered(
      program(aDefinition(aLeaf('yes')), aDefinition(kept({ id: 'a', answer: 'match' }))),
      memory,
    );
    expect(idsOf(verdict.matches)).toEqual([1]);
    expect(verdict).toMatchObject({
      is_safe: false,
      selected_controls: 2,
      evaluated_controls: 1,
      skipped_controls: 1,
    });
    expect(memory.states.size).toBe(0);
    // Only that the step was denied is remembered, for its end.
    expect(memory.plans).toMatchObject([{ keys: [], marksDenied: true }]);
    expect(memory.allowed).toBe(false);
  });

  it.each(['deny', 'steer'] as const)(
    'are left out when a control that %ss fails or matches',
    async (decision) => {
      const memory = new FakeMemory();
      const failing = aLeaf(decision === 'deny' ? 'fail' : 'yes');
      const verdict = await remembered(
        program(deciding(failing, decision), aDefinition(kept({ id: 'a' }))),
        memory,
      );
      expect(verdict).toMatchObject({ is_safe: false, skipped_controls: 1 });
      expect(memory.additions).toEqual([]);
    },
  );

  it('are asked after a match of a control that observes, and after a failure of one that steers', async () => {
    const memory = new FakeMemory();
    const verdict = await remembered(
      program(
        aDefinition(aLeaf('yes'), 'observe'),
        deciding(aLeaf('fail'), 'steer'),
        aDefinition(kept({ id: 'a' })),
      ),
      memory,
    );
    expect(verdict).toMatchObject({ is_safe: true, skipped_controls: 0 });
    expect(idsAdded(memory)).toEqual(['r3.a']);
  });

  it('count a step that passes once, and none that is denied', async () => {
    const memory = new FakeMemory();
    const limited = program(
      aDefinition(kept({ id: 'a', limit: 2 })),
      aDefinition(kept({ id: 'b' }), 'observe'),
    );
    const safe: boolean[] = [];
    for (let step = 0; step < 4; step += 1) safe.push((await remembered(limited, memory)).is_safe);
    expect(safe).toEqual([true, true, false, false]);
    expect([...memory.states.values()]).toEqual([2, 2]);
  });

  it('count nothing of a step that is steered', async () => {
    const memory = new FakeMemory();
    const verdict = await remembered(
      program(deciding(kept({ id: 'a', answer: 'match' }), 'steer'), aDefinition(kept({ id: 'b' }))),
      memory,
    );
    expect(verdict.is_safe).toBe(false);
    expect(memory.additions).toEqual([]);
  });

  it('count a step that matched a control that observes', async () => {
    const memory = new FakeMemory();
    await remembered(program(aDefinition(kept({ id: 'a', answer: 'match' }), 'observe')), memory);
    expect(idsAdded(memory)).toEqual(['r1.a']);
  });

  it('count a denied step if their rule says so', async () => {
    const memory = new FakeMemory();
    const both = kept({ id: 'a', answer: 'match', counts: ['request', 'denied'] });
    await remembered(program(aDefinition(both)), memory);
    expect(idsAdded(memory)).toEqual(['r1.a']);
  });

  it('share a state if their rules do, and count a step once', async () => {
    const memory = new FakeMemory();
    const shared = kept({ id: 'a', shared: true });
    await remembered(
      program(aDefinition(shared), aDefinition({ or: [shared, shared] }), aDefinition(kept({ id: 'a' }))),
      memory,
    );
    expect(idsAdded(memory).sort()).toEqual(['r.a', 'r3.a']);
  });

  it('count a repeated step not again', async () => {
    const memory = new FakeMemory();
    memory.isRepeated = true;
    await remembered(program(aDefinition(kept({ id: 'a', records: { events: ['request'] } }))), memory);
    expect(memory.additions).toEqual([]);
    expect(memory.allowed).toBe(true);
  });

  it('add nothing in a trial, and ask for nothing when the step is denied without them', async () => {
    const memory = new FakeMemory();
    const limited = program(
      aDefinition(kept({ id: 'a', limit: 1, records: { events: ['request', 'denied'] } })),
    );
    expect((await remembered(limited, memory, { isTrial: true })).is_safe).toBe(true);
    expect(memory.plans.map(({ isTrial }) => isTrial)).toEqual([true]);
    expect(memory.states.size).toBe(0);
    const denied = program(
      aDefinition(aLeaf('yes')),
      aDefinition(kept({ id: 'a', records: { events: ['denied'] } })),
    );
    await remembered(denied, memory, { isTrial: true });
    expect(memory.plans).toHaveLength(1);
  });

  it('are left out when the step is denied whatever they say', async () => {
    const memory = new FakeMemory();
    const recording = aDefinition(kept({ id: 'a', records: { events: ['request', 'denied'] } }));
    const verdict = await remembered(program(recording), memory, { isDenied: true });
    expect(verdict).toMatchObject({ is_safe: true, skipped_controls: 1 });
    expect(memory.additions.map(({ delta }) => delta)).toEqual(['denied']);
  });

  it('are errors where there is no memory', async () => {
    const verdict = await program(aDefinition({ and: [aLeaf('yes'), kept({ id: 'a' })] })).evaluate(
      aStep(),
      'pre',
      'verdict',
    );
    expect(verdict.is_safe).toBe(false);
    expect(verdict.errors[0]?.result.error).toBe(
      'The check needs the memory of the service, which is not there',
    );
  });

  it('do not run for a program or a step that they do not concern', () => {
    const memory = new FakeMemory();
    const scoped = aDefinition(kept({ id: 'a' }), 'deny', {
      scope: { step_names: ['other'], stages: ['pre'] },
    });
    const verdict = program(aDefinition(aLeaf('no')), scoped).evaluate(
      aStep(),
      'pre',
      'full',
      undefined,
      0,
      null,
      {
        memory,
        identity: { namespace: 'n', agent: 'a', sessionId: null, stepId: 's', error: null },
        isTrial: false,
        isDenied: false,
      },
    );
    expect(verdict).toMatchObject({ is_safe: true, selected_controls: 1 });
    expect(memory.plans).toEqual([]);
  });
});

describe('a part of a condition without memory', () => {
  it.each([
    ['and', 'no', []],
    ['and', 'yes', ['r1.a']],
    ['and', 'fail', []],
    ['or', 'yes', []],
    ['or', 'no', ['r1.a']],
    ['or', 'fail', []],
  ] as const)('in %s that answers %s opens %j', async (kind, other, opened) => {
    for (const children of [
      [kept({ id: 'a' }), aLeaf(other)],
      [aLeaf(other), kept({ id: 'a' })],
    ]) {
      const memory = new FakeMemory();
      await remembered(program(aDefinition({ [kind]: children }, 'observe')), memory);
      expect(idsAdded(memory)).toEqual(opened);
    }
  });

  it('is awaited before the step is decided, and runs once however often that happens', async () => {
    const memory = new FakeMemory();
    memory.decisions = 3;
    let runs = 0;
    const counted = EVALUATORS.map((evaluator) =>
      evaluator.name !== 'model'
        ? evaluator
        : {
            ...evaluator,
            compile: (config: Parameters<typeof evaluator.compile>[0]) => {
              const compiled = evaluator.compile(config);
              return {
                evaluate: (...given: Parameters<typeof compiled.evaluate>) => {
                  runs += 1;
                  return compiled.evaluate(...given);
                },
              };
            },
          },
    );
    const condition = { and: [kept({ id: 'a', limit: 0 }), aLeaf('model', { matched: true })] };
    const verdict = await remembered(aProgram([aDefinition(condition)], counted), memory);
    expect(idsOf(verdict.matches)).toEqual([1]);
    expect(runs).toBe(1);
  });
});

describe('the answer of a check with memory', () => {
  const limited = kept({ id: 'a', limit: 3 });

  it.each(['verdict', 'full'] as const)('has its metadata with detail %s', async (detail) => {
    const memory = new FakeMemory();
    const verdict = await remembered(program(aDefinition(kept({ id: 'a', limit: 0 }))), memory, { detail });
    expect(verdict.matches[0]?.result).toMatchObject({
      message: 'a says so',
      metadata: {
        limit: 0,
        remaining: 0,
        resets_after_seconds: 60,
        retry_after_seconds: 2.5,
        window_seconds: 3600,
        since: '2020-09-13T12:26:40.000Z',
        id: 'a',
      },
    });
    expect('condition_trace' in (verdict.matches[0]?.result.metadata ?? {})).toBe(detail === 'full');
  });

  it('has its metadata below other nodes', async () => {
    const condition = { and: [aLeaf('yes'), { not: { not: kept({ id: 'a', limit: 0 }) } }] };
    const verdict = await remembered(program(aDefinition(condition)), new FakeMemory(), {
      detail: 'verdict',
    });
    expect(verdict.matches[0]?.result.metadata).toMatchObject({ limit: 0, id: 'a' });
  });

  it('is a limit of the verdict, the one with the smallest share first', async () => {
    const memory = new FakeMemory();
    const wide = kept({ id: 'b', limit: 100 });
    const skipped = kept({ id: 'c', missing: 'input.account', skips: true });
    const verdict = await remembered(
      program(aDefinition(skipped), aDefinition(wide), aDefinition(limited, 'observe')),
      memory,
      { detail: 'verdict' },
    );
    expect(verdict.limits).toMatchObject([
      {
        controlId: 3,
        controlName: 'control-3',
        evaluatorName: 'kept',
        limit: 3,
        remaining: 2,
        key: 'key a',
        degraded: null,
      },
      { controlId: 2, limit: 100, remaining: 99, sinceUs: 1_600_000_000_000_000 },
      { controlId: 1, limit: 0, degraded: 'missing_key' },
    ]);
  });

  it('names at most 20 limits', async () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      aDefinition(kept({ id: `r${index}`, limit: index + 1 })),
    );
    const verdict = await remembered(program(...many), new FakeMemory());
    expect(verdict.limits?.map(({ limit }) => limit)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
  });

  it('is an error for a step that lacks a part of the key, which is named', async () => {
    const memory = new FakeMemory();
    const verdict = await remembered(program(aDefinition(kept({ id: 'a', missing: 'session_id' }))), memory);
    expect(verdict.is_safe).toBe(false);
    expect(verdict.errors[0]?.result.error).toBe('The step lacks session_id, which the control needs');
  });

  it('is an error if the rule cannot answer, whose cause only the operator learns where it quotes something', async () => {
    for (const [answer, cause, text] of [
      ['error', 'no number', 'no number'],
      ['quoting error', 'no number', 'Internal evaluator error'],
      ['throw', 'the rule broke', 'Internal evaluator error'],
    ] as const) {
      const told: ControlFailure[] = [];
      const failing = aProgram([aDefinition(kept({ id: 'a', answer }))], EVALUATORS, {
        onFailure: (failure) => told.push(failure),
      });
      const verdict = await remembered(failing, new FakeMemory());
      expect(verdict.errors[0]?.result.error).toBe(text);
      expect(told.map(({ problem }) => problem)).toEqual([`evaluator kept: ${cause}`]);
    }
  });

  it('is an error if what is kept cannot be read', async () => {
    const memory = new FakeMemory();
    memory.isDamaged = true;
    const verdict = await remembered(program(aDefinition(kept({ id: 'a', away: 'allow' }))), memory);
    expect(verdict.errors[0]?.result.error).toBe('What is kept for the control cannot be read');
    expect(memory.additions).toEqual([]);
  });
});

describe('without room for a key', () => {
  const NO_ROOM = /^The memory of controls has no room for a new key: /;
  const full = (...labels: string[]) => {
    const memory = new FakeMemory();
    for (const label of labels) memory.full.add(label);
    return memory;
  };

  it.each(['deny', 'steer', 'observe'] as const)(
    'a check of a control that %ss is an error, and counts nothing',
    async (decision) => {
      const memory = full('key a');
      const controls = [deciding(kept({ id: 'a', away: 'allow' }), decision), aDefinition(kept({ id: 'b' }))];
      const verdict = await remembered(program(...controls), memory);
      expect(verdict.is_safe).toBe(decision !== 'deny');
      expect(verdict.errors).toMatchObject([{ control_name: 'control-1' }]);
      expect(verdict.errors[0]?.result.error).toMatch(NO_ROOM);
      expect(idsAdded(memory)).toEqual(decision === 'deny' ? [] : ['r2.b']);
    },
  );

  it.each([
    ['pre', ['request'], false],
    // Its end could not be recorded either.
    ['pre', ['response'], false],
    ['pre', ['denied'], true],
    ['post', ['response'], false],
    ['post', ['request', 'error'], true],
  ] as const)('a step at %s that a control has to record as %j: safe %s', async (stage, events, isSafe) => {
    const memory = full('records h');
    const recording = aDefinition(kept({ id: 'h', records: { events } }), 'deny', {
      scope: { step_names: ['another'] },
    });
    const verdict = await remembered(program(recording), memory, { stage });
    expect(verdict.is_safe).toBe(isSafe);
    expect(verdict.errors.map(({ control_id: id, result }) => [id, result.error])).toEqual(
      isSafe ? [] : [[1, expect.stringMatching(NO_ROOM)]],
    );
    expect(verdict.skipped_controls).toBe(0);
    expect(memory.additions).toEqual([]);
  });

  it('a control that records for itself is one error, and one that does not deny denies nothing', async () => {
    const records = { events: ['request'] } as const;
    const own = await remembered(program(aDefinition(kept({ id: 'a', records }))), full('records a'));
    expect(own).toMatchObject({ is_safe: false, selected_controls: 1, non_matches: [] });
    expect(own.errors).toHaveLength(1);
    const observing = program(deciding(kept({ id: 'a', records }), 'observe'));
    expect(await remembered(observing, full('records a'))).toMatchObject({ is_safe: true, errors: [] });
    // Controls with the same statement share a record: the one that denies counts.
    const shared = { id: 'a', records, shared: true } as const;
    const both = program(deciding(kept(shared), 'observe'), deciding(kept(shared), 'deny'));
    expect((await remembered(both, full('records a'))).is_safe).toBe(false);
  });
});

describe('while the store does not answer', () => {
  it.each([
    ['deny', false, []],
    ['allow', true, []],
    ['local', true, ['r1.a']],
  ] as const)('a check with on_store_error %s', async (away, isSafe, added) => {
    const memory = new FakeMemory();
    memory.source = 'local';
    const verdict = await remembered(program(aDefinition(kept({ id: 'a', limit: 1, away }))), memory);
    expect(verdict.is_safe).toBe(isSafe);
    expect(idsAdded(memory)).toEqual(added);
    if (away === 'deny') {
      expect(verdict.errors[0]?.result.error).toBe('The memory of the control is not available');
      return;
    }
    const degraded = away === 'allow' ? 'store_unavailable' : 'local';
    expect(verdict.non_matches[0]?.result.metadata).toMatchObject({ degraded });
    expect(verdict.limits).toMatchObject([{ degraded, limit: away === 'allow' ? 0 : 1 }]);
  });

  it('a step fails closed if the memory fails altogether, and the operator is told', async () => {
    const memory = new FakeMemory();
    memory.problem = new Error('out of memory');
    const told: ControlFailure[] = [];
    const all = aProgram(
      [
        aDefinition(kept({ id: 'a' })),
        aDefinition(kept({ id: 'b', away: 'allow' })),
        aDefinition(kept({ id: 'c', away: 'local' })),
      ],
      EVALUATORS,
      { onFailure: (failure) => told.push(failure) },
    );
    const verdict = await remembered(all, memory);
    expect(idsOf(verdict.errors)).toEqual([3, 1]);
    expect(told.map(({ problem }) => problem)).toContain('its memory: out of memory');
  });
});

describe('what steps record', () => {
  const recording = (events: ('request' | 'denied' | 'response' | 'error')[], names?: string[]) =>
    aDefinition(kept({ id: 'h', records: { events, ...(names === undefined ? {} : { names }) } }), 'deny', {
      scope: { step_names: ['another'] },
    });
  const deltas = (memory: FakeMemory) => memory.additions.map(({ delta }) => delta);

  it('is independent of the scope of the control', async () => {
    const memory = new FakeMemory();
    await remembered(program(recording(['request'])), memory);
    expect(deltas(memory)).toEqual(['request']);
  });

  it('has the names of the rule only', async () => {
    const memory = new FakeMemory();
    await remembered(program(recording(['request'], ['search'])), memory);
    expect(deltas(memory)).toEqual(['request']);
    const other = new FakeMemory();
    await remembered(program(recording(['request'], ['send'])), other);
    expect(other.plans).toEqual([]);
  });

  it('is denied when controls without memory deny the step', async () => {
    const memory = new FakeMemory();
    await remembered(program(aDefinition(aLeaf('yes')), recording(['request', 'denied'])), memory);
    expect(deltas(memory)).toEqual(['denied']);
    expect(memory.allowed).toBe(false);
  });

  it.each([
    [null, 'response'],
    ['it threw', 'error'],
  ])('is the end of the step: with the error %j, %s', async (error, event) => {
    const memory = new FakeMemory();
    const ends = program(recording(['request', 'response', 'error']));
    await remembered(ends, memory, { stage: 'post', identity: { error } });
    expect(deltas(memory)).toEqual([event]);
  });

  it('is the end of a step whose output is denied, too', async () => {
    const memory = new FakeMemory();
    await remembered(program(aDefinition(aLeaf('yes')), recording(['response'])), memory, { stage: 'post' });
    expect(deltas(memory)).toEqual(['response']);
  });

  it('is no end of a step that was denied before it ran', async () => {
    const memory = new FakeMemory();
    memory.wasDenied = true;
    const counting = aDefinition(kept({ id: 'a', counts: ['response'], settles: true }));
    await remembered(program(recording(['response', 'error']), counting), memory, { stage: 'post' });
    expect(memory.plans).toHaveLength(1);
    expect(memory.additions).toEqual([]);
    expect(memory.allowed).toBe(false);
  });

  it('marks a denied step only if its end matters', async () => {
    const marks = async (definition: JsonObject) => {
      const memory = new FakeMemory();
      await remembered(program(aDefinition(aLeaf('yes')), definition), memory);
      return memory.plans.map(({ marksDenied }) => marksDenied);
    };
    const atPre = { scope: { stages: ['pre'] } };
    expect(await marks(aDefinition(kept({ id: 'a' }), 'deny', atPre))).toEqual([]);
    expect(await marks(recording(['denied']))).toEqual([false]);
    expect(await marks(recording(['response']))).toEqual([true]);
    expect(await marks(aDefinition(kept({ id: 'a', settles: true }), 'deny', atPre))).toEqual([true]);
    expect(await marks(aDefinition(kept({ id: 'a' }), 'deny', { scope: { stages: ['post'] } }))).toEqual([
      true,
    ]);
  });

  it('looks for the mark of a denied step where its end matters', async () => {
    const looks = async (definition: JsonObject) => {
      const memory = new FakeMemory();
      await remembered(program(definition), memory, { stage: 'post' });
      return memory.plans.map(({ marksDenied }) => marksDenied);
    };
    const atPre = { scope: { stages: ['pre'] } };
    expect(await looks(recording(['request', 'response']))).toEqual([true]);
    expect(await looks(recording(['request']))).toEqual([false]);
    expect(await looks(aDefinition(kept({ id: 'a', settles: true }), 'deny', atPre))).toEqual([true]);
    expect(await looks(aDefinition(kept({ id: 'a' })))).toEqual([true]);
  });

  it('settles at the end under the key of the step, with whether the check is open', async () => {
    const settling = (other: string) =>
      aDefinition({ and: [aLeaf(other), kept({ id: 'a', settles: true })] }, 'deny', {
        scope: { stages: ['pre'] },
      });
    for (const [other, settled] of [
      ['yes', true],
      ['no', false],
    ] as const) {
      const memory = new FakeMemory();
      await remembered(program(settling(other)), memory, { stage: 'post' });
      expect(deltas(memory)).toEqual([{ settled }]);
    }
  });
});

describe('a caller that leaves', () => {
  it('has not used anything if its checks were still awaited', async () => {
    const memory = new FakeMemory();
    const aborter = new AbortController();
    const waiting = remembered(
      program(aDefinition(aLeaf('later', { matched: false })), aDefinition(kept({ id: 'a' }))),
      memory,
      { signal: aborter.signal },
    );
    aborter.abort();
    await waiting;
    expect(memory.plans).toEqual([]);
  });
});
