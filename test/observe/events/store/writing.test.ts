import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ControlEvent, ORIGINS, shownEvent } from '../../../../src/observe/events/store/event.js';
import { mergeEvents } from '../../../../src/observe/events/store/event-merge.js';
import type { NamedSums } from '../../../../src/observe/events/store/event-statistics.js';
import type { EventStore } from '../../../../src/observe/events/store/event-store.js';
import { TIME_RANGES, type TimeWindow, timeWindow } from '../../../../src/observe/events/store/time-range.js';
import { generatedCases } from '../../../support/generated-cases.js';
import { eventArbitrary, storedEvent } from '../events.support.js';
import { describeOnEachEventStore } from './event-stores.support.js';
import { naive, shown } from './naive-statistics.js';

const NOW = 1_760_000_000_123;

const EVERYTHING = {
  agentName: null,
  controlId: null,
  agents: 100,
  controls: 10_000,
  topControls: 10_000,
} as const;

const write = (store: EventStore, events: readonly ControlEvent[]) => store.write(events.map(store.encode));

async function allOf({ search }: EventStore): Promise<ControlEvent[]> {
  const found: ControlEvent[] = [];
  for await (const part of search.walk({})) found.push(...part);
  return found;
}

const statistics = (
  store: EventStore,
  window: TimeWindow,
  byBucket: boolean,
  agentName: string | null = null,
  controlId: number | null = null,
) => store.statistics.count({ ...EVERYTHING, agentName, controlId, window, byBucket });

/** Controls with the most matches and errors first. */
function byMatches(one: NamedSums, other: NamedSums): number {
  const [of, ofOther] = [one, other].map(({ matches, errors }) => Number(matches) + Number(errors));
  const byName = one.controlName < other.controlName ? -1 : Number(one.controlName > other.controlName);
  return Number(ofOther) - Number(of) || one.controlId - other.controlId || byName;
}

const byId = (events: readonly ControlEvent[]) =>
  new Map(events.map((one) => [one.control_execution_id, { ...shownEvent(one), origin: one.origin }]));

/** What remains of events that arrive in this order. */
function merged(events: readonly ControlEvent[]): ControlEvent[] {
  const known = new Map<string, ControlEvent>();
  for (const one of events) {
    const first = known.get(one.control_execution_id);
    known.set(one.control_execution_id, first === undefined ? one : mergeEvents(first, one));
  }
  return [...known.values()];
}

