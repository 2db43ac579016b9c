import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { Reply, ScriptedError } from './scripted-peer.js';

/** What both clients make of a situation. Members that `expect` of a situation does not have are not compared. */
export interface Result {
  /** `allow`, `deny`, `steer`, `ask`, `modify`, `not evaluated`, `unchecked`, `error`; of a tool: `passed` or `refused`. */
  readonly outcome: string;
  /** The code of a failed call, or the class of an error. */
  readonly error?: string;
  /** The text of an error: of a refused tool, what a model may be shown. */
  readonly message?: string;
  /** What a guarded tool returned. */
  readonly result?: JsonValue;
  /** Whether the tool ran. */
  readonly ran?: boolean;
  /** Number of messages that the peer received. */
  readonly received?: number;
}

/** One call of a client, and what must come of it. In JSON, so that every language can read it. */
export interface Situation {
  readonly name: string;
  /** What the scripted peer answers; without it, the call goes to the service, or to where nothing listens. */
  readonly peer?: readonly Reply[];
  readonly at?: 'service' | 'nothing';
  /** Keys that the peer accepts. */
  readonly keys?: readonly string[];
  readonly client?: {
    readonly timeoutMs?: number;
    readonly onUnavailable?: 'deny' | 'allow';
    /** One key, or keys that a function returns one after the other. */
    readonly apiKey?: string | readonly string[];
  };
  /** Of the service; `python` or `typescript` is put after it. */
  readonly agent?: string;
  readonly stage?: 'pre' | 'post';
  readonly step?: string;
  readonly input?: JsonValue;
  /** An input that JSON cannot say; see `made` of the clients. */
  readonly inputMade?: Made;
  readonly output?: JsonValue;
  readonly accepts?: readonly ('steer' | 'ask' | 'modify')[];
  readonly minRevision?: number;
  readonly traceparent?: string;
  /** Cancels the call: before it begins, or once the peer has received it. */
  readonly cancel?: 'before' | 'after';
  /** Guards a tool instead of evaluating: what it returns or throws, and how it is guarded. */
  readonly tool?: {
    readonly returns?: JsonValue;
    readonly returnsMade?: Made;
    readonly throws?: string;
    readonly stages?: readonly ('pre' | 'post')[];
    readonly onRefused?: boolean;
    readonly onAsk?: 'wait';
    readonly maxWaitMs?: number;
  };
  /** The text of a model, in parts, that is checked in windows of this size. Its result is the text that was released. */
  readonly stream?: {
    readonly parts: readonly string[];
    readonly maxChars: number;
    readonly overlapChars: number;
  };
  /** Calls before this one, with the same client and step. */
  readonly times?: number;
  readonly expect: Result;
}

/** Values that JSON does not have. */
export type Made =
  | 'bytes'
  | 'deep'
  | 'circular'
  | 'function'
  | 'stream'
  | 'big integer'
  | 'surrogate'
  | 'large'
  | 'instance'
  | 'date';

const ALLOW: JsonObject = { isSafe: true, confidence: 1, outcome: 'OUTCOME_ALLOW', selectedControls: 1 };
const match = (action: JsonValue, more: JsonObject = {}): JsonObject => ({
  controlId: 1,
  controlName: 'no-bad',
  action,
  result: { matched: true, confidence: 1, message: 'found: bad' },
  ...more,
});
const DENY: JsonObject = {
  outcome: 'OUTCOME_DENY',
  reason: 'deny control "no-bad" matched: found: bad',
  matches: [match('DECISION_DENY')],
  selectedControls: 1,
};
const steering = (message: string, requiredActions: string[] = []): JsonObject => ({
  steeringContext: { message, requiredActions },
});
const STEER: JsonObject = {
  outcome: 'OUTCOME_STEER',
  reason: 'steered',
  matches: [match('DECISION_STEER', steering('Be precise.', ['name the customer']))],
};
const limited = (retryAfter: string): JsonObject => ({
  ...DENY,
  limits: [{ controlId: 1, controlName: 'no-bad', evaluatorName: 'rate', limit: 3, retryAfter }],
});
const approval = (state: JsonValue): JsonObject => ({
  approval: {
    id: 7,
    state,
    expiresAt: '2099-01-01T00:00:00Z',
    stepSha256: 'ab',
    controls: [{ controlId: 1, controlName: 'no-bad' }],
  },
});
const ASK: JsonObject = { ...DENY, outcome: 'OUTCOME_ASK', ...approval('APPROVAL_STATE_PENDING') };
const modify = (patch: JsonObject[], step: JsonValue): JsonObject => ({
  outcome: 'OUTCOME_MODIFY',
  matches: [match('DECISION_DENY')],
  modification: { patch, stepJson: typeof step === 'string' ? step : JSON.stringify(step), controlIds: [1] },
});
const changedInput = { type: 'tool', name: 'send_mail', input: { text: '[redacted]' } };
const REDACTED = modify([{ op: 'replace', path: '/input/text', value: '[redacted]' }], changedInput);
const changedOutput = { ...changedInput, output: { text: '[redacted]' } };
const REDACTED_OUTPUT = modify([{ op: 'replace', path: '/output/text', value: '[redacted]' }], changedOutput);

