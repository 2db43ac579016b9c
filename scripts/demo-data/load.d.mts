/** Calls a JSON route below `/api/v1`. A refusal is an error with the reply. */
// biome-ignore lint/suspicious/noExplicitAny: replies are read by tests and scripts, which know their members
export type Caller = (method: string, path: string, body?: unknown) => Promise<any>;

export function createCaller(url: string, apiKey: string | undefined): Caller;

/** Agents, controls with their links and versions, and policies. */
export function loadDefinitions(call: Caller): Promise<void>;

/** Stores about `count` events of the past `days` before `now`, in milliseconds since 1970. */
export function loadHistory(
  call: Caller,
  options: { readonly days: number; readonly count: number; readonly now: number },
): Promise<void>;

/** Agents take steps until the signal is aborted. */
export function takeSteps(
  call: Caller,
  options: { readonly stepsPerSecond: number; readonly signal: AbortSignal },
): Promise<void>;