describeOnEachEventStore('stored events', (fresh) => {
  it('and their sums match the batches, whatever their order, duplicates and times', async () => {
    const origins = ORIGINS.filter((origin) => origin !== 'merged');
    const batches = fc.array(
      fc.array(eventArbitrary(NOW, origins), { minLength: 1, maxLength: 25, size: 'max' }),
      { minLength: 1, maxLength: 5, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(
        batches,
        fc.constantFrom(...TIME_RANGES),
        fc.boolean(),
        async (all, range, byBucket) => {
          const store = (await fresh()).store(NOW);
          for (const batch of all) await write(store, batch);
          const stored = await allOf(store);
          expect(byId(stored)).toEqual(byId(merged(all.flat())));
          expect(await store.search.count({})).toBe(stored.length);
          const window = timeWindow(range, NOW);
          expect(shown(await statistics(store, window, byBucket))).toEqual(naive(stored, window, byBucket));
          const own = stored.filter((one) => one.agent_name === 'rolled-bot-1');
          const ofAgent = await statistics(store, window, byBucket, 'rolled-bot-1');
          expect(shown(ofAgent)).toEqual(naive(own, window, byBucket));
          const ofControl = stored.filter((one) => one.control_id === 1);
          expect(shown(await statistics(store, window, byBucket, null, 1))).toEqual(
            naive(ofControl, window, byBucket),
          );
          const top = (topByMatches: boolean, topControls: number) =>
            store.statistics.count({ ...EVERYTHING, window, byBucket, topByMatches, topControls });
          const most = (await top(true, 10_000)).topControls;
          expect(most).toEqual((await top(false, 10_000)).topControls.toSorted(byMatches));
          expect((await top(true, 2)).topControls).toEqual(most.slice(0, 2));
          // It looks at each hour on its own, of which there can be a hundred.
          if (all.length > 1) return;
          expect(await store.rebuildStatistics()).toMatchObject({ corrected: 0 });
        },
      ),
      { numRuns: generatedCases(30), interruptAfterTimeLimit: 60_000 },
    );
  });

  it('are right when several processes write the same checks at once', async () => {
    const { database, replica, store } = await fresh();
    const stores = [database, await replica(), await replica(), await replica()].map((on) => store(NOW, on));
    const samples = fc.sample(eventArbitrary(NOW, ['client', 'service']), { numRuns: 400, seed: 7 });
    await Promise.all(
      stores.map(async (one, index) => {
        for (let at = 0; at < samples.length; at += 20) {
          const part = samples.slice(at, at + 20);
          await write(one, index % 2 === 0 ? part : part.toReversed());
        }
      }),
    );
    const [first] = stores;
    if (first === undefined) throw new Error('there is no store');
    const stored = await allOf(first);
    expect(stored).toHaveLength(new Set(samples.map((one) => one.control_execution_id)).size);
    const window = timeWindow('7d', NOW);
    expect(shown(await statistics(first, window, true))).toEqual(naive(stored, window, true));
    expect(await first.rebuildStatistics()).toMatchObject({ corrected: 0 });
  });

  it('are found by what is in them, whatever characters that is', async () => {
    const store = (await fresh()).store(NOW);
    const texts = [
      "it's",
      'a\\b',
      '"quoted"',
      'tab\tline\nreturn\r',
      '\u{1f600} ö',
      '{x:String} $1 ?',
      '\\N',
      'NULL',
    ];
    const events = texts.map((text, index) =>
      storedEvent({
        control_execution_id: `id-${index}`,
        trace_id: text,
        span_id: text,
        control_name: text,
        evaluator_name: text,
        selector_path: text,
        error_message: text,
        metadata: { [text]: text },
        step_type: text,
        step_name: text,
        session_id: text,
        step_id: text,
        decision_id: text,
      }),
    );
    await write(store, events);
    for (const [index, text] of texts.entries()) {
      for (const filter of [
        { trace_id: text },
        { span_id: text },
        { step_type: text },
        { step_name: text },
        { session_id: text },
        { step_id: text },
        { decision_id: text },
      ]) {
        const { events: found } = await store.search.page(filter, { limit: 10 });
        expect(found.map(shownEvent)).toEqual(
          [events[index]].flatMap((one) => (one ? [shownEvent(one)] : [])),
        );
      }
    }
  });

  it('keep every number as it was sent', async () => {
    const store = (await fresh()).store(NOW);
    const confidences = [0, 1, 0.1, 1 / 3, 1e-9, 5e-324, Number.MIN_VALUE * 3, 0.1 + 0.2];
    const durations = [null, 0, 0.1, 65_535.999_999, 65_536, 1e15, Number.MAX_SAFE_INTEGER];
    const events = Array.from({ length: 56 }, (_, index) =>
      storedEvent({
        control_execution_id: `n-${index}`,
        confidence: confidences[index % 8] ?? 0,
        execution_duration_ms: durations[index % 7] ?? null,
        control_id: index % 2 === 0 ? -(2 ** 31) : 2 ** 31 - 1,
        revision: index % 3 === 0 ? Number.MAX_SAFE_INTEGER : null,
        metadata: { big: 12_345_678_901_234_567_890n, deep: [[{ a: [null, true, 1.5] }]] },
      }),
    );
    await write(store, events);
    expect(byId(await allOf(store))).toEqual(byId(events));
  });

  it('hold no more than the longest durations of a million events', async () => {
    const store = (await fresh()).store(NOW);
    const longest = (suffix: string) =>
      Array.from({ length: 1_500 }, (_, index) =>
        storedEvent({
          control_execution_id: `long-${index}${suffix}`,
          timestamp: { us: BigInt(NOW) * 1_000n, text: 'now' },
          execution_duration_ms: Number.MAX_SAFE_INTEGER,
        }),
      );
    await write(store, longest(''));
    await write(store, longest('b'));
    const { agents } = await statistics(store, timeWindow('1m', NOW), false);
    expect((agents[0]?.durationSum ?? 0) / 3_000).toBeCloseTo(Number.MAX_SAFE_INTEGER, -3);
  });
});
