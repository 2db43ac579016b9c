import { expect, it } from 'vitest';
import { figuresOf, type SinkMeter } from '../../../src/observe/events/sinks/sink-meter.js';
import { createSinkWatch } from '../../../src/observe/problems/sink-problems.js';

const MINUTE_MS = 60_000;

it('a sink is behind when events wait for more than five minutes, as far as positions tell', () => {
  const meter: SinkMeter = new Map();
  figuresOf(meter, 'kafka');
  figuresOf(meter, 'parquet');
  const watch = createSinkWatch(meter);
  const saw = (head: bigint, kafka: bigint | null, minute: number) =>
    watch.saw(head, new Map([['kafka', kafka]]), minute * MINUTE_MS);
  const told = (minute: number) =>
    watch.problems(minute * MINUTE_MS).map(({ kind, title, subjects }) => [kind, title, subjects[0]?.detail]);
  saw(50n, null, 0);
  expect(told(60)).toEqual([]);
  saw(50n, 10n, 1);
  saw(80n, 10n, 4);
  expect(told(6)).toEqual([]);
  expect(told(6.5)).toEqual([['sink_behind', 'kafka is behind with events', 'events of 5 minutes wait']]);
  // What is left waits since the fourth minute only.
  saw(90n, 60n, 7);
  expect(told(9)).toEqual([]);
  expect(told(9.5)).toHaveLength(1);
  saw(90n, 90n, 10);
  expect(told(60)).toEqual([]);
});

it('a sink fails while the last delivery of this process failed', () => {
  const meter: SinkMeter = new Map();
  const figures = figuresOf(meter, 'kafka');
  const watch = createSinkWatch(meter);
  const told = () => watch.problems(0).map(({ kind, subjects }) => [kind, subjects[0]?.detail]);
  expect(told()).toEqual([]);
  figures.failuresInRow = 1;
  expect(told()).toEqual([['sink_failing', 'failed 1 time in a row']]);
  figures.failuresInRow = 4;
  expect(told()).toEqual([['sink_failing', 'failed 4 times in a row']]);
});
