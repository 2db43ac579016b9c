import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Client,
  createClient,
  type EvaluationRequest,
  type StreamResult,
} from '../../packages/client/src/node.js';
import { suiteService } from '../support/service-suite.js';
import { asking, PATIENT_MS, seedAgent } from './client-harness.js';

describe('evaluateStream', () => {
  let client: Client;
  const service = suiteService();
  beforeAll(async () => {
    await seedAgent(service.url);
    client = createClient({ baseUrl: service.url, maxInFlight: 16, timeoutMs: PATIENT_MS });
  });
  afterAll(() => client.close());

  it('answers every request once, and what is wrong with one ends nothing', async () => {
    const requests = Array.from({ length: 500 }, (_, index) =>
      index === 250 ? asking('x', 'nobody-knows-me') : asking(index % 3 === 0 ? 'bad' : 'good'),
    );
    const results: StreamResult[] = [];
    for await (const result of client.evaluateStream(requests)) results.push(result);
    results.sort((a, b) => a.index - b.index);
    expect(results.map((one) => one.index)).toEqual(requests.map((_, index) => index));
    results.forEach((one, index) => {
      expect(one.request).toBe(requests[index]);
      if (index === 250) expect(one).toHaveProperty('error');
      else expect(one).toMatchObject({ evaluation: { evaluated: true, isSafe: index % 3 !== 0 } });
    });
  });

  it('reads no further ahead than what may be in flight', async () => {
    let read = 0;
    function* endless() {
      for (;;) {
        read += 1;
        yield asking(`${read}`);
      }
    }
    let taken = 0;
    for await (const _ of client.evaluateStream(endless())) {
      taken += 1;
      expect(read - taken).toBeLessThanOrEqual(16);
      if (taken === 200) break;
    }
    const after = read;
    await client.evaluate(asking('later'));
    expect(read).toBe(after);
  });

  it('ends its source when the loop is left, and gives up what runs', async () => {
    let ended = false;
    async function* source(): AsyncGenerator<EvaluationRequest> {
      try {
        yield asking('first');
        yield asking('second');
        yield asking('third');
      } finally {
        ended = true;
      }
    }
    for await (const _ of client.evaluateStream(source())) break;
    expect(ended).toBe(true);
  });

  it('yields what was answered before it throws what its source throws', async () => {
    const failure = new Error('no more input');
    async function* source(): AsyncGenerator<EvaluationRequest> {
      yield asking('first');
      throw failure;
    }
    const seen: StreamResult[] = [];
    const loop = async () => {
      for await (const one of client.evaluateStream(source())) seen.push(one);
    };
    await expect(loop()).rejects.toBe(failure);
    expect(seen).toHaveLength(1);
  });
});
