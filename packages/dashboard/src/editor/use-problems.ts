import { useMemo } from 'react';
import { conditionOf, type EditorState } from './editor-state.js';
import { type ProblemIndex, problemIndex } from './problem-index.js';
import { placedProblem } from './problem-place.js';
import type { SaveOutcome } from './use-save.js';
import type { ServerCheck } from './use-server-check.js';

/** What is known to be wrong with a draft: from its last check, and from a refused save. */
export function useProblems(state: EditorState, check: ServerCheck, outcome: SaveOutcome): ProblemIndex {
  const { draft } = state;
  const checked = check.checked ?? draft;
  const refused = outcome.kind === 'refused' ? outcome.problems : NONE;
  // An untouched new control shows no problems for being empty.
  const isUntouched = state.past.length === 0 && refused === NONE && state.name === '';
  return useMemo(() => {
    if (isUntouched) return problemIndex(conditionOf(checked), []);
    // The check of the server knows the definition better than an earlier save, but not the name.
    const ofName = refused
      .filter(({ field }) => !field.startsWith('data'))
      .map((problem) => placedProblem(checked, problem));
    return problemIndex(conditionOf(checked), [...ofName, ...check.problems]);
  }, [checked, check.problems, refused, isUntouched]);
}

const NONE = [] as const;
