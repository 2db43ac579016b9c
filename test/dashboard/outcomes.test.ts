import { parseAst } from 'vite';
import { describe, expect, it } from 'vitest';
import { curlOf, pythonOf, typeScriptOf } from '../../packages/dashboard/src/first-evening/snippet-texts.js';
import { changeText, previousText } from '../../packages/dashboard/src/outcomes/change-text.js';
import { outcomeIntervals } from '../../packages/dashboard/src/outcomes/outcome-intervals.js';
import { limitOf, limitText } from '../../packages/dashboard/src/session/agent-limit-text.js';

describe('a change against the period before', () => {
  it.each<[bigint, bigint | undefined, string | undefined]>([
    [112n, 100n, '+12 %'],
    [101n, 100n, '+1.0 %'],
    [50n, 100n, '\u221250 %'],
    [0n, 100n, '\u2212100 %'],
    [100n, 100n, 'as many'],
    [10_001n, 10_000n, 'as many'],
    [5_000n, 100n, '50 times'],
    // Nothing can be compared with nothing, and with what was not counted.
    [5n, 0n, undefined],
    [0n, 0n, undefined],
    [5n, undefined, undefined],
  ])('of %s from %s is %s', (now, before, text) => {
    expect(changeText(now, before)).toBe(text);
  });

  it('names the period', () => {
    expect(['5m', '24h', '7d', 'custom', '2026-01-01T00:00:00Z/'].map(previousText)).toEqual([
      'previous 5 min',
      'previous 24 h',
      'previous 7 days',
      'the same time before',
      'the same time before',
    ]);
  });
});

it('each evaluation is in one part of a bar', () => {
  const counts = {
    evaluated: 100n,
    allowed: 70n,
    denied: 20n,
    steered: 10n,
    deniedByError: 5n,
    observed: 30n,
    failed: 6n,
  };
  const timeseries = [{ timestamp: '2026-01-01T00:00:00Z', counts }, { timestamp: '2026-01-01T01:00:00Z' }];
  const [first, second] = outcomeIntervals({ timeseries, bucketSeconds: 3_600 });
  expect(first?.counts).toEqual({ deny: 15, error: 5, steer: 10, observe: 30, safe: 40 });
  const parts = Object.values(first?.counts ?? {});
  expect(parts.reduce((sum, part = 0) => (sum ?? 0) + part, 0)).toBe(100);
  expect(second).toMatchObject({ fromMs: first?.toMs, counts: {}, evaluated: 0n });
});

describe('the limit of a key', () => {
  it('is said with names and patterns', () => {
    expect(limitText(limitOf(['b-bot', 'team-*', 'a-bot']))).toBe(
      'a-bot, b-bot and agents whose names match team-*',
    );
    expect(limitText(limitOf(['a-bot']))).toBe('a-bot');
    expect(limitText(limitOf([]))).toBe('no agent');
  });

  it('is short for many agents', () => {
    const names = Array.from({ length: 1_000 }, (_, at) => `bot-${String(at).padStart(4, '0')}`);
    expect(limitText(limitOf(names))).toBe('bot-0000, bot-0001, bot-0002, bot-0003, bot-0004 and 995 more');
  });
});

describe('a text to copy', () => {
  const service = { origin: 'https://controls.example', apiBase: '/prefix/v2', keysRequired: true };

  it('has the address of the JSON routes, and reads the key from a variable', () => {
    const body = { name: 'x', enabled: true, nothing: null };
    for (const text of [curlOf(service, '/evaluation', body), pythonOf(service, '/evaluation', body)]) {
      expect(text).toContain('https://controls.example/prefix/v2/evaluation');
      expect(text).toContain('SERVICE_API_KEY');
    }
    expect(pythonOf(service, '/evaluation', body)).toMatch(/"enabled": True,\s+"nothing": None/);
    expect(curlOf({ ...service, keysRequired: false }, '/evaluation', body)).not.toContain('x-api-key');
  });

  it('in TypeScript can be parsed', () => {
    const text = typeScriptOf(service, 'a-bot', ["console.log(client.guard(async () => 'x', {}));"]);
    expect(parseAst(text).body).toHaveLength(4);
    expect(text).toContain('apiKey: process.env.SERVICE_API_KEY');
  });
});
