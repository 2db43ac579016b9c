import { nameOfKey } from '../../contract/call/namespace.js';
import type { StepComparison } from '../../kernel/core/step-schemas.js';
import { unavailable } from '../../storage/database/errors.js';
import { agentNotFound } from '../agent-state/agent-errors.js';
import type { AgentEntries } from './agent-entries.js';
import type { AgentEntry } from './agent-entry.js';
import { metadataRead } from './agent-metadata.js';
import { createBatches } from './batches.js';
import type { ControlSet, ControlSets } from './control-sets.js';
import type { LoadedProgram, Progress } from './loaded-program.js';
import type { ReadLinks, StateReader } from './state-reader.js';
import type { StepSchemaLibrary } from './step-schema-library.js';
import type { UnboundTargets } from './unbound-targets.js';
import type { UnknownAgents } from './unknown-agents.js';

/** Attempts to read a revision known to exist, which fail if each meets a change, or after a restore. */
export const MAX_LOAD_ATTEMPTS = 100;
/** Agents read by one statement. */
export const MAX_READ_AT_ONCE = 500;

export interface AgentLoaderOptions {
  readonly reader: Pick<StateReader, 'linksOf'>;
  readonly agents: AgentEntries;
  readonly sets: ControlSets;
  readonly unknown: UnknownAgents;
  readonly unbound: UnboundTargets;
  readonly stepSchemas: StepSchemaLibrary;
  /** The state of the database known to this process. */
  readonly progress: () => Progress;
}

/** Reads the links of agents, many at once, and gives agents the sets of their links. */
export class AgentLoader {
  readonly #options: AgentLoaderOptions;
  readonly #readLinks: (entry: AgentEntry) => Promise<ReadLinks>;
  #loadedOnce = false;

  constructor(options: AgentLoaderOptions) {
    this.#options = options;
    this.#readLinks = createBatches({
      load: (entries: readonly AgentEntry[]) =>
        options.reader.linksOf(
          entries.map(({ key, target, needed, readRevision }) => ({
            agent: key,
            target,
            // Never an older state than the last one that decided.
            needed: Math.max(needed, readRevision),
          })),
        ),
      maxSize: MAX_READ_AT_ONCE,
    });
  }

  /** Whether any agent could be loaded. */
  get loadedOnce(): boolean {
    return this.#loadedOnce;
  }

  /**
   * Loads an agent; joins a load that is running. One whose target turns out to have no bindings is forgotten: the agent
   * without a target decides instead. Fails with AGENT_NOT_FOUND or SERVICE_UNAVAILABLE.
   */
  load(entry: AgentEntry): Promise<void> {
    return entry.loading ?? this.#options.agents.load(entry, this.#loadUntilCurrent(entry));
  }

  async #loadUntilCurrent(entry: AgentEntry): Promise<void> {
    const { agents, sets, unknown, stepSchemas } = this.#options;
    /** The set of the last attempt: usually that of the next one, too. */
    let held: ControlSet | null = null;
    try {
      for (let attempt = 1; attempt <= MAX_LOAD_ATTEMPTS; attempt += 1) {
        if (!agents.has(entry)) return;
        const read = await this.#readLinks(entry);
        if (read.revision < entry.needed) continue;
        if (read.links === null) {
          agents.forget(entry);
          unknown.add(entry.key);
          throw agentNotFound(nameOfKey(entry.key));
        }
        if (this.#isUnbound(entry, read)) {
          agents.forget(entry);
          return;
        }
        const comparison = await stepSchemas.comparisonOf(read.steps);
        const before = held;
        held = sets.hold(read.links);
        if (before !== null) sets.release(before);
        if (!(await this.#give(entry, held, comparison, read))) continue;
        held = null;
        return;
      }
      throw tooManyChanges();
    } catch (error) {
      // Entries without a program are useless; names that cannot be loaded must not fill the memory.
      if (entry.set === null) agents.forget(entry);
      throw error;
    } finally {
      if (held !== null) sets.release(held);
    }
  }

  /** Whether the target of an agent has no bindings, as of what is known here; remembers it. */
  #isUnbound({ target }: AgentEntry, { isBound, revision, keptAtMs }: ReadLinks): boolean {
    const { unbound, progress } = this.#options;
    if (target === null || isBound || keptAtMs !== undefined || revision > progress().revision) return false;
    unbound.add(target);
    return true;
  }

  /** Gives an agent the set of its links, which is held for it. False if a change came in between. */
  async #give(
    entry: AgentEntry,
    set: ControlSet,
    comparison: StepComparison | null,
    { revision, keptAtMs, steps }: ReadLinks,
  ): Promise<boolean> {
    const { agents, sets, progress } = this.#options;
    let own: LoadedProgram | null = null;
    if (revision > progress().revision) {
      // Later changes are not known yet, so links and controls have to be of the same revision.
      own = await sets.read(set);
      if (own.readRevision !== revision || progress().revision > revision) return false;
    } else {
      if (!set.isCurrent) await sets.load(set);
      if (!set.isCurrent || set.loaded === null) return false;
      if (keptAtMs !== undefined && set.loaded.readRevision !== revision) own = set.loaded;
    }
    if (!agents.has(entry) || entry.needed > revision) return false;
    if (keptAtMs !== undefined) own = own?.kept(keptAtMs) ?? null;
    const isKept = keptAtMs !== undefined || own?.isKept === true;
    const reads = (own ?? set.loaded)?.program.readsAgent === 'metadata';
    const metadata = reads ? metadataRead(steps) : null;
    agents.give(entry, { set, own, comparison, metadata, readRevision: revision, isKept });
    this.#loadedOnce = true;
    return true;
  }
}

export function tooManyChanges() {
  return unavailable('The controls of the agent change faster than they can be loaded.');
}
