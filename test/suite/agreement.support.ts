import fc from 'fast-check';
import { documentsOf } from '../../packages/cli/src/files/documents-of.js';
import { readControls } from '../../packages/cli/src/offline/documents.js';
import { createOfflineJudge } from '../../packages/cli/src/offline/offline-judge.js';
import type { Judge, Judgement, NotJudged, Question } from '../../packages/cli/src/suite/judge.js';
import { createServerJudge } from '../../packages/cli/src/suite/server-judge.js';
import type { JsonObject } from '../../packages/exact-json/src/index.js';
import { OUTCOME_WORDS } from '../../src/decide/decisions/evaluation-options.js';
import type { SuiteService } from '../support/service-suite.js';
import { registry } from './suite.support.js';

/** Steps of each generated set of controls. */
const STEPS = 20;
const MAX_ATTEMPTS = 10;
const AGENT = 'agreement-bot-01';
/** Settings of a service whose bounds generated steps do not reach. */
export const PATIENT = {
  SERVICE_MEMORY_TIMEOUT_SECONDS: '60',
  SERVICE_APPROVALS_FATIGUE_LIMIT: '100000',
  SERVICE_APPROVALS_MAX: '100000',
  SERVICE_APPROVALS_MAX_PER_AGENT: '100000',
};
const WORDS = ['ant', 'bee', 'cat', 'dog', '4111 1111 1111 1111', 'ann@example.com', 'rm -rf /'] as const;
const word = fc.constantFrom(...WORDS);

const leaf = fc.oneof(
  word.map((pattern) => leafOf('input.text', 'regex', { pattern })),
  fc
    .uniqueArray(word, { minLength: 1, maxLength: 3 })
    .map((values) => leafOf('input.kind', 'list', { values })),
  fc
    .constantFrom(
      'size(input.text) > 6',
      'input.amount > 5',
      'input.missing == 1',
      'agent.name.startsWith("agree")',
    )
    .map((expression) => leafOf('*', 'cel', { expression })),
  fc.constantFrom('pii', 'secrets', 'injection').map((name) => leafOf('input', name, {})),
  fc
    .nat(9)
    .map((maximum) => leafOf('input', 'json', { json_schema: { properties: { amount: { maximum } } } })),
  fc.constantFrom(1, 2).map((limit) => leafOf('*', 'rate', { key: ['session'], limit, period: '1m' })),
);
const condition = fc.letrec<{ node: object; leaf: object }>((tie) => ({
  leaf,
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
    tie('node').map((not) => ({ not })),
  ),
})).node;
const replacing = {
  decision: 'deny',
  modify: [{ path: 'input.text', replace: 'value', with: 'nothing' }],
} as const;
const action = fc.constantFrom(
  { decision: 'deny' },
  { decision: 'observe' },
  { decision: 'steer', steering_context: { message: 'not like this' } },
  { decision: 'deny', approval: { approvers: ['role:operator'] } },
  replacing,
);
const control = fc
  .record({
    condition,
    action,
    enabled: fc.constantFrom(true, true, true, false),
    execution: fc.constantFrom('server', 'server', 'server', 'sdk'),
    scope: fc.constantFrom<object>(
      {},
      { stages: ['post'] },
      { step_names: ['pay'] },
      { step_name_regex: '^p' },
    ),
  })
  .map((data) => {
    const lifts = 'approval' in data.action || 'modify' in data.action;
    const remembers = JSON.stringify(data.condition).includes('"rate"');
    return {
      ...data,
      execution: lifts || remembers ? 'server' : data.execution,
      scope: lifts ? { ...data.scope, stages: ['pre'] } : data.scope,
    };
  });
const step = fc.record({
  stage: fc.constantFrom<'pre' | 'post'>('pre', 'pre', 'post'),
  step: fc.record({
    type: fc.constantFrom('tool', 'llm'),
    name: fc.constantFrom('pay', 'post', 'read'),
    input: fc.record({
      text: fc.array(word, { maxLength: 3 }).map((words) => words.join(' ')),
      kind: word,
      amount: fc.nat(9),
    }),
    output: fc.constant(null),
    context: fc.constant(null),
  }),
});
const round = fc.record({
  controls: fc.array(control, { minLength: 1, maxLength: 4 }),
  steps: fc.array(step, { minLength: STEPS, maxLength: STEPS }),
});

function leafOf(path: string, name: string, config: object) {
  return { selector: { path }, evaluator: { name, config } };
}

const failsLater = {
  and: [
    { not: leafOf('*', 'cel', { expression: 'input.missing == 1' }) },
    leafOf('*', 'rate', { key: ['session'], limit: 2, period: '1m' }),
  ],
};
const onPre = { enabled: true, execution: 'server', scope: { stages: ['pre'] } } as const;
type Round = typeof round extends fc.Arbitrary<infer Made> ? Made : never;
/** What once had other verdicts. */
const FOUND: [Round][] = [
  [
    {
      // One with memory fails, so that the match of the other is not lifted.
      controls: [
        { ...onPre, condition: failsLater, action: replacing },
        { ...onPre, condition: { not: leafOf('input', 'secrets', {}) }, action: replacing },
      ],
      steps: [
        {
          stage: 'pre',
          step: {
            type: 'llm',
            name: 'pay',
            input: { text: '', kind: 'ann@example.com', amount: 3 },
            output: null,
            context: null,
          },
        },
      ],
    },
  ],
];

