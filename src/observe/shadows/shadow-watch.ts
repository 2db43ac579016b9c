import type { ProgramBuilder } from '../../decide/decisions/program-builder.js';
import type { ToldVerdict, VerdictObserver } from '../../decide/decisions/verdict-observer.js';
import type { ControlProgram } from '../../kernel/core/types.js';
import type { ComparedStep, ShadowComparison, ShadowPair } from './shadow-comparison.js';
import type { ShadowRegistry } from './shadow-registry.js';
import { isInShare } from './shadow-share.js';

export interface ShadowWatchOptions {
  readonly registry: Pick<ShadowRegistry, 'shadows' | 'onChange'>;
  readonly definitionsOf: ProgramBuilder['definitionsOf'];
  readonly comparison: Pick<ShadowComparison, 'add' | 'leaveOut'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Gives the steps of verdicts to the comparison with shadows. Without a shadow, it does nothing. */
export function createShadowWatch(options: ShadowWatchOptions): VerdictObserver {
  const { registry, definitionsOf, comparison, now } = options;
  /** The shadows of the controls of a program. A change of shadows makes them anew. */
  let pairs = new WeakMap<ControlProgram, readonly ShadowPair[]>();

  function pairsOf(program: ControlProgram): readonly ShadowPair[] {
    const known = pairs.get(program);
    if (known !== undefined) return known;
    const shadows = registry.shadows.filter(({ controlId }) => program.controlIds.includes(controlId));
    const stored = shadows.length === 0 ? [] : (definitionsOf(program) ?? []);
    const made = shadows.map((shadow) => {
      const live = stored.find(({ id }) => id === shadow.controlId);
      return { shadow, controlName: live?.name ?? '', live: live?.data ?? null };
    });
    pairs.set(program, made);
    return made;
  }

  function compare({ request, verdict, agent, loaded }: ToldVerdict): void {
    // A halt denied the step: no control was asked.
    if (loaded === null) return;
    const chosen = pairsOf(loaded.program).filter(({ shadow }) =>
      isInShare(shadow, agent, request.options?.sessionId),
    );
    if (chosen.length === 0) return;
    // Its content is in another thread.
    if (request.held !== undefined) {
      for (const { shadow } of chosen) comparison.leaveOut(shadow.id);
      return;
    }
    const { step, stage } = request;
    const facts = loaded.agentNamed(request.agentName) ?? { name: request.agentName, metadata: null };
    const decided = { agent, facts, step, stage, decisionId: verdict.decision_id, atMs: now() };
    comparison.add({ ...decided, pairs: chosen } satisfies ComparedStep);
  }

  const ignore = (): void => {};
  const watch = { told: ignore as VerdictObserver['told'] };
  registry.onChange(() => {
    pairs = new WeakMap();
    watch.told = registry.shadows.length === 0 ? ignore : compare;
  });
  return watch;
}
