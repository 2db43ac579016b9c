import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import {
  LabelledHistogram,
  LabelledValues,
  newCount,
  Observations,
} from '../../../src/app/operations/labelled-values.js';

const BOUNDS = [0.001, 0.01, 0.5, 2];
const LABELS: ['method', 'path', 'status'] = ['method', 'path', 'status'];
const OPTIONS = { name: 'time_seconds', help: 'Some time.', labelNames: LABELS };
const word = fc.constantFrom('a', 'b', '__proto__', 'with "quotes"', '');
const seconds = fc.oneof(
  fc.constantFrom(0, ...BOUNDS),
  fc.double({ min: 0, max: 3, noNaN: true, noDefaultInfinity: true }),
);

/** Exemplars, which are not used here, are left out. */
async function asData(registry: Registry): Promise<unknown> {
  const metrics: unknown = await registry.getMetricsAsJSON();
  return JSON.parse(JSON.stringify(metrics, (key, value) => (key === 'exemplar' ? undefined : value)));
}

describe('a histogram over labelled values', () => {
  it('reads like one of prom-client that was given the same, as text and as data', async () => {
    const observation = fc.tuple(word, word, word, seconds);
    await fc.assert(
      fc.asyncProperty(fc.array(observation, { maxLength: 40 }), async (observations) => {
        const [own, reference] = [new Registry(), new Registry()];
        for (const registry of [own, reference]) registry.setDefaultLabels({ app_name: 'app' });
        const values = new LabelledValues(LABELS, () => new Observations(BOUNDS));
        new LabelledHistogram({ ...OPTIONS, registers: [own] }, BOUNDS, values);
        const histogram = new Histogram({ ...OPTIONS, buckets: BOUNDS, registers: [reference] });
        for (const [method, path, status, value] of observations) {
          values.of(method, path, status).add(value);
          histogram.observe({ method, path, status }, value);
        }
        expect(await own.metrics()).toBe(await reference.metrics());
        expect(await asData(own)).toEqual(await asData(reference));
      }),
    );
  });
});

describe('labelled values', () => {
  it('are one for each choice of labels, distinguished by their places', () => {
    const counts = new LabelledValues(LABELS, newCount);
    counts.of('a', 'b', 'c').value += 1;
    counts.of('a', 'b', 'c').value += 1;
    counts.of('c', 'b', 'a').value += 5;
    counts.of('a', 'bc', '').value += 7;
    expect(counts.all).toEqual([
      { labels: { method: 'a', path: 'b', status: 'c' }, value: { value: 2 } },
      { labels: { method: 'c', path: 'b', status: 'a' }, value: { value: 5 } },
      { labels: { method: 'a', path: 'bc', status: '' }, value: { value: 7 } },
    ]);
  });
});
