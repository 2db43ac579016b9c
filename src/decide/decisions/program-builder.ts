import { setImmediate } from 'node:timers/promises';
import type { ControlFailure, LinkableControl } from '../../kernel/core/linked-control.js';
import type { PreparedControl } from '../../kernel/core/prepared-control.js';
import { linkSteps } from '../../kernel/core/program.js';
import type { ControlProgram } from '../../kernel/core/types.js';
import { withTimeout } from '../../storage/database/in-time.js';
import type { StoredDefinition } from '../agent-state/agent-control-store.js';
import type { ControlLibrary } from './control-library.js';
import { createSharedTurns, mapInTurns, runInTurns, TURN_MS } from './in-turns.js';
import { WeakStore } from './weak-store.js';

export interface ProgramBuilderOptions {
  readonly library: ControlLibrary;
  readonly newExecutionId: () => string;
  /** Milliseconds since 1970; see `ProgramOptions`. */
  readonly now?: () => number;
  /** Whether every step of an agent without enabled controls is denied. */
  readonly emptyDenies?: boolean;
  /** Called with the reason why controls could not be evaluated; verdicts have fixed texts only. */
  readonly onFailure: (failure: ControlFailure) => void;
}

/** Compiles and links stored controls. Equal controls give the same program while that is in use. */
export interface ProgramBuilder {
  /** Never rejects. */
  build(controls: readonly StoredDefinition[]): Promise<ControlProgram>;
  /**
   * The program with some of its controls as they are now; `ids` without a definition are removed, those that it
   * does not have are ignored. Null for a program of another builder.
   */
  replace(
    program: ControlProgram,
    ids: readonly number[],
    definitions: readonly StoredDefinition[],
  ): Promise<ControlProgram | null>;
  /** The stored controls of a program that take part in evaluation; undefined for a program of another builder. */
  definitionsOf(program: ControlProgram): readonly StoredDefinition[] | undefined;
}

export function createProgramBuilder(options: ProgramBuilderOptions): ProgramBuilder {
  const { library, newExecutionId, now, emptyDenies = false, onFailure } = options;
  const nextTurn = createSharedTurns();
  const programs = new WeakStore<ControlProgram>({ keep: 0, keepBytes: 0 });
  const numbers = new WeakMap<PreparedControl, number>();
  let last = 0;
  /** The number of a compiled definition, which is the same object for equal texts. */
  const numberOf = (prepared: PreparedControl): number => {
    const known = numbers.get(prepared);
    if (known !== undefined) return known;
    last += 1;
    numbers.set(prepared, last);
    return last;
  };
  const keyOf = (controls: readonly LinkableControl[]): string =>
    JSON.stringify(controls.map(({ id, name, prepared }) => [id, name, numberOf(prepared)]));
  /** What each program was linked from. */
  const sources = new WeakMap<ControlProgram, readonly LinkableControl[]>();

  const prepared = ({ id, name, data }: StoredDefinition): LinkableControl => ({
    id,
    name,
    prepared: library.prepare(data),
  });

  async function link(controls: readonly LinkableControl[]): Promise<ControlProgram> {
    const key = keyOf(controls);
    const known = programs.get(key);
    if (known !== undefined) return known;
    const program = await runInTurns(
      linkSteps(controls, {
        newExecutionId,
        emptyDenies,
        onFailure,
        withTimeout,
        nextTurn,
        ...(now === undefined ? {} : { now }),
      }),
    );
    programs.set(key, program);
    sources.set(program, controls);
    return program;
  }

  async function replace(
    program: ControlProgram,
    ids: readonly number[],
    definitions: readonly StoredDefinition[],
  ): Promise<ControlProgram | null> {
    const source = sources.get(program);
    if (source === undefined) return null;
    const changed = new Set(ids);
    const byId = new Map((await mapInTurns(definitions, prepared)).map((control) => [control.id, control]));
    return link(
      source.flatMap((control) => (changed.has(control.id) ? (byId.get(control.id) ?? []) : control)),
    );
  }

  /** After a change of a control that many sets share, programs are linked one after the other, in short turns. */
  let previous: Promise<unknown> = Promise.resolve();
  let turnBegan = 0;
  async function takeTurn(): Promise<void> {
    if (performance.now() - turnBegan < TURN_MS) return;
    await setImmediate();
    turnBegan = performance.now();
  }
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = previous.then(work);
    previous = done.then(takeTurn);
    return done;
  }
  return {
    build: (controls) => inTurn(async () => link(await mapInTurns(controls, prepared))),
    replace: (program, ids, definitions) => inTurn(() => replace(program, ids, definitions)),
    definitionsOf: (program) =>
      sources.get(program)?.flatMap(({ id, name, prepared }) => {
        const data = library.textOf(prepared);
        return data === undefined ? [] : [{ id, name, data }];
      }),
  };
}
