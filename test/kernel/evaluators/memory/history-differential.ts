import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import { STEP_EVENTS } from '../../../../src/kernel/core/memory.js';
import { callOf, HistoryRun, type Sent } from './history.support.js';
import { interpret, type Statement, type TracedEvent } from './history-model.support.js';

const WINDOW_US = 1_000;
const STEPS = 30;

/** Texts of `where`, of every kind of term. The present step has every member that they read of it. */
const TEXTS = [
  'event.input.n > 1',
  'event.input.id == input.id',
  'input.id == event.context.id',
  'input.n >= 1',
  'event.input.n < input.n',
  'event.input.id == input.id && event.input.n != input.n',
  'has(event.input.m) && event.input.m == input.id',
  'event.output.ok == true',
  'event.step.name == step.name',
  'event.kind == "error" || event.input.n == 1',
  '!has(event.output.ok) || event.input.n < input.n',
  '!has(event.input.deep.er) || event.input.deep.er >= input.n',
  'event.error == null',
  'event.input.n + input.n > 3 && input.id != "z"',
  'size(event.input.list.filter(x, x > input.n)) > 0',
] as const;

/** Numbers that repeat for a seed: mulberry32, a public domain generator by Tommy Ettinger. */
function numbersOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Difference {
  readonly seed: number;
  readonly step: number;
  readonly statement: Statement;
  readonly sent: Sent;
  readonly expected: unknown;
  readonly given: unknown;
}

export interface Compared {
  readonly differences: readonly Difference[];
  readonly answers: number;
  readonly matched: number;
  readonly repeated: number;
  readonly denied: number;
  readonly errors: number;
}

/** Runs generated statements on generated traces, beside the interpreter. */
export function compareHistories(firstSeed: number, count: number): Compared {
  const differences: Difference[] = [];
  let [answers, matched, repeated, denied, errors] = [0, 0, 0, 0, 0];
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const next = numbersOf(seed);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
    const chance = (share: number): boolean => next() < share;
    const statement = statementOf(pick, chance);
    const { windowUs: _, ...config } = statement;
    const run = new HistoryRun({ ...config, within: '1ms' } as unknown as JsonObject, chance(0.5));
    const trace: TracedEvent[] = [];
    const known: Sent[] = [];
    for (let step = 0; step < STEPS; step += 1) {
      run.memory.advance(pick([1, 1, 1, 10, 100, 250, 500, 998, 999, 1_000, 1_001]));
      const sent = nextStep(known, step, pick, chance);
      const decided = run.send(sent, chance(0.1));
      const { moment, event } = decided;
      const expected = interpret(statement, trace, callOf(sent), moment);
      const given = decided.error === null ? decided.matched : 'error';
      answers += 1;
      if (given === true) matched += 1;
      if (given === 'error') errors += 1;
      if (moment.isRepeated) repeated += 1;
      if (event === 'denied') denied += 1;
      if (given !== expected) differences.push({ seed, step, statement, sent, expected, given: decided });
      if (event !== null) trace.push({ atUs: moment.nowUs, kind: event, call: callOf(sent) });
    }
  }
  return { differences, answers, matched, repeated, denied, errors };
}

type Pick = <T>(items: readonly T[]) => T;
type Chance = (share: number) => boolean;

function statementOf(pick: Pick, chance: Chance): Statement {
  const op = pick(['formerly', 'previous', 'not_since', 'count', 'sum', 'distinct']);
  const event = () => {
    const kinds = STEP_EVENTS.filter(() => chance(0.5));
    return {
      kinds: kinds.length === 0 ? [pick(STEP_EVENTS)] : kinds,
      ...(chance(0.5) ? { step_names: pick([['a'], ['b'], ['a', 'b']]) } : {}),
      ...(chance(0.6) ? { where: chance(0.3) ? [pick(TEXTS), pick(TEXTS)] : [pick(TEXTS)] } : {}),
    };
  };
  const base = {
    op,
    windowUs: WINDOW_US,
    event: event(),
    key: pick([['session'], ['agent'], ['namespace'], ['input.id'], ['session', 'input.id']]),
  };
  if (op === 'not_since') return { ...base, anchor: event() };
  if (op === 'formerly' || op === 'previous') return base;
  const value =
    op === 'sum' ? pick(['input.n', 'input.m']) : pick(['input.id', 'input.m', 'input.n', 'name']);
  return {
    ...base,
    ...(op === 'count' ? {} : { value }),
    compare: {
      [pick(['gt', 'gte', 'lt', 'lte', 'eq'])]: pick(op === 'sum' ? [0, 0.3, 1, 2.5, 4, 9] : [0, 1, 2, 3, 4]),
    },
    include_current: chance(0.5),
  };
}

/** A new step, the end of one that was sent, or one that is sent again. */
function nextStep(known: Sent[], step: number, pick: Pick, chance: Chance): Sent {
  const begun = known.filter(({ stage }) => stage === 'pre');
  if (begun.length > 0 && chance(0.35)) {
    const isFailed = chance(0.3);
    const output = isFailed ? null : pick([{ ok: true }, { ok: false }, 'text', {}]);
    const ended: Sent = { ...pick(begun), stage: 'post', output, error: isFailed ? 'failed' : null };
    // The end of a step is told once, or again as it was told.
    const before = known.find((one) => one.stage === 'post' && one.id !== null && one.id === ended.id);
    const sent = before ?? ended;
    known.push(sent);
    return sent;
  }
  if (known.length > 0 && chance(0.2)) return pick(known);
  const sent: Sent = {
    name: pick(['a', 'b', 'c']),
    input: {
      id: pick(['x', 'y', 'z']),
      n: pick([0, 0.1, 0.2, 1, 2, 3]),
      list: pick([[], [1, 2, 3]]),
      ...(chance(0.5) ? { m: pick(['x', 'y', 1, 2, null]) } : {}),
      ...(chance(0.4) ? { deep: pick([{ er: 1 }, {}, null, 'text', { er: 3 }]) } : {}),
    },
    context: chance(0.5) ? { id: pick(['x', 'y']) } : null,
    stage: 'pre',
    session: pick(['s1', 's2']),
    agent: pick(['one', 'one', 'two']),
    id: chance(0.7) ? `step ${step}` : null,
  };
  known.push(sent);
  return sent;
}
