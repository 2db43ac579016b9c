import type { ActiveHalt, HaltableStep, HaltScope } from './halt.js';

/** Halts by what they deny. Immutable. */
export class HaltIndex {
  readonly halts: readonly ActiveHalt[];
  /** When the first of them ends by itself, in milliseconds since 1970; infinite if none does. */
  readonly nextEndMs: number;
  readonly #byPlace = new Map<string, ActiveHalt>();
  /** The scopes of these halts, the widest first: others are not looked up. */
  readonly #places: readonly ((step: HaltableStep) => string | null)[];

  /** Of halts with the same scope and parts, the oldest one counts. */
  constructor(halts: readonly ActiveHalt[]) {
    this.halts = [...halts].sort((left, right) => left.id - right.id);
    let nextEndMs = Number.POSITIVE_INFINITY;
    const kinds = new Set<string>();
    for (const halt of this.halts) {
      nextEndMs = Math.min(nextEndMs, halt.expiresAtMs ?? nextEndMs);
      kinds.add(kindOf(halt));
      const place = placeOfHalt(halt);
      if (!this.#byPlace.has(place)) this.#byPlace.set(place, halt);
    }
    this.nextEndMs = nextEndMs;
    this.#places = PLACES.flatMap(([kind, place]) => (kinds.has(kind) ? [place] : []));
  }

  /** The halt of a step, the one with the widest scope first; null without one. */
  of(step: HaltableStep): ActiveHalt | null {
    for (const placeOf of this.#places) {
      const place = placeOf(step);
      const halt = place === null ? undefined : this.#byPlace.get(place);
      if (halt !== undefined) return halt;
    }
    return null;
  }
}

/** A scope, or a step name of one agent. */
type HaltKind = HaltScope | 'step_name_of_agent';

function kindOf({ scope, agentName }: ActiveHalt): HaltKind {
  return scope === 'step_name' && agentName !== null ? 'step_name_of_agent' : scope;
}

/** One text for each combination of parts: none of them can be taken for another. */
function placeOf(kind: HaltKind, namespace: string, ...parts: readonly (string | null)[]): string {
  return JSON.stringify([kind, namespace, ...parts]);
}

function placeOfHalt(halt: ActiveHalt): string {
  const { namespace, agentName, sessionId, stepName } = halt;
  const kind = kindOf(halt);
  switch (kind) {
    case 'installation':
      return placeOf(kind, '');
    case 'namespace':
      return placeOf(kind, namespace);
    case 'agent':
      return placeOf(kind, namespace, agentName);
    case 'session':
      return placeOf(kind, namespace, agentName, sessionId);
    case 'step_name':
      return placeOf(kind, namespace, stepName);
    case 'step_name_of_agent':
      return placeOf(kind, namespace, agentName, stepName);
  }
}

/** Where the halts of a step are, the widest scope first. */
const PLACES: readonly (readonly [HaltKind, (step: HaltableStep) => string | null])[] = [
  ['installation', () => placeOf('installation', '')],
  ['namespace', ({ namespace }) => placeOf('namespace', namespace.name)],
  ['agent', ({ namespace, agentName }) => placeOf('agent', namespace.name, agentName)],
  [
    'session',
    ({ namespace, agentName, sessionId }) =>
      sessionId === undefined ? null : placeOf('session', namespace.name, agentName, sessionId),
  ],
  ['step_name', ({ namespace, stepName }) => placeOf('step_name', namespace.name, stepName)],
  [
    'step_name_of_agent',
    ({ namespace, agentName, stepName }) =>
      placeOf('step_name_of_agent', namespace.name, agentName, stepName),
  ],
];
