import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import {
  DEFAULT_NAMESPACE,
  type Namespace,
  namespaceNamed,
} from '../../../../src/contract/call/namespace.js';
import { type ControlEvent, shownEvent } from '../../../../src/observe/events/store/event.js';
import type { EventFilter } from '../../../../src/observe/events/store/event-filter.js';
import { keyedEvent } from '../../../../src/observe/events/store/event-keys.js';
import type { EventStore } from '../../../../src/observe/events/store/event-store.js';
import { utcTimeOfMs } from '../../../../src/observe/events/store/event-time.js';
import { timeWindow } from '../../../../src/observe/events/store/time-range.js';
import { generatedCases } from '../../../support/generated-cases.js';
import { eventArbitrary, storedEvent } from '../events.support.js';
import { filterArbitrary } from '../filters.support.js';
import { matches } from '../naive-filter.js';
import { describeOnEachEventStore } from './event-stores.support.js';

const NOW_MS = 1_700_000_000_000;
const DAY_MS = 86_400_000;
/** The keys of one begin like those of another, and one follows the other in any order of texts. */
const NAMESPACES = [DEFAULT_NAMESPACE, ...['team-a', 'team-b', 'team', 'team-a0'].map(namespaceNamed)];

const texts = (events: readonly object[]) => events.map((event) => JSON.stringify(event)).toSorted();
/** As clients of a namespace see them. */
const shown = (events: readonly ControlEvent[]) => texts(events.map(shownEvent));

async function walked({ search }: EventStore, filter: EventFilter): Promise<ControlEvent[]> {
  const found: ControlEvent[] = [];
  for await (const part of search.walk(filter)) found.push(...part);
  return found;
}

async function tailed({ tail }: EventStore, filter: EventFilter): Promise<ControlEvent[]> {
  const found: ControlEvent[] = [];
  for (let position = 0n; ; ) {
    const part = await tail.after('search', position, filter);
    found.push(...part.events.map(({ event }) => event));
    if (part.upTo === part.head) return found;
    position = part.upTo;
  }
}

const write = (store: EventStore, namespace: Namespace, events: readonly ControlEvent[]) =>
  store.write(events.map((event) => store.encode(keyedEvent(event, namespace))));

const counted = (store: EventStore, namespace: Namespace | 'all', agentName: string | null = null) =>
  store.statistics.count({
    namespace,
    agentName,
    controlId: null,
    window: timeWindow('365d', NOW_MS),
    byBucket: false,
    agents: 10,
    controls: 10,
    topControls: 100,
  });

describeOnEachEventStore('events of namespaces', (fresh) => {
  let store: EventStore;
  const stored = new Map<Namespace, ControlEvent[]>();
  beforeAll(async () => {
    store = (await fresh()).store(NOW_MS);
    const sample = fc.sample(eventArbitrary(NOW_MS, ['client']), { numRuns: 300, seed: 32 });
    for (const [index, namespace] of NAMESPACES.entries()) {
      // The same ids, agents and controls in each of them.
      const events = sample
        .slice(index * 60, index * 60 + 60)
        .map((event, at) => ({ ...event, control_execution_id: `check-${at}` }));
      stored.set(namespace, events);
      await write(store, namespace, events);
    }
  });

  it('are found, counted and told to their own namespace alone', () =>
    fc.assert(
      fc.asyncProperty(
        filterArbitrary(NOW_MS),
        fc.constantFrom(...NAMESPACES),
        async (conditions, namespace) => {
          const filter = { ...conditions, namespace };
          const own = (stored.get(namespace) ?? []).filter((event) => matches(conditions, event));
          const wanted = shown(own);
          expect(shown(await walked(store, filter))).toEqual(wanted);
          expect(shown((await store.search.page(filter, { limit: 100 })).events)).toEqual(wanted);
          expect(shown(await tailed(store, filter))).toEqual(wanted);
          expect(await store.search.count(filter)).toBe(own.length);
          expect(await store.search.estimate(filter)).toEqual({ events: own.length, isExact: true });
        },
      ),
      { numRuns: generatedCases(80) },
    ));

  it('have totals by namespace, and one of all for the service itself', async () => {
    for (const namespace of NAMESPACES) {
      expect(await store.search.count({ namespace })).toBe(60);
      expect(await store.search.estimate({ namespace })).toEqual({ events: 60, isExact: true });
    }
    expect(await store.search.count({ namespace: namespaceNamed('nothing') })).toBe(0);
    expect(await store.search.count({ namespace: 'all' })).toBe(300);
    expect(await tailed(store, { namespace: 'all' })).toHaveLength(300);
    // What names no namespace concerns the one that always exists.
    expect(await store.search.count({})).toBe(60);
  });

  it('have statistics by namespace', async () => {
    const isRecent = ({ timestamp }: ControlEvent) => {
      const { startS } = timeWindow('365d', NOW_MS);
      return timestamp.us >= BigInt(startS) * 1_000_000n;
    };
    for (const namespace of NAMESPACES) {
      const own = (stored.get(namespace) ?? []).filter(isRecent);
      const executions = (name: string) => own.filter(({ agent_name }) => agent_name === name).length;
      const found = await counted(store, namespace);
      expect(found.buckets.get(null)?.executions).toBe(own.length);
      const agents = new Map(found.agents.map((one) => [one.agentName, one.executions]));
      for (const name of new Set(own.map(({ agent_name }) => agent_name))) {
        expect(agents.get(namespace.agentKey(name))).toBe(executions(name));
        const one = await counted(store, namespace, name);
        expect(one.buckets.get(null)?.executions).toBe(executions(name));
        expect(one.agents).toHaveLength(1);
      }
      expect(agents.size).toBe(new Set(own.map(({ agent_name }) => agent_name)).size);
      expect(found.controls.every((one) => namespace.contains(one.agentName))).toBe(true);
      const controls = found.topControls.reduce((sum, one) => sum + Number(one.executions), 0);
      expect(controls).toBe(own.length);
    }
    expect((await counted(store, 'all')).buckets.get(null)?.executions).toBe(
      [...stored.values()].flat().filter(isRecent).length,
    );
  });
});

