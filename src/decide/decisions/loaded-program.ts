import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { StepComparison } from '../../kernel/core/step-schemas.js';
import type { AgentFacts, ControlProgram } from '../../kernel/core/types.js';

/** The state of the database known to a process. */
export interface Progress {
  /** Every change up to this revision is known. */
  readonly revision: number;
  /** When the database last confirmed that there is no later one, in milliseconds of a monotonic clock. */
  readonly currentAtMs: number;
}

/** Where a program was read from, and when. */
export interface ProgramSource {
  /** The revision it was read at. */
  readonly readRevision: number;
  /** When it was certainly the latest: when reading began, in milliseconds of a monotonic clock. */
  readonly readAtMs: number;
  /** Whether it was made from the last known good file, because the database did not answer. */
  readonly isKept: boolean;
}

/** A program with the revisions for which it is current. Immutable: any number of agents share it. */
export class LoadedProgram {
  readonly program: ControlProgram;
  readonly readRevision: number;
  readonly isKept: boolean;
  /** How the steps of the agent are compared with their registered schemas; null if they are not. */
  readonly comparison: StepComparison | null;
  /** The metadata of the agent, if a check of the program reads them; null if they are not known. */
  readonly #metadata: JsonObject | null;
  readonly #readAtMs: number;
  /** The last revision it is known to be current for, and when that was the latest; null while it is. */
  readonly #behind: Progress | null;

  constructor(
    program: ControlProgram,
    source: ProgramSource,
    behind: Progress | null = null,
    comparison: StepComparison | null = null,
    metadata: JsonObject | null = null,
  ) {
    this.program = program;
    this.comparison = comparison;
    this.#metadata = metadata;
    this.readRevision = source.readRevision;
    this.isKept = source.isKept;
    this.#readAtMs = source.readAtMs;
    this.#behind = behind;
  }

  /** The latest revision for which the program is certainly current. */
  revision(progress: Progress): number {
    return this.#behind === null
      ? Math.max(this.readRevision, progress.revision)
      : Math.max(this.readRevision, this.#behind.revision);
  }

  /** When it was certainly the latest. */
  currentAtMs(progress: Progress): number {
    return Math.max(this.#readAtMs, (this.#behind ?? progress).currentAtMs);
  }

  /** The same program as of `progress`: later progress does not apply to it. */
  until(progress: Progress): LoadedProgram {
    return this.#behind === null ? this.#copy({}, progress) : this;
  }

  /** The same program for an agent whose links come from the last known good file. */
  kept(keptAtMs: number): LoadedProgram {
    return this.#copy({ isKept: true, readAtMs: keptAtMs }, this.#behind);
  }

  /** The same program for an agent whose steps are compared with their registered schemas, and whose metadata are read. */
  forAgent(comparison: StepComparison | null, metadata: JsonObject | null): LoadedProgram {
    return this.#copy({}, this.#behind, comparison, metadata);
  }

  /** What the checks of the program read of the agent with this name; null if they read nothing. */
  agentNamed(name: string): AgentFacts | null {
    return this.program.readsAgent === 'nothing' ? null : { name, metadata: this.#metadata };
  }

  #copy(
    other: Partial<ProgramSource>,
    behind: Progress | null,
    comparison: StepComparison | null = this.comparison,
    metadata: JsonObject | null = this.#metadata,
  ): LoadedProgram {
    const { program, readRevision, isKept } = this;
    const source = { readRevision, isKept, readAtMs: this.#readAtMs, ...other };
    return new LoadedProgram(program, source, behind, comparison, metadata);
  }
}