const DENIED_PRE =
  'Step "send_mail" was denied before it ran by "no-bad". A policy forbids it: do not repeat it unchanged.';
const DENIED_POST = DENIED_PRE.replace('before', 'after');
const UNCHECKED_PRE =
  'Step "send_mail" could not be checked before it ran, so it counts as denied. Try again later.';
const UNCHECKED_POST = UNCHECKED_PRE.replace('before', 'after');
const STEERED_PRE =
  'Step "send_mail" was steered before it ran by "no-bad": Be precise. Required before it is repeated: name the customer.';

const then = (verdict: JsonValue): Reply => ({ verdict });
const status = (code: ScriptedError['code'], more: Partial<ScriptedError> = {}): Reply => ({
  status: { code, ...more },
});
const end = (code: ScriptedError['code'], more: Partial<ScriptedError> = {}): Reply => ({
  end: { code, ...more },
});

/** A verdict, and the word for it. */
const verdicts: Situation[] = (
  [
    ['allow', ALLOW, 'allow'],
    ['allow of a service without outcomes', { isSafe: true }, 'allow'],
    ['safe and deny', { ...ALLOW, outcome: 'OUTCOME_DENY' }, 'deny'],
    ['safe and steer', { ...ALLOW, outcome: 'OUTCOME_STEER' }, 'deny'],
    ['safe and ask', { ...ALLOW, outcome: 'OUTCOME_ASK' }, 'deny'],
    ['safe and modify', { ...ALLOW, outcome: 'OUTCOME_MODIFY' }, 'deny'],
    ['safe with an unknown outcome', { ...ALLOW, outcome: 99 }, 'deny'],
    ['not safe and allow', { outcome: 'OUTCOME_ALLOW' }, 'deny'],
    ['an empty verdict', {}, 'deny'],
    ['an unknown outcome', { outcome: 42 }, 'deny'],
    ['safe with an observing match', { ...ALLOW, matches: [match('DECISION_OBSERVE')] }, 'allow'],
    ['safe with a denying match', { ...ALLOW, matches: [match('DECISION_DENY')] }, 'deny'],
    ['safe with a steering match', { ...ALLOW, matches: [match('DECISION_STEER')] }, 'deny'],
    ['safe with a match of an unknown decision', { ...ALLOW, matches: [match(9)] }, 'deny'],
    ['safe with a match without a decision', { ...ALLOW, matches: [match('DECISION_UNSPECIFIED')] }, 'deny'],
    ['safe with a failed deny control', { ...ALLOW, errors: [match('DECISION_DENY')] }, 'deny'],
    ['safe with a failed control of an unknown decision', { ...ALLOW, errors: [match(12)] }, 'deny'],
    ['safe with a failed steer control', { ...ALLOW, errors: [match('DECISION_STEER')] }, 'allow'],
    ['safe with a failed observe control', { ...ALLOW, errors: [match('DECISION_OBSERVE')] }, 'allow'],
    ['deny', DENY, 'deny'],
    ['steer', STEER, 'steer'],
    ['steer of a service without outcomes', { matches: [match('DECISION_STEER')] }, 'steer'],
    ['steer without a steering match', { outcome: 'OUTCOME_STEER' }, 'deny'],
    ['steer beside a deny', { ...STEER, errors: [match('DECISION_DENY')] }, 'deny'],
    ['steer beside an unknown decision', { ...STEER, errors: [match(8)] }, 'deny'],
    ['ask', ASK, 'ask'],
    ['ask without an approval', { ...DENY, outcome: 'OUTCOME_ASK' }, 'deny'],
    ['ask with an unknown state', { ...ASK, ...approval(77) }, 'ask'],
    [
      'approved',
      { ...ALLOW, matches: [match('DECISION_DENY')], ...approval('APPROVAL_STATE_APPROVED') },
      'allow',
    ],
    ['used', { ...ALLOW, matches: [match('DECISION_DENY')], ...approval('APPROVAL_STATE_USED') }, 'allow'],
    [
      'safe while it waits',
      { ...ALLOW, matches: [match('DECISION_DENY')], ...approval('APPROVAL_STATE_PENDING') },
      'deny',
    ],
    ['safe by an unknown state', { ...ALLOW, matches: [match('DECISION_DENY')], ...approval(55) }, 'deny'],
    [
      'an approval of another control',
      {
        ...ALLOW,
        matches: [match('DECISION_DENY', { controlId: 2 })],
        ...approval('APPROVAL_STATE_APPROVED'),
      },
      'deny',
    ],
    [
      'an approved steer',
      { ...ALLOW, matches: [match('DECISION_STEER')], ...approval('APPROVAL_STATE_APPROVED') },
      'deny',
    ],
    ['modify', REDACTED, 'modify'],
    ['modify without a modification', { outcome: 'OUTCOME_MODIFY' }, 'deny'],
    ['modify without changes', modify([], changedInput), 'deny'],
    ['modify with a step that is no JSON', modify([{ op: 'remove', path: '/input/text' }], '{'), 'deny'],
    ['modify with a step without a name', modify([{ op: 'remove', path: '/input/text' }], {}), 'deny'],
    ['modify by an unknown operation', modify([{ op: 'move', path: '/input/text' }], changedInput), 'deny'],
    [
      'modify of what the step does not have',
      modify([{ op: 'replace', path: '/input/x' }], changedInput),
      'deny',
    ],
  ] as const satisfies readonly (readonly [string, JsonValue, string])[]
).map(([name, verdict, outcome]) => ({
  name: `verdict: ${name}`,
  peer: [then(verdict)],
  expect: { outcome, received: 1 },
}));

