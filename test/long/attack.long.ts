import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ATTACKS, type Attack } from '../attack/attacks.js';
import {
  type AttackedService,
  type Latency,
  startAttacked,
  type VictimReport,
} from '../attack/under-attack.js';
import { compiled } from '../support/service-process.js';
import { until } from '../support/until.js';

/** Seconds after an attack by which its memory has to be free. */
const MEMORY_SECONDS = 10;
/** A quiet service is taken to be no faster than this, in milliseconds: the machine does other things, too. */
const LEAST_QUIET_MS = 2;

/** Seconds of each phase: before an attack, during it, and from a second after its end on. */
const SECONDS = Number(process.env.VERIFY_SECONDS ?? 5);
const PAUSE_MS = 1_000;

const ms = (value: number) => value.toFixed(1).padStart(7);
const line = (what: string, { calls, p50, p99, max }: Latency) =>
  `  ${what.padEnd(24)} p50 ${ms(p50)}  p99 ${ms(p99)}  max ${ms(max)}  calls ${calls}`;
const failuresOf = ({ failures }: VictimReport) =>
  Object.values(failures).reduce((sum, count) => sum + count, 0);

/** Resident memory without garbage, which V8 leaves there until it needs the space. */
async function heldMib(attacked: AttackedService): Promise<number> {
  const { process, directory } = attacked.service;
  const report = path.join(directory, 'heap.txt');
  const lines = () => (existsSync(report) ? readFileSync(report, 'utf8').split('\n').length : 0);
  const before = lines();
  process.kill('SIGUSR2');
  await until(lines, (count) => count > before);
  return attacked.residentMib();
}

/** The changes of a round: also made without the attack, because each takes its time by itself. */
async function changeSome(attacked: AttackedService, { changes = 0 }: Attack): Promise<void> {
  for (let change = 0; change < changes; change += 1) await attacked.change();
}

/** All rounds of an attack, with the changes in each. */
async function attackInRounds(attacked: AttackedService, attack: Attack) {
  const { rounds = 1, changes = 0 } = attack;
  const sum = { connections: 0, requests: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const running = attacked.attack(attack, SECONDS);
    // After its streams are open.
    if (changes > 0) await pause((SECONDS * 1_000) / 3);
    await changeSome(attacked, attack);
    const { connections, requests } = await running;
    sum.connections += connections;
    sum.requests += requests;
  }
  return sum;
}

it.each(ATTACKS.map((attack) => [attack.name, attack] as const))(
  '%s',
  async (name, attack) => {
    // A service of its own for each, so that memory is what this attack made of it.
    const attacked: AttackedService = await startAttacked(compiled, 10, {
      NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'collect-on-signal.mjs')}`,
      HEAP_REPORT: 'heap.txt',
    });
    try {
      await pause(2_000);
      await attacked.victim();
      await Promise.all([pause(SECONDS * 1_000), changeSome(attacked, attack)]);
      const quiet = await attacked.victim();
      const before = await heldMib(attacked);
      let most = before;
      const watching = setInterval(() => {
        most = Math.max(most, attacked.residentMib());
      }, 100);
      const report = await attackInRounds(attacked, attack);
      const during = await attacked.victim();
      await pause(PAUSE_MS);
      const pausing = await attacked.victim();
      await pause(SECONDS * 1_000);
      const after = await attacked.victim();
      await pause(Math.max(0, MEMORY_SECONDS - SECONDS) * 1_000);
      const kept = (await heldMib(attacked)) - before;
      clearInterval(watching);
      const refused = await attacked.sample('refused_calls_total');
      const closed = await attacked.sample('closed_connections_total');
      const ratio = (one: Latency, other: Latency) => (one.p99 / other.p99).toFixed(1);
      console.log(
        [
          `${name}: ${report.requests} requests on ${report.connections} connections in ${SECONDS} s`,
          line('quiet', quiet.kept),
          line('quiet, new connections', quiet.fresh),
          line('during', during.kept),
          line('during, new connections', during.fresh),
          line('a second after', after.kept),
          line('after, new connections', after.fresh),
          `  p99 during/quiet ${ratio(during.kept, quiet.kept)}, after/quiet ${ratio(after.kept, quiet.kept)}; new connections ${ratio(during.fresh, quiet.fresh)}, ${ratio(after.fresh, quiet.fresh)}`,
          `  refused ${refused}, connections closed ${closed}, memory ${before.toFixed(0)} MiB, +${(most - before).toFixed(0)} MiB, ${MEMORY_SECONDS} s later +${kept.toFixed(0)} MiB`,
        ].join('\n'),
      );
      expect(failuresOf(quiet) + failuresOf(during) + failuresOf(pausing) + failuresOf(after)).toBe(0);
      expect(after.kept.calls).toBeGreaterThan(0);
      if (attack.goals === undefined) return;
      const { mostRatio, mostMibKept } = attack.goals;
      expect(during.kept.p99).toBeLessThanOrEqual(mostRatio * Math.max(quiet.kept.p99, LEAST_QUIET_MS));
      expect(kept).toBeLessThanOrEqual(mostMibKept);
    } finally {
      await attacked.dispose();
    }
  },
  180_000 + 8 * SECONDS * 1_000,
);
