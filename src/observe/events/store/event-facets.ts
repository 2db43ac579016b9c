import type { ControlEvent } from './event.js';

/** The kind of an event, in one small number for indexes: see the column `facets` of `prisma/models`. */
type Facets = Pick<ControlEvent, 'matched' | 'check_stage' | 'applies_to' | 'action'>;

const ACTIONS = ['deny', 'steer', 'observe'] as const;
/** Three actions, each with eight combinations of the other three. */
const ALL = Array.from({ length: ACTIONS.length * 8 }, (_, facets) => facets);

export function facetsOf({ matched, check_stage, applies_to, action }: Facets): number {
  return (
    (matched ? 1 : 0) |
    (check_stage === 'post' ? 2 : 0) |
    (applies_to === 'tool_call' ? 4 : 0) |
    // In the order of `ACTIONS`, which every watched event would be searched in.
    ((action === 'deny' ? 0 : action === 'steer' ? 1 : 2) << 3)
  );
}

export function readFacets(facets: number): Facets {
  return {
    matched: (facets & 1) !== 0,
    check_stage: (facets & 2) === 0 ? 'pre' : 'post',
    applies_to: (facets & 4) === 0 ? 'llm_call' : 'tool_call',
    action: ACTIONS[facets >> 3] ?? 'deny',
  };
}

/** The numbers that pass; undefined when all of them do. */
export function facetsWhere(passes: (facets: Facets) => boolean): number[] | undefined {
  const found = ALL.filter((facets) => passes(readFacets(facets)));
  return found.length === ALL.length ? undefined : found;
}
