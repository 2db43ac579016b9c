import { expect, it } from 'vitest';
import { CLEAN_END, MOMENTS, type Moment, stopGroup } from '../app/cluster/support/group-stop.js';
import { fuzzSeed, Random } from '../serve/wire/random.js';
import { compiled } from '../support/service-process.js';

const ROUNDS = Number(process.env.CTRL_C_ROUNDS ?? 100);
/** Longest time after the moment, in milliseconds: about what a worker takes to start. */
const MAX_DELAY_MS = 2_000;
const SIGNALS: readonly NodeJS.Signals[][] = [['SIGINT'], ['SIGINT', 'SIGTERM'], ['SIGTERM']];
const LIMIT_MS = 3_600_000;

it(
  `all processes of a service end with 0 in ${ROUNDS} rounds of Ctrl-C at any moment`,
  async () => {
    const seed = fuzzSeed();
    console.log(`ctrl-c: ${ROUNDS} rounds, seed ${seed}`);
    const moments = Object.keys(MOMENTS) as Moment[];
    const random = new Random(seed);
    const ends = new Map<Moment, number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      // Every second round while it serves, which is when people press it.
      const moment = round % 2 === 0 ? 'while it serves' : (moments[(round >> 1) % moments.length] as Moment);
      const signals = SIGNALS[round % SIGNALS.length] ?? [];
      const delayMs = moment === 'while it serves' ? 0 : random.below(MAX_DELAY_MS);
      const stop = { moment, signals, delayMs };
      const end = await stopGroup({ compiled, ...stop });
      expect({ round, stop, end }).toEqual({ round, stop, end: CLEAN_END });
      ends.set(moment, (ends.get(moment) ?? 0) + 1);
    }
    console.log(`ctrl-c: all ended with 0: ${JSON.stringify(Object.fromEntries(ends))}`);
  },
  LIMIT_MS,
);
