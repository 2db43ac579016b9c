import { isObject, type JsonValue, parseStoredJson } from '../../../packages/exact-json/src/index.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { TemplateInput } from '../templates/template.js';
import { type Rendering, renderTemplate } from '../templates/template-rendering.js';
import { type ControlData, isTemplateInput } from './control-data.js';
import { controlTemplateConflict } from './control-errors.js';
import type { ControlRow } from './control-store.js';
import {
  type ControlDefinition,
  isDraft,
  type StoredControl,
  type TemplateDraft,
} from './definition/definition.js';
import { readStoredDefinition } from './definition-presentation.js';
import { createDefinitionSchema, isGiven } from './definition-schema.js';

/** Data of a control that a client requests to store. */
export interface ControlProposal {
  /**
   * The control to store in place of the stored one (null: none). Throws a CONTROL_TEMPLATE_CONFLICT,
   * TEMPLATE_RENDER_ERROR or TEMPLATE_PARAMETER_INVALID.
   */
  storedInPlaceOf(existing: ControlRow | null): StoredControl;
}

/**
 * Creates a proposal from data. A template is rendered here, before a transaction begins; its problems are
 * thrown by `storedInPlaceOf`, because other checks come first.
 */
export function proposeControl(data: ControlData, registry: EvaluatorRegistry): ControlProposal {
  return isTemplateInput(data) ? proposeTemplate(data, registry) : proposeDefinition(data, registry);
}

function proposeDefinition(definition: ControlDefinition, registry: EvaluatorRegistry): ControlProposal {
  return {
    storedInPlaceOf(existing) {
      if (existing === null) return definition;
      const stored = readStoredDefinition(existing.data, registry);
      // Unreadable data may be replaced by anything, to repair them.
      if (stored.ok && stored.stored.template !== undefined) throw controlTemplateConflict(existing.id);
      return definition;
    },
  };
}

function proposeTemplate(input: TemplateInput, registry: EvaluatorRegistry): ControlProposal {
  const outcome = attemptRendering(input, registry);
  return {
    storedInPlaceOf(existing) {
      if (outcome instanceof ServiceError) throw outcome;
      if (!outcome.complete) {
        if (existing !== null && !mayBecomeDraft(existing.data, registry)) throw outcome.missing;
        return { ...input, enabled: false } satisfies TemplateDraft;
      }
      const { template } = input;
      const enabled = existing === null || isEmpty(existing.data) || existing.enabled;
      return { ...outcome.definition, enabled, template, template_values: outcome.values };
    },
  };
}

function attemptRendering(
  input: TemplateInput,
  registry: EvaluatorRegistry,
): Rendering<ControlDefinition> | ServiceError {
  try {
    return renderTemplate(input, createDefinitionSchema(registry));
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** A draft may replace a draft, or data without a definition to lose. */
function mayBecomeDraft(data: string, registry: EvaluatorRegistry): boolean {
  const stored = readStoredDefinition(data, registry);
  if (stored.ok) return isDraft(stored.stored);
  const value = parsed(data);
  return !isObject(value) || !isGiven(value, 'condition');
}

function isEmpty(data: string): boolean {
  const value = parsed(data);
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

function parsed(data: string): JsonValue | undefined {
  try {
    return parseStoredJson(data);
  } catch {
    return undefined;
  }
}
