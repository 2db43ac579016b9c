import type { CallInput, RouteName } from './routes.js';

/** Names and ids of what is there when a case is tried. */
export interface World {
  readonly agent: string;
  /** A control that is linked to the agent. */
  readonly control: number;
  readonly policy: number;
  /** A control made from a template. */
  readonly fromTemplate: number;
  /** A template without its values. */
  readonly draft: number;
  /** A policy with a control that the agent cannot run, and that control. */
  readonly foreignPolicy: number;
  readonly foreignControl: number;
}

export interface UnhappyCase {
  readonly route: RouteName;
  readonly what: string;
  readonly input: CallInput | ((world: World) => CallInput);
  readonly status: number;
  readonly error: string;
  /** `resource field code` of each item, `-` for no field; undefined when the body has no items. */
  readonly items?: readonly string[];
  /** Expected `details.kind` and `details.name`. A plain validation error has no details. */
  readonly details?: { readonly kind: string; readonly name?: string };
}

const MISSING_ID = 999_999;
export const MISSING_AGENT = 'missing-agent-01';

/** A call whose members are invalid, with its items. */
export const invalid = (
  route: RouteName,
  what: string,
  input: UnhappyCase['input'],
  ...items: readonly string[]
): UnhappyCase => ({ route, what, input, status: 422, error: 'VALIDATION_ERROR', items });

/** A call about something that is not there. */
export const notFound = (
  route: RouteName,
  kind: 'Agent' | 'Control' | 'Policy',
  path: Readonly<Record<string, string | number>>,
): UnhappyCase => ({
  route,
  what: `no ${kind.toLowerCase()}`,
  input: { path },
  status: 404,
  error: `${kind.toUpperCase()}_NOT_FOUND`,
  details: { kind, name: kind === 'Agent' ? MISSING_AGENT : String(MISSING_ID) },
});

export const missingAgent = { agent: MISSING_AGENT };
export const missingControl = { control: MISSING_ID };
export const missingPolicy = { policy: MISSING_ID };

/** A call with these query parameters. */
export const query = (entries: Record<string, string>): CallInput => ({ query: entries });