/** The status of one evaluation. Those that may differ in a retry are retried. */
const statuses: Situation[] = [
  ...(
    [
      ['NotFound', 'AGENT_NOT_FOUND'],
      ['InvalidArgument', 'VALIDATION_ERROR'],
      ['PermissionDenied', 'AUTH_INSUFFICIENT_PRIVILEGES'],
      ['FailedPrecondition', 'SCHEMA_INCOMPATIBLE'],
      ['Internal', 'INTERNAL_ERROR'],
      ['Unknown', undefined],
      ['OutOfRange', undefined],
      ['Aborted', undefined],
      ['DataLoss', undefined],
      ['Unimplemented', undefined],
    ] as const
  ).map(([code, reason]) => ({
    name: `status: ${code}`,
    peer: [status(code, reason === undefined ? {} : { reason })],
    expect: { outcome: 'error', error: code, message: 'as the script says', received: 1 },
  })),
  {
    name: 'status: the advice of the service is told',
    peer: [status('NotFound', { reason: 'AGENT_NOT_FOUND', hint: 'Register it.' })],
    expect: { outcome: 'error', error: 'NotFound', message: 'as the script says Hint: Register it.' },
  },
  {
    name: 'status: RESOURCE_EXHAUSTED of one that is too large',
    peer: [status('ResourceExhausted', { reason: 'PAYLOAD_TOO_LARGE' })],
    expect: { outcome: 'error', error: 'ResourceExhausted', received: 1 },
  },
  {
    name: 'status: a rate limit with a time, then allow',
    peer: [status('ResourceExhausted', { reason: 'RATE_LIMITED', retryMs: 30 }), then(ALLOW)],
    expect: { outcome: 'allow', received: 2 },
  },
  {
    name: 'status: UNAVAILABLE twice, then deny',
    peer: [status('Unavailable'), status('Unavailable', { reason: 'DATABASE_UNAVAILABLE' }), then(DENY)],
    expect: { outcome: 'deny', received: 3 },
  },
  {
    name: 'status: UNAVAILABLE until the time is over',
    peer: [status('Unavailable', { retryMs: 2_000 })],
    client: { timeoutMs: 300 },
    expect: { outcome: 'not evaluated', error: 'DeadlineExceeded' },
  },
  {
    name: 'status: DEADLINE_EXCEEDED',
    peer: [status('DeadlineExceeded')],
    expect: { outcome: 'not evaluated', error: 'DeadlineExceeded', received: 1 },
  },
  {
    name: 'status: DEADLINE_EXCEEDED where no answer allows',
    peer: [status('DeadlineExceeded')],
    client: { onUnavailable: 'allow' },
    expect: { outcome: 'unchecked', error: 'DeadlineExceeded' },
  },
  {
    name: 'status: an unknown agent where no answer allows',
    peer: [status('NotFound')],
    client: { onUnavailable: 'allow' },
    expect: { outcome: 'error', error: 'NotFound' },
  },
  {
    name: 'status: a reply without a result',
    peer: ['empty'],
    expect: { outcome: 'error', error: 'Internal', message: 'the reply has no result for this evaluation' },
  },
];