describeOnEachEventStore('ids of namespaces', (fresh) => {
  const A = namespaceNamed('team-a');
  const all = async (store: EventStore, namespace: Namespace) =>
    (await walked(store, { namespace })).map(shownEvent);

  it('are unique in each: an event of another one neither changes nor hides theirs', async () => {
    const store = (await fresh()).store(NOW_MS);
    const own = storedEvent({ origin: 'service', control_name: 'own' });
    const other = storedEvent({ origin: 'client', control_name: 'other', execution_duration_ms: 5 });
    await write(store, A, [own]);
    for (const namespace of [DEFAULT_NAMESPACE, namespaceNamed('team-b')])
      await write(store, namespace, [other]);
    expect(await all(store, A)).toMatchObject([{ control_name: 'own', execution_duration_ms: null }]);
    expect(await all(store, namespaceNamed('team-b'))).toMatchObject([
      { control_execution_id: 'id', agent_name: 'stored-bot-01', control_name: 'other' },
    ]);
    // The client of the same namespace completes it.
    await write(store, A, [other]);
    expect(await all(store, A)).toMatchObject([{ control_name: 'own', execution_duration_ms: 5 }]);
    expect(await store.search.count({ namespace: A })).toBe(1);
  });

  it('may look like keys of another one, and are shown as they were sent', async () => {
    const store = (await fresh()).store(NOW_MS);
    const ids = ['team-a/id', '/team-a/id', '//team-a/id', '/id', 'id/', 'Team/id', 'team-b/', 'x'];
    await write(
      store,
      DEFAULT_NAMESPACE,
      ids.map((id) => storedEvent({ control_execution_id: id })),
    );
    await write(store, A, [storedEvent({ control_execution_id: 'id', control_name: 'own' })]);
    await write(store, A, [storedEvent({ control_execution_id: '/id', control_name: 'own' })]);
    const idsOf = (events: readonly object[]) =>
      events.map((event) => (event as ControlEvent).control_execution_id).toSorted();
    expect(idsOf(await all(store, DEFAULT_NAMESPACE))).toEqual(ids.toSorted());
    expect(idsOf(await all(store, A))).toEqual(['/id', 'id']);
    for (const id of ids)
      expect(await store.search.count({ namespace: DEFAULT_NAMESPACE, control_execution_id: id })).toBe(1);
    expect(await store.search.count({ namespace: A, control_execution_id: 'id' })).toBe(1);
    expect(await store.search.count({ namespace: A, control_execution_id: 'x' })).toBe(0);
  });

  it('are counted right while namespaces begin, and when old events are deleted', async () => {
    const store = (await fresh()).store(NOW_MS);
    const at = (ms: number, id: string) =>
      storedEvent({ control_execution_id: id, timestamp: utcTimeOfMs(ms) });
    const old = NOW_MS - 40 * DAY_MS;
    const since = (namespace: Namespace, ms: number) =>
      store.search.count({ namespace, start_time: utcTimeOfMs(ms) });
    await write(store, DEFAULT_NAMESPACE, [at(old, '1'), at(NOW_MS, '2'), at(NOW_MS, '3')]);
    expect(await since(DEFAULT_NAMESPACE, old)).toBe(3);
    // From here on the condition on the namespace is no longer left out.
    await write(store, A, [at(old, '1'), at(old, '2'), at(NOW_MS, '3')]);
    expect(await since(DEFAULT_NAMESPACE, old)).toBe(3);
    expect(await since(A, old)).toBe(3);
    const deleted = store.retention.eventBatches(BigInt(NOW_MS - 30 * DAY_MS) * 1_000n);
    while ((await deleted()) > 0);
    for (const [namespace, left] of [
      [DEFAULT_NAMESPACE, 2],
      [A, 1],
    ] as const) {
      expect(await store.search.count({ namespace })).toBe(left);
      expect(await since(namespace, old)).toBe(left);
    }
    expect(await store.search.count({ namespace: 'all' })).toBe(3);
    // The id of a deleted event is new, in its own namespace.
    await write(store, A, [at(NOW_MS, '1')]);
    expect(await store.search.count({ namespace: A })).toBe(2);
    expect(await store.search.count({})).toBe(2);
  });
});
