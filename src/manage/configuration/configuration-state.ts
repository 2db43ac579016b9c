import { type AgentKey, nameOfKey } from '../../contract/call/namespace.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { labelText } from '../agents/agent-labels.js';
import { type ControlRow, toControlRow } from '../controls/control-store.js';
import {
  type LinksContent,
  type PackContent,
  type PolicyContent,
  sortedNames,
} from './configuration-object.js';

export interface StoredPolicy extends PolicyContent {
  readonly family: 'policy';
  readonly id: number;
  readonly name: string;
}

export interface StoredPack extends PackContent {
  readonly family: 'pack';
  readonly id: number;
  readonly name: string;
  readonly policy: string;
  readonly policyId: number;
}

export interface StoredLinks extends LinksContent {
  readonly family: 'links';
  /** Of the agent. */
  readonly id: number;
  readonly name: string;
  readonly key: AgentKey;
}

const POLICY = {
  id: true,
  name: true,
  everyAgent: true,
  labels: { select: { name: true, value: true } },
  controls: { select: { control: { select: { name: true } } } },
} as const;
const PACK = {
  id: true,
  pack: true,
  version: true,
  policyId: true,
  policy: { select: { name: true } },
  controls: { select: { key: true, control: { select: { name: true, deletedAtMs: true } } } },
} as const;

/** Given to the agent itself. */
const DIRECT = { direct: true, policy: { everyAgent: false } } as const;
const LINKED = [{ controls: { some: {} } }, { policies: { some: DIRECT } }];
const LINKS = {
  id: true,
  name: true,
  controls: { select: { control: { select: { name: true } } } },
  policies: { where: DIRECT, select: { policy: { select: { name: true } } } },
} as const;

/**
 * The objects of a namespace as configurations have them: by their names, or all of them for null. Every method rejects with a
 * `ServiceError` only.
 */
export function createConfigurationState(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  return {
    controls: (names: readonly string[] | null): Promise<ControlRow[]> =>
      withServiceErrors(async () => {
        const living = { deletedAtMs: null, ...of };
        if (names === null) return (await client.control.findMany({ where: living })).map(toControlRow);
        const rows = await inPortions(names, (portion) =>
          client.control.findMany({
            where: { ...living, liveName: { in: portion.map((name) => namespace.keyOf(name)) } },
          }),
        );
        return rows.map(toControlRow);
      }),

    policies: (names: readonly string[] | null): Promise<StoredPolicy[]> =>
      withServiceErrors(async () => {
        const rows =
          names === null
            ? await client.policy.findMany({ where: of, select: POLICY })
            : await inPortions(names, (portion) =>
                client.policy.findMany({
                  where: { ...of, name: { in: portion.map((name) => namespace.keyOf(name)) } },
                  select: POLICY,
                }),
              );
        return rows.map(({ id, name, everyAgent, labels, controls }) => ({
          family: 'policy',
          id,
          name: nameOfKey(name),
          everyAgent,
          agentLabels: sortedNames(labels.map(labelText)),
          controls: sortedNames(controls.map(({ control }) => control.name)),
        }));
      }),

    /** Those in these policies. */
    packs: (policies: readonly string[] | null): Promise<StoredPack[]> =>
      withServiceErrors(async () => {
        const rows =
          policies === null
            ? await client.packInstallation.findMany({ where: of, select: PACK })
            : await inPortions(policies, (portion) =>
                client.packInstallation.findMany({
                  where: { ...of, policy: { name: { in: portion.map((name) => namespace.keyOf(name)) } } },
                  select: PACK,
                }),
              );
        return rows.map(({ id, pack, version, policyId, policy, controls }) => ({
          family: 'pack',
          id,
          name: pack,
          version,
          policyId,
          policy: nameOfKey(policy.name),
          installed: controls
            .flatMap(({ key, control }) =>
              control === null || control.deletedAtMs !== null ? [] : [[key, control.name] as const],
            )
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        }));
      }),

    /** Of these agents; for null, of all that have links of their own. Policies for every agent are no such links. */
    links: (agents: readonly string[] | null): Promise<StoredLinks[]> =>
      withServiceErrors(async () => {
        const rows =
          agents === null
            ? await client.agent.findMany({ where: { ...of, OR: LINKED }, select: LINKS })
            : await inPortions(agents, (portion) =>
                client.agent.findMany({
                  where: { ...of, name: { in: portion.map((name) => namespace.agentKey(name)) } },
                  select: LINKS,
                }),
              );
        return rows.map(({ id, name, controls, policies }) => ({
          family: 'links',
          id,
          name: nameOfKey(name),
          key: name as AgentKey,
          controls: sortedNames(controls.map(({ control }) => control.name)),
          policies: sortedNames(policies.map(({ policy }) => nameOfKey(policy.name))),
        }));
      }),
  };
}
