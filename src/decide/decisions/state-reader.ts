import type { AgentKey, TargetKey } from '../../contract/call/namespace.js';
import type { StepSchemaMode } from '../../kernel/core/step-schemas.js';
import type { StoredDefinition } from '../agent-state/agent-control-store.js';
import type { ControlLinks } from '../agent-state/control-links.js';

/** Where a part of the stored state comes from. */
interface ReadPart {
  readonly revision: number;
  /**
   * Set when the database did not answer, and the part is that of the last known good file: when it was certainly
   * the latest, in milliseconds of the clock of the snapshot.
   */
  readonly keptAtMs?: number;
}

/** The links of an agent, with the controls that are bound to its target; null when it does not exist. */
export interface ReadLinks extends ReadPart {
  readonly links: ControlLinks | null;
  /** Whether the target has enabled bindings; false without a target. */
  readonly isBound: boolean;
  /** What the steps of the agent are compared with. */
  readonly steps: ReadSteps;
}

/**
 * The setting of an agent for the comparison of its steps with their schemas, null as the service is set, with the
 * schemas: as the text of its registration, or as the text that `stepSchemasText` makes of it, null without any.
 * `unknown` for a last known good file of an earlier version. The metadata of the agent are in its registration, or a text
 * of their own, null without any; undefined if they are not known.
 */
export type ReadSteps =
  | { readonly mode: StepSchemaMode | null; readonly registration: string }
  | {
      readonly mode: StepSchemaMode | null;
      readonly schemas: string | null;
      readonly metadata?: string | null | undefined;
    }
  | 'unknown';

/** The controls of some links, newest id first. */
export interface ReadControls extends ReadPart {
  readonly controls: readonly StoredDefinition[];
}

/** An agent whose links are read. */
export interface WantedLinks {
  readonly agent: AgentKey;
  /** What it works on; null for nothing. */
  readonly target: TargetKey | null;
  /** The result is at this revision at least, unless the database reports an earlier one as the latest. */
  readonly needed: number;
}

/** Links whose controls are read. */
export interface WantedControls {
  readonly links: ControlLinks;
  /** As in `WantedLinks`. */
  readonly needed: number;
}

/**
 * Reads the stored state that verdicts depend on, many agents or links at once. Results are in the given order; each
 * is there, or fails, independently of the others.
 */
export interface StateReader {
  linksOf(agents: readonly WantedLinks[]): readonly Promise<ReadLinks>[];
  controlsOf(sets: readonly WantedControls[]): readonly Promise<ReadControls>[];
  /** Those of some controls that exist; of the database only, never of the last known good file. */
  definitionsOf(controlIds: readonly number[]): Promise<ReadControls>;
}
