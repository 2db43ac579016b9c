import type { VerdictRecorder } from '../../decide/decisions/evaluation-service.js';
import type { LoadedProgram } from '../../decide/decisions/loaded-program.js';
import type { ProgramBuilder } from '../../decide/decisions/program-builder.js';
import type { RevisionWatch } from '../../decide/decisions/revision-watch.js';
import type { ControlProgram } from '../../kernel/core/types.js';
import type { ComparedStep, ShadowComparison, ShadowPair } from './shadow-comparison.js';
import type { ShadowRegistry } from './shadow-registry.js';
import { isInShare } from './shadow-share.js';

export interface ShadowWatchOptions {
  readonly recorder: VerdictRecorder | undefined;
  readonly registry: Pick<ShadowRegistry, 'shadows' | 'onChange'>;
  readonly programs: Pick<RevisionWatch, 'programOf'>;
  readonly definitionsOf: ProgramBuilder['definitionsOf'];
  readonly comparison: Pick<ShadowComparison, 'add' | 'leaveOut'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Takes the place of the recorder that it passes verdicts on to. It is called for every verdict, after it was made: without a
 * shadow, it is the recorder itself.
 */
export function createShadowWatch(options: ShadowWatchOptions): VerdictRecorder {
  const { recorder, registry, programs, definitionsOf, comparison, now } = options;
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

  const alone: VerdictRecorder['record'] = (request, verdict, caller) =>
    recorder?.record(request, verdict, caller);

  const watching: VerdictRecorder['record'] = (request, verdict, caller) => {
    alone(request, verdict, caller);
    // No control was asked.
    if (verdict.halt !== undefined) return;
    const { namespace } = caller;
    const agent = namespace.agentKey(request.agentName);
    const target = request.target == null ? null : namespace.targetKey(request.target);
    const look = (loaded: LoadedProgram) => {
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
    };
    const loaded = programs.programOf(agent, target, 0);
    if (!(loaded instanceof Promise)) return look(loaded);
    // It was forgotten since.
    loaded.then(look).catch(() => {});
  };

  const watch = {
    get nonMatches() {
      return recorder?.nonMatches === true;
    },
    record: alone,
  };
  registry.onChange(() => {
    pairs = new WeakMap();
    watch.record = registry.shadows.length === 0 ? alone : watching;
  });
  return watch;
}
