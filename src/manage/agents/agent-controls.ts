import type { TargetName } from '../../contract/call/namespace.js';
import type { ErrorItem } from '../../contract/errors/service-error.js';
import {
  createAgentControlStore,
  type StoredDefinition,
} from '../../decide/agent-state/agent-control-store.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { controlCorrupted } from '../controls/control-errors.js';
import { evaluatorNames, isDraft } from '../controls/definition/definition.js';
import {
  type PresentedControl,
  readStoredDefinition,
  withDataPrefix,
} from '../controls/definition-presentation.js';

/** A control of an agent in printed form, with the names of its evaluators. */
export interface LinkedControlView {
  readonly id: number;
  readonly name: string;
  readonly control: PresentedControl;
  /** False for a template with missing values. */
  readonly rendered: boolean;
  readonly evaluatorNames: readonly string[];
}

/** The controls of an agent that works on a target, null for none, by id descending. Throws CORRUPTED_DATA for the first unreadable one. */
export async function linkedControls(
  scope: Scoped,
  agentId: number,
  registry: EvaluatorRegistry,
  target: TargetName | null = null,
): Promise<LinkedControlView[]> {
  const rows = await createAgentControlStore(scope).controlsOf(agentId, target);
  return rows.map((row) => linkedControl(row, registry));
}

/** A control of an agent. Throws CORRUPTED_DATA when it is unreadable. */
export function linkedControl(row: StoredDefinition, registry: EvaluatorRegistry): LinkedControlView {
  const read = readControl(row, registry);
  if ('view' in read) return read.view;
  const detail = `The stored definition of control ${row.id} cannot be read.`;
  throw controlCorrupted(detail, withDataPrefix(read.items), String(row.id));
}

/** A control as contained in replies. */
export type AgentControl = Pick<LinkedControlView, 'id' | 'name' | 'control'>;

/** The part of a control that replies contain. */
export function printed({ id, name, control }: LinkedControlView): AgentControl {
  return { id, name, control };
}

/** The readable controls of an agent, by id descending. */
export async function readableControls(
  scope: Scoped,
  agentId: number,
  registry: EvaluatorRegistry,
): Promise<LinkedControlView[]> {
  const rows = await createAgentControlStore(scope).controlsOf(agentId);
  return rows.flatMap((row) => {
    const read = readControl(row, registry);
    return 'view' in read ? read.view : [];
  });
}

function readControl(
  { id, name, data }: StoredDefinition,
  registry: EvaluatorRegistry,
): { view: LinkedControlView } | { items: readonly ErrorItem[] } {
  const stored = readStoredDefinition(data, registry);
  if (!stored.ok) return { items: stored.items };
  return {
    view: {
      id,
      name,
      control: stored.definition,
      rendered: !isDraft(stored.stored),
      evaluatorNames: evaluatorNames(stored.stored),
    },
  };
}
