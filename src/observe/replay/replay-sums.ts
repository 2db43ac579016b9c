import type { Verdict } from '../../kernel/core/types.js';
import type { Judgement } from './judge.js';

/** Buckets of times grow by this factor: percentiles are exact to 2 %. */
const GROWTH = Math.log(1.02);
/** In microseconds: shorter times are as long. */
const SHORTEST_US = 0.1;

/** Sums of a replay, in memory that does not grow with the number of samples. */
export class ReplaySums {
  samples = 0;
  skipped = 0;
  changed = 0;
  falsePositives = 0;
  falsePositivesDenied = 0;
  readonly #controls = new Map<string, { live: number; proposed: number }>();
  readonly #agents = new Map<string, { samples: number; newlyDenied: number; newlyAllowed: number }>();
  readonly #live = new Times();
  readonly #proposed = new Times();

  /** `isMarked`: whether a match of the sample is marked as a false positive. */
  add(agentName: string, live: Judgement, proposed: Judgement, isMarked: boolean): void {
    this.samples += 1;
    if (isMarked) this.falsePositives += 1;
    if (isMarked && proposed.outcome === 'deny') this.falsePositivesDenied += 1;
    for (const { control_name } of live.verdict.matches) this.#control(control_name).live += 1;
    for (const { control_name } of proposed.verdict.matches) this.#control(control_name).proposed += 1;
    this.#live.add(live.timeUs);
    this.#proposed.add(proposed.timeUs);
    const agent = this.#agent(agentName);
    agent.samples += 1;
    if (live.outcome === proposed.outcome) return;
    this.changed += 1;
    if (proposed.outcome === 'deny') agent.newlyDenied += 1;
    if (live.outcome === 'deny') agent.newlyAllowed += 1;
  }

  /** As in the reply. */
  summary(withoutMemory: Iterable<string>) {
    const controls = [...this.#controls].map(([control_name, { live, proposed }]) => ({
      control_name,
      live_matches: live,
      proposed_matches: proposed,
    }));
    const agents = [...this.#agents].map(([agent_name, { samples, newlyDenied, newlyAllowed }]) => ({
      agent_name,
      samples,
      newly_denied: newlyDenied,
      newly_allowed: newlyAllowed,
    }));
    const difference = (one: (typeof controls)[number]): number =>
      Math.abs(one.live_matches - one.proposed_matches);
    const changes = (one: (typeof agents)[number]): number => one.newly_denied + one.newly_allowed;
    controls.sort((a, b) => difference(b) - difference(a) || order(a.control_name, b.control_name));
    agents.sort((a, b) => changes(b) - changes(a) || order(a.agent_name, b.agent_name));
    return {
      samples: this.samples,
      skipped: this.skipped,
      changed: this.changed,
      newly_denied: agents.reduce((sum, one) => sum + one.newly_denied, 0),
      newly_allowed: agents.reduce((sum, one) => sum + one.newly_allowed, 0),
      controls,
      agents,
      live_p50_us: this.#live.at(0.5),
      live_p99_us: this.#live.at(0.99),
      proposed_p50_us: this.#proposed.at(0.5),
      proposed_p99_us: this.#proposed.at(0.99),
      without_memory: [...withoutMemory].sort(order),
      false_positives: this.falsePositives,
      false_positives_denied: this.falsePositivesDenied,
    };
  }

  #control(name: string): { live: number; proposed: number } {
    const known = this.#controls.get(name);
    if (known !== undefined) return known;
    const made = { live: 0, proposed: 0 };
    this.#controls.set(name, made);
    return made;
  }

  #agent(name: string): { samples: number; newlyDenied: number; newlyAllowed: number } {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const made = { samples: 0, newlyDenied: 0, newlyAllowed: 0 };
    this.#agents.set(name, made);
    return made;
  }
}

/** Names of controls that match, or fail, in one verdict only. */
export function onlyIn(one: Verdict, other: Verdict): string[] {
  const names = ({ matches, errors }: Verdict): string[] =>
    [...matches, ...errors].map(({ control_name }) => control_name);
  const others = new Set(names(other));
  return [...new Set(names(one))].filter((name) => !others.has(name)).sort(order);
}

/** Times by their order of magnitude. */
class Times {
  readonly #counts: number[] = [];
  #all = 0;

  add(us: number): void {
    const bucket = Math.max(0, Math.round(Math.log(us / SHORTEST_US) / GROWTH));
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#all += 1;
  }

  /** The time that this share of all does not exceed, in microseconds; 0 without any. */
  at(share: number): number {
    if (this.#all === 0) return 0;
    let left = Math.ceil(this.#all * share);
    for (const [bucket, count = 0] of this.#counts.entries()) {
      left -= count;
      if (left <= 0) return Math.round(SHORTEST_US * Math.exp(bucket * GROWTH) * 10) / 10;
    }
    return 0;
  }
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
