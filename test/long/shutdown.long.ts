import { describe, expect, it } from 'vitest';
import { restClient } from '../support/http.js';
import { type LoadProtocol, loadUntilRefused } from '../support/load-until-refused.js';
import { denyWord, seeder } from '../support/seed.js';
import { compiled, spawnService } from '../support/service-process.js';

const STOPS = Number(process.env.VERIFY_STOPS ?? '50');
const AGENT = 'stopped-agent';
const CLIENTS = { REST: 20, 'gRPC-Web': 8, gRPC: 8 } as const;
const ANSWERED_BEFORE = 2_000;
const TIMEOUT_MS = 3_600_000;

describe('stops under load of clients that keep their connections', () => {
  /** Stops a service once. Returns what its clients saw, and for how long it stopped. */
  async function stopOnce(workers: number) {
    const environment = { SERVICE_WORKERS: String(workers), SERVICE_DRAIN_SECONDS: '30' };
    const service = await spawnService(compiled, { environment });
    try {
      const url = await service.listening();
      const seed = seeder(restClient(url));
      await seed.linked(AGENT, 'no-bad', denyWord('bad'));
      let stoppedAt = 0;
      const seen = await loadUntilRefused({
        url,
        agentName: AGENT,
        clients: CLIENTS,
        answeredBefore: ANSWERED_BEFORE,
        stop: () => {
          stoppedAt = performance.now();
          service.process.kill('SIGTERM');
        },
      });
      return { seen, exit: await service.ended, seconds: (performance.now() - stoppedAt) / 1_000 };
    } finally {
      await service.dispose();
    }
  }

  it.each([1, 3])(
    `break no call: %i workers, half of ${STOPS} stops`,
    async (workers) => {
      const count = Math.ceil(STOPS / 2);
      const answered: Record<LoadProtocol, number> = { REST: 0, 'gRPC-Web': 0, gRPC: 0 };
      const errors: string[] = [];
      let longest = 0;
      for (let stop = 0; stop < count; stop += 1) {
        const { seen, exit, seconds } = await stopOnce(workers);
        for (const [name, one] of Object.entries(seen)) {
          const protocol = name as LoadProtocol;
          answered[protocol] += one.answered;
          errors.push(...one.errors.map((error) => `stop ${stop}, ${protocol}: ${error}`));
        }
        longest = Math.max(longest, seconds);
        expect(exit).toEqual({ code: 0, signal: null });
      }
      const evaluations = Object.entries(answered).map(([protocol, number]) => `${number} over ${protocol}`);
      // What broke is worth reading before the other half is over.
      for (const error of errors) console.log(error);
      console.log(
        `${workers} workers: ${count} stops, ${evaluations.join(', ')}, ${errors.length} broken calls, the longest stop ${longest.toFixed(1)} s`,
      );
      expect(errors).toEqual([]);
      for (const number of Object.values(answered)) expect(number).toBeGreaterThan(count);
    },
    TIMEOUT_MS,
  );
});
