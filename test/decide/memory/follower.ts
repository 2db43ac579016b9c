import type {
  CellNews,
  EntryAddition,
  ExchangeReply,
  ExchangeRequest,
  MemoryStore,
} from '../../../src/decide/memory/store/memory-store.js';

export const HOUR_US = 3_600_000_000;

/** What a process knows of a cell: texts of its entries, those of its checkpoint first. */
export interface Known {
  version: number;
  generation: number;
  entries: string[];
}

/** An entry for a cell, whose number is its place among the cells of the step. */
export interface Added {
  readonly cell: number;
  readonly entry: string;
  readonly checkpoint?: string;
  readonly used?: number;
  readonly expiresAtUs?: number;
}

/** A step: the ids of its cells, and what it adds once they are known. */
export interface FollowerStep {
  readonly cells: readonly string[];
  add(known: readonly Known[], nowUs: number): readonly Added[];
}

const UNKNOWN: Known = { version: -1, generation: 0, entries: [] };

/**
 * A process in small: it follows cells whose states are lists of texts, and whose checkpoints are such lists as JSON. It checks that
 * what the store tells of a cell fits to what it knew.
 */
export class Follower {
  readonly known = new Map<string, Known>();
  epoch: string | null = null;
  nowUs = 0;
  /** The agent that begins cells. */
  agent = 'agent';

  constructor(
    readonly store: MemoryStore,
    readonly namespace = 'default',
  ) {}

  of(id: string): Known {
    return this.known.get(id) ?? UNKNOWN;
  }

  /** Steps that are sent in one exchange. Returns for each whether it was applied. */
  async exchange(
    steps: readonly FollowerStep[],
    rules: ExchangeRequest['rules'] = [],
  ): Promise<ExchangeReply> {
    const ids = [...new Set(steps.flatMap(({ cells }) => cells))];
    const assumed = new Map(ids.map((id) => [id, { ...this.of(id), entries: [...this.of(id).entries] }]));
    const cells = ids.map((id) => {
      const { version: known, generation } = this.of(id);
      return { id, namespace: this.namespace, label: `label of ${id}`, agent: this.agent, known, generation };
    });
    const groups = steps.map(({ cells: used, add }) => {
      const states = used.map((id) => assumed.get(id) as Known);
      this.nowUs += 1;
      const additions = add(states, this.nowUs).map((added): EntryAddition => {
        const { checkpoint = null, used: share = 0, entry } = added;
        const state = states[added.cell] as Known;
        state.entries.push(entry);
        state.version += 1;
        state.generation ||= this.nowUs;
        this.nowUs += 1;
        return {
          cell: ids.indexOf(used[added.cell] as string),
          entry,
          atUs: this.nowUs - 1,
          expiresAtUs: added.expiresAtUs ?? this.nowUs + HOUR_US,
          used: share,
          checkpoint,
        };
      });
      return { cells: used.map((id) => ids.indexOf(id)), additions };
    });
    const reply = await this.store.exchange({ epoch: this.epoch, cells, groups, rules });
    this.#learn(ids, cells, groups, reply);
    return reply;
  }

  /** Repeats a step until it is applied. Returns the number of attempts. */
  async commit(step: FollowerStep): Promise<number> {
    for (let attempt = 1; attempt < 10_000; attempt += 1) {
      const { applied } = await this.exchange([step]);
      if (applied[0] === true) return attempt;
    }
    throw new Error('a step was never applied');
  }

  /** Brings cells up to date. */
  async look(...cells: string[]): Promise<ExchangeReply> {
    return this.exchange([{ cells, add: () => [] }]);
  }

  #learn(
    ids: readonly string[],
    cells: ExchangeRequest['cells'],
    groups: ExchangeRequest['groups'],
    { clock, news, applied }: ExchangeReply,
  ): void {
    const isSame = clock.epoch === this.epoch;
    this.epoch = clock.epoch;
    this.nowUs = Math.max(this.nowUs + 1, clock.storeUs + clock.offsetUs);
    for (const each of news) {
      const asked = cells[each.cell];
      if (asked === undefined)
        throw new Error(`there are news of the cell ${each.cell}, which was not asked for`);
      const follows =
        isSame && asked.known > 0 && asked.generation === each.generation && asked.known <= each.version;
      this.known.set(asked.id, learned(this.of(asked.id), each, follows));
    }
    for (const [index, { additions }] of groups.entries()) {
      if (applied[index] !== true) continue;
      for (const { cell, entry, atUs } of additions) {
        const known = this.of(ids[cell] as string);
        known.entries.push(entry);
        known.version += 1;
        known.generation ||= atUs;
      }
    }
  }
}

function learned(
  known: Known,
  { version, generation, checkpoint, entries }: CellNews,
  follows: boolean,
): Known {
  const begun =
    checkpoint === null ? (follows ? known.entries : []) : (JSON.parse(checkpoint.text) as string[]);
  const start = checkpoint === null ? (follows ? known.version : 0) : checkpoint.version;
  if (start + entries.length !== version) {
    throw new Error(`${entries.length} entries after ${start} are not the ones up to ${version}`);
  }
  return { version, generation, entries: [...begun, ...entries] };
}
