import { type Execution, isDraft, type StoredControl } from './definition.js';

/** A value by which controls are listed. */
export interface DefinitionFacet {
  readonly kind: 'step_type' | 'stage' | 'tag';
  readonly value: string;
}

/** What lists filter by, taken out of a definition so that it can be indexed. */
export interface DefinitionIndex {
  readonly enabled: boolean;
  /** Null for a template that still lacks values. */
  readonly execution: Execution | null;
  /** Whether the control was made from a template. */
  readonly templateBacked: boolean;
  /** Whether the template is filled in; null without a template. */
  readonly templateRendered: boolean | null;
  /** Whether the scope names step types; if not, the control looks at every type. */
  readonly restrictsStepTypes: boolean;
  /** Whether the scope names stages; if not, the control looks at both. */
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
