import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOnEachDatabase } from '../support/databases.js';
import { type CaseExpectation, readCaseFiles } from '../support/evaluation-cases.js';
import { methodNamed, PROTOCOLS, type ProtocolClient } from '../support/protocol-clients.js';
import { restClient } from '../support/rest-client.js';
import { startService, type TestService } from '../support/service.js';

const CASES = readCaseFiles().map((content, index) => ({ ...content, agent: `case-agent-${index + 1}` }));
const EVALUATE = methodNamed('EvaluationService.Evaluate');

/** Each way to send a step, and how much comes back. */
const FORMS = [
  { form: 'REST', protocol: 'REST over h1', detail: 'full', asText: false },
  { form: 'gRPC, step as a message, in full', protocol: 'gRPC (grpc-js)', detail: 'full', asText: false },
  { form: 'gRPC, step as a message, verdict', protocol: 'gRPC (grpc-js)', detail: 'verdict', asText: false },
  { form: 'gRPC, step as JSON, in full', protocol: 'gRPC (grpc-js)', detail: 'full', asText: true },
  { form: 'gRPC, step as JSON, verdict', protocol: 'gRPC (grpc-js)', detail: 'verdict', asText: true },
] as const;

interface ControlResult {
  readonly control_name: string;
  readonly result: { readonly metadata: { readonly condition_trace?: unknown } | null };
}

interface Verdict {
  readonly is_safe: boolean;
  readonly confidence: number;
  readonly reason: string | null;
  readonly matches: readonly ControlResult[];
  readonly errors: readonly ControlResult[];
  readonly non_matches: readonly ControlResult[];
}

describeOnEachDatabase('the evaluation cases', (freshDatabaseUrl) => {
  let service: TestService;
  const clients = new Map<string, ProtocolClient>();
  beforeAll(async () => {
    service = await startService({ DATABASE_URL: await freshDatabaseUrl() });
    for (const { protocol } of FORMS) {
      if (!clients.has(protocol)) clients.set(protocol, PROTOCOLS[protocol](service.url));
    }
    const call = restClient(service.url);
    for (const { agent, controls } of CASES) {
      expect(await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: agent } })).toMatchObject({
        status: 200,
      });
      for (const { name, data } of controls) {
        const created = await call('PUT', '/api/v1/controls', { name: `${agent}-${name}`, data });
        expect(created).toMatchObject({ status: 200 });
        const link = `/api/v1/agents/${agent}/controls/${created.body.control_id}`;
        expect(await call('POST', link)).toMatchObject({ status: 200 });
      }
    }
  });
  afterAll(async () => {
    for (const client of clients.values()) client.close();
    await service.stop();
  });

  describe.each(FORMS)('over $form', ({ protocol, detail, asText }) => {
    const evaluations = CASES.flatMap(({ name, file, agent, evaluations: list }) =>
      list.map((one, index) => ({ ...one, name, file, agent, index })),
    );
    it.each(evaluations)(
      '$file: $name [$index] at $stage',
      async ({ agent, step, stage, expect: expected }) => {
        const outcome = await clients.get(protocol)?.call(EVALUATE, {
          agent_name: agent,
          stage,
          detail,
          ...(asText ? { step_json: JSON.stringify(step) } : { step }),
        });
        if (outcome?.ok !== true) throw new Error(`refused: ${JSON.stringify(outcome)}`);
        checkVerdict(outcome.reply as unknown as Verdict, withAgent(expected, agent), detail);
      },
    );
  });
});

/** The expectation with the names that the controls have in a database that holds all cases. */
function withAgent(expected: CaseExpectation, agent: string): CaseExpectation {
  const full = (name: string) => `${agent}-${name}`;
  const keyed = <T>(members: Readonly<Record<string, T>> = {}) =>
    Object.fromEntries(Object.entries(members).map(([name, value]) => [full(name), value]));
  return {
    ...expected,
    matches: expected.matches.map(full),
    errors: expected.errors.map(full),
    non_matches: expected.non_matches.map(full),
    trace: keyed(expected.trace),
    metadata: keyed(expected.metadata),
  };
}

function checkVerdict(verdict: Verdict, expected: CaseExpectation, detail: 'full' | 'verdict'): void {
  const names = (items: readonly ControlResult[]) => items.map(({ control_name }) => control_name);
  expect({
    is_safe: verdict.is_safe,
    confidence: verdict.confidence,
    reason: verdict.reason ? 'any' : verdict.reason,
    matches: names(verdict.matches),
    errors: names(verdict.errors),
    non_matches: names(verdict.non_matches),
  }).toEqual({
    is_safe: expected.is_safe,
    confidence: expected.confidence,
    reason: expected.reason,
    matches: expected.matches,
    errors: expected.errors,
    non_matches: detail === 'full' ? expected.non_matches : [],
  });
  const all = [...verdict.matches, ...verdict.errors, ...verdict.non_matches];
  if (detail === 'verdict') {
    expect(all.map(({ result }) => result.metadata)).toEqual(all.map(() => null));
    return;
  }
  const metadataOf = (name: string) => all.find((item) => item.control_name === name)?.result.metadata;
  for (const [name, members] of Object.entries(expected.metadata ?? {})) {
    expect(metadataOf(name)).toMatchObject(members);
  }
  for (const [name, members] of Object.entries(expected.trace ?? {})) {
    expect(metadataOf(name)?.condition_trace).toMatchObject(members);
  }
}
