import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { type ControlDefinition, ControlDefinitionSchema } from '@gen/enforcement/v1/control_pb.js';
import { ControlOrder, ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { AGENT } from './fleet-backend.js';
import { versionMismatch } from './refusals.js';
import type { Backend } from './render-page.js';

export type Definition = MessageInitShape<typeof ControlDefinitionSchema>;

interface Stored {
  readonly id: number;
  readonly name: string;
  isDeleted: boolean;
  readonly versions: ControlDefinition[];
}

const MADE_AT = '2026-11-01T10:00:00Z';

/** The controls of a service, which an agent and a policy can have. */
export interface ControlStore {
  readonly backend: Backend;
  /** Ids of the controls that the agent has by a link. */
  readonly direct: Set<number>;
  /** Another writer stores a control, whose id is returned. */
  add(name: string, definition: Definition): number;
  /** Another writer stores another version, with other members. */
  write(id: number, part: Definition): void;
  remove(id: number): void;
}

/** Keeps controls with their versions, besides which a service has something else. `complete` makes of a definition what is stored. */
export function controlStore(complete: (asked: Definition) => Definition = (asked) => asked): ControlStore {
  const stored: Stored[] = [];
  const direct = new Set<number>();
  const inPolicy = new Set<number>();
  const isUsed = (id: number) => direct.has(id) || inPolicy.has(id);
  const stay = () => stored.filter(({ isDeleted }) => !isDeleted);
  const found = (id: number): Stored => {
    const control = stay().find((one) => one.id === id);
    if (control === undefined) throw new ConnectError(`there is no control ${id}`, Code.NotFound);
    return control;
  };
  const current = ({ versions }: Stored) => versions.at(-1) ?? create(ControlDefinitionSchema);
  const versionOf = ({ versions }: Stored) => BigInt(versions.length);
  const checkVersion = (id: number, expected: bigint | undefined): void => {
    const version = versionOf(found(id));
    if (expected !== undefined && expected !== version) throw versionMismatch(version);
  };
  const add = (name: string, asked: Definition): number => {
    if (stay().some((one) => one.name === name)) throw new ConnectError('it is taken', Code.AlreadyExists);
    const id = stored.length + 1;
    stored.push({
      id,
      name,
      isDeleted: false,
      versions: [create(ControlDefinitionSchema, { enabled: true, ...complete(asked) })],
    });
    return id;
  };
  const store = (id: number, asked: Definition): void => {
    const { enabled = true } = current(found(id));
    found(id).versions.push(create(ControlDefinitionSchema, { enabled, ...complete(asked) }));
  };
  const remove = (id: number): void => {
    found(id).isDeleted = true;
  };
  const backend: Backend = (router) => {
    const { rpc } = router;
    const { method } = ControlService;
    rpc(method.listControls, ({ name = '', enabled, orderBy, reverse = false, limit = 50, cursor = '0' }) => {
      const listed = stay().filter(
        (one) => one.name.includes(name) && (enabled === undefined || enabled === current(one).enabled),
      );
      if ((orderBy === ControlOrder.NAME) === reverse) listed.reverse();
      const end = Number(cursor) + limit;
      const controls = listed.slice(Number(cursor), end).map((one) => {
        const { enabled: isOn = true, condition, tags, action } = current(one);
        return {
          id: one.id,
          name: one.name,
          enabled: isOn,
          tags,
          templateRendered: condition !== undefined,
          version: versionOf(one),
          usedByAgentsCount: isUsed(one.id) ? 1 : 0,
          ...(action === undefined ? {} : { action }),
        };
      });
      const next = end < listed.length ? { nextCursor: String(end), hasMore: true } : {};
      return { controls, pagination: { total: listed.length, ...next } };
    });
    rpc(method.getControl, ({ controlId }) => {
      const control = found(controlId);
      return { id: controlId, name: control.name, version: versionOf(control), data: current(control) };
    });
    rpc(method.createControl, ({ name = '', data = {} }) => ({ controlId: add(name, data), version: 1n }));
    rpc(method.setControlData, ({ controlId, data = {}, ifVersion }) => {
      checkVersion(controlId, ifVersion);
      store(controlId, data);
      return { version: versionOf(found(controlId)) };
    });
    rpc(method.updateControl, ({ controlId, enabled = true, ifVersion }) => {
      checkVersion(controlId, ifVersion);
      found(controlId).versions.push({ ...current(found(controlId)), enabled });
      return { enabled, version: versionOf(found(controlId)) };
    });
    rpc(method.deleteControl, ({ controlId }) => {
      remove(controlId);
      return {};
    });
    rpc(method.validateControl, () => ({}));
    const versionsOf = (id: number) => stored.find((one) => one.id === id)?.versions ?? [];
    rpc(method.listControlVersions, ({ controlId }) => {
      const versions = versionsOf(controlId).map((_, index) => ({
        versionNum: index + 1,
        eventType: index === 0 ? 'created' : 'data_set',
        author: 'admin',
        createdAt: MADE_AT,
      }));
      return { versions: versions.toReversed(), pagination: { total: versions.length } };
    });
    rpc(method.getControlVersion, ({ controlId, versionNum }) => {
      const data = versionsOf(controlId)[versionNum - 1] ?? {};
      return { versionNum, snapshot: { name: stored[controlId - 1]?.name ?? '', data } };
    });
    rpc(method.restoreControlVersion, ({ controlId, versionNum, ifVersion }) => {
      checkVersion(controlId, ifVersion);
      store(controlId, versionsOf(controlId)[versionNum - 1] ?? {});
      return { versionNum: versionsOf(controlId).length };
    });
    rpc(method.listControlAgents, ({ controlId: id }) => {
      const agent = { agentName: AGENT, direct: direct.has(id), policyIds: inPolicy.has(id) ? [1] : [] };
      return isUsed(id) ? { agents: [agent], pagination: { total: 1 } } : { pagination: {} };
    });
    rpc(method.listControlPolicies, ({ controlId }) => {
      const policies = inPolicy.has(controlId) ? [{ id: 1, name: 'mail-policy' }] : [];
      return { policies, pagination: { total: policies.length } };
    });
    rpc(AgentService.method.addAgentControl, ({ controlId }) => {
      direct.add(controlId);
      return {};
    });
    rpc(AgentService.method.removeAgentControl, ({ controlId }) => ({ success: direct.delete(controlId) }));
    rpc(PolicyService.method.addPolicyControl, ({ controlId }) => {
      inPolicy.add(controlId);
      return {};
    });
  };
  const write = (id: number, part: Definition): void => {
    const { $typeName: _, ...members } = current(found(id));
    store(id, { ...members, ...part } as Definition);
  };
  return { backend, direct, add, write, remove };
}
