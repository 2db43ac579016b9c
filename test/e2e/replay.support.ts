/** Messages of a replay, as a JSON route sends them. */
export interface Replayed {
  readonly changes: readonly Change[];
  readonly progress: readonly { readonly done: number; readonly total: number }[];
  readonly summary: Summary;
}

export interface Change {
  readonly sample: { readonly decision_id: string; readonly outcome: string; readonly agent_name: string };
  readonly live: string;
  readonly proposed: string;
  readonly live_reason: string | null;
  readonly proposed_reason: string | null;
  readonly added_controls: readonly string[];
  readonly removed_controls: readonly string[];
}

interface Summary {
  readonly samples: number;
  readonly skipped: number;
  readonly changed: number;
  readonly newly_denied: number;
  readonly newly_allowed: number;
  readonly controls: readonly object[];
  readonly agents: readonly object[];
  readonly live_p50_us: number;
  readonly live_p99_us: number;
  readonly without_memory: readonly string[];
}

/** Replays over REST. Rejects if it is refused or has no summary. */
export async function replayed(url: string, body: object, headers: object = {}): Promise<Replayed> {
  const reply = await fetch(`${url}/api/v1/samples/replay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${reply.status} ${text}`);
  const messages = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const of = (kind: string) => messages.flatMap((one) => one[kind] ?? []);
  const [summary] = of('summary');
  if (summary === undefined) throw new Error(`there is no summary: ${messages.at(-1)}`);
  return { changes: of('change'), progress: of('progress'), summary };
}