/** The stream or the call of evaluations ends. */
const ends: Situation[] = [
  {
    name: 'end: drained, then allow on another stream',
    peer: [end('Unavailable', { reason: 'DRAINING' }), then(ALLOW)],
    expect: { outcome: 'allow', received: 2 },
  },
  {
    name: 'end: a notice beside the answer',
    peer: [{ notice: ALLOW }],
    times: 3,
    expect: { outcome: 'allow', received: 3 },
  },
  {
    name: 'end: UNAVAILABLE, then deny',
    peer: [end('Unavailable'), then(DENY)],
    expect: { outcome: 'deny', received: 2 },
  },
  {
    name: 'end: a rate limit with a time, then allow',
    peer: [end('ResourceExhausted', { reason: 'RATE_LIMITED', retryMs: 30 }), then(ALLOW)],
    expect: { outcome: 'allow', received: 2 },
  },
  {
    name: 'end: too large',
    peer: [end('ResourceExhausted', { reason: 'PAYLOAD_TOO_LARGE' })],
    expect: { outcome: 'error', error: 'ResourceExhausted', received: 1 },
  },
  {
    name: 'end: a key that is not known',
    peer: [then(ALLOW)],
    keys: ['right-key'],
    client: { apiKey: 'wrong-key' },
    expect: { outcome: 'error', error: 'Unauthenticated', message: 'the key is not known', received: 0 },
  },
  {
    name: 'end: a key that is not known where no answer allows',
    peer: [then(ALLOW)],
    keys: ['right-key'],
    client: { apiKey: 'wrong-key', onUnavailable: 'allow' },
    expect: { outcome: 'error', error: 'Unauthenticated' },
  },
  {
    name: 'end: a key that was replaced',
    peer: [then(ALLOW)],
    keys: ['new-key'],
    client: { apiKey: ['old-key', 'new-key'] },
    expect: { outcome: 'allow', received: 1 },
  },
  {
    name: 'end: a key that was replaced by another wrong one',
    peer: [then(ALLOW)],
    keys: ['new-key'],
    client: { apiKey: ['old-key', 'older-key'] },
    expect: { outcome: 'error', error: 'Unauthenticated' },
  },
  {
    name: 'end: PERMISSION_DENIED',
    peer: [end('PermissionDenied', { reason: 'AUTH_INSUFFICIENT_PRIVILEGES' })],
    expect: { outcome: 'error', error: 'PermissionDenied', received: 1 },
  },
  {
    name: 'end: UNIMPLEMENTED',
    peer: [end('Unimplemented')],
    expect: { outcome: 'error', error: 'Unimplemented', received: 1 },
  },
  {
    name: 'end: INVALID_ARGUMENT',
    peer: [end('InvalidArgument')],
    expect: { outcome: 'error', error: 'InvalidArgument', received: 1 },
  },
  {
    name: 'end: INTERNAL once, then allow',
    peer: [end('Internal'), then(ALLOW)],
    expect: { outcome: 'allow', received: 2 },
  },
  {
    name: 'end: INTERNAL again and again',
    peer: [end('Internal')],
    expect: { outcome: 'error', error: 'Internal', received: 3 },
  },
  {
    name: 'end: the connection breaks, then allow',
    peer: ['break', then(ALLOW)],
    expect: { outcome: 'allow', received: 2 },
  },
  {
    name: 'end: the connection breaks twice, then deny',
    peer: ['break', 'break', then(DENY)],
    expect: { outcome: 'deny', received: 3 },
  },
  {
    name: 'end: the connection breaks after an answer, then allow',
    peer: [then(ALLOW), 'break', then(ALLOW)],
    times: 2,
    expect: { outcome: 'allow', received: 3 },
  },
  {
    name: 'end: the connection breaks until the time is over',
    peer: ['break'],
    client: { timeoutMs: 400 },
    expect: { outcome: 'not evaluated', error: 'DeadlineExceeded' },
  },
  {
    name: 'end: silence',
    peer: ['silence'],
    client: { timeoutMs: 300 },
    expect: { outcome: 'not evaluated', error: 'DeadlineExceeded' },
  },
  {
    name: 'end: silence where no answer allows',
    peer: ['silence'],
    client: { timeoutMs: 300, onUnavailable: 'allow' },
    expect: { outcome: 'unchecked', error: 'DeadlineExceeded' },
  },
  {
    name: 'end: nothing listens',
    at: 'nothing',
    client: { timeoutMs: 300 },
    expect: { outcome: 'not evaluated', error: 'DeadlineExceeded' },
  },
  {
    name: 'end: nothing listens, and no answer allows',
    at: 'nothing',
    client: { timeoutMs: 300, onUnavailable: 'allow' },
    expect: { outcome: 'unchecked', error: 'DeadlineExceeded' },
  },
  {
    name: 'end: nothing listened for long',
    at: 'nothing',
    client: { timeoutMs: 300 },
    times: 3,
    expect: { outcome: 'not evaluated' },
  },
  {
    name: 'end: cancelled before it begins',
    peer: [then(ALLOW)],
    cancel: 'before',
    expect: { outcome: 'error', error: 'cancelled', received: 0 },
  },
  {
    name: 'end: cancelled while it waits',
    peer: ['silence'],
    cancel: 'after',
    expect: { outcome: 'error', error: 'cancelled', received: 1 },
  },
];

