import type { RestClient, RestReply } from '../../support/http.js';

export interface Document {
  readonly kind: string;
  readonly name: string;
  readonly [member: string]: unknown;
}

/** A configuration of each built-in evaluator. */
export const CONFIGS: Readonly<Record<string, (at: number) => object>> = {
  regex: (at) => ({ pattern: `secret-${at}`, flags: ['IGNORECASE'] }),
  list: (at) => ({ values: [`word-${at}`, 'zweites Wort', 'ß'], logic: 'any', match_on: 'match' }),
  json: (at) => ({ json_schema: { type: 'object', properties: { z: { const: 1.5 }, a: { minimum: at } } } }),
  sql: () => ({ blocked_operations: ['DROP', 'DELETE'] }),
  cel: (at) => ({ expression: `size(string(input)) > ${at}` }),
  secrets: () => ({}),
  injection: () => ({}),
  pii: () => ({}),
  url: (at) => ({ allow: [`host-${at}.example.com`] }),
  shell: () => ({ deny_programs: ['rm'] }),
  rate: (at) => ({ limit: at + 1, period: '1h', key: ['agent'] }),
  budget: (at) => ({
    limit: at + 5,
    unit: 'EUR',
    amount: 'input.amount',
    window: { rolling: '1h' },
    key: ['session'],
  }),
  concurrency: (at) => ({ limit: at + 1, lease: '10m', key: ['namespace'] }),
  loop: () => ({ repeat: 3, within: { last: 20, time: '10m' } }),
  history: () => ({ op: 'formerly', within: '1h', event: { kinds: ['response'], step_names: ['approve'] } }),
};

export function denying(name: string, config: object, more: object = {}): object {
  return {
    execution: 'server',
    condition: {
      selector: { path: MEMORY.has(name) || name === 'cel' ? '*' : 'input' },
      evaluator: { name, config },
    },
    action: { decision: 'deny' },
    ...more,
  };
}

const MEMORY: ReadonlySet<string> = new Set(['rate', 'budget', 'concurrency', 'loop', 'history']);

export function control(name: string, pattern = name, more: object = {}): Document {
  return { kind: 'Control', name, data: denying('regex', { pattern }, more) };
}

/** As many controls of every kind of evaluator, with templates, approvals, policies, links and a pack. */
export function largeSet(controls: number): Document[] {
  const evaluators = Object.entries(CONFIGS);
  const all = Array.from({ length: controls }, (_, at): Document => {
    const name = `control-${at}`;
    if (at % 20 === 7) {
      const template = {
        parameters: { word: { type: 'string', label: 'Word' } },
        definition_template: denying('regex', { pattern: { $param: 'word' } }),
      };
      const isDraft = at % 40 === 7;
      const values = isDraft ? {} : { word: `word-${at}` };
      return {
        kind: 'Template',
        name,
        ...(isDraft ? { enabled: false } : {}),
        data: { template, template_values: values },
      };
    }
    if (at % 20 === 9) {
      const approval = { approvers: ['role:admin'], quorum: 1, expires_seconds: 600 };
      const data = denying(
        'regex',
        { pattern: `pay-${at}` },
        { action: { decision: 'deny', approval }, scope: { stages: ['pre'] } },
      );
      return { kind: 'Approval', name, data };
    }
    const [evaluator, configOf] = evaluators[at % evaluators.length] as (typeof evaluators)[number];
    const isLimit = ['rate', 'budget', 'concurrency', 'loop'].includes(evaluator);
    return {
      kind: isLimit ? 'Limit' : 'Control',
      name,
      data: denying(evaluator, configOf(at), { tags: [`t-${at % 3}`] }),
    };
  });
  const names = all.map(({ name }) => name);
  const policies = Array.from(
    { length: 20 },
    (_, at): Document => ({
      kind: 'Policy',
      name: `policy-${at}`,
      ...(at === 3 ? { every_agent: true } : {}),
      ...(at === 4 ? { agent_labels: ['team=payments'] } : {}),
      controls: names.filter((_, index) => index % 20 === at).sort(),
    }),
  );
  const links = Array.from(
    { length: 10 },
    (_, at): Document => ({
      kind: 'AgentLinks',
      name: `agent-number-${at}`,
      controls: names.slice(at, at + 2).sort(),
      policies: [`policy-${at + 5}`],
    }),
  );
  return [...all, ...policies, ...links];
}

/** Applies documents for an owner. */
export function applier(call: RestClient) {
  return (documents: readonly Document[], more: object = {}): Promise<RestReply> =>
    call('POST', '/api/v1/configuration/apply', { owner: 'team/main', documents, ...more });
}

/** What is stored, one line for each object. */
export async function exported(call: RestClient, filter: object = {}): Promise<string> {
  const { status, body } = await call('POST', '/api/v1/configuration/export', filter);
  if (status !== 200) throw new Error(`export: ${status} ${JSON.stringify(body)}`);
  return body as string;
}

/** The documents of an export. */
export function documentsOf(text: string): Document[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { document: Document }).document);
}

/** What became of objects: "KIND/NAME change". */
export function changesOf({ body }: RestReply): string[] {
  return body.changes.map(({ kind, name, change }: Record<string, string>) => `${kind}/${name} ${change}`);
}
