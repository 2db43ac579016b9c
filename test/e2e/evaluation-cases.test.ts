import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CaseExpectation,
  type CaseVerdict,
  expectVerdict,
  readCaseFiles,
} from '../support/evaluation-cases.js';
import { methodNamed, PROTOCOLS, type ProtocolClient } from '../support/protocol-clients.js';
import { describeServiceOnSqlite } from '../support/service-suite.js';

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

describeServiceOnSqlite('the evaluation cases', ({ call, service }) => {
  const clients = new Map<string, ProtocolClient>();
  beforeAll(async () => {
    for (const { protocol } of FORMS) {
      if (!clients.has(protocol)) clients.set(protocol, PROTOCOLS[protocol](service.url));
    }
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
        expectVerdict(outcome.reply as unknown as CaseVerdict, withAgent(expected, agent), detail);
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
