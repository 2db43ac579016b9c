import { isDeepStrictEqual } from 'node:util';
import type { ChangedStep, LiftableControl, Lifts, PatchOperation } from '../../kernel/core/lift.js';
import type { AgentFacts, ControlProgram, Stage, Step, Verdict } from '../../kernel/core/types.js';
import { liftedVerdict } from '../../kernel/core/verdict.js';
import type { ApprovalAnswer, ApprovalNotice, UsedApproval } from './approval-gate.js';
import type { VerdictOutcome } from './evaluation-options.js';

/** The step that may run instead of the one that was evaluated. */
export interface StepModification extends ChangedStep {
  /** Ascending; empty if an approver changed it. */
  readonly controlIds: readonly number[];
}

/** What comes of a step that only liftable controls deny. */
export interface LiftedVerdict {
  /** Its matches are those of the step as it was sent. */
  readonly verdict: Verdict;
  readonly outcome: VerdictOutcome;
  readonly approval: ApprovalNotice | null;
  /** Not null if and only if the outcome is `modify`. */
  readonly modification: StepModification | null;
}

/** A step with liftable matches, and how it is evaluated again. */
export interface LiftableStep {
  readonly program: Pick<ControlProgram, 'lifts'>;
  readonly step: Step;
  readonly stage: Stage;
  readonly agent: AgentFacts | null;
  readonly signal: AbortSignal;
  /** Outcomes that the caller accepts; undefined for the default. */
  readonly accepts: readonly VerdictOutcome[] | undefined;
  /** Evaluates a step without the matches of `lifted`. Nothing is added to what is kept of earlier steps. */
  tried(step: Step, lifted: ReadonlySet<number>): Verdict | Promise<Verdict>;
  /** What `counted` would give now. Nothing is added to what is kept of earlier steps. */
  foreseen(step: Step, lifted: ReadonlySet<number>, known: Verdict): Verdict | Promise<Verdict>;
  /** Evaluates the step that is going to run, and adds it. `known` is what `tried` has given for it. */
  counted(step: Step, lifted: ReadonlySet<number>, known: Verdict): Verdict | Promise<Verdict>;
  /** Adds the step as it was sent to what is kept of earlier steps, as one that is denied. */
  refused(): Promise<void>;
  /** Asks for an approval of the step that would run. Null in a trial, where nothing is asked. */
  readonly ask: ((step: Step, controls: readonly LiftableControl[]) => Promise<ApprovalAnswer>) | null;
}

const NONE: ReadonlySet<number> = new Set();

/**
 * Changes the step, asks for its approval, or both. `first` is the verdict about the step as it was sent, and `lifts` what is
 * left to do about it. Everything that is unclear denies the step.
 */
export async function liftStep(of: LiftableStep, first: Verdict, lifts: Lifts): Promise<LiftedVerdict> {
  const may = (outcome: VerdictOutcome): boolean => of.accepts?.includes(outcome) === true;
  const deny = async (reason: string, approval: ApprovalNotice | null = null): Promise<LiftedVerdict> => {
    await of.refused();
    return { verdict: unsafe(first, reason), outcome: 'deny', approval, modification: null };
  };

  const { changing } = lifts;
  if (changing.length > 0 && !may('modify')) return deny(`${first.reason}; ${NEEDS_MODIFY}`);
  const changed = changing.length === 0 ? unchanged(of, first, lifts) : await change(of, lifts);
  if ('problem' in changed) return deny(`${first.reason}; ${changed.problem}`);

  const { asking } = changed;
  if (asking.length === 0) return passed(of, first, changed, { lifted: NONE, known: changed.verdict }, null);
  if (of.stage !== 'pre') return deny(`${first.reason}; an approval is only possible before the step runs`);
  if (of.ask === null) {
    const outcome = may('ask') ? 'ask' : 'deny';
    return {
      verdict: unsafe(first, `${first.reason}; ${WOULD_ASK}`),
      outcome,
      approval: null,
      modification: null,
    };
  }
  let answer = await of.ask(changed.step, asking);
  if (answer.kind === 'approved') {
    const run = answer.narrowed === null ? changed : narrowed(of.step, changed, answer.narrowed);
    if (answer.narrowed !== null && !may('modify')) {
      return deny(
        `${first.reason}; approval ${answer.notice.id} is for a changed step; ${NEEDS_MODIFY}`,
        answer.notice,
      );
    }
    const lifted = new Set(asking.map(({ id }) => id));
    const known = run === changed ? liftedVerdict(changed.verdict, lifted) : await of.tried(run.step, lifted);
    if (!known.is_safe) return deny(known.reason ?? DENIED, answer.notice);
    const next = await of.foreseen(run.step, lifted, known);
    if (!next.is_safe) return deny(next.reason ?? DENIED, answer.notice);
    // Used first: of several steps that wait for one approval, only the one that has it is counted.
    const used = await answer.use();
    if (!('kind' in used)) return approvedStep(of, first, run, { lifted, known }, used);
    answer = used;
  }
  const { notice, reason } = answer;
  if (answer.kind === 'refused') return deny(reason, notice);
  const outcome = may('ask') ? 'ask' : 'deny';
  return { verdict: unsafe(first, reason), outcome, approval: notice, modification: null };
}

