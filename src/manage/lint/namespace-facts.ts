import { isObject, parseStoredJson } from '../../../packages/exact-json/src/index.js';
import { nameOfKey } from '../../contract/call/namespace.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { labelsOf, labelText } from '../agents/agent-labels.js';
import { readRegistrations } from '../agents/registration-notes.js';
import { createConfigurationState } from '../configuration/configuration-state.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';
import type { LintFacts } from './lint-documents.js';
import { lintControl } from './lint-set.js';
import type { LintAgent, LintAgents } from './registration-rules.js';

/** The registrations of the newest agents of a namespace, with their labels. */
export async function readLintAgents(scope: Scoped): Promise<LintAgents> {
  const agents: LintAgent[] = [];
  const isComplete = await readRegistrations(scope, ({ key, data }) => {
    agents.push({ name: nameOfKey(key), labels: data === null ? [] : labelTexts(data), registration: data });
  });
  return { agents, isComplete };
}

function labelTexts(registration: string): string[] {
  try {
    const read = parseStoredJson(registration);
    const agent = isObject(read) && isObject(read.agent) ? read.agent : {};
    const { agent_metadata: metadata } = agent;
    return [...labelsOf(isObject(metadata) ? metadata : null)].map(([name, value]) =>
      labelText({ name, value }),
    );
  } catch {
    return [];
  }
}

/** The stored objects of a namespace. Definitions that cannot be read are left out. */
export async function readStored(
  scope: Scoped,
  registry: EvaluatorRegistry,
  pause: LintFacts['pause'],
): Promise<NonNullable<LintFacts['stored']>> {
  const state = createConfigurationState(scope);
  const controls = [];
  for (const { name, data } of await state.controls(null)) {
    const read = readStoredDefinition(data, registry);
    if (read.ok) controls.push(lintControl(name, null, read.stored));
    await pause();
  }
  const policies = (await state.policies(null)).map((policy) => ({ ...policy, document: null }));
  return { controls, policies, links: await state.links(null), bound: await boundControls(scope) };
}

/** The names of the controls that are bound to targets. */
function boundControls({ client, namespace }: Scoped): Promise<ReadonlySet<string>> {
  return withServiceErrors(async () => {
    const rows = await client.control.findMany({
      where: { namespace: namespace.name, deletedAtMs: null, bindings: { some: { enabled: true } } },
      select: { name: true },
    });
    return new Set(rows.map(({ name }) => name));
  });
}
