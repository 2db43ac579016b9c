import type { Namespace } from '../../contract/call/namespace.js';
import { type ActiveHalt, haltedPart, INSTALLATION } from '../../decide/halts/halt.js';
import { ofSubjects, type Problem } from './problem.js';

const TITLES = {
  one: (name: string) => `Steps are denied by a halt of ${name}`,
  many: (count: number) => `Steps are denied by ${count.toLocaleString('en')} halts`,
};
const DETAIL =
  'The halts were created by people, and deny steps whatever the controls say. Lift them when their reason is gone.';

/** The halts in force of a namespace and of the installation, or all, newest first. */
export function haltProblems(halts: readonly ActiveHalt[], of: Namespace | 'all'): Problem[] {
  const subjects = halts
    .filter(({ namespace }) => of === 'all' || namespace === of.name || namespace === INSTALLATION)
    .map((halt) => ({
      type: 'halt' as const,
      id: String(halt.id),
      name: haltedPart(halt),
      detail: halt.reason,
    }))
    .reverse();
  return ofSubjects('halted', 'notice', subjects, TITLES, DETAIL);
}
