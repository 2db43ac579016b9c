import { isoOf, isoOfSeconds } from '../../contract/call/printed.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { PrintedAttachments } from './control-attachments.js';
import type { ControlActivity, ListedControlRow } from './control-store.js';
import { type ControlDefinition, isDraft } from './definition/definition.js';
import { presentAction, readStoredDefinition } from './definition-presentation.js';

/** Members of a draft, or of an unreadable definition. */
const NOTHING: Partial<ControlDefinition> = {};

/** A control as listed. For an unreadable definition, only the index columns. */
export function summariseControl(
  row: ListedControlRow,
  usage: { readonly agentName: string; readonly count: number } | undefined,
  activity: ControlActivity | undefined,
  attachments: PrintedAttachments | null,
  owner: string | null,
  registry: EvaluatorRegistry,
) {
  const stored = readStoredDefinition(row.data, registry);
  const control = stored.ok ? stored.stored : null;
  const { description, scope, tags, action } = control === null || isDraft(control) ? NOTHING : control;
  return {
    id: row.id,
    name: row.name,
    description: description ?? control?.template?.description ?? null,
    enabled: row.enabled,
    execution: row.execution,
    step_types: scope?.step_types ?? null,
    stages: scope?.stages ?? null,
    tags: tags ?? [],
    template_backed: row.templateBacked,
    template_rendered: row.templateRendered,
    used_by_agent: usage === undefined ? null : { agent_name: usage.agentName },
    used_by_agents_count: usage?.count ?? 0,
    action: action === undefined ? null : presentAction(action),
    attachments,
    cloned_from_control_id: row.clonedFromId,
    version: row.version,
    updated_at: isoOf(row.updatedAtMs),
    updated_by: row.updatedBy,
    created_by: row.createdBy,
    last_matched_at: isoOfSeconds(activity?.lastMatchedS),
    last_denied_at: isoOfSeconds(activity?.lastDeniedS),
    last_failed_at: isoOfSeconds(activity?.lastFailedS),
    step_names: scope?.step_names ?? null,
    step_name_regex: scope?.step_name_regex ?? null,
    owner,
  };
}
