import type { AgentKey, TargetKey } from '../../contract/call/namespace.js';
import type { StepComparison } from '../../kernel/core/step-schemas.js';
import type { KeptMetadata } from './agent-metadata.js';
import type { ControlSet } from './control-sets.js';
import type { LoadedProgram } from './loaded-program.js';

/** Memory of an agent besides its key, in bytes; and what more one has that works on a target, besides the keys of it. */
const AGENT_BYTES = 300;
const PAIR_BYTES = 500;

/** An agent in memory, or one that works on a target. */
export interface AgentEntry {
  readonly key: AgentKey;
  /** Null for the agent without a target. */
  readonly target: TargetKey | null;
  /** The controls it has; null until it is loaded. */
  readonly set: ControlSet | null;
  /** Decides instead of the program of the set, while the two are of different revisions. */
  readonly own: LoadedProgram | null;
  /** How its steps are compared with their registered schemas, as of the links; null if they are not. */
  readonly comparison: StepComparison | null;
  /** Its metadata, as of the links; null while no check of its program reads them. */
  readonly metadata: KeptMetadata | null;
  /** The program that decided last, with the comparison and the metadata; null without either. */
  compared: { readonly of: LoadedProgram; readonly program: LoadedProgram } | null;
  /** Whether the links are certainly those of the latest known revision. */
  readonly isCurrent: boolean;
  /** Its own program must not decide any more: this process changed its links or controls. */
  outdated: boolean;
  /** Links read before this revision are discarded. */
  needed: number;
  /** The revision the links were read at. */
  readonly readRevision: number;
  readonly loading: Promise<void> | null;
  /** The tick of `AgentEntries` at the last use; 0 before the first one. */
  lastUse: number;
  /** The tick at which an eviction passed over it; 0 if none has. */
  passedAt: number;
  /** The hour since 1970 in which its use was taken for the record. */
  takenHour: number;
}

/** What an agent is loaded with. */
export interface GivenControls {
  /** Held for the agent. */
  readonly set: ControlSet;
  readonly own: LoadedProgram | null;
  readonly comparison: StepComparison | null;
  readonly metadata: KeptMetadata | null;
  /** The revision the links were read at. */
  readonly readRevision: number;
  /** Whether the links, or the own program, come from the last known good file. */
  readonly isKept: boolean;
}

/** The program that decides for an agent; null when none may. */
export function deciding(entry: AgentEntry): LoadedProgram | null {
  const loaded = decidingProgram(entry);
  if (loaded === null) return null;
  const { comparison, compared } = entry;
  const readsMetadata = loaded.program.readsAgent === 'metadata';
  if (comparison === null && !readsMetadata) return loaded;
  if (lacksMetadata(entry)) return null;
  if (compared?.of === loaded) return compared.program;
  const program = loaded.forAgent(comparison, readsMetadata ? (entry.metadata?.metadata ?? null) : null);
  entry.compared = { of: loaded, program };
  return program;
}

/** Whether the program of an agent reads metadata that were not read with its links. */
export function lacksMetadata(entry: AgentEntry): boolean {
  return entry.metadata === null && decidingProgram(entry)?.program.readsAgent === 'metadata';
}

function decidingProgram({ own, set, outdated }: AgentEntry): LoadedProgram | null {
  if (own !== null) return outdated ? null : own;
  return set === null || set.outdated ? null : set.loaded;
}

/** An agent that is not loaded yet. */
export function newEntry(key: AgentKey, target: TargetKey | null): AgentEntry {
  return {
    key,
    target,
    set: null,
    own: null,
    comparison: null,
    metadata: null,
    compared: null,
    isCurrent: false,
    outdated: false,
    needed: 0,
    readRevision: 0,
    loading: null,
    lastUse: 0,
    passedAt: 0,
    takenHour: 0,
  };
}

/** Memory of an entry itself. */
export function bytesOf({ key, target }: AgentEntry): number {
  const bytes = AGENT_BYTES + 2 * key.length;
  // The key of the target, and the key of the pair.
  return target === null ? bytes : bytes + PAIR_BYTES + 2 * (2 * target.length + key.length);
}
