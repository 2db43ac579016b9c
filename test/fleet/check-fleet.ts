import fc from 'fast-check';
import type { DatabaseKind } from '../support/databases.js';
import { fleetCommands } from './commands.js';
import { startReplicas } from './replicas.js';
import { Run, tally } from './run.js';
import { startWorkers } from './workers.js';

/**
 * Runs random sequences of commands on two replicas over one PostgreSQL database, or on two workers of one service over
 * one SQLite file, one sequence after the other on the same ones, and returns how often what happened. Rejects with the first sequence that breaks a law; its timing may
 * differ when it is repeated, so it is not made smaller.
 */
export async function checkFleet(kind: DatabaseKind, sequences: number, seed: number): Promise<typeof tally> {
  for (const key of Object.keys(tally) as (keyof typeof tally)[]) tally[key] = 0;
  const fleet = kind === 'sqlite' ? await startWorkers() : await startReplicas();
  try {
    await fc.assert(
      fc.asyncProperty(fleetCommands(kind), async (commands) => {
        const run = await Run.begin(fleet);
        for (const command of commands) await command.run(run);
        await run.converge();
      }),
      { numRuns: sequences, seed, endOnFailure: true },
    );
  } finally {
    await fleet.stop();
  }
  return { ...tally };
}
