import type { Execution } from '../core/types.js';
import { isDraft, type StoredControl } from './definition/definition.js';

/** A value by which controls can be filtered. */
export interface DefinitionFacet {
  readonly kind: 'step_type' | 'stage' | 'tag';
  readonly value: string;
}

/** Filter values of lists, extracted from a definition for indexing. */
export interface DefinitionIndex {
  readonly enabled: boolean;
  /** Null for a template with missing values. */
  readonly execution: Execution | null;
  /** Whether the control was made from a template. */
  readonly templateBacked: boolean;
  /** Whether the template is complete; null without a template. */
  readonly templateRendered: boolean | null;
  /** Whether the scope names step types; if not, it includes every type. */
  readonly restrictsStepTypes: boolean;
  /** Whether the scope names stages; if not, it includes both. */
  readonly restrictsStages: boolean;
  /** Each facet once. */
  readonly facets: readonly DefinitionFacet[];
}

/** The index columns of a control. */
export function definitionIndex(control: StoredControl): DefinitionIndex {
  if (isDraft(control)) return DRAFT_INDEX;
  const { step_types: stepTypes = [], stages = [] } = control.scope ?? {};
  const templateBacked = control.template !== undefined;
  return {
    enabled: control.enabled,
    execution: control.execution,
    templateBacked,
    templateRendered: templateBacked ? true : null,
    restrictsStepTypes: stepTypes.length > 0,
    restrictsStages: stages.length > 0,
    facets: [
      ...facetsOf('step_type', stepTypes),
      ...facetsOf('stage', stages),
      ...facetsOf('tag', control.tags ?? []),
    ],
  };
}

const DRAFT_INDEX: DefinitionIndex = {
  enabled: false,
  execution: null,
  templateBacked: true,
  templateRendered: false,
  restrictsStepTypes: false,
  restrictsStages: false,
  facets: [],
};

function facetsOf(kind: DefinitionFacet['kind'], values: readonly string[]): DefinitionFacet[] {
  return [...new Set(values)].map((value) => ({ kind, value }));
}
