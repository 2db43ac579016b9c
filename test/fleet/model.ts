/** A control of the model. */
export interface ModelControl {
  readonly name: string;
  readonly version: number;
  readonly enabled: boolean;
}

/** What is stored at one revision, as far as verdicts depend on it. */
export interface State {
  readonly controls: Map<number, ModelControl>;
  readonly policies: Map<number, Set<number>>;
  readonly agents: Map<string, { readonly controls: Set<number>; readonly policies: Set<number> }>;
}

/** The only input that is evaluated. */
export const INPUT = 'word';

/**
 * The definition of a version of a control. The verdict shows the version as guidance; every third version does not
 * match, every other one makes the step unsafe. None denies, because a deny ends the evaluation of the others.
 */
export function definitionOf({ version, enabled }: Pick<ModelControl, 'version' | 'enabled'>) {
  return {
    enabled,
    execution: 'server',
    condition: {
      selector: { path: 'input' },
      evaluator: { name: 'regex', config: { pattern: version % 3 === 2 ? 'other' : INPUT } },
    },
    action: {
      decision: version % 2 === 0 ? 'observe' : 'steer',
      steering_context: { message: `version ${version}` },
    },
  };
}

/** The verdict that an agent must get, in one line; undefined when there is no such agent. */
export function verdictOf(state: State, agentName: string): string | undefined {
  const agent = state.agents.get(agentName);
  if (agent === undefined) return undefined;
  const ids = new Set(agent.controls);
  for (const policy of agent.policies) for (const id of state.policies.get(policy) ?? []) ids.add(id);
  const matches = [...ids]
    .sort((left, right) => right - left)
    .flatMap((id) => {
      const control = state.controls.get(id);
      if (control === undefined || !control.enabled || control.version % 3 === 2) return [];
      return [{ id, ...control }];
    });
  const isSafe = matches.every(({ version }) => version % 2 === 0);
  return line(
    isSafe,
    matches.map(({ id, name, version }) => `${id} ${name} version ${version}`),
  );
}

interface ReplyMatch {
  readonly control_id: number;
  readonly control_name: string;
  readonly steering_context: { readonly message: string } | null;
}

/** The verdict of a reply in the same form. */
export function verdictIn(body: {
  readonly is_safe: boolean;
  readonly matches: readonly ReplyMatch[] | null;
  readonly errors: readonly unknown[] | null;
}): string {
  const errors = (body.errors ?? []).map((error) => `error ${JSON.stringify(error)}`);
  const matches = (body.matches ?? []).map(
    (match) => `${match.control_id} ${match.control_name} ${match.steering_context?.message}`,
  );
  return line(body.is_safe, [...matches, ...errors]);
}

function line(isSafe: boolean, results: readonly string[]): string {
  return [isSafe ? 'safe' : 'unsafe', ...results].join('; ');
}

/** Every state since a sequence began, by revision. */
export class History {
  readonly #first: number;
  readonly #states: State[];

  constructor(revision: number) {
    this.#first = revision;
    this.#states = [{ controls: new Map(), policies: new Map(), agents: new Map() }];
  }

  /** The latest revision. */
  get revision(): number {
    return this.#first + this.#states.length - 1;
  }

  get state(): State {
    return this.at(this.revision);
  }

  /** What was before the sequence had nothing of it. Throws for a revision that never was. */
  at(revision: number): State {
    const state = this.#states[Math.max(0, revision - this.#first)];
    if (state === undefined)
      throw new Error(`revision ${revision} is reported, the latest is ${this.revision}`);
    return state;
  }

  /** The next revision. */
  push(state: State): void {
    this.#states.push(state);
  }
}