/** What callers give. */
const requests: Situation[] = [
  {
    name: 'request: a large step',
    peer: [then(ALLOW)],
    inputMade: 'large',
    expect: { outcome: 'allow', received: 1 },
  },
  {
    name: 'request: all digits of an integer',
    peer: [then(ALLOW)],
    inputMade: 'big integer',
    expect: { outcome: 'allow', received: 1 },
  },
  {
    name: 'request: half of a pair of surrogates',
    peer: [then(ALLOW)],
    inputMade: 'surrogate',
    expect: { outcome: 'allow', received: 1 },
  },
  {
    name: 'request: a revision that is none',
    peer: [then(ALLOW)],
    minRevision: -1,
    expect: { outcome: 'error', error: 'usage', received: 0 },
  },
  {
    name: 'request: a trace that is none',
    peer: [then(ALLOW)],
    traceparent: '00-0-0-00',
    expect: { outcome: 'error', error: 'usage', received: 0 },
  },
  ...(['bytes', 'deep', 'circular', 'function', 'stream', 'instance'] as const).map((made) => ({
    name: `request: ${made}`,
    peer: [then(ALLOW)],
    inputMade: made,
    expect: { outcome: 'error', error: 'usage', received: 0 },
  })),
];

const text = { text: 'hello' };
const withheld = (why: string): Result => ({
  outcome: 'refused',
  error: 'StepDataError',
  message: `Step "send_mail" ran, and its result is withheld: output ${why}. Set the option "output" of guard to a function that returns plain data.`,
  ran: true,
});
const refused = (error: string, message: string, ran = false): Result => ({
  outcome: 'refused',
  error,
  message,
  ran,
});

