import type { AgentKey } from '../../contract/call/namespace.js';
import type { ToldVerdict, VerdictObserver } from '../../decide/decisions/verdict-observer.js';
import type { Stage, Step } from '../../kernel/core/types.js';
import { isStorable } from '../../storage/database/text.js';

/** Most steps of an agent, over all points and stages, that are known by their names between two writes. */
export const MAX_STEPS = 1_000;
/** Most steps of all agents: a bound of memory, some 10 MB; and as many entries without names of steps again. */
const MAX_ENTRIES = 50_000;
/** Longest type and name of a step that are kept, in UTF-16 units: an index of PostgreSQL takes them. */
const MAX_NAME = 255;
/** Points are named by the code, so that this is a bound for mistakes. */
const MAX_POINTS = 64;

/** The type and the name of steps that are counted without theirs. */
const UNNAMED = { type: '', name: '' };

/** What was evaluated of one step of an agent at one point in one stage since it was last written. */
export interface SeenStep {
  readonly agent: AgentKey;
  readonly point: string;
  readonly stage: Stage;
  readonly stepType: string;
  readonly stepName: string;
  readonly evaluated: number;
  /** Seconds since 1970. */
  readonly firstSeenS: number;
  readonly lastSeenS: number;
}

/** An entry is changed in place: evaluations allocate nothing for a step that has one. */
class Entry {
  count = 0;
  /** `count` when it was last marked. */
  marked = 0;
  firstSeenS = 0;
  lastSeenS = 0;

  constructor(
    readonly point: string,
    readonly stage: Stage,
    readonly type: string,
    /** The next one with the same name. */
    readonly next: Entry | undefined,
  ) {}
}

interface SeenAgent {
  readonly entries: Map<string, Entry>;
  size: number;
}

/**
 * Counts evaluations by agent, point, stage and step. It runs for every evaluation, so it only looks up an entry and advances
 * a number; `mark` looks at the clock.
 */
export class Sightings implements VerdictObserver {
  readonly #maxEntries: number;
  readonly #maxSteps: number;
  readonly #agents = new Map<string, SeenAgent>();
  readonly #points = new Map<string, number>();
  #size = 0;
  #lost = 0;

  constructor({ maxEntries = MAX_ENTRIES, maxSteps = MAX_STEPS } = {}) {
    this.#maxEntries = maxEntries;
    this.#maxSteps = maxSteps;
  }

  told({ agent, request, caller, isAnswered }: ToldVerdict): void {
    if (isAnswered) this.see(agent, request.step, request.stage, caller.adapter ?? caller.protocol);
  }

  /** `point`: where the evaluation comes from: the adapter of the caller, or else its protocol. */
  see(agent: AgentKey, { type, name }: Pick<Step, 'type' | 'name'>, stage: Stage, point: string): void {
    let entry = this.#agents.get(agent)?.entries.get(name);
    while (entry !== undefined) {
      if (entry.stage === stage && entry.type === type && entry.point === point) {
        entry.count += 1;
        return;
      }
      entry = entry.next;
    }
    this.#begin(agent, type, name, stage, point);
  }

  /** Says that what was counted since the last call was seen until now. */
  mark(nowS: number): void {
    for (const { entries } of this.#agents.values()) {
      for (const first of entries.values()) {
        for (let entry: Entry | undefined = first; entry !== undefined; entry = entry.next) {
          if (entry.count === entry.marked) continue;
          if (entry.marked === 0) entry.firstSeenS = nowS;
          entry.lastSeenS = nowS;
          entry.marked = entry.count;
          if (this.#points.size < MAX_POINTS || this.#points.has(entry.point))
            this.#points.set(entry.point, nowS);
        }
      }
    }
  }

  /** Takes away what was counted until now. What is near a bound is forgotten, so that other steps can be named. */
  take(nowS: number): SeenStep[] {
    this.mark(nowS);
    const taken: SeenStep[] = [];
    for (const [agent, { entries, size }] of this.#agents) {
      for (const [stepName, first] of entries) {
        for (let entry: Entry | undefined = first; entry !== undefined; entry = entry.next) {
          if (entry.marked === 0) continue;
          const { point, stage, type: stepType, marked: evaluated, firstSeenS, lastSeenS } = entry;
          taken.push({
            agent: agent as AgentKey,
            point,
            stage,
            stepType,
            stepName,
            evaluated,
            firstSeenS,
            lastSeenS,
          });
          entry.count = 0;
          entry.marked = 0;
        }
      }
      if (size >= this.#maxSteps) {
        this.#agents.delete(agent);
        this.#size -= size;
      }
    }
    // What is taken stays for the next evaluations only: agents that are silent, or gone, must not leave others without a place.
    if (this.#size > this.#maxEntries / 2) {
      this.#agents.clear();
      this.#size = 0;
    }
    return taken;
  }

  /** When each point was last marked, in seconds since 1970. */
  get points(): ReadonlyMap<string, number> {
    return this.#points;
  }

  /** Evaluations that are counted nowhere, because too many agents were seen between two writes. */
  get lost(): number {
    return this.#lost;
  }

  #begin(agent: AgentKey, type: string, name: string, stage: Stage, point: string): void {
    const known = this.#agents.get(agent);
    const isUnnamed = type === '' && name === '';
    const isOver = (known?.size ?? 0) >= this.#maxSteps || this.#size >= this.#maxEntries;
    if (!isUnnamed && (isOver || !isKept(type) || !isKept(name))) {
      this.see(agent, UNNAMED, stage, point);
      return;
    }
    // An agent is heard whatever other agents do.
    if (this.#size >= 2 * this.#maxEntries) {
      this.#lost += 1;
      return;
    }
    const seen = known ?? { entries: new Map<string, Entry>(), size: 0 };
    if (known === undefined) this.#agents.set(copied(agent), seen);
    const entry = new Entry(point, stage, copied(type), seen.entries.get(name));
    entry.count = 1;
    seen.entries.set(copied(name), entry);
    seen.size += 1;
    this.#size += 1;
  }
}

function isKept(text: string): boolean {
  return text.length <= MAX_NAME && isStorable(text);
}

/** The text by itself: it may be a part of a large request, which it would keep in memory. */
function copied(text: string): string {
  return Buffer.from(text).toString();
}
