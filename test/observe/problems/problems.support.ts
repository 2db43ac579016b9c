import type { RestClient } from '../../support/http.js';
import { until } from '../../support/until.js';

/** A problem as JSON routes have it. */
export interface ListedProblem {
  readonly kind: string;
  readonly severity: string;
  readonly title: string;
  readonly detail: string;
  readonly count: number;
  readonly subjects: {
    readonly type: string;
    readonly id: string;
    readonly name: string;
    readonly detail: string | null;
  }[];
}

export interface ProblemsReply {
  readonly working: boolean;
  readonly problems: readonly ListedProblem[];
}

export async function problemsOf(call: RestClient): Promise<ProblemsReply> {
  const { status, body } = await call('GET', '/api/v1/problems');
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body as unknown as ProblemsReply;
}

/** The first problem of a kind once `check` holds for it: the service determines its problems every few seconds. */
export async function settled(
  call: RestClient,
  kind: string,
  check: (problem: ListedProblem | undefined) => boolean,
): Promise<ListedProblem | undefined> {
  const first = ({ problems }: ProblemsReply) => problems.find((problem) => problem.kind === kind);
  return first(
    await until(
      () => problemsOf(call),
      (reply) => check(first(reply)),
    ),
  );
}
