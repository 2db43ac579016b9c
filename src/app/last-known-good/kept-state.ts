import { type AgentKey, namespaceOfKey, type TargetKey } from '../../contract/call/namespace.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import { type ControlLinks, linksKey, withControls } from '../../decide/agent-state/control-links.js';
import type { ReadSteps } from '../../decide/decisions/state-reader.js';
import type { ActiveHalt } from '../../decide/halts/halt.js';
import type { LiveKey } from '../../manage/keys/live-keys.js';
import { DamagedFileError, type StateHeader, type StateRecord, type StepsRecord } from './file-format.js';

/** The links of an agent with the controls that are bound to its target, and what its steps are compared with. */
export interface KeptLinks {
  readonly links: ControlLinks;
  readonly isBound: boolean;
  readonly steps: ReadSteps;
}

/** What a state knows about callers, and the halts that were in force. */
export interface KeptAccess {
  readonly keys: readonly LiveKey[];
  readonly halts: readonly ActiveHalt[];
  readonly namespaces: readonly string[];
}

/** The state that verdicts depend on, at one revision, as read from a file. */
export class KeptState {
  readonly header: StateHeader;
  readonly #controls = new Map<number, StoredDefinition>();
  readonly #policies = new Map<number, readonly number[]>();
  readonly #agents = new Map<AgentKey, Omit<KeptLinks, 'isBound'>>();
  readonly #bound = new Map<TargetKey, number[]>();
  #bindings = 0;
  readonly #links = new Map<string, ControlLinks>();
  readonly #keys = new Map<number, LiveKey>();
  readonly #halts = new Map<number, ActiveHalt>();

  constructor(header: StateHeader) {
    this.header = header;
  }

  /** Throws a DamagedFileError if the record refers to something missing, or is a duplicate. */
  add(record: StateRecord): void {
    if (record.kind === 'control') {
      const { id, name, data, targets } = record.control;
      addOnce(this.#controls, id, { id, name, data }, 'control');
      for (const target of targets) this.#bind(target, id);
    } else if (record.kind === 'policy') {
      this.#demand(record.policy.controlIds, this.#controls, 'control');
      addOnce(this.#policies, record.policy.id, record.policy.controlIds, 'policy');
    } else if (record.kind === 'key') {
      addOnce(this.#keys, record.key.id, record.key, 'key');
    } else if (record.kind === 'halt') {
      addOnce(this.#halts, record.halt.id, record.halt, 'halt');
    } else {
      const { key, controlIds, policyIds } = record.agent;
      this.#demand(controlIds, this.#controls, 'control');
      this.#demand(policyIds, this.#policies, 'policy');
      const links = this.#shared({ controlIds, policyIds });
      addOnce(this.#agents, key, { links, steps: this.#stepsOf(record.agent.steps) }, 'agent');
    }
  }

  /** Must be called after all records are added. Throws a DamagedFileError if something is missing. */
  complete(): void {
    const { controls, policies, agents, bindings = 0, keys, halts } = this.header;
    if (
      controls !== this.#controls.size ||
      policies !== this.#policies.size ||
      agents !== this.#agents.size ||
      bindings !== this.#bindings ||
      keys !== this.#keys.size ||
      halts !== this.#halts.size
    ) {
      throw new DamagedFileError('it does not hold as much as its first line says');
    }
  }

  /** The keys that were valid, the halts in force, and the namespaces that keys and agents are in: these existed. */
  get access(): KeptAccess {
    const keys = [...this.#keys.values()];
    const ofAgents = [...this.#agents.keys()].map(namespaceOfKey);
    const namespaces = [...new Set([...ofAgents, ...keys.map(({ namespace }) => namespace)])];
    return { keys, halts: [...this.#halts.values()], namespaces };
  }

  /**
   * The links of an agent that works on a target, null for none; without one, one object for all agents with the same
   * links. Null if there is no such agent, or if the file says nothing about bindings.
   */
  linksOf(agent: AgentKey, target: TargetKey | null): KeptLinks | null {
    const found = this.#agents.get(agent);
    if (found === undefined) return null;
    if (target !== null && this.header.bindings === undefined) return null;
    const bound = target === null ? undefined : this.#bound.get(target);
    if (bound === undefined) return { ...found, isBound: false };
    return { ...found, links: withControls(found.links, bound), isBound: true };
  }

  /** The controls of links, newest id first; null if the state lacks one of the controls or policies. */
  controlsOf({ controlIds, policyIds }: ControlLinks): StoredDefinition[] | null {
    const ids = new Set(controlIds);
    for (const policyId of policyIds) {
      const members = this.#policies.get(policyId);
      if (members === undefined) return null;
      for (const id of members) ids.add(id);
    }
    const controls: StoredDefinition[] = [];
    for (const id of [...ids].sort((left, right) => right - left)) {
      const control = this.#controls.get(id);
      if (control === undefined) return null;
      controls.push(control);
    }
    return controls;
  }

  #bind(target: TargetKey, controlId: number): void {
    const known = this.#bound.get(target);
    if (known === undefined) this.#bound.set(target, [controlId]);
    else known.push(controlId);
    this.#bindings += 1;
  }

  #shared(links: ControlLinks): ControlLinks {
    const key = linksKey(links);
    const known = this.#links.get(key);
    if (known !== undefined) return known;
    this.#links.set(key, links);
    return links;
  }

  #stepsOf(record: StepsRecord | undefined): ReadSteps {
    if (record === undefined) return 'unknown';
    const { mode, schemas, metadata } = record;
    if (schemas === null || typeof schemas === 'string') return { mode, schemas, metadata };
    const other = this.#agents.get(schemas.as as AgentKey)?.steps;
    if (other === undefined || other === 'unknown' || !('schemas' in other)) {
      throw new DamagedFileError(`it names the steps of agent ${schemas.as}, which it does not hold`);
    }
    return { mode, schemas: other.schemas, metadata };
  }

  #demand(ids: readonly number[], known: ReadonlyMap<number, unknown>, what: string): void {
    for (const id of ids) {
      if (!known.has(id)) throw new DamagedFileError(`it names ${what} ${id}, which it does not hold`);
    }
  }
}

function addOnce<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, what: string): void {
  if (map.has(key)) throw new DamagedFileError(`it holds ${what} ${String(key)} twice`);
  map.set(key, value);
}
