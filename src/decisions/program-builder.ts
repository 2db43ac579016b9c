import { setImmediate } from 'node:timers/promises';
import type { StoredDefinition } from '../controls/agent-control-store.js';
import type { ControlFailure, LinkableControl } from '../core/linked-control.js';
import type { PreparedControl } from '../core/prepared-control.js';
import { linkSteps } from '../core/program.js';
import type { ControlProgram } from '../core/types.js';
import { withTimeout } from '../database/in-time.js';
import type { ControlLibrary } from './control-library.js';
import { mapInTurns, runInTurns, TURN_MS } from './in-turns.js';
import { WeakStore } from './weak-store.js';

export interface ProgramBuilderOptions {
  readonly library: ControlLibrary;
  readonly newExecutionId: () => string;
  /** Called with the reason why controls could not be evaluated; verdicts have fixed texts only. */
  readonly onFailure: (failure: ControlFailure) => void;
}

/** Compiles and links stored controls. Equal controls give the same program while that is in use. Never rejects. */
export type ProgramBuilder = (controls: readonly StoredDefinition[]) => Promise<ControlProgram>;

export function createProgramBuilder(options: ProgramBuilderOptions): ProgramBuilder {
  const { library, newExecutionId, onFailure } = options;
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
  async function build(controls: readonly StoredDefinition[]): Promise<ControlProgram> {
    const prepared = await mapInTurns(controls, ({ id, name, data }) => ({
      id,
      name,
      prepared: library.prepare(data),
    }));
    const key = keyOf(prepared);
    const known = programs.get(key);
    if (known !== undefined) return known;
    const program = await runInTurns(
      linkSteps(prepared, { newExecutionId, onFailure, withTimeout, nextTurn: setImmediate }),
    );
    programs.set(key, program);
    return program;
  }

  /** After a change of a control that many sets share, programs are linked one after the other, in short turns. */
  let previous: Promise<unknown> = Promise.resolve();
  let turnBegan = 0;
  async function takeTurn(): Promise<void> {
    if (performance.now() - turnBegan < TURN_MS) return;
    await setImmediate();
    turnBegan = performance.now();
  }
  return (controls) => {
    const built = previous.then(() => build(controls));
    previous = built.then(takeTurn);
    return built;
  };
}
