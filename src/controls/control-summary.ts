import type { EvaluatorRegistry } from '../evaluators/types.js';
import type { ControlRow } from './control-store.js';
import { readStoredDefinition } from './definition-presentation.js';

/** A control as lists show it. Of a definition that cannot be read, what the index columns still tell. */
export function summariseControl(
  row: ControlRow,
  usage: { readonly agentName: string; readonly count: number } | undefined,
  registry: EvaluatorRegistry,
) {
  const stored = readStoredDefinition(row.data, registry);
  const definition = stored.ok ? stored.definition : null;
  return {
    id: row.id,
    name: row.name,
    description: definition?.description ?? null,
    enabled: row.enabled,
    execution: row.execution,
    step_types: definition?.scope.step_types ?? null,
    stages: definition?.scope.stages ?? null,
    tags: definition?.tags ?? [],
    template_backed: row.templateBacked,
    template_rendered: row.templateRendered,
    used_by_agent: usage === undefined ? null : { agent_name: usage.agentName },
    used_by_agents_count: usage?.count ?? 0,
  };
}
