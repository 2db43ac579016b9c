import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type {
  MemoryCall,
  MemoryKey,
  MemoryRecord,
  MemoryRule,
  MissingPart,
  StepEvent,
} from '../../core/memory.js';
import { historyAnswer } from './history-answer.js';
import type { HistoryConfig } from './history-config.js';
import { describeHistory } from './history-described.js';
import { type HistoryPlan, planOf, seriesFacts } from './history-plan.js';
import { historyDelta } from './history-reducer.js';
import { WhereRun } from './history-run.js';
import {
  type Hash,
  type ReadEvent,
  readEvent,
  readPresent,
  readsPresent,
  type SeriesPlan,
} from './history-series.js';
import { commonRule, fingerprintOf } from './memory-evaluator.js';
import { keyReader, normalizedKey } from './memory-key.js';

/** Characters of a hash in a label, and of the expression before it. */
const LABEL_HASH_LENGTH = 8;
const LABEL_TEXT_LENGTH = 40;

/** The rule of a statement about earlier steps. */
export function historyRule(config: HistoryConfig): MemoryRule {
  const plan = planOf(config);
  const { windowUs } = config;
  const baseKey = keyReader(config);
  const isLinked = readsPresent(plan.event) || (plan.anchor !== null && readsPresent(plan.anchor));
  return {
    kind: 'history',
    fingerprint: fingerprintOf('history', [...normalizedKey(config)], windowUs, ...factsOf(plan, config)),
    isPerControl: false,
    ...commonRule(config),
    // An event is in the window until it is older than the window.
    keepUs: windowUs + 1,
    keyOf(call, hash) {
      const key = baseKey(call, hash);
      return 'missing' in key || !isLinked ? key : linkedKey(key, plan, call, hash);
    },
    answer: (state, call, moment) => historyAnswer(config, plan, state, call, moment),
    records: {
      events: [...new Set([...plan.event.kinds, ...(plan.anchor?.kinds ?? [])])],
      stepNames: namesOf(plan),
      keys(call, hash) {
        const key = baseKey(call, hash);
        if ('missing' in key) return [];
        if (plan.event.keyLinks.length === 0) return [key];
        return possibleEvents(call)
          .flatMap((event) => recordsOf(plan, windowUs, key, call, event, hash))
          .map((record) => record.key);
      },
      of: (call, event, { hash }) => recordsOf(plan, windowUs, baseKey(call, hash), call, event, hash),
    },
    describe: (state, nowUs) => describeHistory(config, plan, state, nowUs),
  };
}

function factsOf({ event, anchor }: HistoryPlan, { value }: HistoryConfig): JsonObject[] {
  return [event, ...(anchor === null ? [] : [anchor])].map((series) => seriesFacts(series, value));
}

/** Null for every name. */
function namesOf({ event, anchor }: HistoryPlan): ReadonlySet<string> | null {
  if (event.recordsAll || event.names === null || (anchor !== null && anchor.names === null)) return null;
  return new Set([...event.names, ...(anchor?.names ?? [])]);
}

/** What may become of the step of a call. */
function possibleEvents({ stage, identity }: MemoryCall): readonly StepEvent[] {
  if (stage === 'pre') return ['request', 'denied'];
  return [identity.error === null ? 'response' : 'error'];
}

/** The key of the events that the present step is compared with. */
function linkedKey(key: MemoryKey, plan: HistoryPlan, call: MemoryCall, hash: Hash): MemoryKey | MissingPart {
  const run = new WhereRun(call);
  const presents = [plan.event, ...(plan.anchor === null ? [] : [plan.anchor])].map((series) =>
    readPresent(series, run, hash),
  );
  const missing = presents.find((present) => present.missing !== null)?.missing;
  if (missing !== undefined && missing !== null) return { missing };
  // If no event can satisfy the condition, it does not matter which ones there are.
  const open = presents.find(({ isOpen }) => isOpen);
  return withHashes(key, plan.event, open?.keyHashes ?? plan.event.keyLinks.map(() => ''));
}

function withHashes(key: MemoryKey, { keyLinks }: SeriesPlan, hashes: readonly string[]): MemoryKey {
  if (keyLinks.length === 0) return key;
  const [meaning = '', ...rest] = key.parts;
  const labels = keyLinks.map(({ step }, index) => {
    const text = step.text.length > LABEL_TEXT_LENGTH ? 'where' : step.text;
    return `${text}=${hashes[index]?.slice(0, LABEL_HASH_LENGTH)}`;
  });
  return {
    parts: [`${meaning} with ${hashes.length} values of where`, ...rest, ...hashes],
    label: [key.label, ...labels].join(' / '),
  };
}

/** The entries of a step as an event of one series or both, under one key or two. */
function recordsOf(
  { event: eventPlan, anchor: anchorPlan }: HistoryPlan,
  windowUs: number,
  key: MemoryKey | MissingPart,
  call: MemoryCall,
  kind: StepEvent,
  hash: Hash,
): readonly MemoryRecord[] {
  if ('missing' in key) return [];
  const run = new WhereRun(call);
  const event = readEvent(eventPlan, call, kind, run, hash);
  const anchor = anchorPlan === null ? null : readEvent(anchorPlan, call, kind, run, hash);
  const record = (of: ReadEvent, one: ReadEvent | null, other: ReadEvent | null): MemoryRecord => ({
    key: withHashes(key, eventPlan, of.links),
    delta: historyDelta(windowUs, one?.added ?? null, other?.added ?? null),
  });
  if (event === null) return anchor === null ? [] : [record(anchor, null, anchor)];
  if (anchor === null) return [record(event, event, null)];
  const areTogether = event.links.every((link, index) => link === anchor.links[index]);
  return areTogether
    ? [record(event, event, anchor)]
    : [record(event, event, null), record(anchor, null, anchor)];
}
