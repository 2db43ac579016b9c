import { controlCorrupted } from '../controls/control-errors.js';
import { evaluatorNames } from '../controls/definition.js';
import {
  type PresentedDefinition,
  readStoredDefinition,
  withDataPrefix,
} from '../controls/definition-presentation.js';
import type { DbClient } from '../database/database.js';
import type { EvaluatorRegistry } from '../evaluators/types.js';
import { createAgentControlStore } from './agent-control-store.js';

/** A control linked to an agent, as it is printed, with the names of its evaluators. */
export interface LinkedControlView {
  readonly id: number;
  readonly name: string;
  readonly control: PresentedDefinition;
  readonly evaluatorNames: readonly string[];
}

/** The controls linked to an agent, by id descending. Throws CORRUPTED_DATA for the first one that cannot be read. */
export async function linkedControls(
  client: DbClient,
  agentId: number,
  registry: EvaluatorRegistry,
): Promise<LinkedControlView[]> {
  const rows = await createAgentControlStore(client).controlsOf(agentId);
  return rows.map(({ id, name, data }) => {
    const stored = readStoredDefinition(data, registry);
    if (stored.ok) {
      return { id, name, control: stored.definition, evaluatorNames: evaluatorNames(stored.stored) };
    }
    const detail = `The stored definition of control ${id} cannot be read.`;
    throw controlCorrupted(detail, withDataPrefix(stored.items), String(id));
  });
}
