import { expect } from 'vitest';
import type { ControlEvent } from '../../../../src/observe/events/store/event.js';
import type { Statistics, Sums } from '../../../../src/observe/events/store/event-statistics.js';
import type { TimeWindow } from '../../../../src/observe/events/store/time-range.js';

const near = (value: number) => expect.closeTo(value, 5);

function sumsOf(events: readonly ControlEvent[]): object {
  const count = (wanted: (one: ControlEvent) => boolean) => events.filter(wanted).length;
  const durations = events.flatMap(({ execution_duration_ms: duration }) => duration ?? []);
  const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
  return {
    executions: events.length,
    matches: count((one) => one.matched && one.error_message === null),
    nonMatches: count((one) => !one.matched && one.error_message === null),
    errors: count((one) => one.error_message !== null),
    denies: count((one) => one.matched && one.action === 'deny'),
    steers: count((one) => one.matched && one.action === 'steer'),
    observes: count((one) => one.matched && one.action === 'observe'),
    confidenceSum: near(sum(events.map(({ confidence }) => confidence))),
    durations: durations.length,
    // Of sums that large the last digits are beyond a double.
    durationSum: expect.toSatisfy((shown: number) => {
      const exact = sum(durations);
      return Math.abs(shown - exact) <= 1e-5 + exact * 1e-12;
    }),
  };
}

/** Counts stored events one by one. */
export function naive(events: readonly ControlEvent[], window: TimeWindow, byBucket: boolean) {
  const second = ({ timestamp }: ControlEvent) => Number(timestamp.us / 1_000_000n);
  const inside = events.filter((one) => second(one) >= window.startS);
  const bucketOf = (one: ControlEvent) =>
    byBucket && second(one) < window.bucketsEndS
      ? Math.floor((second(one) - window.startS) / window.bucketS)
      : null;
  const group = <K>(keyOf: (one: ControlEvent) => K): [K, object][] => {
    const groups = new Map<K, ControlEvent[]>();
    for (const one of inside) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
    return [...groups].map(([key, found]) => [key, sumsOf(found)]);
  };
  return {
    buckets: new Map(group(bucketOf)),
    agents: new Map(group((one) => one.agent_name)),
    controls: new Map(group((one) => JSON.stringify([one.agent_name, one.control_id, one.control_name]))),
    topControls: new Map(group((one) => JSON.stringify([one.control_id, one.control_name]))),
  };
}

/** Statistics in the form of `naive`. */
export function shown(found: Statistics) {
  return {
    buckets: new Map(found.buckets),
    agents: new Map(found.agents.map(({ agentName, ...sums }) => [agentName, sums])),
    controls: new Map(
      found.controls.map(({ agentName, controlId, controlName, ...sums }) => [
        JSON.stringify([agentName, controlId, controlName]),
        sums as Sums,
      ]),
    ),
    topControls: new Map(
      found.topControls.map(({ controlId, controlName, ...sums }) => [
        JSON.stringify([controlId, controlName]),
        sums as Sums,
      ]),
    ),
  };
}
