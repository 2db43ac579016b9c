import { type ConditionNode, childrenOf, kindOf, type NodePath } from './condition-tree.js';
import { givenMember, type JsonObject } from './json.js';
import type { DraftProblem, RelativeProblem } from './problem.js';

/** Where a problem is shown: at a node or, without a node, at the control itself. */
export interface ProblemPlace {
  readonly node: NodePath | null;
  /** The member below the node or the control, for example `evaluator.config.pattern` or `scope.stages`. */
  readonly member: string;
}

/** A problem with its place. */
export interface PlacedProblem extends DraftProblem {
  readonly place: ProblemPlace;
}

const CONDITION = /^data\.condition(?=$|[.[])/;
/** Problems of the whole definition name the member in their text. */
const NAMED_MEMBER = /^([a-z_]+(?:\.[a-z_]+)*): /;

export function placedProblem(draft: JsonObject, problem: DraftProblem): PlacedProblem {
  return { ...problem, place: placeOf(draft, problem) };
}

function placeOf(draft: JsonObject, { field, message }: DraftProblem): ProblemPlace {
  if (field === 'data') return { node: null, member: NAMED_MEMBER.exec(message)?.[1] ?? '' };
  if (!CONDITION.test(field)) return { node: null, member: field.replace(/^data\./, '') };
  const path: number[] = [];
  let node: ConditionNode = givenMember(draft, 'condition');
  let rest = field.replace(CONDITION, '');
  for (;;) {
    const kind = kindOf(node);
    const step = /^\.(?:(and|or)\[(\d+)\]|(not))(?=$|[.[])/.exec(rest);
    if (step === null || (step[1] ?? step[3]) !== kind) break;
    const index = Number(step[2] ?? 0);
    const child = childrenOf(node)[index];
    if (index >= childrenOf(node).length) break;
    path.push(index);
    node = child;
    rest = rest.slice(step[0].length);
  }
  return { node: path, member: rest.replace(/^\./, '') };
}

/** The node that a path such as `and[0].not` leads to. Null if there is none. */
export function nodePathOf(draft: JsonObject, text: string): NodePath | null {
  const field = text === '' ? 'data.condition' : `data.condition.${text}`;
  const { node, member } = placeOf(draft, { field, message: '', severity: 'error' });
  return member === '' ? node : null;
}

/** Members of an evaluator that are not part of its configuration. */
const EVALUATOR_MEMBERS = /^(?:name|metadata)(?=$|[.[])/;

/** Problems of the configuration of a check. Errors name its members directly below `evaluator`. */
export function configProblems(problems: readonly PlacedProblem[]): readonly RelativeProblem[] {
  return problems.flatMap(({ place, message }) => {
    const below = /^evaluator\.(.*)$/.exec(place.member)?.[1];
    if (below === undefined || EVALUATOR_MEMBERS.test(below)) return [];
    return [{ path: below.replace(/^config(?=$|[.[])\.?/, ''), message }];
  });
}

/** The problems of members that begin with one of the given names. */
export function problemsOf(
  problems: readonly PlacedProblem[],
  ...members: readonly string[]
): readonly PlacedProblem[] {
  return problems.filter(({ place }) =>
    members.some(
      (name) =>
        place.member === name || place.member.startsWith(`${name}.`) || place.member.startsWith(`${name}[`),
    ),
  );
}
