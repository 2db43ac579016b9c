import { randomUUID } from 'node:crypto';
import { parseStoredJson } from '../../../packages/exact-json/src/index.js';
import type { HandlerCall } from '../../../src/contract/call/handler.js';
import { DEFAULT_NAMESPACE, type Namespace } from '../../../src/contract/call/namespace.js';
import { ALL_SCOPES } from '../../../src/contract/call/scopes.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import { createReviewer } from '../../../src/manage/controls/control-review.js';
import { createControlService } from '../../../src/manage/controls/control-service.js';
import { createControlStore } from '../../../src/manage/controls/control-store.js';
import type { ControlDefinition } from '../../../src/manage/controls/definition/definition.js';
import { createPackInstall } from '../../../src/manage/pack-installations/pack-install.js';
import type { InstallInput } from '../../../src/manage/pack-installations/pack-schemas.js';
import { createPackService } from '../../../src/manage/pack-installations/pack-service.js';
import { createPackUpdate } from '../../../src/manage/pack-installations/pack-update.js';
import type { ListedPack, PackCatalogue } from '../../../src/manage/packs/catalogue.js';
import { createPolicyService } from '../../../src/manage/policies/policy-service.js';
import type { Database } from '../../../src/storage/database/database.js';
import { createMutator } from '../../../src/storage/database/mutator.js';
import { serviceEvaluators } from '../../support/evaluators.js';
import { scoped } from '../../support/scoped.js';

export const registry = createRegistry([...serviceEvaluators]);

/** A call of an admin. */
export function adminCall(namespace: Namespace = DEFAULT_NAMESPACE): HandlerCall {
  return {
    principal: {
      level: 'admin',
      keyFingerprint: null,
      name: null,
      agents: null,
      namespace,
      scopes: ALL_SCOPES,
      role: null,
      target: null,
    },
    requestId: randomUUID(),
    address: null,
    signal: new AbortController().signal,
    isLenient: false,
    protocol: 'rest',
    spend() {},
    header: () => undefined,
    reportRevision: () => undefined,
    reportStaleness: () => undefined,
    warn: () => undefined,
    ignoredParts: () => [],
  };
}

/** A definition that finds a word in a tool's input. */
export function definition(word: string, more: Partial<ControlDefinition> = {}): ControlDefinition {
  return {
    condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: word } } },
    enabled: true,
    execution: 'server',
    action: { decision: 'observe' },
    ...more,
  };
}

export function pack(version: string, definitions: Readonly<Record<string, ControlDefinition>>): ListedPack {
  const keys = Object.keys(definitions).sort();
  return {
    name: 'words',
    version,
    title: 'Words',
    description: 'For tests.',
    tags: [],
    builtIn: false,
    controls: keys.map((key) => ({
      key,
      title: key,
      reason: 'For tests.',
      references: [],
      definition: definitions[key] as ControlDefinition,
      matchingCases: 0,
      otherCases: 0,
      examples: [],
    })),
  };
}

/** The services around one database, with the pack `words` as `offer` has set it last. */
export function packWorld(database: Database, strict = false) {
  let offered: readonly ListedPack[] = [];
  let nowMs = 1_700_000_000_000;
  const now = () => {
    nowMs += 1_000;
    return nowMs;
  };
  const catalogue: PackCatalogue = {
    all: async () => offered,
    find: async (name) => offered.find((one) => one.name === name),
  };
  const mutate = createMutator({ database, now, onCommit: () => undefined });
  const options = { catalogue, mutate, registry, strict, now };
  const reviewer = createReviewer({
    registry,
    registrationNotes: async () => ({ notes: [], refused: [] }),
    strict,
  });
  const parts = { database, mutate, registry, now };
  return {
    offer: (...packs: readonly ListedPack[]) => {
      offered = packs;
    },
    ...createPackInstall(options),
    ...createPackUpdate(options),
    service: createPackService({ catalogue, client: database.client, registry }),
    controls: createControlService({ ...parts, reviewer, referenceProblems: async () => [] }),
    policies: createPolicyService({ ...parts, catchUpLabels: async () => undefined }),
    /** The definition of a control as it is stored; null for one that is deleted. */
    async stored(controlId: number): Promise<ControlDefinition | null> {
      const row = await createControlStore(scoped(database.client)).find(controlId);
      return row === null ? null : (parseStoredJson(row.data) as ControlDefinition);
    },
  };
}

/** Input of InstallPack. */
export function installing(more: Partial<InstallInput> = {}): InstallInput {
  return {
    pack_name: 'words',
    policy_id: undefined,
    policy_name: 'words',
    keys: [],
    version: undefined,
    name_prefix: undefined,
    idempotency_key: undefined,
    ...more,
  };
}
