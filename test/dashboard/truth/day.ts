import { vi } from 'vitest';
import { AGENTS, type Fate, type Send, type Sent } from './traffic.js';

const MINUTE_MS = 60_000;
/** The day begins some minutes within the last 24 hours, whose first minute may be cut off, and ends before now. */
const DAY_MINUTES = 24 * 60 - 10;
/** So that an hour before the end is far from any of them. */
const STOPS = 40;
const MAX_PER_STOP = 4;

/** A generator of numbers from 0 to below 1, the same for each seed (mulberry32). */
function numbersOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function fateOf(shares: Partial<Record<Fate, number>>, number: number): Fate {
  let left = number * 100;
  for (const [fate, share] of Object.entries(shares)) {
    left -= share;
    if (left < 0) return fate as Fate;
  }
  return 'allow';
}

export interface DayOptions {
  readonly senders: readonly Send[];
  /** Has the service write what it holds, before the clock moves on. */
  readonly flush: () => Promise<void>;
  readonly seed: number;
}

/** A day of traffic that ends about now. */
export interface Day {
  /** Sends the traffic, and returns what was sent. The clock is the real one again after it. */
  live(options: DayOptions): Promise<readonly Sent[]>;
  /** The clock is the real one again. */
  end(): void;
}

/** Sets the clock of this process, and so of a service in it, to the beginning of a day that ends about now. */
export function beginDay(): Day {
  const nowMs = Date.now();
  const clockAt = (ageMinutes: number) => vi.setSystemTime(nowMs - ageMinutes * MINUTE_MS);
  vi.useFakeTimers({ toFake: ['Date'] });
  clockAt(DAY_MINUTES + 1);
  return {
    async live({ senders, flush, seed }) {
      const number = numbersOf(seed);
      const log: Sent[] = [];
      for (let stop = 0; stop < STOPS; stop += 1) {
        clockAt(DAY_MINUTES * (1 - stop / STOPS));
        // What comes next is counted for this minute.
        await flush();
        for (const [agent, shares] of Object.entries(AGENTS)) {
          for (let left = Math.floor(number() * (MAX_PER_STOP + 1)); left > 0; left -= 1) {
            const fate = fateOf(shares, number());
            const send = senders[log.length % senders.length];
            if (send === undefined) throw new Error('there is no sender');
            await send(agent, fate);
            log.push({ atMs: Date.now(), agent, fate });
          }
        }
        await flush();
      }
      vi.useRealTimers();
      return log;
    },
    end: () => void vi.useRealTimers(),
  };
}
