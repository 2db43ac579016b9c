import type { Execution } from '../../kernel/core/types.js';
import type { ControlFacet } from './control-filters.js';
import { isDraft, type StoredControl } from './definition/definition.js';

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
  /** JSON text of the pattern of step names; null without one. */
  readonly stepNamePattern: string | null;
  /** Each facet once. */
  readonly facets: readonly ControlFacet[];
}

/** The index columns of a control. */
export function definitionIndex(control: StoredControl): DefinitionIndex {
  if (isDraft(control)) return DRAFT_INDEX;
  const { step_types: stepTypes = [], stages = [] } = control.scope ?? {};
  const { step_names: stepNames = [], step_name_regex: pattern } = control.scope ?? {};
  const templateBacked = control.template !== undefined;
  return {
    enabled: control.enabled,
    execution: control.execution,
    templateBacked,
    templateRendered: templateBacked ? true : null,
    restrictsStepTypes: stepTypes.length > 0,
    restrictsStages: stages.length > 0,
    stepNamePattern: pattern === undefined ? null : JSON.stringify(pattern),
    facets: [
      ...facetsOf('step_type', stepTypes),
      ...facetsOf('stage', stages),
      ...facetsOf('tag', control.tags ?? []),
      ...facetsOf('step_name', stepNames),
      ...facetsOf('decision', [control.action.decision]),
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
  stepNamePattern: null,
  facets: [],
};

function facetsOf(kind: ControlFacet['kind'], values: readonly string[]): ControlFacet[] {
  return [...new Set(values)].map((value) => ({ kind, value }));
}
