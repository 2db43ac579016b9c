import { type AgentKey, type Namespace, nameOfKey, type TargetName } from '../../contract/call/namespace.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import { registeredMetadata } from '../../decide/agent-state/agent-metadata.js';
import { type ControlLinks, linksKey, withControls } from '../../decide/agent-state/control-links.js';
import { createControlLinksStore } from '../../decide/agent-state/control-links-store.js';
import type { ControlLibrary } from '../../decide/decisions/control-library.js';
import type { ProgramBuilder } from '../../decide/decisions/program-builder.js';
import type { StepSchemaLibrary } from '../../decide/decisions/step-schema-library.js';
import { leavesOfControls } from '../../kernel/core/linked-control.js';
import type { StepComparison, StepSchemaMode } from '../../kernel/core/step-schemas.js';
import type { AgentFacts, ControlProgram } from '../../kernel/core/types.js';
import type { DbClient } from '../../storage/database/database.js';
import { portionsOf } from '../../storage/database/in-portions.js';
import type { Proposal } from './proposal.js';
import { changesLinks, proposedLinks, readAgentLinks } from './proposed-links.js';

/** Agents with what they work on, and sets of controls, that are kept in memory. */
const MAX_KEPT = 2_000;
/** Agents and targets of one statement. */
const MAX_READ = 200;

/** What evaluates the samples of an agent. */
export interface ReplayedPrograms {
  readonly live: ControlProgram;
  /** The same object if nothing would be different. */
  readonly proposed: ControlProgram;
  readonly agent: AgentFacts;
  readonly comparison: StepComparison | null;
}

export interface AgentSetsOptions {
  readonly client: DbClient;
  readonly builder: ProgramBuilder;
  readonly library: ControlLibrary;
  readonly stepSchemas: StepSchemaLibrary;
}

/** Whose step it is. */
export interface ReplayedAgent {
  readonly key: AgentKey;
  readonly target: TargetName | null;
}

/** The programs of agents: with the controls as they are, and as proposed. */
export interface AgentSets {
  /** Reads those of some agents at once. */
  prepare(agents: readonly ReplayedAgent[]): Promise<void>;
  /** Of agents that were prepared last; null for one that does not exist. */
  of(agent: ReplayedAgent): ReplayedPrograms | null;
  /** Names of controls with memory among all of them. */
  readonly withMemory: ReadonlySet<string>;
}

export function createAgentSets(
  namespace: Namespace,
  proposal: Proposal,
  options: AgentSetsOptions,
): AgentSets {
  const { client, builder, library, stepSchemas } = options;
  const store = createControlLinksStore(client);
  const known = new BoundedMap<string, ReplayedPrograms | null>({ entries: MAX_KEPT });
  const programs = new BoundedMap<string, ControlProgram>({ entries: MAX_KEPT });
  const withMemory = new Set<string>();
  let current = new Map<string, ReplayedPrograms | null>();

  const keyOf = ({ key, target }: ReplayedAgent): string =>
    target === null ? key : `${key} ${namespace.targetKey(target)}`;

  async function read(agents: readonly ReplayedAgent[]): Promise<void> {
    const keys = [...new Set(agents.map(({ key }) => key))];
    const targets = [
      ...new Set(agents.flatMap(({ target }) => (target === null ? [] : namespace.targetKey(target)))),
    ];
    const { links, bound } = await store.linksOf(keys, targets);
    const facts = changesLinks(proposal) ? await readAgentLinks(client, keys) : null;
    for (const one of agents) {
      const stored = links.get(one.key);
      if (stored === undefined) {
        keep(one, null);
        continue;
      }
      const ids = one.target === null ? [] : (bound.get(namespace.targetKey(one.target)) ?? []);
      const live = withControls(stored.links, ids);
      const of = facts?.get(one.key);
      const proposed = of === undefined ? live : proposedLinks(of, ids, proposal);
      const { registration, stepSchemas: mode } = stored;
      keep(one, {
        live: await programOf('live', live),
        proposed: await programOf('proposed', proposed),
        agent: { name: nameOfKey(one.key), metadata: registeredMetadata(registration) },
        comparison: await stepSchemas.comparisonOf({ mode: mode as StepSchemaMode | null, registration }),
      });
    }
  }

  function keep(agent: ReplayedAgent, found: ReplayedPrograms | null): void {
    known.set(keyOf(agent), found);
    current.set(keyOf(agent), found);
  }

  async function programOf(set: 'live' | 'proposed', links: ControlLinks): Promise<ControlProgram> {
    const key = `${set} ${linksKey(links)}`;
    const found = programs.get(key);
    if (found !== undefined) return found;
    const stored = (await store.controlsOf([links])).controls[0] ?? [];
    const definitions = set === 'live' ? stored : overlaid(stored, links, proposal);
    for (const { name, data } of definitions) {
      if (!withMemory.has(name) && remembers(library, data)) withMemory.add(name);
    }
    // Equal sets give the same program while one of them is kept.
    const program = await builder.build(definitions);
    programs.set(key, program);
    return program;
  }

  return {
    withMemory,
    async prepare(agents) {
      const before = current;
      current = new Map();
      const missing = new Map<string, ReplayedAgent>();
      for (const agent of agents) {
        const key = keyOf(agent);
        const found = known.get(key) ?? before.get(key);
        if (found === undefined) missing.set(key, agent);
        else current.set(key, found);
      }
      for (const some of portionsOf([...missing.values()], MAX_READ)) await read(some);
    },
    of: (agent) => current.get(keyOf(agent)) ?? null,
  };
}

/** The controls of these links as they would be, newest id first as programs are linked. */
function overlaid(
  stored: readonly StoredDefinition[],
  { controlIds }: ControlLinks,
  { controls, without }: Proposal,
): StoredDefinition[] {
  const there = new Set(stored.map(({ id }) => id));
  const added = controlIds.flatMap((id) => (there.has(id) ? [] : (controls.get(id) ?? [])));
  return [...stored.map((one) => controls.get(one.id) ?? one), ...added]
    .filter(({ id }) => !without.has(id))
    .sort((left, right) => right.id - left.id);
}

function remembers(library: ControlLibrary, data: string): boolean {
  const prepared = library.prepare(data);
  return leavesOfControls({ prepared }).some(({ part }) => part.compiled.memory !== undefined);
}
