import type { ControlProgram } from '../../kernel/core/types.js';
import { createCatchUp } from '../../storage/database/catch-up.js';
import type { RecordedChange } from '../../storage/database/change-log.js';
import { type ControlLinks, linksKey } from '../agent-state/control-links.js';
import { createBatches } from './batches.js';
import { LoadedProgram, type Progress } from './loaded-program.js';
import type { MemoryLedger } from './memory-ledger.js';
import type { ProgramBuilder } from './program-builder.js';
import type { ReadControls, StateReader } from './state-reader.js';

/** About how many controls one statement reads: a few milliseconds of work on the main thread. */
const MAX_READ_AT_ONCE = 500;
/** What a set is taken to have before it is read. */
const USUAL_CONTROLS = 50;
/** Attempts to read a set at a revision known to exist, which fail if each meets a change. */
const MAX_LOAD_ATTEMPTS = 100;
/** Outdated sets that are loaded at the same time, without an evaluation that waits for them. */
const MAX_CATCHING_UP = 64;
/** Memory of a set besides its program and ids, in bytes; and of each id. */
const SET_BYTES = 600;
const ID_BYTES = 16;

/** The effective controls of all agents with the same links. */
export interface ControlSet {
  readonly links: ControlLinks;
  /** Null until it is loaded for the first time. */
  readonly loaded: LoadedProgram | null;
  /** The program must not decide any more: this process changed its controls. */
  readonly outdated: boolean;
  /** Whether the program is that of the latest known revision. */
  readonly isCurrent: boolean;
}

interface Entry extends ControlSet {
  readonly key: string;
  readonly bytes: number;
  loaded: LoadedProgram | null;
  outdated: boolean;
  isCurrent: boolean;
  loading: Promise<void> | null;
  /** A load must have read at least this revision. */
  needed: number;
  /** Controls that may have changed since it was loaded; null when anything may have, and all must be read. */
  changed: Set<number> | null;
  /** Number of agents. */
  holders: number;
}

