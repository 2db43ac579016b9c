import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DRIFT_SHARE, JUMP_US, MemoryClock } from '../../../src/decide/memory/memory-clock.js';

const SECOND = 1_000_000;
const HOUR = 3_600 * SECOND;

/** The clock of a store that is set at will, with an offset that processes change. */
class Store {
  realUs = 1e15;
  setUs = 0;
  offsetUs = 0;
  version = 0;
  epoch = 'e';

  read() {
    return {
      storeUs: this.realUs + this.setUs,
      offsetUs: this.offsetUs,
      version: this.version,
      epoch: this.epoch,
    };
  }
}

/** A process: its monotonic clock began at another time. */
class Process {
  readonly clock = new MemoryClock();
  readonly #store: Store;
  readonly #beganUs: number;

  constructor(store: Store, beganUs: number) {
    this.#store = store;
    this.#beganUs = beganUs;
    this.exchange(1_000);
  }

  get monotonicUs(): number {
    return this.#store.realUs - this.#beganUs;
  }

  exchange(roundTripUs: number): void {
    const store = this.#store;
    const sentUs = this.monotonicUs;
    store.realUs += roundTripUs / 2;
    const told = store.read();
    store.realUs += roundTripUs / 2;
    const jump = this.clock.saw(told, sentUs, this.monotonicUs);
    if (jump === null) return;
    if (jump.version === store.version) {
      store.offsetUs = jump.offsetUs;
      store.version += 1;
    }
    expect(this.clock.saw(store.read(), this.monotonicUs, this.monotonicUs)).toBeNull();
  }

  now(): number {
    return this.clock.now(this.monotonicUs, 0);
  }
}

const event = fc.record({
  what: fc.constantFrom('pass', 'pass', 'pass', 'set', 'join', 'slew'),
  seconds: fc.double({ min: 0.001, max: 20, noNaN: true }),
  jumpUs: fc.integer({ min: -HOUR, max: HOUR }),
  roundTripUs: fc.integer({ min: 0, max: 300_000 }),
  process: fc.nat(3),
});

it('memory time never passes faster than real time by more than the threshold, whenever the clock is set', () => {
  let jumps = 0;
  fc.assert(
    fc.property(fc.array(event, { minLength: 5, maxLength: 80 }), (events) => {
      const store = new Store();
      const processes = [new Process(store, 5e14), new Process(store, 9e14)];
      const beganUs = store.realUs;
      const first = Math.max(...processes.map((process) => process.now()));
      for (const { what, seconds, jumpUs, roundTripUs, process: index } of events) {
        if (what === 'join') processes.push(new Process(store, store.realUs - seconds * SECOND));
        if (what === 'slew') store.setUs += jumpUs / 100_000;
        if (what === 'set') {
          store.setUs += jumpUs;
          // Processes that run look at the clock every two seconds: before others join.
          for (const process of processes) process.exchange(roundTripUs);
        }
        store.realUs += seconds * SECOND;
        processes[index % processes.length]?.exchange(roundTripUs);
        const passedUs = store.realUs - beganUs;
        for (const process of processes) {
          const ahead = process.now() - first - passedUs;
          // Once for the process that has drifted most, and once for one that joined it.
          expect(ahead).toBeLessThanOrEqual(2 * (JUMP_US + DRIFT_SHARE * passedUs) + 2);
        }
      }
      jumps += store.version;
    }),
    { seed: 34, numRuns: 300 },
  );
  expect(jumps).toBeGreaterThan(300);
});

it('a clock that is set by an hour while several processes run is compensated once, and time goes on', () => {
  for (const byUs of [HOUR, -HOUR]) {
    const store = new Store();
    const processes = [new Process(store, 1e14), new Process(store, 2e14), new Process(store, 3e14)];
    store.realUs += 10 * SECOND;
    for (const process of processes) process.exchange(500);
    const before = processes.map((process) => process.now());
    store.setUs = byUs;
    store.realUs += 1 * SECOND;
    for (const process of processes) process.exchange(500);
    expect(store.version).toBe(1);
    expect(Math.abs(store.offsetUs + byUs)).toBeLessThan(5_000);
    processes.forEach((process, index) => {
      expect(Math.abs(process.now() - (before[index] as number) - SECOND)).toBeLessThan(5_000);
    });
    // One that joins later has the same time.
    expect(Math.abs(new Process(store, 7e14).now() - (processes[0]?.now() ?? 0))).toBeLessThan(5_000);
  }
});

it('a process that met a clock right after it was set adopts the time of those that know better', () => {
  const store = new Store();
  const known = new Process(store, 1e14);
  store.realUs += 10 * SECOND;
  known.exchange(500);
  store.setUs = HOUR;
  const joined = new Process(store, 2e14);
  known.exchange(500);
  joined.exchange(500);
  expect(Math.abs(joined.now() - known.now())).toBeLessThan(5_000);
  expect(store.version).toBe(1);
});

it('a clock that is moved a little again and again is followed up to the drift alone', () => {
  const store = new Store();
  const process = new Process(store, 0);
  const began = process.now();
  const realUs = store.realUs;
  for (let count = 0; count < 1_000; count += 1) {
    store.setUs += 100_000;
    store.realUs += SECOND;
    process.exchange(100);
  }
  const gained = process.now() - began - (store.realUs - realUs);
  expect(gained).toBeLessThanOrEqual(JUMP_US + DRIFT_SHARE * (store.realUs - realUs) + 1_000);
});

it('goes on when another server with another clock has taken over, and begins anew with another memory', () => {
  const store = new Store();
  store.epoch = 'memory.first';
  const process = new Process(store, 5 * HOUR);
  const before = process.now();
  store.epoch = 'memory.second';
  store.setUs = HOUR;
  store.realUs += SECOND;
  process.exchange(1_000);
  expect(process.now() - before).toBeLessThan(2 * SECOND);
  expect(process.clock.known?.epoch).toBe('memory.second');
  store.epoch = 'other.second';
  store.setUs = 3 * HOUR;
  process.exchange(1_000);
  expect(process.now() - before).toBeGreaterThan(HOUR);
});
