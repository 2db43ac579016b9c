import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import {
  type ControlBinding,
  ControlBindingService,
} from '@gen/enforcement/v1/control_binding_service_pb.js';
import type { Pagination } from '@gen/enforcement/v1/control_pb.js';
import {
  ControlService,
  type GetControlResponse,
  type UpdateControlResponse,
} from '@gen/enforcement/v1/control_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { transport } from '../data/transport.js';
import { numberOf } from '../ui/numbers.js';
import type { UndoOffer, UndoResult } from './undo-store.js';

const agents = createClient(AgentService, transport);
const controls = createClient(ControlService, transport);
const bindings = createClient(ControlBindingService, transport);
const policies = createClient(PolicyService, transport);

const PAGE = 100;
/** More agents or policies than this are not linked again one by one. */
const MAX_PAGES = 20;

/** For a control that was switched on or off: only if it has not changed since. */
export function switchUndo(
  control: GetControlResponse,
  isOn: boolean,
  { version, warnings }: Pick<UpdateControlResponse, 'version' | 'warnings'>,
): UndoOffer {
  const word = (on: boolean) => (on ? 'on' : 'off');
  return {
    text: [`${control.name} was switched ${word(isOn)}.`, ...warnings.map(({ message }) => message)].join(
      ' ',
    ),
    change: ControlService.method.updateControl,
    async undo() {
      await controls.updateControl({ controlId: control.id, enabled: !isOn, ifVersion: version });
      return { text: `${control.name} is ${word(!isOn)} again.` };
    },
  };
}

/** Everything that a deleted control can be created again from. */
export interface ControlRemains {
  readonly control: GetControlResponse;
  readonly agentNames: readonly string[];
  readonly policyIds: readonly number[];
  readonly bindings: readonly Pick<ControlBinding, 'targetType' | 'targetId' | 'enabled'>[];
}

/** Reads what a control consists of and is linked to; null if that cannot be created again. */
export async function readRemains(controlId: number): Promise<ControlRemains | null> {
  const control = await controls.getControl({ controlId });
  const linked = await allPages(
    (cursor) => controls.listControlAgents({ controlId, limit: PAGE, ...cursor }),
    (page) => page.agents,
  );
  const containing = await allPages(
    (cursor) => controls.listControlPolicies({ controlId, limit: PAGE, ...cursor }),
    (page) => page.policies,
  );
  const bound = await allPages(
    (cursor) => bindings.listControlBindings({ controlId, limit: PAGE, ...cursor }),
    (page) => page.bindings,
  ).catch(withoutBindings);
  if (control.data === undefined || linked === null || containing === null || bound === null) return null;
  return {
    control,
    agentNames: linked.filter(({ direct }) => direct).map(({ agentName }) => agentName),
    policyIds: containing.map(({ id }) => id),
    bindings: bound,
  };
}

/** A server of an earlier version has none. */
function withoutBindings(error: unknown): readonly ControlBinding[] {
  if (ConnectError.from(error).code === Code.Unimplemented) return [];
  throw error;
}

/** For a control that was deleted. Its number and its versions are not those of before, which is said. */
export function deleteUndo(remains: ControlRemains): UndoOffer {
  const { name } = remains.control;
  return {
    text: `${name} was deleted. Undo creates it again with its links, under a new number and without its versions.`,
    change: ControlService.method.deleteControl,
    undo: () => createAgain(remains),
  };
}

async function createAgain({
  control,
  agentNames,
  policyIds,
  bindings: bound,
}: ControlRemains): Promise<UndoResult> {
  const { name, data } = control;
  if (data === undefined) throw new Error('the definition could not be read');
  const { template, templateValues } = data;
  // The rest of a definition from a template follows from the template.
  const content = template === undefined ? data : { template, ...(templateValues ? { templateValues } : {}) };
  const { controlId } = await controls.createControl({ name, data: content });
  if (template !== undefined && data.enabled === false) {
    await controls.updateControl({ controlId, enabled: false });
  }
  const failures: string[] = [];
  const link = async (work: Promise<unknown>): Promise<void> => {
    await work.catch((error: unknown) => failures.push(ConnectError.from(error).rawMessage));
  };
  for (const policyId of policyIds) await link(policies.addPolicyControl({ policyId, controlId }));
  for (const agentName of agentNames) await link(agents.addAgentControl({ agentName, controlId }));
  for (const { targetType, targetId, enabled } of bound) {
    await link(bindings.upsertControlBinding({ controlId, targetType, targetId, enabled }));
  }
  const links = agentNames.length + policyIds.length + bound.length;
  const href = `/controls/${controlId}`;
  if (failures.length === 0) return { text: `${name} is there again, as control ${controlId}.`, href };
  const [first] = failures;
  return {
    text: `${name} is there again, as control ${controlId}, but ${failures.length} of ${numberOf(links, 'link')} could not be made: ${first}`,
    href,
  };
}

type Cursor = { readonly cursor?: string };

/** The items of all pages; null if there are too many. */
export async function allPages<P extends { readonly pagination?: Pagination | undefined }, T>(
  read: (cursor: Cursor) => Promise<P>,
  itemsOf: (page: P) => readonly T[],
): Promise<T[] | null> {
  const items: T[] = [];
  let cursor: Cursor = {};
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const page = await read(cursor);
    items.push(...itemsOf(page));
    const next = page.pagination?.nextCursor;
    if (next === undefined) return items;
    cursor = { cursor: next };
  }
  return null;
}
