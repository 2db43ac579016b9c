/** Controls of the demonstration data: every decision, every built-in evaluator, both places of execution, templates. */

const leaf = (path, name, config) => ({ selector: { path }, evaluator: { name, config } });

/** Template with typed parameters, used by a finished control and by a draft. */
const DENY_WORDS = {
  description: 'Denies texts with words of a list',
  parameters: {
    words: {
      label: 'Words',
      description: 'Whole words, upper and lower case alike',
      type: 'string_list',
      placeholder: ['confidential'],
    },
    path: { label: 'Where', description: 'Part of the step', type: 'string', default: 'input.text' },
    decision: {
      label: 'Decision',
      type: 'enum',
      allowed_values: ['deny', 'steer', 'observe'],
      default: 'deny',
    },
  },
  definition_template: {
    description: 'Words that must not leave the company',
    execution: 'server',
    scope: { stages: ['pre'] },
    condition: {
      selector: { path: { $param: 'path' } },
      evaluator: { name: 'list', config: { values: { $param: 'words' }, match_mode: 'contains' } },
    },
    action: { decision: { $param: 'decision' } },
    tags: ['words'],
  },
};

/** Controls by name. `agents` and `policy` say what they are linked to. */
export const CONTROLS = [
  {
    name: 'no-card-numbers',
    policy: 'outgoing-mail',
    data: {
      description: 'Card numbers never leave through a mail',
      execution: 'server',
      scope: { step_types: ['tool'], step_names: ['send_mail'], stages: ['pre'] },
      condition: {
        and: [
          leaf('input.text', 'regex', { pattern: '\\b(?:\\d[ -]?){15}\\d\\b' }),
          { not: leaf('input.to', 'list', { values: ['@payments.example'], match_mode: 'ends_with' }) },
        ],
      },
      action: { decision: 'deny' },
      tags: ['pci', 'mail'],
    },
  },
  {
    name: 'no-mail-to-competitors',
    policy: 'outgoing-mail',
    data: {
      description: 'No mail to domains of competitors',
      execution: 'server',
      scope: { step_names: ['send_mail'], stages: ['pre'] },
      condition: {
        or: [
          leaf('input.to', 'list', {
            values: ['@rival.example', '@other-rival.example'],
            match_mode: 'ends_with',
          }),
          leaf('input.text', 'regex', { pattern: 'internal use only', flags: ['IGNORECASE'] }),
        ],
      },
      action: { decision: 'deny' },
      tags: ['mail'],
    },
  },
  {
    name: 'large-refunds-need-approval',
    agents: ['support-assistant'],
    data: {
      description: 'A person approves refunds above 200',
      execution: 'server',
      scope: { step_names: ['refund'], stages: ['pre'] },
      condition: leaf('input', 'json', { field_constraints: { amount: { max: 200 } } }),
      action: {
        decision: 'steer',
        steering_context: {
          message: 'Ask a person of the support team to approve the refund.',
          required_actions: ['request_approval'],
        },
      },
      tags: ['money'],
    },
  },
  {
    name: 'read-only-sql',
    agents: ['data-analyst'],
    data: {
      description: 'Queries read, and read single statements only',
      execution: 'server',
      scope: { step_names: ['query_database'], stages: ['pre'] },
      condition: leaf('input.sql', 'sql', {
        blocked_operations: ['INSERT', 'UPDATE', 'DELETE', 'DROP', 'ALTER', 'TRUNCATE'],
        allow_multi_statements: false,
      }),
      action: { decision: 'deny' },
      tags: ['sql'],
    },
  },
  {
    name: 'no-destructive-commands',
    agents: ['release-engineer'],
    data: {
      description: 'Commands that delete or rewrite history',
      execution: 'server',
      scope: { step_name_regex: '^run_', stages: ['pre'] },
      condition: {
        or: [
          leaf('input.command', 'regex', { pattern: '\\brm\\s+-rf\\s+/' }),
          leaf('input.command', 'regex', { pattern: 'git\\s+push\\s+.*--force' }),
          {
            and: [
              leaf('input.command', 'regex', { pattern: '\\bkubectl\\s+delete\\b' }),
              { not: leaf('input.command', 'regex', { pattern: '--dry-run' }) },
            ],
          },
        ],
      },
      action: { decision: 'deny' },
      tags: ['shell', 'platform'],
    },
  },
  {
    name: 'watch-production-rollouts',
    agents: ['release-engineer'],
    data: {
      description: 'Records each rollout to production',
      execution: 'server',
      scope: { step_names: ['deploy'] },
      condition: leaf('input.environment', 'list', { values: ['production'] }),
      action: { decision: 'observe' },
      tags: ['platform'],
    },
  },
  {
    name: 'answers-without-promises',
    agents: ['support-assistant'],
    data: {
      description: 'Answers promise no date and no refund',
      execution: 'server',
      scope: { step_types: ['llm'], stages: ['post'] },
      condition: leaf('output.text', 'regex', { pattern: 'guarantee|we promise|full refund' }),
      action: {
        decision: 'steer',
        steering_context: { message: 'Rewrite the answer without a promise.' },
      },
      tags: ['tone'],
    },
  },
  {
    name: 'query-cost-in-the-agent',
    agents: ['data-analyst'],
    data: {
      description: 'Expensive queries, checked by the agent itself',
      execution: 'sdk',
      scope: { step_names: ['query_database'] },
      condition: leaf('input.sql', 'data-analyst:query-cost', { max_rows: 100000 }),
      action: { decision: 'steer', steering_context: { message: 'Add a LIMIT to the query.' } },
      tags: ['sql'],
    },
  },
  {
    name: 'no-night-rollouts',
    agents: ['release-engineer'],
    data: {
      description: 'Switched off until the on-call rota is settled',
      enabled: false,
      execution: 'server',
      scope: { step_names: ['deploy'] },
      condition: leaf('context.hour', 'list', { values: [22, 23, 0, 1, 2, 3, 4, 5] }),
      action: { decision: 'deny' },
      tags: ['platform'],
    },
  },
  {
    name: 'no-confidential-words',
    policy: 'outgoing-mail',
    data: { template: DENY_WORDS, template_values: { words: ['confidential', 'embargo', 'layoff'] } },
  },
  {
    name: 'no-project-names',
    data: { template: DENY_WORDS, template_values: { decision: 'observe' } },
  },
  {
    name: 'people-decide-about-credits',
    agents: ['support-assistant'],
    data: {
      description: 'Credits are given by people',
      execution: 'server',
      scope: { step_names: ['issue_credit'], stages: ['pre'] },
      condition: leaf('input.amount', 'regex', { pattern: '.' }),
      action: {
        decision: 'deny',
        approval: {
          approvers: ['role:approver', 'role:admin'],
          expires_seconds: 604_800,
          question: 'Credit {input.amount} EUR to {input.customer}?',
        },
      },
      tags: ['money'],
    },
  },
];