/** A guarded tool, which returns { text: 'done' } unless it says otherwise. */
const tools: Situation[] = (
  [
    ['allowed', [then(ALLOW)], {}, { outcome: 'passed', result: { text: 'done' }, ran: true, received: 2 }],
    ['denied before', [then(DENY)], {}, { ...refused('DeniedError', DENIED_PRE), received: 1 }],
    ['denied after', [then(ALLOW), then(DENY)], {}, refused('DeniedError', DENIED_POST, true)],
    [
      'denied after, where only inputs are checked',
      [then(ALLOW), then(DENY)],
      { stages: ['pre'] },
      { outcome: 'passed', result: { text: 'done' }, ran: true, received: 1 },
    ],
    [
      'denied before, where only outputs are checked',
      [then(ALLOW)],
      { stages: ['post'] },
      { outcome: 'passed', result: { text: 'done' }, ran: true, received: 1 },
    ],
    ['steered', [then(STEER)], {}, refused('SteerError', STEERED_PRE)],
    [
      'steered without guidance',
      [then({ matches: [match('DECISION_STEER')] })],
      {},
      refused('SteerError', 'Step "send_mail" was steered before it ran by "no-bad".'),
    ],
    [
      'denied without a control',
      [then({})],
      {},
      refused(
        'DeniedError',
        'Step "send_mail" was denied before it ran. A policy forbids it: do not repeat it unchanged.',
      ),
    ],
    [
      'limited',
      [then(limited('90.5s'))],
      {},
      refused(
        'DeniedError',
        'Step "send_mail" was denied before it ran by "no-bad". A limit is reached: repeat it no earlier than in 91 s.',
      ),
    ],
    [
      'halted',
      [then({ ...DENY, halt: { haltId: 3, reason: 'An incident.' } })],
      {},
      refused(
        'DeniedError',
        'Step "send_mail" was denied before it ran by "no-bad". Such steps are halted: An incident.',
      ),
    ],
    [
      'asked',
      [then(ASK)],
      {},
      refused(
        'ApprovalRequiredError',
        'Step "send_mail" did not run, because a person must approve it (approval 7) by "no-bad". Repeat it once it is approved.',
      ),
    ],
    [
      'denied by a person',
      [then({ ...DENY, ...approval('APPROVAL_STATE_DENIED') })],
      {},
      refused(
        'ApprovalDeniedError',
        'Step "send_mail" did not run: its approval (7) was denied. Do not repeat it unchanged.',
      ),
    ],
    [
      'expired',
      [then({ ...DENY, ...approval('APPROVAL_STATE_EXPIRED') })],
      {},
      refused('ApprovalExpiredError', 'Step "send_mail" did not run: its approval (7) has expired.'),
    ],
    [
      'cancelled by someone else',
      [then({ ...DENY, ...approval('APPROVAL_STATE_CANCELLED') })],
      {},
      refused('ApprovalExpiredError', 'Step "send_mail" did not run: its approval (7) was cancelled.'),
    ],
    ['unavailable before', [status('DeadlineExceeded')], {}, refused('NotEvaluatedError', UNCHECKED_PRE)],
    [
      'unavailable after',
      [then(ALLOW), status('DeadlineExceeded')],
      {},
      refused('NotEvaluatedError', UNCHECKED_POST, true),
    ],
    ['of an unknown agent', [status('NotFound')], {}, { outcome: 'error', error: 'NotFound', ran: false }],
    [
      'refused as a result',
      [then(DENY)],
      { onRefused: true },
      { outcome: 'passed', result: DENIED_PRE, ran: false },
    ],
    [
      'that fails',
      [then(ALLOW)],
      { throws: 'the mailbox is full' },
      { outcome: 'error', error: 'tool', message: 'the mailbox is full', ran: true, received: 2 },
    ],
    [
      'that fails with what is denied',
      [then(ALLOW), then(DENY)],
      { throws: 'bad' },
      refused('DeniedError', DENIED_POST, true),
    ],
    [
      'that fails while the service is away',
      [then(ALLOW), status('DeadlineExceeded')],
      { throws: 'x' },
      refused('NotEvaluatedError', UNCHECKED_POST, true),
    ],
    [
      'with a changed output',
      [then(ALLOW), then(REDACTED_OUTPUT)],
      {},
      { outcome: 'passed', result: { text: '[redacted]' }, ran: true },
    ],
    [
      'with a changed input',
      [then(REDACTED), then(ALLOW)],
      { returns: 'input' },
      { outcome: 'passed', result: { text: '[redacted]' }, ran: true },
    ],
    [
      'with a change of another part',
      [then(modify([{ op: 'replace', path: '/context', value: {} }], { ...changedInput, context: {} }))],
      {},
      refused(
        'StepDataError',
        'Step "send_mail" did not run: it may proceed with a changed input only, and this one cannot be changed: it changes /context, not only the input.',
      ),
    ],
    [
      'with an output that is removed',
      [then(ALLOW), then(modify([{ op: 'remove', path: '/output' }], changedInput))],
      {},
      refused(
        'StepDataError',
        'Step "send_mail" ran, and its result is withheld: it may proceed with a changed output only, and this one cannot be changed: it removes /output as a whole.',
        true,
      ),
    ],
    [
      'that returns nothing',
      [then(ALLOW)],
      { returns: null },
      { outcome: 'passed', result: null, ran: true },
    ],
    [
      'that returns a text',
      [then(ALLOW)],
      { returns: 'done' },
      { outcome: 'passed', result: 'done', ran: true },
    ],
    [
      'that returns bytes',
      [then(ALLOW)],
      { returnsMade: 'bytes' },
      withheld('holds bytes, which controls cannot read; give their text instead'),
    ],
    [
      'that returns a stream',
      [then(ALLOW)],
      { returnsMade: 'stream' },
      withheld('is a stream, which controls cannot read; give its whole content instead'),
    ],
    [
      'that returns a function',
      [then(ALLOW)],
      { returnsMade: 'function' },
      withheld('is a function; give plain data instead'),
    ],
    [
      'that returns what is nested too deeply',
      [then(ALLOW)],
      { returnsMade: 'deep' },
      { outcome: 'refused', error: 'StepDataError', ran: true },
    ],
    [
      'that returns what contains itself',
      [then(ALLOW)],
      { returnsMade: 'circular' },
      { outcome: 'refused', error: 'StepDataError', ran: true },
    ],
    [
      'that returns an object of a class',
      [then(ALLOW)],
      { returnsMade: 'instance' },
      { outcome: 'refused', error: 'StepDataError', ran: true },
    ],
    ['that returns a date', [then(ALLOW)], { returnsMade: 'date' }, { outcome: 'passed', ran: true }],
  ] as const satisfies readonly (readonly [string, readonly Reply[], Situation['tool'], Result])[]
).map(([name, peer, tool, expect]) => ({ name: `tool ${name}`, peer, input: text, tool, expect }));