export interface ControlSetsOptions {
  readonly reader: Pick<StateReader, 'controlsOf' | 'definitionsOf'>;
  readonly builder: Omit<ProgramBuilder, 'definitionsOf'>;
  /** The state of the database known to this process. */
  readonly progress: () => Progress;
  readonly memory: MemoryLedger;
  /** Called when a set takes more memory than before. */
  readonly onGrown: () => void;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/**
 * The distinct sets of controls of the agents in memory. A change of a control or policy is loaded and linked
 * once for each set that has it, and applies to all agents of the set at the same moment.
 */
export class ControlSets {
  readonly #options: ControlSetsOptions;
  readonly #sets = new Map<string, Entry>();
  readonly #behind = new Set<Entry>();
  readonly #catchUp = createCatchUp({
    behind: this.#behind,
    load: (set: Entry) => (set.loading === null ? this.load(set) : null),
    maxAtOnce: MAX_CATCHING_UP,
  });
  readonly #read: (set: Entry) => Promise<LoadedProgram>;
  /** Reads controls, by their ids as JSON: after a change, the same ones for all sets. */
  readonly #readDefinitions: (ids: string) => Promise<ReadControls>;

  constructor(options: ControlSetsOptions) {
    this.#options = options;
    this.#read = createBatches({
      load: (sets) => this.#readBatch(sets),
      maxSize: MAX_READ_AT_ONCE,
      weightOf: ({ loaded }) => 1 + (loaded?.program.controlIds.length ?? USUAL_CONTROLS),
    });
    this.#readDefinitions = createBatches({
      load: (some) => some.map((ids) => options.reader.definitionsOf(JSON.parse(ids) as number[])),
      maxSize: MAX_CATCHING_UP,
    });
  }

  /** Number of sets. */
  get size(): number {
    return this.#sets.size;
  }

  /** The set of some links, for one more agent. `release` must be called for it. */
  hold(links: ControlLinks): ControlSet {
    const key = linksKey(links);
    const known = this.#sets.get(key);
    if (known !== undefined) {
      known.holders += 1;
      return known;
    }
    const set: Entry = {
      key,
      bytes: SET_BYTES + 2 * key.length + ID_BYTES * (links.controlIds.length + links.policyIds.length),
      links,
      loaded: null,
      outdated: false,
      isCurrent: false,
      loading: null,
      needed: 0,
      changed: null,
      holders: 1,
    };
    this.#sets.set(key, set);
    this.#behind.add(set);
    this.#options.memory.addBytes(set.bytes);
    return set;
  }

  /** An agent does not have the set any more. A set without agents is forgotten. */
  release(held: ControlSet): void {
    const set = held as Entry;
    set.holders -= 1;
    if (set.holders === 0) this.#forget(set);
  }

  /**
   * Resolves when the program has been read again. It is current then, unless there is a change that is not known
   * to this process yet, or another one was reported meanwhile.
   */
  load(held: ControlSet): Promise<void> {
    const set = held as Entry;
    set.loading ??= this.#load(set).finally(() => {
      set.loading = null;
    });
    return set.loading;
  }

  /** Reads and links the controls of a set, without changing it: its agents may be at other revisions. */
  read(set: ControlSet): Promise<LoadedProgram> {
    return this.#read(set as Entry);
  }

  /** Applies a change. With `here`, made by this process, programs before it decide nothing more. */
  invalidate(change: RecordedChange, here: boolean): void {
    const concerns = concernedBy(change);
    if (concerns === null) return;
    for (const set of this.#sets.values()) {
      // The controls of a set that is not loaded are not known yet.
      if (!set.isCurrent || set.loading !== null || concerns(set.links, set.loaded?.program)) {
        this.#demand(set, change, here);
      }
    }
  }

  /** Resumes loading outdated sets, and those of the last known good file: the database is reachable again. */
  catchUp(): void {
    for (const set of this.#sets.values()) {
      if (set.loaded?.isKept === true && set.isCurrent) this.#fallBehind(set);
    }
    this.#catchUp();
  }

  /** Forgets all sets: the database was replaced. */
  clear(): void {
    for (const set of this.#sets.values()) this.#forget(set);
  }

  /** When the oldest program still in use was certainly the latest; infinite while all are. */
  get oldestCurrentAtMs(): number {
    let oldest = Number.POSITIVE_INFINITY;
    const progress = this.#options.progress();
    for (const { loaded } of this.#behind) {
      if (loaded !== null) oldest = Math.min(oldest, loaded.currentAtMs(progress));
    }
    return oldest;
  }

  #demand(set: Entry, { revision, agents, controls, policies }: RecordedChange, here: boolean): void {
    if (set.loaded !== null && set.loaded.readRevision >= revision) return;
    set.needed = Math.max(set.needed, revision);
    const isOther = agents === 'any' || set.links.policyIds.some((id) => policies.includes(id));
    if (isOther) set.changed = null;
    else for (const id of controls) set.changed?.add(id);
    if (set.loaded === null) return;
    set.outdated ||= here;
    this.#fallBehind(set);
  }

  #fallBehind(set: Entry): void {
    set.loaded = set.loaded?.until(this.#options.progress()) ?? null;
    set.isCurrent = false;
    this.#behind.add(set);
  }

  async #load(set: Entry): Promise<void> {
    for (let attempt = 1; attempt <= MAX_LOAD_ATTEMPTS; attempt += 1) {
      const changed = set.changed === null ? null : [...set.changed];
      const loaded = (changed && (await this.#readChanged(set, changed))) ?? (await this.#read(set));
      const revision = loaded.readRevision;
      // A later change is not known to this process yet: the agents of the set may have other links since.
      if (revision > this.#options.progress().revision || this.#sets.get(set.key) !== set) return;
      if (revision < set.needed) continue;
      // A change that was reported while the controls were read, of others than these.
      if (changed !== null && set.changed?.size !== changed.length) continue;
      const { memory, onGrown } = this.#options;
      memory.add(loaded.program);
      if (set.loaded !== null) memory.remove(set.loaded.program);
      set.loaded = loaded;
      set.outdated = false;
      set.isCurrent = true;
      set.changed = new Set();
      this.#behind.delete(set);
      onGrown();
      return;
    }
  }

  /**
   * The program with some controls as they are now, which is that of the revision they are read at if all changes up
   * to it are known. Null when it cannot be made so.
   */
  async #readChanged(set: Entry, ids: readonly number[]): Promise<LoadedProgram | null> {
    const { builder, now } = this.#options;
    const { loaded } = set;
    if (loaded === null || loaded.isKept) return null;
    const startedAtMs = now();
    try {
      const state = await this.#readDefinitions(JSON.stringify(ids));
      const program = await builder.replace(loaded.program, ids, state.controls);
      return program && loadedFrom(state, program, startedAtMs);
    } catch {
      // The read of all controls has the error, or the last known good file.
      return null;
    }
  }

  #readBatch(sets: readonly Entry[]): readonly Promise<LoadedProgram>[] {
    const { reader, builder, now } = this.#options;
    const startedAtMs = now();
    const states = reader.controlsOf(
      // Never an older state than the last one that decided.
      sets.map(({ links, needed, loaded }) => ({
        links,
        needed: Math.max(needed, loaded?.readRevision ?? 0),
      })),
    );
    return states.map(async (reading) => {
      const state = await reading;
      return loadedFrom(state, await builder.build(state.controls), startedAtMs);
    });
  }

  #forget(set: Entry): void {
    const { memory } = this.#options;
    if (this.#sets.get(set.key) !== set) return;
    this.#sets.delete(set.key);
    this.#behind.delete(set);
    memory.addBytes(-set.bytes);
    if (set.loaded !== null) memory.remove(set.loaded.program);
  }
}

function loadedFrom(
  { revision, keptAtMs }: ReadControls,
  program: ControlProgram,
  startedAtMs: number,
): LoadedProgram {
  const source = {
    readRevision: revision,
    readAtMs: keptAtMs ?? startedAtMs,
    isKept: keptAtMs !== undefined,
  };
  return new LoadedProgram(program, source);
}

/** Whether a change affects the program of some links; null when it affects none by its controls or policies. */
export function concernedBy(
  change: RecordedChange,
): ((links: ControlLinks, program: ControlProgram | undefined) => boolean) | null {
  if (change.agents === 'any') return () => true;
  if (change.controls.length === 0 && change.policies.length === 0) return null;
  const controls = new Set(change.controls);
  const policies = new Set(change.policies);
  return (links, program) =>
    links.policyIds.some((id) => policies.has(id)) ||
    (program?.controlIds.some((id) => controls.has(id)) ?? false);
}