/** A step that waits for the decision of a person. */
export const ASKED_STEP = {
  agent_name: 'support-assistant',
  stage: 'pre',
  step: {
    type: 'tool',
    name: 'issue_credit',
    input: { customer: 'ACME', amount: 250, reason: 'late delivery' },
  },
};

/** Agents of each policy. */
export const POLICIES = { 'outgoing-mail': ['support-assistant', 'sales-outreach'] };

/** Later versions of controls: what changes, in order. */
export const LATER_VERSIONS = [
  { name: 'no-card-numbers', change: (data) => ({ ...data, description: 'Card numbers never leave' }) },
  { name: 'no-card-numbers', change: (data) => ({ ...data, tags: ['pci', 'mail', 'audited'] }) },
  {
    name: 'large-refunds-need-approval',
    change: (data) => ({
      ...data,
      description: 'A person approves refunds above 150',
      condition: leaf('input', 'json', { field_constraints: { amount: { max: 150 } } }),
    }),
  },
];

/** A proposed version of a control, which is compared with it. */
export const SHADOW = {
  name: 'watch-production-rollouts',
  data: {
    description: 'Only people roll out',
    execution: 'server',
    scope: { step_names: ['deploy'] },
    condition: leaf('input.environment', 'list', { values: ['production', 'staging'] }),
    action: { decision: 'deny' },
    tags: ['platform'],
  },
};
