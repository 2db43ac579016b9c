import type { DefinitionFault } from './definition-faults.js';
import { counted, ofSubjects, type Problem, type ProblemSubject, type SubjectTitles } from './problem.js';

/** A control that ended in an error lately. */
interface FailingControl {
  readonly id: number;
  readonly name: string;
  /** Seconds since 1970, to the minute. */
  readonly lastFailedS: number;
}

/** What is known of controls whose checks end in errors. */
export interface ControlFacts {
  readonly faults: readonly DefinitionFault[];
  /** Number of agents of the controls with faults; absent for none. */
  readonly agents: ReadonlyMap<number, number>;
  /** The latest first. */
  readonly failing: readonly FailingControl[];
}

const NOT_CONFIGURED: SubjectTitles = {
  one: (name) => `An evaluator of control "${name}" is not configured`,
  many: (count) => `Evaluators of ${counted(count, 'control')} are not configured`,
};
const UNREADABLE: SubjectTitles = {
  one: (name) => `The stored definition of control "${name}" cannot be read`,
  many: (count) => `The stored definitions of ${counted(count, 'control')} cannot be read`,
};
const FAILING: SubjectTitles = {
  one: (name) => `Control "${name}" ends in errors`,
  many: (count) => `${counted(count, 'control')} end in errors`,
};

const ADVICE = {
  evaluator_not_configured:
    'Each of its checks is an error, and an error of a control that denies denies the step. Configure the evaluator, or switch the control off.',
  control_unreadable:
    'The service cannot evaluate it, and treats it as a control that denies. Restore an earlier version, save it again, or delete it.',
} as const;

/** The problems of controls: those with a known cause first, each control once. */
export function controlProblems({ faults, agents, failing }: ControlFacts): Problem[] {
  const known = new Set(faults.map(({ id }) => id));
  const unexplained = failing.filter(({ id }) => !known.has(id));
  return [
    ...faultProblems('evaluator_not_configured', NOT_CONFIGURED, faults, agents),
    ...faultProblems('control_unreadable', UNREADABLE, faults, agents),
    ...ofSubjects(
      'control_failing',
      'warning',
      unexplained.map(({ id, name, lastFailedS }) => ({
        type: 'control',
        id: String(id),
        name,
        detail: `last error at ${new Date(lastFailedS * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
      })),
      FAILING,
      'In the last 15 minutes a check of it failed: its evaluator does not answer in time, or a step lacks what the control requires. Its events, with an error each, and the log of the service name the cause.',
    ),
  ];
}

/** Those that deny steps of agents are worse than those that only will, and are told apart. */
function faultProblems(
  kind: DefinitionFault['kind'],
  titles: SubjectTitles,
  faults: readonly DefinitionFault[],
  agents: ReadonlyMap<number, number>,
): Problem[] {
  const ofKind = faults.filter((fault) => fault.kind === kind);
  const isCritical = ({ id, denies }: DefinitionFault) => denies && (agents.get(id) ?? 0) > 0;
  const most = (left: DefinitionFault, right: DefinitionFault) =>
    (agents.get(right.id) ?? 0) - (agents.get(left.id) ?? 0) ||
    (left.name < right.name ? -1 : Number(left.name > right.name));
  const subjects = (of: DefinitionFault[]) => of.sort(most).map((fault) => subjectOf(fault, agents));
  return [
    ...ofSubjects(kind, 'critical', subjects(ofKind.filter(isCritical)), titles, ADVICE[kind]),
    ...ofSubjects(
      kind,
      'warning',
      subjects(ofKind.filter((fault) => !isCritical(fault))),
      titles,
      ADVICE[kind],
    ),
  ];
}

function subjectOf(
  { id, name, detail, denies }: DefinitionFault,
  agents: ReadonlyMap<number, number>,
): ProblemSubject {
  const count = agents.get(id) ?? 0;
  const users =
    count === 0 ? 'no agent has it' : `${counted(count, 'agent')}${denies ? ' denied by it' : ''}`;
  return { type: 'control', id: String(id), name, detail: `${detail}; ${users}` };
}
