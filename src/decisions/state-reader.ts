import type { StoredDefinition } from '../controls/agent-control-store.js';
import type { ControlLinks } from '../controls/control-links.js';

/** Where a part of the stored state comes from. */
interface ReadPart {
  readonly revision: number;
  /**
   * Set when the database did not answer, and the part is that of the last known good file: when it was certainly
   * the latest, in milliseconds of the clock of the snapshot.
   */
  readonly keptAtMs?: number;
}

/** The links of an agent; null when it does not exist. */
export interface ReadLinks extends ReadPart {
  readonly links: ControlLinks | null;
}

/** The controls of some links, newest id first. */
export interface ReadControls extends ReadPart {
  readonly controls: readonly StoredDefinition[];
}

/**
 * Reads the stored state that verdicts depend on, many agents or links at once. Each result is at revision
 * `needed` at least, unless the database reports an earlier one as the latest; an error concerns its item only.
 */
export interface StateReader {
  linksOf(agentNames: readonly string[], needed: number): Promise<readonly (ReadLinks | Error)[]>;
  controlsOf(links: readonly ControlLinks[], needed: number): Promise<readonly (ReadControls | Error)[]>;
}
