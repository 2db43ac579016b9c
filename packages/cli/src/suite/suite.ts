import type { FileProblem } from '../files/problems.js';
import type { OfflineControls } from '../offline/documents.js';
import type { Question } from './judge.js';
import type { Expectation } from './suite-schema.js';

/** A case with what is expected of it. */
export interface SuiteCase {
  readonly name: string;
  /** Where it is. */
  readonly place: Omit<FileProblem, 'message'>;
  /** Why it is not run; null if it is. */
  readonly skip: string | null;
  readonly question: Question;
  readonly expect: Expectation;
}

/** Cases about one set of controls. */
export interface Suite {
  readonly name: string;
  readonly file: string;
  /** Null for the controls that an agent has on a server. */
  readonly controls: OfflineControls | null;
  readonly cases: readonly SuiteCase[];
}