/** The step with its approval, which is given back if what is kept of earlier steps denies it at the last moment. */
async function approvedStep(
  of: LiftableStep,
  first: Verdict,
  run: RunnableStep,
  known: { readonly lifted: ReadonlySet<number>; readonly known: Verdict },
  { notice, giveBack }: UsedApproval,
): Promise<LiftedVerdict> {
  let runs = false;
  try {
    const made = await passed(of, first, run, known, notice);
    runs = made.outcome !== 'deny';
    return made;
  } finally {
    if (!runs) await giveBack();
  }
}

/** How the reason of a verdict ends that denies a step only because its caller does not accept `modify`. */
export const NEEDS_MODIFY =
  'the step may only run changed, and the caller does not accept that (accepts does not include modify)';
const WOULD_ASK = 'the step would wait for an approval';
const DENIED = 'the step is denied by another control';

/** The step that would run, and who has to approve it. */
interface RunnableStep extends ChangedStep {
  readonly verdict: Verdict;
  readonly asking: readonly LiftableControl[];
  readonly controlIds: readonly number[];
}

function unchanged({ step }: LiftableStep, verdict: Verdict, { asking }: Lifts): RunnableStep {
  return { step, patch: [], verdict, asking, controlIds: [] };
}

/** The changed step, evaluated once more: it must not be denied by anything but controls that ask. */
async function change(
  of: LiftableStep,
  { changing }: Lifts,
): Promise<RunnableStep | { readonly problem: string }> {
  const { lifts } = of.program;
  if (lifts === null) return { problem: 'the controls have changed meanwhile' };
  const changed = await lifts.change(of.step, of.stage, changing, { signal: of.signal }, of.agent);
  of.signal.throwIfAborted();
  if ('problem' in changed) return changed;
  const verdict = await of.tried(changed.step, NONE);
  const rest = verdict.is_safe ? null : lifts.of(verdict);
  if (!verdict.is_safe && (rest === null || rest.changing.length > 0)) {
    return { problem: `the changed step is denied as well: ${verdict.reason}` };
  }
  return { ...changed, verdict, asking: rest?.asking ?? [], controlIds: changing.map(({ id }) => id) };
}

/** The step that an approver made of the one that was asked about. */
function narrowed(sent: Step, { verdict, asking }: RunnableStep, step: Step): RunnableStep {
  const patch: PatchOperation[] = [];
  for (const part of ['input', 'output', 'context'] as const) {
    if (isDeepStrictEqual(sent[part], step[part])) continue;
    patch.push({ op: 'replace', path: `/${part}`, value: step[part] });
  }
  return { step, patch, verdict, asking, controlIds: [] };
}

/** The verdict about a step that may run, unless what is kept of earlier steps denies it now. */
async function passed(
  of: LiftableStep,
  first: Verdict,
  run: RunnableStep,
  { lifted, known }: { readonly lifted: ReadonlySet<number>; readonly known: Verdict },
  approval: ApprovalNotice | null,
): Promise<LiftedVerdict> {
  const last = await of.counted(run.step, lifted, known);
  if (!last.is_safe) {
    return { verdict: unsafe(first, last.reason ?? DENIED), outcome: 'deny', approval, modification: null };
  }
  const limits = last.limits === undefined ? {} : { limits: last.limits };
  if (run.patch.length === 0) {
    const verdict = { ...first, ...limits, is_safe: true, reason: null };
    return { verdict, outcome: 'allow', approval, modification: null };
  }
  const by = run.controlIds.length === 0 ? 'its approver' : `control ${run.controlIds.join(', ')}`;
  const verdict = { ...unsafe(first, `the step may run as changed by ${by}`), ...limits };
  const { step, patch, controlIds } = run;
  return { verdict, outcome: 'modify', approval, modification: { step, patch, controlIds } };
}

function unsafe(verdict: Verdict, reason: string): Verdict {
  return { ...verdict, is_safe: false, reason };
}
