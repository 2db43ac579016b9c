import type { CallContext } from '../../contract/call/handler.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database, DbClient } from '../../storage/database/database.js';
import { unavailable } from '../../storage/database/errors.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { type ObjectName, objectKey } from '../controls/applied-object.js';
import { createAppliedStore } from '../controls/applied-store.js';
import { controlCorrupted } from '../controls/control-errors.js';
import type { ControlRow } from '../controls/control-store.js';
import { isDraft } from '../controls/definition/definition.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';
import { kindOfControl } from './configuration-object.js';
import type { ExportInput } from './configuration-schemas.js';
import {
  createConfigurationState,
  type StoredLinks,
  type StoredPack,
  type StoredPolicy,
} from './configuration-state.js';

/** How often the objects are read again because they changed meanwhile. */
const ATTEMPTS = 5;

export interface ExportOptions {
  readonly database: Pick<Database, 'client' | 'revision'>;
  readonly registry: EvaluatorRegistry;
}

/** An object as a document, and its owner. */
interface Exported {
  readonly document: { readonly kind: string; readonly name: string };
  readonly owner: string | null;
}

/** Writes the objects of a namespace as documents. */
export function createConfigurationExport({ database, registry }: ExportOptions) {
  return {
    /** All of one revision: controls, policies, packs and links, each kind by name. Throws CORRUPTED_DATA. */
    async *documents(context: CallContext, { owner, kinds }: ExportInput): AsyncGenerator<Exported> {
      const found = await atOneRevision(database, (client) => readAll(context, client));
      const owners = new Map(found.applied.map((one) => [objectKey(one), one.owner]));
      const wanted = new Set<string>(kinds);
      for (const { object, document } of documentsOf(found)) {
        const of = owners.get(objectKey(object)) ?? null;
        if (owner !== undefined && of !== owner) continue;
        const shown = document();
        if (wanted.size === 0 || wanted.has(shown.kind)) yield { document: shown, owner: of };
      }
    },
  };

  function* documentsOf({ controls, policies, packs, links }: Found): Generator<{
    readonly object: ObjectName;
    readonly document: () => Exported['document'];
  }> {
    for (const row of controls) {
      const { name } = row;
      yield { object: { family: 'control', name }, document: () => controlDocument(row, registry) };
    }
    for (const { name, everyAgent, agentLabels, controls: members } of policies) {
      const document = {
        kind: 'Policy',
        name,
        ...(everyAgent ? { every_agent: true } : {}),
        ...(agentLabels.length === 0 ? {} : { agent_labels: agentLabels }),
        controls: members,
      };
      yield { object: { family: 'policy', name }, document: () => document };
    }
    for (const { name, policy, version, installed } of packs) {
      const document = { kind: 'Pack', name, policy, version, installed: Object.fromEntries(installed) };
      yield { object: { family: 'pack', name, policy }, document: () => document };
    }
    for (const { name, controls: linked, policies: own } of links) {
      const document = { kind: 'AgentLinks', name, controls: linked, policies: own };
      yield { object: { family: 'links', name }, document: () => document };
    }
  }
}

interface Found {
  readonly controls: readonly ControlRow[];
  readonly policies: readonly StoredPolicy[];
  readonly packs: readonly StoredPack[];
  readonly links: readonly StoredLinks[];
  readonly applied: Awaited<ReturnType<ReturnType<typeof createAppliedStore>['ofOwner']>>;
}

async function readAll(context: CallContext, client: DbClient): Promise<Found> {
  const scope = scopeOf(context, client);
  const state = createConfigurationState(scope);
  return {
    controls: (await state.controls(null)).sort(byName),
    policies: (await state.policies(null)).sort(byName),
    packs: (await state.packs(null)).sort((a, b) => byName(a, b) || order(a.policy, b.policy)),
    links: (await state.links(null)).sort(byName),
    applied: await createAppliedStore(scope).ofOwner(null),
  };
}

/** Reads until nothing has changed meanwhile. */
async function atOneRevision<T>(
  { client, revision }: Pick<Database, 'client' | 'revision'>,
  read: (client: DbClient) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const before = await revision();
    const found = await read(client);
    if ((await revision()) === before) return found;
  }
  throw unavailable('The objects of the namespace change too often to be read at one revision.');
}

function controlDocument({ id, name, data }: ControlRow, registry: EvaluatorRegistry): Exported['document'] {
  const stored = readStoredDefinition(data, registry);
  if (!stored.ok)
    throw controlCorrupted(`The stored definition of control ${id} cannot be read.`, stored.items);
  const { stored: control, definition } = stored;
  const kind = kindOfControl(control);
  if (kind !== 'Template') return { kind, name, ...{ data: control } };
  const { template, template_values } = definition;
  const enabled = isDraft(control) ? false : control.enabled;
  return { kind, name, ...(enabled ? {} : { enabled }), ...{ data: { template, template_values } } };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return order(a.name, b.name);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