/** Against the service. */
const served: Situation[] = [
  { name: 'service: allow', agent: 'mail', input: text, expect: { outcome: 'allow' } },
  { name: 'service: deny', agent: 'mail', input: { text: 'bad' }, expect: { outcome: 'deny' } },
  { name: 'service: steer', agent: 'mail', input: { text: 'vague' }, expect: { outcome: 'steer' } },
  {
    name: 'service: an unknown agent',
    agent: 'unknown',
    input: text,
    expect: { outcome: 'error', error: 'NotFound' },
  },
  {
    name: 'service: a tool without an object as input',
    agent: 'mail',
    input: 'text',
    expect: { outcome: 'error', error: 'InvalidArgument' },
  },
  {
    name: 'service: a step without a name',
    agent: 'mail',
    step: '',
    input: text,
    expect: { outcome: 'error', error: 'InvalidArgument' },
  },
  {
    name: 'service: a wrong key',
    agent: 'mail',
    input: text,
    client: { apiKey: 'wrong-key' },
    expect: { outcome: 'error', error: 'Unauthenticated' },
  },
  {
    name: 'service: a key that was replaced',
    agent: 'mail',
    input: text,
    client: { apiKey: ['old-key', 'agent-key'] },
    expect: { outcome: 'allow' },
  },
  {
    name: 'service: a step larger than a message',
    agent: 'mail',
    inputMade: 'large',
    expect: { outcome: 'error', error: 'ResourceExhausted' },
  },
  {
    name: 'service: ask',
    agent: 'mail',
    step: 'pay',
    input: { amount: 1 },
    accepts: ['steer', 'ask'],
    expect: { outcome: 'ask' },
  },
  {
    name: 'service: ask of a caller that does not know it',
    agent: 'mail',
    step: 'pay',
    input: { amount: 3 },
    expect: { outcome: 'deny' },
  },
  {
    name: 'service: modify',
    agent: 'mail',
    input: { text: 'sk-abc' },
    accepts: ['steer', 'modify'],
    expect: { outcome: 'modify' },
  },
  {
    name: 'service: modify of a caller that does not know it',
    agent: 'mail',
    input: { text: 'sk-abc' },
    expect: { outcome: 'deny' },
  },
  {
    name: 'service: an output that is denied',
    agent: 'mail',
    stage: 'post',
    input: text,
    output: 'secret-1',
    expect: { outcome: 'deny' },
  },
  {
    name: 'service: tool that waits for a person who approves',
    agent: 'mail',
    step: 'pay',
    input: { amount: 2 },
    tool: { onAsk: 'wait', stages: ['pre'] },
    expect: { outcome: 'passed', result: { text: 'done' }, ran: true },
  },
  {
    name: 'service: tool that waits for a person who denies',
    agent: 'mail',
    step: 'pay',
    input: { amount: 5 },
    tool: { onAsk: 'wait', stages: ['pre'] },
    expect: { outcome: 'refused', error: 'ApprovalDeniedError', ran: false },
  },
  {
    name: 'service: tool that waits in vain',
    agent: 'other',
    step: 'pay',
    input: { amount: 2 },
    tool: { onAsk: 'wait', maxWaitMs: 200, stages: ['pre'] },
    expect: { outcome: 'refused', error: 'ApprovalRequiredError', ran: false },
  },
  {
    name: 'service: tool with a changed input and output',
    agent: 'mail',
    input: { text: 'key sk-abc' },
    tool: { returns: 'input' },
    expect: { outcome: 'passed', result: { text: 'key [redacted]' }, ran: true },
  },
  {
    name: 'service: streamed text that is redacted across its windows',
    agent: 'mail',
    stream: { parts: ['the key is s', 'k-ab', 'cdef', ', as', ' agreed'], maxChars: 6, overlapChars: 12 },
    expect: { outcome: 'passed', result: 'the key is [redacted], as agreed' },
  },
  {
    name: 'service: streamed text that is refused in a window',
    agent: 'mail',
    stream: { parts: ['all is well ', 'so far: sec', 'ret-1', ' and more'], maxChars: 8, overlapChars: 8 },
    expect: {
      outcome: 'refused',
      error: 'DeniedError',
      message:
        'Step "send_mail" was denied after it ran by "no-leak". A policy forbids it: do not repeat it unchanged.',
      result: 'all is well so ',
    },
  },
  {
    name: 'service: streamed text that is refused as a whole',
    agent: 'mail',
    stream: { parts: ['sec', 'ret', '-1'], maxChars: 100, overlapChars: 0 },
    expect: { outcome: 'refused', error: 'DeniedError', result: '' },
  },
];

/** All situations. The answers of scripts are those of a service of this version, unless they say otherwise. */
export const SITUATIONS: readonly Situation[] = [
  ...verdicts,
  ...statuses,
  ...ends,
  ...requests,
  ...tools,
  ...served,
];
