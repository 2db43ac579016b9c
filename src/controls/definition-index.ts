import type { ControlDefinition, Execution } from './definition.js';

/** A value by which controls are listed. */
export interface DefinitionFacet {
  readonly kind: 'step_type' | 'stage' | 'tag';
  readonly value: string;
}

/** What lists filter by, taken out of a definition so that it can be indexed. */
export interface DefinitionIndex {
  readonly enabled: boolean;
  readonly execution: Execution;
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

/** The index columns of a definition. */
export function definitionIndex(definition: ControlDefinition): DefinitionIndex {
  const { step_types: stepTypes = [], stages = [] } = definition.scope ?? {};
  return {
    enabled: definition.enabled,
    execution: definition.execution,
    templateBacked: false,
    templateRendered: null,
    restrictsStepTypes: stepTypes.length > 0,
    restrictsStages: stages.length > 0,
    facets: [
      ...facetsOf('step_type', stepTypes),
      ...facetsOf('stage', stages),
      ...facetsOf('tag', definition.tags ?? []),
    ],
  };
}

function facetsOf(kind: DefinitionFacet['kind'], values: readonly string[]): DefinitionFacet[] {
  return [...new Set(values)].map((value) => ({ kind, value }));
}