/** What was compared, by outcome, and by the judge of the server. */
export interface Compared {
  pairs: number;
  explained: number;
  readonly outcomes: Record<string, number>;
}

/** Holds verdicts of the offline judge against those of the service, on generated controls and steps. */
export async function compareWithServer(
  { call }: SuiteService,
  pairs: number,
  seed: number,
): Promise<Compared> {
  const compared: Compared = { pairs: 0, explained: 0, outcomes: {} };
  let session = 0;
  const send = async (method: 'POST', path: string, body: JsonObject): Promise<JsonObject> => {
    const reply = await call(method, path, body);
    if (reply.status !== 200) throw new Error(`${path}: ${JSON.stringify(reply.body)}`);
    return reply.body as JsonObject;
  };

  async function live(questions: readonly Question[], attempt = 1): Promise<unknown[]> {
    const { results = [] } = (await send('POST', '/api/v1/evaluation/batch', {
      evaluations: questions.map(({ step, stage, sessionId, stepId }) => ({
        agent_name: AGENT,
        step: { ...step },
        stage,
        session_id: `${sessionId}-${attempt}`,
        step_id: stepId,
        accepts: [...OUTCOME_WORDS],
      })),
    })) as unknown as { readonly results?: readonly { readonly verdict?: Verdict }[] };
    const verdicts = results.map((result) => {
      if (result.verdict === undefined) throw new Error(JSON.stringify(result));
      return result.verdict;
    });
    // A machine with much else to do is no other verdict.
    const isLate = verdicts.some(({ reason }) => reason?.includes('could not be read in time') === true);
    return isLate && attempt < MAX_ATTEMPTS ? live(questions, attempt + 1) : verdicts.map(shownVerdict);
  }

  await fc.assert(
    fc.asyncProperty(round, async ({ controls, steps }) => {
      const names = controls.map((_, index) => `c${index}`);
      const documents = [
        ...controls.map((data, index) => ({ kind: 'Control', name: names[index], data })),
        { kind: 'AgentLinks', name: AGENT, controls: names },
      ];
      await send('POST', '/api/v1/configuration/apply', {
        owner: 'agreement',
        prune: true,
        overwrite: ['*'],
        documents: documents as unknown as JsonObject[],
      });
      const text = documents.map((document) => JSON.stringify(document)).join('\n---\n');
      const read = readControls(documentsOf('generated.json', text), registry);
      if (read.problems.length > 0) throw new Error(JSON.stringify(read.problems));
      const questions = steps.map((one): Question => {
        session += 1;
        return {
          ...one,
          agent: { name: AGENT, metadata: {} },
          target: null,
          sessionId: `s-${seed}-${session}`,
          stepId: `t-${session}`,
          error: null,
          approval: null,
          accepts: OUTCOME_WORDS,
          nowMs: null,
          history: [],
        };
      });
      const verdicts = await live(questions);
      const offline = createOfflineJudge(read, registry);
      for (const [index, question] of questions.entries()) {
        const judged = await offline.judge(question);
        expectSame(shownJudgement(judged), verdicts[index], { documents, question });
        compared.pairs += 1;
        if ('outcome' in judged)
          compared.outcomes[judged.outcome] = (compared.outcomes[judged.outcome] ?? 0) + 1;
      }
      const [question] = questions;
      if (question === undefined) return;
      const wanted = shownJudgement(await offline.judge(question));
      // The controls of the agent, and the same documents as drafts.
      const judges: readonly Judge[] = [
        createServerJudge(send, null, registry),
        createServerJudge(send, read, registry),
      ];
      for (const judge of judges) {
        const judged = await judge.judge(question);
        if ('needs' in judged) continue;
        expectSame(shownJudgement(judged), wanted, { documents, question });
        compared.explained += 1;
      }
    }),
    { seed, examples: FOUND, numRuns: FOUND.length + Math.ceil(pairs / STEPS), endOnFailure: true },
  );
  return compared;
}

function expectSame(one: unknown, other: unknown, about: unknown): void {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  if (left !== right) throw new Error(`${left}\ndiffers from\n${right}\nabout ${JSON.stringify(about)}`);
}

/** The reason of an approval has its id; reasons of several controls are in the order of their ids. */
const reasonOf = (outcome: string, reason: string | null): readonly string[] | null =>
  reason === null || outcome === 'ask' || outcome === 'modify' ? null : reason.split('; ').sort();

interface Shown {
  readonly control_name: string;
  readonly action: string;
}

interface Verdict {
  readonly outcome: string;
  readonly reason?: string | null;
  readonly matches?: readonly Shown[];
  readonly errors?: readonly Shown[];
}

function shownVerdict(verdict: Verdict) {
  const names = (list: readonly Shown[] = []) =>
    list.map(({ control_name, action }) => `${control_name} ${action}`).sort();
  const { outcome, reason = null, matches, errors } = verdict;
  return { outcome, reason: reasonOf(outcome, reason), matches: names(matches), errors: names(errors) };
}

function shownJudgement(judged: Judgement | NotJudged) {
  if ('needs' in judged) throw new Error(judged.needs);
  const names = (list: Judgement['matches']) =>
    list.map(({ name, decision }) => `${name} ${decision}`).sort();
  const { outcome, reason, matches, errors } = judged;
  return { outcome, reason: reasonOf(outcome, reason), matches: names(matches), errors: names(errors) };
}
